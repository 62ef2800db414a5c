"""How translations are written: as lines of text, as JSON, or as Moses writes its n-best lists."""

import json
from typing import Literal

from dragoman.errors import UsageError
from dragoman.translator import Alternative, Translation

Format = Literal["text", "jsonl", "moses"]

_BARS, _ESCAPED_BARS = "|||", "&#124;&#124;&#124;"


def choose_format(wanted: Format | None, num_results: int, *, numbered: bool = False) -> Format:
    """Return how to write: as wanted, else text, or Moses's form where there are several translations.

    Args:
        wanted: The format that was asked for, if one was.
        num_results: Translations of each line.
        numbered: Whether lines come in any order, so that each must tell its number.

    Raises:
        UsageError: Several translations of each line, or lines in any order, are to be written as text.
    """
    several = num_results > 1
    if several and wanted == "text":
        raise UsageError(
            f"{num_results} translations of each line and --format text: text has one for each",
            hint="use --format moses or --format jsonl",
        )
    chosen = wanted or ("moses" if several else "text")
    if numbered and chosen == "text":
        raise UsageError(
            "--order any and --format text: nothing would tell which line a translation belongs to",
            hint="use --format jsonl or --format moses",
        )
    return chosen


def format_translation(translation: Translation, number: int, format: Format, *, scores: bool) -> str:  # noqa: A002
    r"""Return the lines of one translation, each with its line feed.

    - ``text``: the best translation, one line; with ``scores``, score and tab before it.
    - ``jsonl``: one JSON object, with all alternatives.
    - ``moses``: a line ``number ||| text ||| score`` for each alternative. Where a text holds three bars,
      they are written ``&#124;&#124;&#124;``, Moses's own spelling; nothing else is changed.

    A line feed within a translation, which a model can produce, becomes a space, except in JSON, which
    writes it ``\n``.

    Args:
        translation: What to write.
        number: Which line of the input it is, counted from 1; Moses counts from 0.
        format: How to write it.
        scores: Whether to write the score in ``text``; the others always do.
    """
    if format == "jsonl":
        return json.dumps(_plain(translation, number), ensure_ascii=False) + "\n"
    if format == "moses":
        return "".join(
            f"{number - 1} ||| {one_line(one.text).replace(_BARS, _ESCAPED_BARS)} ||| {one.score:.6f}\n"
            for one in translation.alternatives
        )
    start = f"{translation.score:.6f}\t" if scores else ""
    return f"{start}{one_line(translation.text)}\n"


def one_line(text: str) -> str:
    """Return a text without line feeds."""
    return text.replace("\n", " ")


def _plain(translation: Translation, number: int) -> dict[str, object]:
    return {
        "line": number,
        "source": translation.source,
        "translation": translation.text,
        "score": translation.score,
        "num_source_pieces": translation.num_source_pieces,
        "num_parts": translation.num_parts,
        "alternatives": [_plain_alternative(one) for one in translation.alternatives],
    }


def _plain_alternative(alternative: Alternative) -> dict[str, object]:
    return {
        "translation": alternative.text,
        "score": alternative.score,
        "finished": alternative.finished,
        "pieces": alternative.pieces,
        "piece_scores": alternative.piece_scores,
    }
