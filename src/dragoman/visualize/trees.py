"""Trees drawn with characters, for any terminal, and as SVG, for pages.

The words stand in a row below, and each label in the middle above its children. A tree that is wider than
the terminal is indented instead. Nothing calls itself, so a tree may be deeper than Python's stack.
"""

import unicodedata
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from dragoman.trees import ANY_TAG, Leaf, Tree, walk
from dragoman.visualize.cells import cell_len, shortened, visible

NARROWEST = 16
"""Cells of a line below which no width goes."""

_NO_LABEL = "·"
_DOTTED_CIRCLE = "\N{DOTTED CIRCLE}"

_INDENT = 3
_CELL, _ROW = 10, 44
"""Units of the SVG from one cell, and from one row, to the next."""
_MARGIN = 16
_BASELINE = 22
"""From the top of a row to the line its text stands on."""
_ABOVE, _BELOW = 16, 6
"""What an edge leaves free above and below that line."""

_STYLE = """\
.dragoman-tree { background: #ffffff; font: 16px monospace; }
.dragoman-tree rect { fill: #ffffff; }
.dragoman-tree path { stroke: #8c959f; fill: none; }
.dragoman-tree text { fill: #0550ae; text-anchor: middle; }
.dragoman-tree .word { fill: #1f2328; }
@media (prefers-color-scheme: dark) {
.dragoman-tree { background: #0d1117; }
.dragoman-tree rect { fill: #0d1117; }
.dragoman-tree path { stroke: #6e7681; }
.dragoman-tree text { fill: #79c0ff; }
.dragoman-tree .word { fill: #e6edf3; }
}
"""


class _Mark(NamedTuple):
    """A label, a tag or a word, before it has a place."""

    text: str
    row: int
    """How many brackets are open above it; of a word it means nothing."""
    parent: int
    """Index of the mark it hangs on; -1 of the root."""
    is_word: bool


@dataclass(frozen=True)
class _Placed:
    """A label, a tag or a word in its place."""

    text: str
    cells: int
    row: int
    """From 0 at the root; all words are in the last one."""
    start: int
    """Its first cell."""
    center: int
    """The cell in which lines meet it."""
    children: tuple[int, ...]
    """Indices of the marks that hang on it; none on a word."""


def draw_tree(tree: Tree, width: int = 80) -> str:
    """Return a picture of a tree: lines of characters without color, parted by line feeds.

    Where it is too wide, each label and word gets a line of its own, indented below its constituent, and a
    text that does not fit is cut. What is nested too deep for that follows below, under a number.
    The tag ``XX``, which says nothing, is not drawn, and characters that a terminal obeys are replaced.

    Args:
        tree: Any tree.
        width: Cells of a line; no line has more. Below ``NARROWEST`` it is taken for ``NARROWEST``.
    """
    width = max(width, NARROWEST)
    placed = _placed(tree, gap=1)
    needed = max(mark.start + mark.cells for mark in placed)
    return "\n".join(_upright(placed) if needed <= width else _indented(tree, width))


def tree_svg(tree: Tree) -> str:
    """Return a picture of a tree as SVG, which a page may hold and a file may be.

    It needs nothing else, has the words of the sentence as its title, and is light or dark as the reader
    prefers. Whatever labels and words hold is text and nothing else.
    """
    placed = _placed(tree, gap=2)
    middles = [_MARGIN + (2 * mark.start + mark.cells) * _CELL // 2 for mark in placed]
    baselines = [_MARGIN + _BASELINE + mark.row * _ROW for mark in placed]
    texts, edges = [], []
    for mark, x, y in zip(placed, middles, baselines, strict=True):
        kind = "label" if mark.children else "word"
        texts.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(mark.text)}</text>')
        edges += [
            f"M{x} {y + _BELOW}L{middles[child]} {baselines[child] - _ABOVE}" for child in mark.children
        ]
    width = 2 * _MARGIN + max(mark.start + mark.cells for mark in placed) * _CELL
    height = _MARGIN + _BASELINE + _MARGIN + max(mark.row for mark in placed) * _ROW
    sentence = escape(" ".join(_shown(leaf.word) for leaf in tree.leaves()))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="dragoman-tree" role="img" '
            f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
            f"<title>{sentence}</title>",
            f"<style>\n{_STYLE}</style>",
            '<rect width="100%" height="100%"/>',
            f'<path d="{"".join(edges)}"/>',
            *texts,
            "</svg>\n",
        ]
    )


def _shown(text: str) -> str:
    """Return a label, tag or word as it can be drawn: at least one cell, nothing that joins its neighbor."""
    drawn = " ".join(map(visible, text.split(" "))) or _NO_LABEL
    return _DOTTED_CIRCLE + drawn if unicodedata.category(drawn[0])[0] == "M" else drawn


def _marks(tree: Tree) -> list[_Mark]:
    """Return all labels, tags and words; a parent stands before its children, words stand in order."""
    marks: list[_Mark] = []
    above = [-1]
    for step in walk(tree):
        if isinstance(step, Leaf):
            parent = above[-1]
            if step.tag != ANY_TAG:
                marks.append(_Mark(_shown(step.tag), len(above) - 1, parent, is_word=False))
                parent = len(marks) - 1
            marks.append(_Mark(_shown(step.word), 0, parent, is_word=True))
        elif step.opens:
            marks.append(_Mark(_shown(step.label), len(above) - 1, above[-1], is_word=False))
            above.append(len(marks) - 1)
        else:
            above.pop()
    return marks


def _placed(tree: Tree, gap: int) -> list[_Placed]:
    """Return all labels, tags and words in their places, a parent before its children.

    Args:
        tree: Any tree.
        gap: Cells that stay free between words.
    """
    marks = _marks(tree)
    cells = [cell_len(mark.text) for mark in marks]
    children: list[list[int]] = [[] for _ in marks]
    for i, mark in enumerate(marks[1:], start=1):
        children[mark.parent].append(i)
    spans = _spans(marks, children)
    starts, ends = _columns(cells, spans, gap)
    last_row = 1 + max(marks[mark.parent].row for mark in marks if mark.is_word)
    centers = [0] * len(marks)
    placed: list[_Placed] = []
    for i in range(len(marks) - 1, -1, -1):
        left, right = starts[spans[i][0]], ends[spans[i][1]]
        below = children[i]
        edges = (centers[below[0]], centers[below[-1]]) if below else (left, right - 1)
        centers[i] = sum(edges) // 2
        start = max(left, min(centers[i] - (cells[i] - 1) // 2, right - cells[i]))
        row = last_row if marks[i].is_word else marks[i].row
        placed.append(_Placed(marks[i].text, cells[i], row, start, centers[i], tuple(below)))
    return placed[::-1]


def _spans(marks: list[_Mark], children: list[list[int]]) -> list[tuple[int, int]]:
    """Return the numbers of the first and the last word below each mark, or of the word itself."""
    spans = [(0, 0)] * len(marks)
    word = sum(mark.is_word for mark in marks)
    for i in range(len(marks) - 1, -1, -1):
        if marks[i].is_word:
            word -= 1
            spans[i] = (word, word)
        else:
            spans[i] = (spans[children[i][0]][0], spans[children[i][-1]][1])
    return spans


def _columns(cells: list[int], spans: list[tuple[int, int]], gap: int) -> tuple[list[int], list[int]]:
    """Return where the column of each word starts and ends: wide enough for all that stands above it."""
    num_words = spans[0][1] + 1
    widths = [1] * num_words
    ending: list[list[int]] = [[] for _ in range(num_words)]
    for i, (first, last) in enumerate(spans):
        if first == last:
            widths[last] = max(widths[last], cells[i])
        else:
            ending[last].append(i)
    starts, ends = [0] * num_words, [0] * num_words
    cursor = 0
    for word in range(num_words):
        starts[word] = cursor
        needed = (starts[spans[i][0]] + cells[i] for i in ending[word])
        ends[word] = max(cursor + widths[word], *needed, 0)
        cursor = ends[word] + gap
    return starts, ends


def _upright(placed: list[_Placed]) -> list[str]:
    """Return the picture with the words in its last line."""
    lines: list[list[tuple[int, str]]] = [[] for _ in range(2 * placed[-1].row + 1)]
    for mark in placed:
        lines[2 * mark.row].append((mark.start, mark.text))
        if not mark.children:
            continue
        centers = [placed[child].center for child in mark.children]
        lines[2 * mark.row + 1].append((centers[0], _joint(centers, mark.center)))
        for child in mark.children:
            for between in range(2 * mark.row + 2, 2 * placed[child].row):
                lines[between].append((placed[child].center, "│"))
    return [_line(parts) for parts in lines]


def _joint(centers: list[int], above: int) -> str:
    """Return the line between a label and its children, from the first of them to the last."""
    if len(centers) == 1:
        return "│"
    first, last = centers[0], centers[-1]
    drawn = ["─"] * (last - first + 1)
    for center in centers:
        drawn[center - first] = "┬"
    drawn[0], drawn[-1] = "┌", "┐"
    drawn[above - first] = "┼" if drawn[above - first] == "┬" else "┴"
    return "".join(drawn)


def _line(parts: list[tuple[int, str]]) -> str:
    """Return one line of texts, each of which begins in its cell."""
    line, position = [], 0
    for start, text in sorted(parts):
        line.append(" " * (start - position) + text)
        position = start + cell_len(text)
    return "".join(line)


class _Branch(NamedTuple):
    """A part of a tree that is still to be drawn."""

    node: Tree | Leaf
    before: str
    """What stands before it on its line."""
    below: str
    """What stands before its children, ahead of their own branches."""


def _indented(tree: Tree, width: int) -> list[str]:
    """Return the picture with a line for each label and word."""
    deepest = width // (2 * _INDENT)  # half of the line stays for labels and words
    lines: list[str] = []
    parts = [tree]
    for number, part in enumerate(parts):  # it grows meanwhile
        lines += [""] if number else []
        ahead = [_Branch(part, f"[{number}] " if number else "", "")]
        while ahead:
            branch = ahead.pop()
            if isinstance(branch.node, Leaf) or len(branch.below) < _INDENT * deepest:
                text, mark = _shown_node(branch.node), ""
                ahead.extend(reversed(_branches(branch)))
            else:
                text, mark = _shown_node(branch.node), f" [{len(parts)}]"
                parts.append(branch.node)
            room = width - len(branch.before) - len(mark)
            lines.append(f"{branch.before}{shortened(text, max(1, room))}{mark}")
    return lines


def _shown_node(node: Tree | Leaf) -> str:
    """Return the text of a line of the indented picture."""
    if isinstance(node, Tree):
        return _shown(node.label)
    return _shown(node.word) if node.tag == ANY_TAG else f"{_shown(node.tag)} {_shown(node.word)}"


def _branches(branch: _Branch) -> list[_Branch]:
    """Return what hangs on a part of a tree."""
    if isinstance(branch.node, Leaf):
        return []
    *others, last = branch.node.children
    return [
        *(_Branch(child, f"{branch.below}├─ ", f"{branch.below}│  ") for child in others),
        _Branch(last, f"{branch.below}└─ ", f"{branch.below}   "),
    ]
