"""The watch over the shapes in names tells truth from lies."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from shapes import Watch, suffix, untrue, watching

HERE = (str(Path(__file__).parent),)


class Handed(NamedTuple):
    token_BS: np.ndarray


def dimensions(x_BSD: np.ndarray) -> None:
    score_BHQM = x_BSD  # noqa: F841


def sizes(source_BS: np.ndarray, target_BT: np.ndarray) -> None:
    pass


def visibility(score_BHQM: np.ndarray, visible_BHQM: np.ndarray) -> None:
    pass


def handing(batch: Handed) -> None:
    pass


def refusing(x_BSD: np.ndarray) -> None:
    raise ValueError("x has two dimensions")


def watched_call(function: Callable[..., None], *arguments: object) -> set[str]:
    watch = Watch(HERE)
    try:
        with watching(watch):
            function(*arguments)
    except AssertionError:
        pass
    return watch.untrue


@pytest.mark.parametrize(
    ("function", "shapes", "told"),
    [
        (dimensions, [(2, 3, 4)], "score_BHQM has shape (2, 3, 4): 4 letters, 3 dimensions"),
        (sizes, [(2, 3), (4, 5)], "target_BT has shape (4, 5): B is 4 here, and B is 2 in source_BS"),
        (visibility, [(2, 1, 3, 4), (2, 1, 3, 5)], "visible_BHQM has shape (2, 1, 3, 5): M is 5 here"),
    ],
)
def test_a_lie_is_found(function: Callable[..., None], shapes: list[tuple[int, ...]], told: str) -> None:
    """A wrong number of letters and two sizes for one letter are both named, with their function."""
    found = watched_call(function, *(np.zeros(shape) for shape in shapes))

    assert [told in line and function.__name__ in line for line in found] == [True]


def test_a_lie_fails_the_test_it_happens_in() -> None:
    """The watch raises when it ends, and says what was untrue."""
    with pytest.raises(AssertionError, match=r"dimensions: score_BHQM"), watching(Watch(HERE)):
        dimensions(np.zeros((2, 3, 4)))


def test_fields_are_read_as_well() -> None:
    """A named tuple that is handed over answers for the names of its fields."""
    found = watched_call(handing, Handed(np.zeros(3)))

    assert ["batch.token_BS has shape (3,)" in line for line in found] == [True]


@pytest.mark.parametrize(
    ("function", "shapes"),
    [(sizes, [(2, 3), (2, 5)]), (visibility, [(2, 4, 3, 5), (2, 1, 1, 5)])],
)
def test_the_truth_passes(function: Callable[..., None], shapes: list[tuple[int, ...]]) -> None:
    """Sizes that agree pass, and what is visible may broadcast."""
    assert watched_call(function, *(np.zeros(shape) for shape in shapes)) == set()


def test_a_refused_argument_is_no_lie() -> None:
    """A function that raises because a shape is wrong is not blamed for the wrong shape."""
    watch = Watch(HERE)
    with pytest.raises(ValueError, match="two dimensions"), watching(watch):
        refusing(np.zeros((2, 3)))

    assert watch.untrue == set()


@pytest.mark.parametrize(
    ("name", "letters"),
    [("x_BSD", "BSD"), ("visible_B11S", "B11S"), ("position_1S", "1S"), ("d_k", None), ("layer_1", None)],
)
def test_suffixes_are_letters_of_the_table(name: str, letters: str | None) -> None:
    """Only the letters of the table make a suffix; a number alone does not."""
    assert suffix(name) == letters


def test_one_is_one() -> None:
    """A dimension called 1 has the size one."""
    assert untrue({"x_B1": np.zeros((2, 3))}) == ["x_B1 has shape (2, 3): 1 is 3 here, and 1 is one"]
