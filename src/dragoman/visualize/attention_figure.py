"""Attention of one layer as a figure for a paper: lines between two rows of words, as in Figures 3 to 5.

The figure is a list of words and lines with places; it is written as SVG here, and drawn by matplotlib where
pixels are wanted.
"""

import warnings
from collections.abc import Iterator, Sequence
from colorsys import hls_to_rgb
from html import escape
from io import BytesIO
from typing import NamedTuple

from dragoman.errors import MissingDependencyError
from dragoman.visualize.explanation import Explanation, Kind, shown

COLORS = (
    "#1f77b4",
    "#d9480f",
    "#2b8a3e",
    "#c92a2a",
    "#7048e8",
    "#8d6e63",
    "#c2255c",
    "#5c6670",
    "#868e00",
    "#0b7285",
    "#364fc7",
    "#a61e4d",
    "#087f5b",
    "#e67700",
    "#5f3dc4",
    "#495057",
)
"""Of the first heads."""

_GOLDEN_ANGLE = 137.508 / 360
"""Hues so far apart come near each other as late as can be."""


def head_color(head: int) -> str:
    """Return the color of a head, counted from 0, in the figures and on the page: one of its own."""
    if head < len(COLORS):
        return COLORS[head]
    parts = hls_to_rgb(head * _GOLDEN_ANGLE % 1, 0.42, 0.6)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


_STEP, _GAP, _MARGIN = 24, 220, 8
_LETTER = 8.5
"""Width of a letter, about, in the unit of the figure."""
_LEAST = 0.01
"""Weights below it are not drawn."""


class View(NamedTuple):
    """What of an explanation is drawn."""

    kind: Kind
    layer: int
    """From 1."""
    heads: Sequence[int]
    """From 1."""
    word: str | None = None
    """Draw the lines of this word's pieces alone."""


class _Line(NamedTuple):
    x1: float
    x2: float
    color: str
    weight: float


class _Figure(NamedTuple):
    width: float
    height: float
    top: float
    """Where the lines begin: the end of the words that look."""
    upper: list[tuple[float, str]]
    """x and text of the words that look."""
    lower: list[tuple[float, str]]
    lines: list[_Line]


def attention_svg(explanation: Explanation, view: View) -> str:
    """Return the figure as an SVG document; the words run from bottom to top, as in the paper."""
    figure = _figure(explanation, view)
    bottom = figure.top + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{figure.width:.0f}" height="{figure.height:.0f}" '
        f'viewBox="0 0 {figure.width:.0f} {figure.height:.0f}" font-family="sans-serif" font-size="14">',
        f"<title>{escape(_title(view))}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for x1, x2, color, weight in figure.lines:
        parts.append(
            f'<line x1="{x1:g}" y1="{figure.top:g}" x2="{x2:g}" y2="{bottom:g}" stroke="{color}" '
            f'stroke-width="{1 + 3 * weight:.2f}" stroke-opacity="{weight:.3f}"/>'
        )
    for words, y, anchor in ((figure.upper, figure.top - 6, "start"), (figure.lower, bottom + 6, "end")):
        parts += [
            f'<text x="{x:g}" y="{y:g}" transform="rotate(-90 {x:g} {y:g})" text-anchor="{anchor}" '
            f'dominant-baseline="central">{escape(text)}</text>'
            for x, text in words
        ]
    return "".join([*parts, "</svg>\n"])


def attention_png(explanation: Explanation, view: View, *, dots_per_inch: int = 200) -> bytes:
    """Return the figure as a PNG image.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "a PNG image needs matplotlib, which is not installed",
            hint="install it with 'pip install \"dragoman[plots]\"', or write SVG",
        ) from error
    drawn = _figure(explanation, view)
    figure = Figure(figsize=(drawn.width / 72, drawn.height / 72), dpi=dots_per_inch)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, drawn.width)
    axes.set_ylim(drawn.height, 0)
    axes.set_axis_off()
    bottom = drawn.top + _GAP
    for x1, x2, color, weight in drawn.lines:
        axes.plot([x1, x2], [drawn.top, bottom], color=color, alpha=weight, linewidth=1 + 3 * weight)
    for words, y, end in ((drawn.upper, drawn.top - 6, "bottom"), (drawn.lower, bottom + 6, "top")):
        for x, text in words:
            axes.text(x, y, text, rotation=90, ha="center", va=end, fontsize=13, parse_math=False)
    buffer = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="Glyph"
        )  # a character that the font lacks is drawn as a box
        FigureCanvasAgg(figure).print_png(buffer)  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def _figure(explanation: Explanation, view: View) -> _Figure:
    rows, columns = (
        [shown(piece) for piece in pieces]
        for pieces in (explanation.rows(view.kind), explanation.columns(view.kind))
    )
    top, below = (_LETTER * max(map(len, words)) + 2 * _MARGIN for words in (rows, columns))
    return _Figure(
        width=_STEP * max(len(rows), len(columns)) + 2 * _MARGIN,
        height=top + _GAP + below,
        top=top,
        upper=[(_place(i), word) for i, word in enumerate(rows)],
        lower=[(_place(i), word) for i, word in enumerate(columns)],
        lines=list(_lines(explanation, view)),
    )


def _lines(explanation: Explanation, view: View) -> Iterator[_Line]:
    weight_HQM = explanation.weights(view.kind)[view.layer - 1]
    chosen = None if view.word is None else set(explanation.pieces_of(view.word, view.kind))
    for head in view.heads:
        color = head_color(head - 1)
        for query, row in enumerate(weight_HQM[head - 1].tolist()):
            if chosen is not None and query not in chosen:
                continue
            for place, weight in enumerate(row):
                if weight >= _LEAST:
                    yield _Line(_place(query), _place(place), color, weight)


def _place(index: int) -> float:
    return _MARGIN + _STEP * (index + 0.5)


def _title(view: View) -> str:
    heads = ", ".join(map(str, view.heads))
    word = "" if view.word is None else f", the word {view.word}"
    return f"{view.kind} attention, layer {view.layer}, heads {heads}{word}"
