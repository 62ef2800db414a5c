"""What each rank computes of a step."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dragoman.train.ranks import Ranks

SIZES = st.lists(st.integers(min_value=1, max_value=20), min_size=1, max_size=12)


@given(sizes=SIZES, num_ranks=st.integers(min_value=1, max_value=16))
def test_every_pair_is_computed_once(sizes: list[int], num_ranks: int) -> None:
    """Over all ranks every pair of a step comes once, and all ranks have equally many micro-batches."""
    ends = np.cumsum(sizes)
    step = [np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    shares = [Ranks(rank, num_ranks).share(step) for rank in range(num_ranks)]
    pairs = np.concatenate([part for share in shares for part in share])

    assert sorted(pairs.tolist()) == list(range(ends[-1]))
    assert len({len(share) for share in shares}) == 1
    assert len(shares[0]) >= 1


@given(sizes=SIZES, num_ranks=st.integers(min_value=1, max_value=16))
def test_no_rank_has_much_more_than_another(sizes: list[int], num_ranks: int) -> None:
    """Micro-batches are dealt out whole or cut evenly, so that none of a share is larger than before."""
    step = [np.arange(size) for size in sizes]
    shares = [Ranks(rank, num_ranks).share(step) for rank in range(num_ranks)]
    num_whole = len(sizes) // num_ranks
    cut = [[len(part) for part in share[num_whole:]] for share in shares]

    assert all(max(column) - min(column) <= 1 for column in zip(*cut, strict=True))
    assert all(len(part) <= max(sizes) for share in shares for part in share)


def test_one_rank_has_it_all() -> None:
    """A process alone computes the step as it is."""
    step = [np.arange(3), np.arange(3, 5)]

    assert [part.tolist() for part in Ranks().share(step)] == [[0, 1, 2], [3, 4]]
