"""Attention drawn with characters."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dragoman.visualize import draw_attention
from dragoman.visualize.terminal import SHADES

PIECES = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=30)


def test_a_picture_as_a_reader_sees_it() -> None:
    """Rows are target pieces, columns source pieces written downwards, and dark where the weight is great."""
    picture = draw_attention(["▁the", "▁dog"], ["▁der", "▁Hund"], [[0.9, 0.1], [0.3, 0.5]])

    assert picture == [
        "      ▁ ▁",
        "      t d",
        "      h o",
        "      e g",
        " ▁der ██░░",
        "▁Hund ▒▒▓▓",
    ]


def test_columns_that_do_not_fit_go_on_below() -> None:
    """A picture wider than the terminal is cut into blocks of columns, each with all rows."""
    narrow = draw_attention(list("abc"), ["x"], [[0.9, 0.1, 0.9]], width=6)

    assert narrow == ["  a b", "x ██░░", "", "  c", "x ██"]


@given(source=PIECES, target=PIECES, width=st.integers(min_value=24, max_value=120))
def test_no_line_is_wider_than_the_terminal(source: list[str], target: list[str], width: int) -> None:
    """Whatever the pieces, no line has more cells than the terminal, and none holds what a terminal obeys."""
    picture = draw_attention(source, target, [[1.0] * len(source)] * len(target), width=width)

    assert max(map(cell_len, picture)) <= width
    assert all(line.isprintable() for line in picture)


@given(weights=st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=30))
def test_a_greater_weight_is_never_lighter(weights: list[float]) -> None:
    """The shades rise with the weights."""
    order = " " + "".join(shade for _, shade in reversed(SHADES))
    (*_, row) = draw_attention(["a"] * len(weights), ["x"], [sorted(weights)], width=200)
    darkness = [order.index(character) for character in row[2:].ljust(2 * len(weights))]

    assert darkness == sorted(darkness)


def test_weights_may_be_a_tensor() -> None:
    """A tensor and the same numbers in lists give the same picture."""
    weights = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    picture = draw_attention(["a", "b"], ["x", "y"], weights)

    assert picture == draw_attention(["a", "b"], ["x", "y"], weights.tolist())


@pytest.mark.parametrize("weights", [[[1.0]], [[1.0], [1.0]], [[0.5, 0.5], [1.0]]])
def test_weights_that_do_not_fit_are_misuse(weights: list[list[float]]) -> None:
    """There must be one weight for each pair of a target and a source piece."""
    with pytest.raises(ValueError, match="2 rows of 2"):
        draw_attention(["a", "b"], ["x", "y"], weights)
