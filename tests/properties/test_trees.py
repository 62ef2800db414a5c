"""Every tree comes back from its text and from its symbols, whatever its words and labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.trees import (
    Fault,
    Leaf,
    Tree,
    build,
    clean,
    fault_of,
    format_tree,
    linear,
    parse_trees,
    take_inventory,
    tree_of,
    walk,
)
from dragoman.trees.escapes import escape, unescape

pytestmark = pytest.mark.untraced  # trees have no shapes

FRAGMENTS = (
    *("(", ")", "[", "]", "{", "}", "\\", "/", "*", "-", "=", "|", "#", "%", ";"),
    *("-LRB-", "-RRB-", "-LRB", "LRB-", "RSB-", "-LCB", "-NONE-", "XX", "a", "é", "🚣"),
    *("\u00a0", "\u2028", "\u0085", "\r", "\f", "\0", "\ufeff"),
)
NEAR_ESCAPES = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map("".join)
TYPED = st.text(st.characters(exclude_characters=" \t\n", exclude_categories=["Cs"]), min_size=1)
WORDS = st.lists(NEAR_ESCAPES | TYPED, min_size=1, max_size=2).map(" ".join)
NAMES = st.sampled_from(["NP", "NP-SBJ-1", "-LRB-", "-NONE-", "#", "S|X", "*x*", "\\"]) | st.text(
    st.characters(exclude_characters=" \t\n()", exclude_categories=["Cs"]), min_size=1, max_size=4
)
LEAVES = st.builds(Leaf, NAMES, WORDS)


def constituents(children: st.SearchStrategy[Tree | Leaf]) -> st.SearchStrategy[Tree]:
    return st.builds(Tree, NAMES, st.lists(children, min_size=1, max_size=4).map(tuple))


TREES = constituents(st.recursive(LEAVES, constituents, max_leaves=12))
TREES |= st.builds(Tree, st.just(""), st.tuples(TREES))
SYMBOLS = st.lists(st.sampled_from(["(S", ")S", "(NP", ")NP", "(", ")", "XX", "NN"]), max_size=12)


def words(tree: Tree) -> list[str]:
    return [leaf.word for leaf in tree.leaves()]


@given(word=WORDS)
def test_every_word_comes_back(word: str) -> None:
    """A word is read as it was written, and what is written holds no bracket."""
    assert unescape(escape(word)) == word
    assert not set(escape(word)) & set("()[]{}")


@given(trees=st.lists(TREES, max_size=4))
def test_every_tree_comes_back_from_its_line(trees: list[Tree]) -> None:
    """Trees are read as they were written, each in its line."""
    lines = [format_tree(tree) for tree in trees]

    assert [(found.line, found.tree) for found in parse_trees(lines, "a test")] == list(
        enumerate(trees, start=1)
    )


@given(tree=TREES)
def test_every_tree_comes_back_from_its_symbols(tree: Tree) -> None:
    """With tags kept the tree is the same; without, all tags are XX and the rest is the same."""
    untagged = tree_of(linear(tree, keep_tags=False), words(tree))

    assert tree_of(linear(tree, keep_tags=True), words(tree)) == tree
    assert list(walk(untagged)) == [
        Leaf("XX", step.word) if isinstance(step, Leaf) else step for step in walk(tree)
    ]


@given(tree=TREES)
def test_every_symbol_is_in_the_inventory(tree: Tree) -> None:
    """The symbols of a tree are those of its treebank, and the longest run is no shorter than the chain."""
    inventory = take_inventory([tree])

    for keep_tags in (True, False):
        assert set(linear(tree, keep_tags=keep_tags)) == set(inventory.symbols(keep_tags=keep_tags))
    assert 1 <= inventory.longest_chain <= inventory.longest_run


@given(symbols=SYMBOLS, num_words=st.integers(0, 6))
def test_symbols_are_a_tree_or_have_a_fault(symbols: list[str], num_words: int) -> None:
    """Symbols without a fault are those of the tree that they describe."""
    if fault_of(symbols, num_words) is None:
        assert linear(tree_of(symbols, ["a"] * num_words), keep_tags=True) == symbols


@given(tree=TREES)
def test_cleaning_twice_is_cleaning_once(tree: Tree) -> None:
    """A clean tree stays as it is, and keeps all words that are no empty elements."""
    cleaned = clean(tree)
    kept = [leaf.word for leaf in tree.leaves() if leaf.tag != "-NONE-"]

    assert (words(cleaned) if cleaned else []) == kept
    assert cleaned is None or clean(cleaned) == cleaned


@given(tree=TREES, data=st.data())
def test_a_tree_without_one_step_is_none(tree: Tree, data: st.DataObject) -> None:
    """A bracket that is lost is always seen."""
    steps = list(walk(tree))
    lost = data.draw(st.sampled_from([i for i, step in enumerate(steps) if not isinstance(step, Leaf)]))

    assert isinstance(build(steps[:lost] + steps[lost + 1 :]), Fault)
