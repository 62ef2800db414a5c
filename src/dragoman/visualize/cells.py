"""Text in the cells of a terminal: made harmless, measured, and cut."""

import unicodedata

from rich.cells import cell_len

__all__ = ["cell_len", "shortened", "visible"]


def visible(text: str) -> str:
    """Return a text in which what a terminal would obey, and not show, is replaced; spaces too."""
    return "".join("�" if unicodedata.category(character)[0] in "CZ" else character for character in text)


def shortened(text: str, most: int) -> str:
    """Return a text in at most so many cells, one or more; where it is cut, it ends in an ellipsis."""
    if cell_len(text) <= most:
        return text
    kept = ""
    for character in text:
        if cell_len(kept + character) > most - 1:
            break
        kept += character
    return kept + "…"
