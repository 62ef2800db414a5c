"""What the right-branching baseline promises."""

import pytest

from dragoman.trees import Leaf, parse_trees
from dragoman.trees.baseline import right_branching

LEAVES = [Leaf("DT", "the"), Leaf("NN", "otter"), Leaf("VBZ", "swims"), Leaf("RB", "away")]


@pytest.mark.parametrize(
    ("num_words", "text"),
    [
        (1, "(TOP (S (DT the)))"),
        (2, "(TOP (S (DT the) (NN otter)))"),
        (4, "(TOP (S (DT the) (X (NN otter) (X (VBZ swims) (RB away)))))"),
    ],
)
def test_each_word_stands_before_all_after_it(num_words: int, text: str) -> None:
    """The brackets begin at each word but the last and all end with the sentence."""
    ((_, expected),) = parse_trees([text], "the expected tree")

    assert right_branching(LEAVES[:num_words], "X") == expected


def test_words_stay_as_they_are() -> None:
    """A sentence of any length keeps its words and tags in order."""
    leaves = LEAVES * 2_000

    assert right_branching(leaves).leaves() == leaves


def test_no_words_are_no_tree() -> None:
    """A tree without words is refused."""
    with pytest.raises(ValueError, match="at least one leaf"):
        right_branching([])
