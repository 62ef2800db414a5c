"""Trees as symbols, and back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.errors import TreeError
from dragoman.trees import (
    Inventory,
    Leaf,
    Tree,
    chain_length,
    clean,
    fault_of,
    format_tree,
    linear,
    parse_trees,
    read_trees,
    take_inventory,
    tree_of,
)

pytestmark = pytest.mark.untraced  # trees have no shapes

SEE = "(TOP (S (NP (PRP I)) (VP (VBP see)) (. .)))"
WORDS = ["I", "see", "."]


def read(line: str) -> Tree:
    return next(parse_trees([line], "a test")).tree


def words(tree: Tree) -> list[str]:
    return [leaf.word for leaf in tree.leaves()]


def treebanks(shared: Path, *parts: str) -> Iterator[Tree]:
    """Yield the trees of a part of both treebanks, as annotated and cleaned."""
    for path in [path for part in parts for path in sorted((shared / "data").glob(part))]:
        for numbered in read_trees(path):
            yield numbered.tree
            cleaned = clean(numbered.tree)
            if cleaned:
                yield cleaned


def assert_exact(trees: Iterator[Tree]) -> None:
    """Each tree comes back from its symbols with tags, from those without all but its tags, and as text."""
    for tree in trees:
        untagged = tree_of(linear(tree, keep_tags=False), words(tree))

        assert tree_of(linear(tree, keep_tags=True), words(tree)) == tree
        assert untagged.leaves() == [Leaf("XX", word) for word in words(tree)]
        assert format_tree(untagged) == format_tree(tree_of(linear(untagged, keep_tags=True), words(tree)))
        assert read(format_tree(tree)) == tree


def test_symbols_in_order() -> None:
    """Brackets carry their labels on both sides, and words are their tags or one symbol."""
    tags = ["(TOP", "(S", "(NP", "PRP", ")NP", "(VP", "VBP", ")VP", ".", ")S", ")TOP"]
    plain = ["(TOP", "(S", "(NP", "XX", ")NP", "(VP", "XX", ")VP", "XX", ")S", ")TOP"]

    assert linear(read(SEE), keep_tags=True) == tags
    assert linear(read(SEE), keep_tags=False) == plain


def test_words_come_from_the_sentence() -> None:
    """The n-th tag is that of the n-th word, whatever the word is."""
    tree = tree_of(["(S", "(NP", "XX", ")NP", "XX", ")S"], ["(", "XX"])

    assert format_tree(tree) == "(S (NP (XX -LRB-)) (XX XX))"


def test_an_outer_bracket_without_label_comes_back() -> None:
    """Its symbols are the brackets alone."""
    symbols = ["(", "(S", "XX", ")S", ")"]

    assert linear(tree_of(symbols, ["Yes"]), keep_tags=True) == symbols


@pytest.mark.parametrize(
    ("symbols", "why"),
    [
        ("", "symbol 1 of 0: there are 0 tags for 3 words"),
        ("(S XX XX )S", "symbol 5 of 4: there are 2 tags for 3 words"),
        ("(S XX XX XX XX )S", "symbol 7 of 6: there are 4 tags for 3 words"),
        ("(S XX XX XX", "symbol 5 of 4: (S is not closed"),
        ("(S XX XX XX )NP", "symbol 5 of 5: )NP stands where (S must be closed"),
        ("(S XX (NP )NP XX XX )S", "symbol 4 of 7: (NP holds neither a word nor a bracket"),
        ("(S XX )S (S XX XX )S", "symbol 4 of 7: (S stands after the end of the tree"),
        ("XX XX XX", "symbol 1 of 3: 'I'/XX stands outside of all brackets"),
    ],
)
def test_symbols_that_are_no_tree_are_told(symbols: str, why: str) -> None:
    """The message says which symbol no tree has there; the same is found without the words."""
    fault = fault_of(symbols.split(), len(WORDS))

    with pytest.raises(TreeError) as caught:
        tree_of(symbols.split(), WORDS)
    assert fault is not None
    assert caught.value.message == why
    assert caught.value.message.startswith(f"symbol {fault.step + 1} of ")


def test_a_tree_has_no_fault() -> None:
    """Symbols of a tree over as many words are one."""
    assert fault_of(linear(read(SEE), keep_tags=False), len(WORDS)) is None


def test_deep_trees_are_symbols() -> None:
    """A hundred thousand brackets become symbols and come back."""
    tree = read("(NP " * 100_000 + "(NN dog)" + ")" * 100_000)

    assert tree_of(linear(tree, keep_tags=True), ["dog"]) == tree
    assert chain_length(tree) == 100_000


def test_a_small_treebank_comes_back(shared: Path) -> None:
    """Every tree of the smaller parts of MASC comes back from its symbols, raw and cleaned."""
    assert_exact(treebanks(shared, "masc/dev.mrg.gz", "masc/test.mrg.gz"))


@pytest.mark.full
def test_large_treebanks_come_back(shared: Path) -> None:
    """Every other tree of MASC and every tree of CRAFT comes back from its symbols, raw and cleaned."""
    assert_exact(treebanks(shared, "masc/train.mrg.gz", "craft/*.mrg.gz"))


@pytest.mark.parametrize(
    ("line", "length"),
    [
        ("(NP (NN dog))", 1),
        ("(TOP (S (VP (VB go) (RB now))))", 3),
        ("(TOP (S (NP (NN a)) (VP (VB b))))", 2),
        ("(S (X (NN a)) (Y (Z (NP (NN b)))))", 3),
    ],
)
def test_the_longest_chain(line: str, length: int) -> None:
    """A chain is brackets around the same words, wherever it is."""
    assert chain_length(read(line)) == length


def test_an_inventory_has_all_symbols() -> None:
    """Labels and tags are in the order of their frequency, then of the alphabet."""
    inventory = take_inventory([read(SEE), read("(S (NP (NP (PRP you)) (CC and) (PRP me)))")])

    assert inventory == Inventory(
        roots=("S", "TOP"),
        labels=("NP", "S", "TOP", "VP"),
        tags=("PRP", ".", "CC", "VBP"),
        longest_chain=2,
        longest_run=3,
    )
    assert inventory.symbols(keep_tags=False) == [
        "(NP",
        "(S",
        "(TOP",
        "(VP",
        ")NP",
        ")S",
        ")TOP",
        ")VP",
        "XX",
    ]
    assert inventory.symbols(keep_tags=True)[8:] == ["PRP", ".", "CC", "VBP"]
