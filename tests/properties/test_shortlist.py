"""What holds for every shortlist."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import SearchConfig
from dragoman.engine import Precision, is_there
from tiny_engines import PRECISIONS, allowed, random_lexicon, run, shortlisted, sources
from tiny_models import tiny_model

pytestmark = pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler")

MODEL = tiny_model(3, torch.float32)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    most=st.integers(0, 12),
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=12),
    beam=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    precision=st.sampled_from(PRECISIONS),
    workers=st.sampled_from([1, 3]),
)
def test_nothing_comes_that_its_source_does_not_allow(
    seed: int,
    most: int,
    lengths: list[int],
    beam: tuple[int, int],
    precision: Precision,
    workers: int,
) -> None:
    """Every piece of every output, of any sources together, is one that a piece of its own source allows."""
    lexicon, found_of = random_lexicon(seed, most), sources(lengths, seed)
    config = SearchConfig(beam_size=beam[0], n_best=min(beam), shortlist=True)
    engine = shortlisted(MODEL, lexicon, precision, workers)
    limits = [1 + (seed + length) % 12 for length in lengths]
    for source, found in zip(found_of, run(engine, found_of, limits, config), strict=True):
        assert found
        for one in found:
            assert set(one.tokens) <= allowed(lexicon, source)
            assert max(one.token_scores) <= 1e-5
