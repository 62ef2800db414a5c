"""Waiting sentences enter the engine's batch where others leave it; no sentence notices."""

from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import SearchConfig
from dragoman.engine import Engine, Precision, is_there
from dragoman.model import Transformer
from tiny_engines import PRECISIONS, run, sources, weights
from tiny_models import tiny_config

pytestmark = pytest.mark.skipif(not is_there(), reason="the native engine is not built here")


@cache
def engine(precision: Precision, workers: int) -> Engine:
    torch.manual_seed(3)
    model = Transformer(tiny_config()).eval()
    return Engine.of_weights(model.config, weights(model), precision, [], workers=workers)


@pytest.mark.parametrize("precision", PRECISIONS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    lengths=st.lists(st.integers(1, 20), min_size=1, max_size=12),
    seed=st.integers(0, 10**6),
    beam_size=st.integers(1, 5),
    room=st.tuples(st.sampled_from([1, 7, 24, 60, 4096]), st.sampled_from([1, 3])),
    data=st.data(),
)
def test_a_sentence_among_others_is_as_alone(
    precision: Precision,
    lengths: list[int],
    seed: int,
    beam_size: int,
    room: tuple[int, int],
    data: st.DataObject,
) -> None:
    """Whatever the order, the room, the threads and who is in flight beside it: the same bits."""
    given = sources(lengths, seed)
    limits = data.draw(st.lists(st.integers(1, 15), min_size=len(given), max_size=len(given)))
    order = data.draw(st.permutations(range(len(given))))
    batch_tokens, workers = room
    config = SearchConfig(beam_size=beam_size, n_best=beam_size, batch_tokens=batch_tokens)
    alone = [run(engine(precision, 1), [given[i]], [limits[i]], config)[0] for i in order]
    among = run(engine(precision, workers), [given[i] for i in order], [limits[i] for i in order], config)

    assert among == alone
