"""How parses are written: as brackets, as JSON, or drawn."""

import json
from dataclasses import dataclass
from typing import Literal

from dragoman.parser import Parse, ParsedTree
from dragoman.trees import format_tree
from dragoman.visualize import draw_tree

ParseFormat = Literal["bracket", "json", "draw"]


@dataclass(frozen=True, kw_only=True)
class ParseStyle:
    """How to write."""

    format: ParseFormat
    """The form of each tree."""

    scores: bool
    """Whether to write scores in brackets and drawings; JSON always has them."""

    several: bool
    """Whether a sentence may have several trees, which then are numbered."""

    width: int
    """Cells of a line of a drawing."""


def format_parse(parse: Parse, number: int, style: ParseStyle) -> str:
    """Return the lines of one sentence, each with its line feed.

    - ``bracket``: a line for each tree, empty where the output is none. Before it stand, each with a tab, the
      line number where there are several trees, and the score where it is wanted. A sentence without words
      has one empty tree of score 0.
    - ``json``: one JSON object, with all alternatives.
    - ``draw``: pictures, each followed by an empty line; of a sentence without words the empty line alone.

    Args:
        parse: What to write.
        number: Which line of the input it is, counted from 1.
        style: How to write it.
    """
    if style.format == "json":
        return json.dumps(_plain(parse, number), ensure_ascii=False) + "\n"
    if style.format == "draw":
        drawn = (_drawn(parse, place, number, style) for place in range(len(parse.alternatives)))
        return "\n".join(drawn) + "\n"
    found = [(one.score, _brackets(one) or "") for one in parse.alternatives] or [(0.0, "")]
    return "".join(_row(number, score, tree, style) for score, tree in found)


def _row(number: int, score: float, tree: str, style: ParseStyle) -> str:
    start = (f"{number}\t" if style.several else "") + (f"{score:.6f}\t" if style.scores else "")
    return f"{start}{tree}\n"


def _drawn(parse: Parse, place: int, number: int, style: ParseStyle) -> str:
    one = parse.alternatives[place]
    heading = [f"line {number:,}"]
    heading += [f"tree {place + 1} of {len(parse.alternatives)}"] if style.several else []
    heading += [f"score {one.score:.6f}"] if style.scores else []
    picture = f"no tree: {one.fault}" if one.tree is None else draw_tree(one.tree, style.width)
    return f"{', '.join(heading)}\n{picture}\n" if len(heading) > 1 else f"{picture}\n"


def _brackets(one: ParsedTree) -> str | None:
    return None if one.tree is None else format_tree(one.tree)


def _plain(parse: Parse, number: int) -> dict[str, object]:
    best = parse.alternatives[0] if parse.alternatives else None
    return {
        "line": number,
        "words": parse.words,
        "tree": best and _brackets(best),
        "score": best and best.score,
        "alternatives": [_plain_alternative(one) for one in parse.alternatives],
    }


def _plain_alternative(one: ParsedTree) -> dict[str, object]:
    return {
        "tree": _brackets(one),
        "score": one.score,
        "fault": one.fault,
        "symbols": one.symbols,
        "symbol_scores": one.symbol_scores,
    }
