"""The largest values of rows and their places."""

import pytest
import torch

from dragoman.selection import largest


def by_sorting(value_NV: torch.Tensor, count: int) -> tuple[list[list[float]], list[list[int]]]:
    """Return the same by sorting each row in plain Python: greater first, of equals the lower place."""
    rows = [
        sorted(range(len(row)), key=lambda place: (-row[place], place))[:count] for row in value_NV.tolist()
    ]
    return [value_NV[i, row].tolist() for i, row in enumerate(rows)], rows


@pytest.mark.parametrize("count", [1, 2, 9, 40])
@pytest.mark.parametrize("num_values", [40, 64, 127, 1_000, 8_000])
@pytest.mark.parametrize("kinds", [2, 50, 10**6])
def test_the_largest_are_those_of_a_sorted_row(count: int, num_values: int, kinds: int) -> None:
    """Few values or many, few of a kind or many of it, and where the last ones are the largest."""
    generator = torch.Generator().manual_seed(count * num_values)
    value_NV = torch.randint(kinds, (5, num_values), generator=generator).float()
    value_NV[3] = value_NV[3].sort().values
    value_NV[4] = -torch.inf
    value_NV[4, ::7] = 1.0
    value_NC, place_NC = largest(value_NV, count)
    values, places = by_sorting(value_NV, count)

    assert value_NC.tolist() == values
    for value_C, found_C, place_C in zip(value_NC, place_NC.tolist(), places, strict=True):
        possible = int((value_C > -torch.inf).sum())  # of what is impossible any place will do
        assert found_C[:possible] == place_C[:possible]


def test_a_short_row_is_filled_up() -> None:
    """With what is impossible."""
    value_NC, _ = largest(torch.tensor([[1.0, 3.0]]), 4)

    assert sorted(value_NC[0].tolist()) == [-torch.inf, -torch.inf, 1.0, 3.0]
