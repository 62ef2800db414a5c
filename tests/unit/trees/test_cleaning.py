"""Cleaned trees hold words and cores of labels, and nothing else."""

from pathlib import Path

import pytest

from dragoman.trees import Tree, clean, core, format_tree, parse_trees, read_trees

pytestmark = pytest.mark.untraced  # trees have no shapes


def cleaned(line: str) -> str:
    tree = clean(next(parse_trees([line], "a test")).tree)
    return format_tree(tree) if tree else ""


@pytest.mark.parametrize(
    ("label", "kept"),
    [
        ("NP", "NP"),
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("ADVP|PRT", "ADVP"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("PRP$", "PRP$"),
        ("", ""),
        ("=", "="),
    ],
)
def test_the_core_of_a_label(label: str, kept: str) -> None:
    """A label is cut at its first separator, unless it begins with one."""
    assert core(label) == kept


@pytest.mark.parametrize(
    ("line", "result"),
    [
        (
            "(TOP (S (NP-SBJ (PRP I)) (VP (VBP see) (NP (-NONE- *T*-1)))))",
            "(TOP (S (NP (PRP I)) (VP (VBP see))))",
        ),
        ("(S (NP (NP (-NONE- *)) (SBAR (-NONE- 0))) (VB-X go))", "(S (VB go))"),
        ("( (S (-LRB- -LRB-)))", "( (S (-LRB- -LRB-)))"),
        ("(TOP (NP (-NONE- *)))", ""),
    ],
)
def test_clean_trees(line: str, result: str) -> None:
    """Empty elements, constituents without words, and what labels carry behind are gone."""
    assert cleaned(line) == result


def test_cleaning_deep_trees() -> None:
    """A hundred thousand brackets around a trace vanish, and those around a word stay."""
    opening, closing = "(NP-1 " * 100_000, ")" * 100_000

    assert cleaned(f"(S {opening}(-NONE- *){closing} {opening}(NN dog){closing})") == (
        "(S " + "(NP " * 100_000 + "(NN dog)" + closing + ")"
    )


def test_cleaning_agrees_with_a_treebank(shared: Path) -> None:
    """The development part of CRAFT, cleaned here, is the one that was cleaned elsewhere, tree for tree."""
    folder = shared / "data/craft"
    raw = [numbered.tree for numbered in read_trees(folder / "dev.mrg.gz")]
    expected = [numbered.tree for numbered in read_trees(folder / "dev.clean.gz")]

    assert [clean(tree) for tree in raw] == expected
    assert all(isinstance(clean(tree), Tree) and clean(tree) == tree for tree in expected)
