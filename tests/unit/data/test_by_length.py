"""Sentences that are searched together are of like length and no more than memory allows."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.data import by_length

pytestmark = pytest.mark.untraced  # numbers have no shapes


@settings(max_examples=200, deadline=None, derandomize=True)
@given(lengths=st.lists(st.integers(1, 40), max_size=30), max_tokens=st.integers(1, 100))
def test_batches_hold_each_sentence_once_and_keep_the_budget(lengths: list[int], max_tokens: int) -> None:
    """Every sentence is in one batch, the shortest first; a batch of several fits with its padding.

    The next sentence would not have fitted into any of them, so no batch is smaller than it must be.
    """
    batches = list(by_length(lengths, max_tokens))
    order = [i for batch in batches for i in batch]

    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[i] for i in order] == sorted(lengths)
    assert all(len(batch) * lengths[batch[-1]] <= max_tokens for batch in batches if len(batch) > 1)
    for batch, following in pairwise(batches):
        assert (len(batch) + 1) * lengths[following[0]] > max_tokens


def test_no_sentences_make_no_batches() -> None:
    """Of nothing comes nothing, and not an empty batch."""
    assert list(by_length([], 10)) == []
