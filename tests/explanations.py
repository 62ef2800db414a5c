"""Explanations made by hand, whose weights are known."""

from collections.abc import Sequence

import numpy as np

from dragoman.visualize.explanation import BeamNode, Candidate, Explanation, Weights


def uniform(layers: int, heads: int, rows: int, columns: int) -> Weights:
    return np.full((layers, heads, rows, columns), 1 / columns, np.float32)


def made(
    source: Sequence[str],
    target: Sequence[str],
    *,
    encoder: Weights | None = None,
    cross: Weights | None = None,
    layers: int = 2,
    heads: int = 3,
) -> Explanation:
    """Return an explanation of these pieces, ends included, all of whose weights are alike unless given."""
    s, t = len(source), len(target)
    beam = [BeamNode(piece, place - 1, -0.1 * place, None) for place, piece in enumerate(target[:-1])]
    return Explanation(
        source="".join(source[:-1]).replace("▁", " ").strip(),
        output="".join(target[:-1]).replace("▁", " ").strip(),
        source_pieces=tuple(source),
        target_pieces=tuple(target),
        encoder=uniform(layers, heads, s, s) if encoder is None else encoder,
        decoder=uniform(layers, heads, t, t),
        cross=uniform(layers, heads, t, s) if cross is None else cross,
        candidates=tuple((Candidate(piece, 0.75), Candidate("▁other", 0.125)) for piece in target),
        beam=(*beam, BeamNode("</s>", len(beam) - 1, -0.5, 1)),
    )
