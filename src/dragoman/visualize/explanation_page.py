"""An explanation as one HTML file: no network, no library, works from a file.

Style and script lie beside this module as files of their own. Nothing of a sentence becomes markup: texts
are data that the script puts into the page as text.
"""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from dragoman.visualize.attention_figure import head_color
from dragoman.visualize.explanation import NAMES, Explanation, Kind, Weights, shown
from dragoman.visualize.page import asset, html_page


def explanation_page(explanation: Explanation, *, about: str, first: tuple[Kind, int, Sequence[int]]) -> str:
    """Return the page.

    Args:
        explanation: What it shows.
        about: What model it is of, in words.
        first: The kind, the layer and the heads that are shown first, layer and heads from 1.
    """
    kind, layer, heads = first
    data = _data(explanation) | {
        "first": {"kind": kind, "layer": layer - 1, "heads": [head - 1 for head in heads]}
    }
    return html_page(
        f"Explained: {explanation.source}",
        [
            "<h1>How the output came about</h1>",
            f'<p class="sentence"><b>source</b><span>{escape(explanation.source)}</span></p>',
            f'<p class="sentence"><b>output</b><span>{escape(explanation.output)}</span></p>',
            f'<p class="note">{escape(about)}</p>',
            asset("explanation.html"),
            f'<script type="application/json" id="data">{_embedded(data)}</script>',
            f"<script>{asset('explanation.js')}</script>",
        ],
        style=asset("explanation.css"),
        scripted=True,
    )


def explanation_json(explanation: Explanation) -> str:
    """Return everything as one JSON object, weights from 0 to 1."""
    return json.dumps(
        {
            "source": explanation.source,
            "output": explanation.output,
            "source_pieces": explanation.source_pieces,
            "target_pieces": explanation.target_pieces,
            "attention": {
                kind: {
                    "rows": explanation.rows(kind),
                    "columns": explanation.columns(kind),
                    "weights": explanation.weights(kind).tolist(),
                }
                for kind in NAMES
            },
            "candidates": [[one._asdict() for one in found] for found in explanation.candidates],
            "beam": [node._asdict() for node in explanation.beam],
        },
        ensure_ascii=False,
    )


def _data(explanation: Explanation) -> dict[str, Any]:
    """Return what the script draws; weights are in thousandths, which keeps a page of a large model small."""
    num_heads = max(explanation.weights(kind).shape[1] for kind in NAMES)
    return {
        "colors": [head_color(head) for head in range(num_heads)],
        "kinds": {
            kind: {
                "name": name,
                "rows": [*map(shown, explanation.rows(kind))],
                "columns": [*map(shown, explanation.columns(kind))],
                "weights": thousandths(explanation.weights(kind)).tolist(),
            }
            for kind, name in NAMES.items()
        },
        "candidates": [
            {
                "written": [one.piece for one in found].index(written),
                "pieces": [(shown(one.piece), one.probability) for one in found],
            }
            for written, found in zip(explanation.target_pieces, explanation.candidates, strict=True)
        ],
        "beam": [(shown(node.piece), *node[1:]) for node in explanation.beam],
    }


def thousandths(weights: Weights) -> npt.NDArray[np.int_]:
    """Return weights in whole thousandths, rounded so that each row has the sum that it had.

    Those with the largest remainders are rounded up, as many as the sum needs.

    Args:
        weights: Of any shape; a row is the last axis, and its sum a multiple of a thousandth.
    """
    exact = weights * 1_000
    whole = np.floor(exact).astype(int)
    num_up = np.rint(exact.sum(axis=-1, keepdims=True)).astype(int) - whole.sum(axis=-1, keepdims=True)
    order = np.argsort(whole - exact, axis=-1, kind="stable").argsort(axis=-1, kind="stable")
    rounded: npt.NDArray[np.int_] = whole + (order < num_up)
    return rounded


def _embedded(data: dict[str, Any]) -> str:
    """Return JSON in which nothing can end the element that holds it."""
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
