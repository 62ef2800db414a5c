"""The engine's search finds what the readable one finds, over any table."""

from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import SearchConfig
from native_search import rounded, run_native
from search_tables import random_table, run


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([-0.6, 0.0, 0.6, 1.0, 2.0]),
    limit=st.integers(1, 12),
    beam=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    memory=st.sampled_from([1, 2, 100]),
    ties=st.booleans(),
)
def test_both_searches_find_the_same(
    seed: int, alpha: float, limit: int, beam: tuple[int, int], memory: int, ties: bool
) -> None:
    """Outputs, their order and their token scores are equal, with ties and with impossible tokens."""
    table = rounded(random_table(seed, 7, memory=memory, ties=ties))
    config = SearchConfig(beam_size=beam[0], length_penalty=alpha, n_best=min(beam))
    right = run(table, [0, 1], [limit, 2 * limit], config)
    found = run_native(table, [0, 1], [limit, 2 * limit], config)

    assert [[(*one[:2], one.finished) for one in sentence] for sentence in found] == [
        [(*one[:2], one.finished) for one in sentence] for sentence in right
    ]
    for ours, theirs in zip(chain(*found), chain(*right), strict=True):
        assert ours.score == pytest.approx(theirs.score, abs=1e-12)
        assert ours.log_probability == theirs.log_probability
