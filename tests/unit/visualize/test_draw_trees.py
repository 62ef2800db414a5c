"""Trees drawn with characters and as SVG."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dragoman.trees import Leaf, Tree, parse_trees
from dragoman.visualize import draw_tree, tree_svg
from dragoman.visualize.trees import NARROWEST

pytestmark = pytest.mark.untraced

SVG = "{http://www.w3.org/2000/svg}"
TEXTS = st.text(min_size=1, max_size=12)
LEAVES = st.builds(Leaf, st.one_of(st.just("XX"), TEXTS), TEXTS)
NODES = st.recursive(
    LEAVES,
    lambda nodes: st.builds(Tree, st.text(max_size=6), st.lists(nodes, min_size=1, max_size=4).map(tuple)),
    max_leaves=25,
)
TREES = NODES.map(lambda node: node if isinstance(node, Tree) else Tree("TOP", (node,)))
BOAT = "(TOP (S (NP (PRP I)) (VP (VBP see) (NP (DT a) (NN boat))) (. .)))"


def tree(text: str) -> Tree:
    (numbered,) = parse_trees([text], "text")
    return numbered.tree


def deep_tree(depth: int) -> Tree:
    """A tree with a word beside each of its nested brackets."""
    nested = Tree("NP", (Leaf("NN", "end"),))
    for _ in range(depth):
        nested = Tree("NP", (Leaf("DT", "a"), nested))
    return nested


def test_a_picture_as_a_reader_sees_it() -> None:
    """Words stand in the last line, and each label in the middle above its children."""
    assert draw_tree(tree(BOAT)).split("\n") == [
        "       TOP",
        "        │",
        "        S",
        " ┌─────┬┴───────┐",
        " NP    VP       .",
        " │   ┌─┴──┐     │",
        "PRP VBP   NP    │",
        " │   │  ┌─┴─┐   │",
        " │   │  DT  NN  │",
        " │   │  │   │   │",
        " I  see a  boat .",
    ]


def test_tags_that_say_nothing_are_not_drawn() -> None:
    """Where no tag was predicted, words hang on their constituents."""
    assert draw_tree(tree("(S (NP (XX I)) (VP (XX see) (NP (XX a) (XX boat))))")).split("\n") == [
        "   S",
        "┌──┴──┐",
        "NP    VP",
        "│   ┌─┴─┐",
        "│   │   NP",
        "│   │  ┌┴─┐",
        "I  see a boat",
    ]


def test_a_wide_tree_is_indented() -> None:
    """A tree wider than the terminal has a line for each label and word."""
    assert draw_tree(tree("(TOP (NP (DT the) (NN " + "b" * 20 + ")) (. .))"), 24).split("\n") == [
        "TOP",
        "├─ NP",
        "│  ├─ DT the",
        "│  └─ NN " + "b" * 14 + "…",
        "└─ . .",
    ]


def test_what_is_nested_too_deep_follows_below() -> None:
    """Half of each line is left for labels and words; what needs more is drawn below, under its number."""
    assert draw_tree(tree("(TOP (S (NP (DT the) (NN river) (NN bridge)) (. .)))"), NARROWEST).split("\n") == [
        "TOP",
        "└─ S",
        "   ├─ NP [1]",
        "   └─ . .",
        "",
        "[1] NP",
        "├─ DT the",
        "├─ NN river",
        "└─ NN bridge",
    ]


@given(tree=TREES, width=st.integers(min_value=NARROWEST, max_value=100))
def test_no_line_is_wider_than_the_terminal(tree: Tree, width: int) -> None:
    """Whatever labels and words are, no line has more cells, and none holds what a terminal obeys."""
    lines = draw_tree(tree, width).split("\n")

    assert max(map(cell_len, lines)) <= width
    assert all(line.isprintable() for line in lines)


@given(words=st.lists(st.text(alphabet="aéΩ船😀-(", min_size=1, max_size=9), min_size=1, max_size=9))
def test_the_last_line_is_the_sentence(words: list[str]) -> None:
    """Where there is room, all words stand in the last line, in order and apart."""
    leaves = tuple(Leaf("XX", word) for word in words)

    assert draw_tree(Tree("S", leaves), 1_000).split("\n")[-1].split() == words


def test_wide_characters_keep_the_columns() -> None:
    """A character of two cells pushes what follows by two."""
    *_, joint, words = draw_tree(tree("(S (XX 船船船) (XX b))")).split("\n")

    assert (joint, words) == ("  ┌─┴──┐", "船船船 b")


@pytest.mark.parametrize("width", [NARROWEST, 80])
def test_trees_may_be_deeper_than_the_stack(width: int) -> None:
    """Three thousand nested brackets are drawn, and the picture grows no faster than the tree."""
    picture = draw_tree(deep_tree(3_000), width)

    assert picture.count("DT a") == 3_000
    assert len(picture) < 3_000 * 4 * width


def test_a_narrow_deep_tree_is_drawn_upright() -> None:
    """A chain of brackets is one column, however deep it is."""
    chain = Tree("NP", (Leaf("NN", "end"),))
    for _ in range(5_000):
        chain = Tree("NP", (chain,))
    lines = draw_tree(chain).split("\n")

    assert len(lines) == 2 * 5_003 - 1
    assert lines[-3:] == [" NN", " │", "end"]


@given(tree=TREES)
def test_svg_is_text_and_lines_alone(tree: Tree) -> None:
    """Whatever labels and words spell, the SVG is well formed and has no element that they brought in."""
    root = ElementTree.fromstring(tree_svg(tree))
    texts = root.findall(f"{SVG}text")
    words = [text for text in texts if text.get("class") == "word"]

    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        *("svg", "title", "style", "rect", "path", "text")
    }
    assert len(words) == len(tree.leaves())
    assert all(set(text.keys()) == {"class", "x", "y"} for text in texts)


def test_svg_holds_the_words_as_text() -> None:
    """Markup in a word is shown as it was typed, in the title as well."""
    word = "<script>alert('\"&')</script>"
    root = ElementTree.fromstring(tree_svg(Tree("]]></style>", (Leaf("XX", word),))))

    assert [text.text for text in root.findall(f"{SVG}text")] == ["]]></style>", word]
    assert root.findtext(f"{SVG}title") == word


def test_svg_needs_nothing_else_and_is_light_and_dark() -> None:
    """Nothing is loaded from elsewhere, and the colors follow the reader."""
    picture = tree_svg(tree(BOAT))

    assert "prefers-color-scheme: dark" in picture
    assert re.findall(r"(?:https?:)?//[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"href|url\(|@import|<script", picture)


def test_svg_is_as_large_as_what_it_holds() -> None:
    """Each text stands within the picture, and no two of a row overlap."""
    root = ElementTree.fromstring(tree_svg(tree(BOAT)))
    width, height = int(root.get("width", "")), int(root.get("height", ""))
    rows: dict[int, list[tuple[float, float]]] = {}
    for text in root.findall(f"{SVG}text"):
        half = len(text.text or "") * 9.6 / 2  # of a monospace letter of 16 px
        x, y = float(text.get("x", "")), int(text.get("y", ""))
        rows.setdefault(y, []).append((x - half, x + half))

    assert max(rows) < height
    for spans in rows.values():
        spans.sort()

        assert spans[0][0] >= 0
        assert spans[-1][1] <= width
        assert all(left[1] < right[0] for left, right in pairwise(spans))


def test_svg_of_a_deep_tree() -> None:
    """Three thousand nested brackets are no reason to fail."""
    assert tree_svg(deep_tree(3_000)).count("<text") == 3 * 3_000 + 3


def test_picture_of_the_documentation_is_up_to_date(root: Path) -> None:
    """The tree that a page shows is what the code draws."""
    assert (root / "docs/how-to/boat.svg").read_text(encoding="utf-8") == tree_svg(tree(BOAT))
