"""Files in which every line is a tree by itself, as parsers write them."""

import pytest

from dragoman.errors import TreeError
from dragoman.trees import BadTree, Leaf, NumberedTree, Tree, parse_trees, scan_lines

LINES = [
    "(S (NP (PRP We)) (VP (VBP row)))",
    "",
    "# a comment",
    "  (S (PRP We) (VBP row))",
    "(S (PRP We) (VBP row)",
    " \t",
    ") (NN boat) oar",
]


def test_every_line_is_a_tree_or_none() -> None:
    """Indented lines begin a tree of their own, blank ones are none, comments are left out."""
    found = list(scan_lines(LINES, "trees.mrg"))

    assert [type(one) for one in found] == [
        NumberedTree,
        type(None),
        NumberedTree,
        BadTree,
        type(None),
        BadTree,
    ]
    assert [one.line for one in found if one is not None] == [1, 4, 5, 7]


def test_what_is_no_tree_has_words() -> None:
    """Words with tags are given, and the message names the line of the file and the reason."""
    bad = [one for one in scan_lines(LINES, "trees.mrg") if isinstance(one, BadTree)]

    assert [one.leaves for one in bad] == [(Leaf("PRP", "We"), Leaf("VBP", "row")), (Leaf("NN", "boat"),)]
    assert [one.error.message for one in bad] == [
        "trees.mrg, line 5: (S is not closed",
        "trees.mrg, line 7: ) closes no bracket",
    ]


def test_brackets_side_by_side_are_one_tree() -> None:
    """They get an outer bracket without a label, whether they are words or constituents."""
    found = list(scan_lines(["(PRP We) (VBP row)", "(NP (PRP We)) (VP (VBP row))", "(PRP We)"], "trees.mrg"))

    assert [one.tree for one in found if isinstance(one, NumberedTree)] == [
        Tree("", (Leaf("PRP", "We"), Leaf("VBP", "row"))),
        Tree("", (Tree("NP", (Leaf("PRP", "We"),)), Tree("VP", (Leaf("VBP", "row"),)))),
        Tree("", (Leaf("PRP", "We"),)),
    ]


@pytest.mark.parametrize("line", ["(S (PRP We)) row", "(S (PRP We)))", "( (S (PRP We))", "()", "We row"])
def test_side_by_side_mends_nothing(line: str) -> None:
    """Stray words and brackets that do not balance are no trees."""
    (found,) = scan_lines([line], "trees.mrg")

    assert isinstance(found, BadTree)


def test_every_bad_tree_is_told_up_to_a_limit() -> None:
    """Reading ends with one message about all that is no tree; the trees before the first come out."""
    read: list[NumberedTree] = []
    with pytest.raises(TreeError) as caught:
        read.extend(parse_trees([LINES[0], *["(S (NN"] * 10, LINES[0]], "trees.mrg"))
    lines = caught.value.message.split("\n")

    assert [numbered.line for numbered in read] == [1]
    assert lines[0] == "10 trees cannot be read"
    assert [line.split(":")[0] for line in lines[1:-1]] == [f"  trees.mrg, line {n}" for n in range(2, 10)]
    assert lines[-1] == "  and 2 more"
