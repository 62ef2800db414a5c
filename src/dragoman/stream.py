"""Texts as they come: in windows, and each with how its translation begins."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def in_windows(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield items in lists of ``size``, the last one shorter; no item is read before it is needed.

    What came before an error is handed over first, so that what comes does not depend on the size.
    """
    window: list[Item] = []
    try:
        for item in items:
            window.append(item)
            if len(window) >= size:
                yield window
                window = []
    except Exception:
        if window:
            yield window
        raise
    if window:
        yield window


def with_prefixes(texts: Iterable[str], prefixes: Iterable[str] | None) -> Iterator[tuple[str, str]]:
    """Yield each text with how its translation begins; without prefixes, all may begin as they like.

    Raises:
        ValueError: There are fewer prefixes than texts, or more; what came before was yielded.
    """
    if prefixes is None:
        yield from ((text, "") for text in texts)
        return
    following, num_texts = iter(prefixes), 0
    for text in texts:
        prefix = next(following, None)
        if prefix is None:
            raise ValueError(
                f"{num_texts} prefixes of {num_texts + 1} or more texts; each has one, or none has"
            )
        num_texts += 1
        yield text, prefix
    if next(following, None) is not None:
        raise ValueError(f"{num_texts + 1} or more prefixes of {num_texts} texts; each has one, or none has")


def refuse_one_text(**given: object) -> None:
    """Refuse a text where several are needed, which would be taken apart into letters.

    Raises:
        TypeError: One of the arguments, given by name, is a text.
    """
    for name, value in given.items():
        if isinstance(value, str):
            raise TypeError(f"{name} must be a list of texts, not one text")
