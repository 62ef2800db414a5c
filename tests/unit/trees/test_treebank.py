"""A treebank as pairs: nothing of a tree is lost, and what cannot be used is told."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import CorpusError, TreeError
from dragoman.text import Pair, check_corpus
from dragoman.trees import (
    ANY_TAG,
    ROOT,
    Leaf,
    Tree,
    clean,
    linear,
    parse_trees,
    read_treebank,
    read_trees,
    rooted,
    source_of,
    take_inventory,
    tree_of_pair,
    walk,
    with_tags_of,
    without_tags,
)
from grammar_trees import grammar_trees

pytestmark = pytest.mark.untraced  # trees have no shapes

LEAVES = st.builds(
    Leaf, st.sampled_from(["NN", "XX", "-LRB-", ",", "''"]), st.sampled_from(["a", "(", "é", "1 2"])
)
TREES = st.recursive(
    st.builds(
        Tree, st.sampled_from(["NP", ROOT, "S1", ""]), st.lists(LEAVES, min_size=1, max_size=3).map(tuple)
    ),
    lambda trees: st.builds(
        Tree,
        st.sampled_from(["S", ROOT, "ROOT", "S1", ""]),
        st.lists(trees | LEAVES, min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=8,
)


def read(line: str) -> Tree:
    return next(parse_trees([line], "a test")).tree


def words(tree: Tree) -> list[str]:
    return [leaf.word for leaf in tree.leaves()]


Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of trees."""

    def writer(text: str) -> Path:
        path = tmp_path / "trees.mrg"
        path.write_text(text, encoding="utf-8")
        return path

    return writer


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(TOP (S (NN a)))", "(TOP (S (NN a)))"),
        ("( (S (NN a)))", "(TOP (S (NN a)))"),
        ("(ROOT (S (NN a)))", "(TOP (S (NN a)))"),
        ("(S1 (S (NN a)))", "(TOP (S (NN a)))"),
        ("(S (NN a))", "(TOP (S (NN a)))"),
        ("(NN a)", "(TOP (NN a))"),
        ("( (ROOT (TOP (S (NN a)))))", "(TOP (S (NN a)))"),
        ("( (S (NN a)) (S (NN b)))", "(TOP (S (NN a)) (S (NN b)))"),
        ("(S (S1 (NN a)))", "(TOP (S (S1 (NN a))))"),
        ("(S (TOP (NP (NN a)) (NN b)) (NN c))", "(TOP (S (NP (NN a)) (NN b) (NN c)))"),
        ("(TOP (NN a) (TOP (NN b)))", "(TOP (NN a) (NN b))"),
    ],
)
def test_every_tree_gets_one_root(line: str, expected: str) -> None:
    """An outermost bracket of any usual name becomes TOP, another tree gets one, and none stands inside."""
    assert rooted(read(line)) == read(expected)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(TREES)
def test_a_root_changes_no_word_and_no_other_bracket(tree: Tree) -> None:
    """One TOP is outermost, the words stay as they are, and to give a root twice is to give it once."""
    found = rooted(tree)
    labels = [step.label for step in walk(found) if not isinstance(step, Leaf)]

    assert labels.count(ROOT) == 2
    assert labels[0] == labels[-1] == ROOT
    assert found.leaves() == tree.leaves()
    assert rooted(found) == found


@settings(max_examples=100, deadline=None, derandomize=True)
@given(TREES)
def test_tags_go_and_come_back(tree: Tree) -> None:
    """Without tags a target has one symbol for each word, and the tags of the tree make it whole again."""
    symbols = linear(tree, keep_tags=True)
    pair = Pair(source_of(words(tree)), " ".join(symbols))
    untagged = tree_of_pair(Pair(pair.source, without_tags(pair.target)))

    assert without_tags(pair.target).split(" ") == linear(tree, keep_tags=False)
    assert {leaf.tag for leaf in untagged.leaves()} == {ANY_TAG}
    assert with_tags_of(untagged, tree) == tree_of_pair(pair)


def test_tags_of_another_sentence_are_refused() -> None:
    """Trees over different numbers of words have no tags in common."""
    with pytest.raises(ValueError, match="1 words have tags"):
        with_tags_of(read("(S (NN a) (NN b))"), read("(S (NN a))"))


def test_a_word_with_spaces_stays_one_word(write: Write) -> None:
    """Spaces in a word become no-break spaces in the source, so that its words can be counted."""
    [(_, pair)] = read_treebank(write("(S (NN Xpd  TTD) (VBZ is) (-LRB- -LRB-))\n")).pairs

    assert pair.source.split(" ") == ["Xpd\N{NO-BREAK SPACE}TTD", "is", "("]
    assert pair.target == "(TOP (S NN VBZ -LRB- )S )TOP"
    assert words(tree_of_pair(pair)) == ["Xpd\N{NO-BREAK SPACE}TTD", "is", "("]


def test_trees_are_cleaned_and_numbered_by_their_first_lines(tmp_path: Path) -> None:
    """Traces and function tags go, compressed files are read, and a tree without words is a blank pair."""
    path = tmp_path / "trees.mrg.gz"
    text = (
        "\n( (S (NP-SBJ-1 (PRP I))\n   (VP (VBP see) (NP (-NONE- *T*)))))\n(S (-NONE- *))\n(FRAG (UH no))\n"
    )
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)
    treebank = read_treebank(path)
    report = check_corpus(treebank)

    assert treebank.pairs == (
        (2, Pair("I see", "(TOP (S (NP PRP )NP (VP VBP )VP )S )TOP")),
        (4, Pair("", "")),
        (5, Pair("no", "(TOP (FRAG UH )FRAG )TOP")),
    )
    assert (report.num_pairs, report.num_empty, report.first_empty_lines) == (3, 1, (4,))
    assert (treebank.unit, treebank.names, treebank.files) == ("tree", str(path), (path,))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", TreeError, r"trees\.mrg holds no tree"),
        ("# nothing\n\n", TreeError, r"trees\.mrg holds no tree"),
        ("(S (-NONE- *))\n", TreeError, r"trees\.mrg: 1 tree and not a single word"),
        ("(S (-NONE- *))\n(S (-NONE- 0))\n", TreeError, r"trees\.mrg: 2 trees and not a single word"),
        ("(S (NN a))\n(S (NN b)\n", TreeError, r"trees\.mrg, line 2: \(S is not closed"),
    ],
)
def test_a_file_without_trees_is_refused(
    write: Write, text: str, error: type[Exception], message: str
) -> None:
    """Nothing, comments, traces alone, half a tree: each is an error with its file."""
    with pytest.raises(error, match=message):
        read_treebank(write(text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """As with any text."""
    with pytest.raises(CorpusError, match=r"none\.mrg"):
        read_treebank(tmp_path / "none.mrg")


def assert_pairs_are_trees(path: Path) -> None:
    """Each pair gives the cleaned tree with its root, but for spaces in words."""
    pairs = [pair for _, pair in read_treebank(path).pairs]
    for numbered, pair in zip(read_trees(path), pairs, strict=True):
        cleaned = clean(numbered.tree)
        assert cleaned is not None
        tree = rooted(cleaned)

        assert linear(tree_of_pair(pair), keep_tags=True) == linear(tree, keep_tags=True)
        assert words(tree_of_pair(pair)) == [word.replace(" ", "\N{NO-BREAK SPACE}") for word in words(tree)]


def test_pairs_of_a_grammar_are_its_trees(write: Write) -> None:
    """Nothing of two hundred trees is lost on the way to pairs and back."""
    assert_pairs_are_trees(write("".join(f"{tree}\n" for tree in grammar_trees(200, seed=3))))


@pytest.mark.full
@pytest.mark.parametrize("name", ["craft", "masc"])
def test_pairs_of_real_treebanks_are_their_trees(shared: Path, name: str) -> None:
    """Nothing of any tree of both treebanks is lost on the way to pairs and back."""
    for path in sorted((shared / "data" / name).glob("*.mrg.gz")):
        assert_pairs_are_trees(path)


def test_grammar_trees_are_many_and_different() -> None:
    """The grammar of the tests writes no tree twice, the same for a seed, and the same labels for any."""
    trees = grammar_trees(300, seed=5)
    cleaned = [tree for line in trees if (tree := clean(read(line)))]
    inventory = take_inventory(cleaned)

    assert len(set(trees)) == len(cleaned) == 300
    assert trees == grammar_trees(300, seed=5)
    assert set(inventory.labels) == {
        *("TOP", "S", "NP", "VP", "PP", "SBAR", "WHNP", "ADVP", "PRN"),
    }
