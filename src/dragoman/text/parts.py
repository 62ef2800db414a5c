"""A long text in parts that a model can read."""

from typing import NamedTuple

from dragoman.text.tokenizer import Tokenizer

_ENDS = tuple(end.encode() for end in (".", "!", "?", "…", "。", "！", "？"))
"""What a sentence ends with."""

_CHARACTERS_PER_PIECE = 4


class Part(NamedTuple):
    """A part of a text."""

    gap: str
    """The white space before it; none where a text is read as it is."""

    ids: list[int]
    """Its pieces."""

    end: str = ""
    """The white space at the end of the text, after its last part; none where it is read as it is."""

    def around(self, text: str) -> str:
        """Return what is written in place of it, with its white space."""
        return f"{self.gap}{text}{self.end}"


def cut_text(text: str, tokenizer: Tokenizer, limit: int) -> list[Part]:
    """Return a text in parts of at most so many pieces; a blank text has none.

    It is cut after the last sentence that ends in reach, else before the last word, else anywhere between two
    characters. Gaps, parts and the end, one after the other, are the text.

    Args:
        text: Any text.
        tokenizer: Cuts it into pieces.
        limit: Pieces of a part; one that is a single character may have up to five.
    """
    ids, whole, text = tokenizer.encode(text), text, text.rstrip()
    if len(ids) <= limit:
        return [Part("", ids)] if text else []
    parts: list[Part] = []
    place = 0
    while place < len(text):
        start = len(text) - len(text[place:].lstrip())
        head = _beginning(text, start, tokenizer, limit)
        parts.append(Part(text[place:start], tokenizer.encode(head)))
        place = start + len(head)
    if parts:
        parts[-1] = parts[-1]._replace(end=whole[len(text) :])
    return parts


def _beginning(text: str, start: int, tokenizer: Tokenizer, limit: int) -> str:
    """Return what comes next of a text, in no more pieces than the limit."""
    size = limit * _CHARACTERS_PER_PIECE
    ids = tokenizer.encode(text[start : start + size])
    while len(ids) <= limit and start + size < len(text):
        size *= 2
        ids = tokenizer.encode(text[start : start + size])
    if len(ids) <= limit:
        return text[start:]
    cut = _cutting_place(ids[: limit + 1], tokenizer, limit)
    while cut > 0 and not text.startswith(tokenizer.decode(ids[:cut]), start):
        cut -= 1  # it lay between two bytes of a character
    return tokenizer.decode(ids[:cut]).rstrip() or text[start]


def _cutting_place(ids: list[int], tokenizer: Tokenizer, limit: int) -> int:
    """Return where to cut: after the last end of a sentence in reach, else before the last word."""
    spelled = [tokenizer.spellings[token] for token in ids]
    starts = [i for i in range(1, len(ids)) if spelled[i].startswith(b" ")]
    ends = [i for i in starts if i > limit // 4 and b"".join(spelled[:i]).rstrip().endswith(_ENDS)]
    return (ends or starts or [limit])[-1]
