"""How an explanation is written: for the terminal, as a page, as a figure, as numbers."""

from collections.abc import Sequence

from dragoman.errors import UsageError
from dragoman.visualize import draw_attention
from dragoman.visualize.attention_figure import View, attention_png, attention_svg
from dragoman.visualize.explanation import NAMES, Explanation, Kind, far_reaching, shown
from dragoman.visualize.explanation_page import explanation_json, explanation_page
from dragoman.visualize.terminal import LEGEND

_NUM_FAR = 5
"""Heads that are named for a word."""


def view_of(
    explanation: Explanation,
    *,
    kind: Kind | None,
    layer: int | None,
    heads: Sequence[int] | None,
    word: str | None,
) -> View:
    """Return what is to be shown, where nothing was said by choice of what tells most.

    A word without anything else is shown in the encoder's self-attention, in the layer of the head that
    reaches farthest from it.

    Raises:
        UsageError: There is no such layer, head or word.
    """
    if kind is None:
        kind = "cross" if word is None else "encoder"
    if word is not None:
        explanation.pieces_of(word, kind)
    num_layers, num_heads, *_ = explanation.weights(kind).shape
    if layer is None and word is not None and kind != "cross":
        layer = far_reaching(explanation, word, kind=kind)[0].layer
    view = View(kind, layer or max(1, num_layers - 1), tuple(heads or range(1, num_heads + 1)), word)
    if view.layer > num_layers:
        raise UsageError(
            f"--layer {layer}: the layers of this model's {NAMES[kind]} are {num_layers}",
            hint=f"name one from 1 to {num_layers}",
        )
    if max(view.heads) > num_heads:
        raise UsageError(
            f"--heads {','.join(map(str, view.heads))}: a layer of this model has {num_heads} heads",
            hint=f"name some from 1 to {num_heads}",
        )
    return view


def formatted(explanation: Explanation, view: View, format_name: str, *, about: str) -> str | bytes:
    """Return an explanation as ``text``, ``html``, ``svg``, ``json``, or as the bytes of a ``png``.

    Raises:
        MissingDependencyError: A PNG is wanted and matplotlib is not installed.
    """
    if format_name == "html":
        return explanation_page(explanation, about=about, first=(view.kind, view.layer, view.heads))
    if format_name == "svg":
        return attention_svg(explanation, view)
    if format_name == "png":
        return attention_png(explanation, view)
    if format_name == "json":
        return explanation_json(explanation) + "\n"
    return _text(explanation, view)


def far_heads(explanation: Explanation, view: View) -> str:
    """Return the heads whose attention spans farthest from the word of a view; of two sentences, nothing."""
    if view.word is None or view.kind == "cross":
        return ""
    found = far_reaching(explanation, view.word, kind=view.kind)[:_NUM_FAR]
    lines = [
        f"  layer {reach.layer}, head {reach.head}: {reach.distance:.1f} pieces on average, "
        f"most to {shown(reach.target)!r} ({reach.weight:.2f})"
        for reach in found
    ]
    return "\n".join([f"{view.kind} heads whose attention spans farthest from {view.word!r}:", *lines])


def _text(explanation: Explanation, view: View) -> str:
    """Return a picture of one layer, the mean of the heads, and a line for each piece of the output."""
    weights = explanation.weights(view.kind)[view.layer - 1][[head - 1 for head in view.heads]].mean(axis=0)
    rows, columns = explanation.rows(view.kind), explanation.columns(view.kind)
    if view.word is not None:
        places = explanation.pieces_of(view.word, view.kind)
        weights, rows = weights[places], tuple(rows[place] for place in places)
    heads = f"head {view.heads[0]}"
    if len(view.heads) > 1:
        is_whole = len(set(view.heads)) == explanation.weights(view.kind).shape[1]
        named = "all heads" if is_whole else f"heads {', '.join(map(str, view.heads))}"
        heads = f"the mean of {named}"
    lines = [
        explanation.source,
        explanation.output,
        "",
        f"{view.kind} attention, layer {view.layer}, {heads}: each row looks at the columns",
        "",
        *draw_attention([*map(shown, columns)], [*map(shown, rows)], weights.tolist()),
        "",
        LEGEND,
        "",
        "probability of each piece, and the likeliest others:",
        "",
    ]
    pieces = [shown(piece) for piece in explanation.target_pieces]
    width = max(map(len, pieces))
    for written, piece, found in zip(explanation.target_pieces, pieces, explanation.candidates, strict=True):
        [mine] = [one.probability for one in found if one.piece == written]
        others = "  ".join(
            f"{shown(one.piece)} {one.probability:.3f}" for one in found if one.piece != written
        )
        lines.append(f"  {piece:<{width}}  {mine:.3f}   {others}")
    if far := far_heads(explanation, view):
        lines += ["", far]
    return "\n".join(lines) + "\n"
