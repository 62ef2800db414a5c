"""Files of trees: what is read from them, what is refused, and what is written."""

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest

from dragoman.errors import CorpusError, TreeError
from dragoman.trees import BadTree, Leaf, NumberedTree, Tree, format_tree, parse_trees, read_trees, scan_trees
from dragoman.trees.escapes import escape, unescape

pytestmark = pytest.mark.untraced  # trees have no shapes

SEE = "(S (NP (PRP I)) (VP (VBP see)))"
GO = "(S (NP (PRP They)) (VP (VBP go)))"


def trees(*lines: str) -> list[NumberedTree]:
    return list(parse_trees(lines, "trees.mrg"))


def texts(found: Iterable[NumberedTree]) -> list[str]:
    return [format_tree(numbered.tree) for numbered in found]


def reason(*lines: str) -> str:
    with pytest.raises(TreeError) as caught:
        trees(*lines)
    return caught.value.message


def cases(shared: Path, name: str) -> Path:
    return next((shared / "cases").glob(f"{name}-*"))


def test_one_tree_a_line() -> None:
    """Each line is a tree, which is written as it was read."""
    found = trees(SEE, GO)

    assert [numbered.line for numbered in found] == [1, 2]
    assert texts(found) == [SEE, GO]


@pytest.mark.parametrize(
    "lines",
    [
        ["( (S", "    (NP (PRP I))", "    (VP (VBP see)) ))"],
        ["(", " (S (NP", "  (PRP", "   I) ) (VP (VBP see)", "  )", "  )", ")"],
        ["  (", "\t   (S (NP (PRP I))", "", "# a comment", "      ( VP (VBP see ))))"],
    ],
)
def test_a_tree_over_many_lines(lines: list[str]) -> None:
    """Lines that are indented, or that begin with a closing bracket, go on with the tree above them."""
    found = trees(*lines, GO)

    assert [numbered.line for numbered in found] == [1, len(lines) + 1]
    assert texts(found) == [f"( {SEE})", GO]


@pytest.mark.parametrize("outer", ["", "TOP", "ROOT", "S1"])
def test_the_outer_bracket_is_kept(outer: str) -> None:
    """An outer bracket is part of the tree, with its label or without one."""
    assert trees(f"({outer} {SEE})")[0].tree == Tree(outer, (trees(SEE)[0].tree,))


def test_a_lone_word_gets_an_outer_bracket() -> None:
    """A word in brackets of its own is a tree too."""
    assert trees("(UH Yes)") == [NumberedTree(1, Tree("", (Leaf("UH", "Yes"),)))]


def test_comments_and_blank_lines_are_no_trees() -> None:
    """They are skipped, and lines keep their numbers."""
    found = trees("", "# made by hand", SEE, "  \t", "%% more", "; more", "*x*x*x*", GO)

    assert [numbered.line for numbered in found] == [3, 8]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("-LRB-", "("),
        ("-RRB-", ")"),
        ("-LSB-", "["),
        ("[", "["),
        ("-RSB-", "]"),
        ("-LCB-", "{"),
        ("-RCB-", "}"),
        ("a-LRB-b-RRB-", "a(b)"),
        (r"1\/2", "1/2"),
        ("1/2", "1/2"),
        (r"\*", "*"),
        (r"\\", "\\"),
        (r"C:\dir", r"C:\dir"),
        (r"\-LRB-", "-LRB-"),
        ("-lrb-", "-lrb-"),
        ("--LRB-", "-("),
    ],
)
def test_escapes_in_words(text: str, word: str) -> None:
    """A word comes back as it was typed."""
    assert trees(f"(S (X {text}))")[0].tree.leaves() == [Leaf("X", word)]
    assert unescape(escape(word)) == word


def test_labels_and_tags_are_names() -> None:
    """Escapes are for words; the tag -LRB- stays what it is."""
    assert trees("(PRN (-LRB- -LRB-) (NN a))")[0].tree.leaves()[0] == Leaf("-LRB-", "(")


def test_blanks_around_and_inside_words() -> None:
    """Blanks within a word are one space each; other white space is as typed, and ends no line."""
    assert trees("(NP (CD 3\u00a0000) (NN\thot", "  dog ) (X a\u2028b\rc))")[0].tree.leaves() == [
        Leaf("CD", "3\u00a0000"),
        Leaf("NN", "hot dog"),
        Leaf("X", "a\u2028b\rc"),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("(TOP (S (NP (NN a)) (VP (VB b)))", "(TOP is not closed"),
        ("(S (NP (NN a)", "2 brackets are not closed, the outermost of them (S"),
        ("(S (NP (NN a))))", ") stands after the end of the tree"),
        ("(S (NP ) (VP (VB b)))", "(NP holds neither a word nor a bracket"),
        ("a b c", "'a' stands outside of all brackets"),
        ("(TOP)", "(TOP holds neither a word nor a bracket"),
        ("()", "( holds neither a word nor a bracket"),
        (f"{SEE} trailing", "'trailing' stands after the end of the tree"),
        (f"{SEE} {GO}", "(S stands after the end of the tree"),
        ("(NP (DT the) dog)", "'dog' has no part-of-speech tag"),
        ("(NP hot dog (NN stand))", "'hot' has no part-of-speech tag"),
    ],
)
def test_what_is_no_tree_is_told(line: str, why: str) -> None:
    """The message has file, line and reason, and the trees around are read."""
    found = list(scan_trees([SEE, "", line, GO], "trees.mrg"))

    assert reason(SEE, "", line, GO) == f"trees.mrg, line 3: {why}"
    assert [(type(each), each.line) for each in found] == [(NumberedTree, 1), (BadTree, 3), (NumberedTree, 4)]


def test_a_closing_bracket_is_no_tree() -> None:
    """One that opens nothing is told."""
    assert reason(")", SEE) == "trees.mrg, line 1: ) closes no bracket"


def test_a_fault_has_its_own_line() -> None:
    """In a tree over many lines, the message names the line of the fault and that of the tree."""
    assert reason("", "(S", "  (NP (PRP I))", "", "  (VP ))") == (
        "trees.mrg, line 5: (VP holds neither a word nor a bracket (the tree begins in line 2)"
    )


def test_an_unclosed_tree_spoils_itself_alone() -> None:
    """An extra bracket further down does not close it."""
    found = list(scan_trees([SEE[:-1], f"{GO})", GO], "trees.mrg"))

    assert [type(each) for each in found] == [BadTree, BadTree, NumberedTree]


def test_a_file_may_be_compressed(tmp_path: Path) -> None:
    """Files are opened as any text."""
    path = tmp_path / "trees.gz"
    path.write_bytes(gzip.compress(f"\ufeff{SEE}\r\n{GO}".encode()))

    assert texts(read_trees(path)) == [SEE, GO]


@pytest.mark.parametrize("content", ["", "\n# nothing\n"])
def test_a_file_without_trees_is_refused(tmp_path: Path, content: str) -> None:
    """The message says so."""
    path = tmp_path / "trees.mrg"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(TreeError, match=r"trees\.mrg holds no tree"):
        list(read_trees(path))


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    """The rules of UTF-8 are those of any text."""
    path = tmp_path / "trees.mrg"
    path.write_bytes(b"(NP (NN b\xfccher))\n")

    with pytest.raises(CorpusError, match="line 1: byte 10 of the line is 0xFC"):
        list(read_trees(path))


def test_deep_trees_are_read_and_written() -> None:
    """A hundred thousand brackets in a line are no trouble, closed or not."""
    line = "(NP " * 100_000 + "(NN dog)" + ")" * 100_000

    assert texts(trees(line)) == [line]
    assert reason(line[:-2]).endswith("2 brackets are not closed, the outermost of them (NP")


@pytest.mark.parametrize(
    "tree",
    [
        Tree("N P", (Leaf("NN", "dog"),)),
        Tree("NP", (Leaf("(", "dog"),)),
        Tree("NP", (Leaf("NN", "hot  dog"),)),
        Tree("NP", (Leaf("NN", " dog"),)),
        Tree("NP", (Leaf("NN", "hot\tdog"),)),
        Tree("NP", (Leaf("NN", "dog\n"),)),
    ],
)
def test_what_cannot_be_read_is_not_written(tree: Tree) -> None:
    """Brackets in names, blanks around words and more than one between them would not come back."""
    with pytest.raises(ValueError, match="cannot stand in a file of trees"):
        format_tree(tree)


def test_case_parentheses(shared: Path) -> None:
    """S56: trees over words that are brackets, or names of brackets, come back."""
    lines = (cases(shared, "S56") / "tokens.txt").read_text(encoding="utf-8").splitlines()
    flat = [Tree("TOP", tuple(Leaf("X", word) for word in line.split(" "))) for line in lines]
    written = [format_tree(tree) for tree in flat]

    assert [numbered.tree for numbered in trees(*written)] == flat
    assert written[3] == "(TOP (X -LRB-) (X -LRB-) (X -LRB-))"


@pytest.mark.parametrize("name", ["S57-one-token/trees.txt", "S58-leaves-do-not-match/gold.txt"])
def test_case_small_trees(shared: Path, name: str) -> None:
    """S57 and S58: trees with one word, and gold trees, are read and written as they are."""
    path = shared / "cases" / name

    assert texts(read_trees(path)) == path.read_text(encoding="utf-8").splitlines()


def test_case_bad_trees(shared: Path) -> None:
    """S59: line 1 is read, the blank line 5 is none, and each other line is told with its reason."""
    lines = (cases(shared, "S59") / "trees.txt").read_text(encoding="utf-8").splitlines()
    found = list(scan_trees(lines, "trees.txt"))

    assert [numbered.line for numbered in found] == [1, 2, 3, 4, 6, 7, 8, 9]
    assert [isinstance(numbered, BadTree) for numbered in found] == [False] + [True] * 7
