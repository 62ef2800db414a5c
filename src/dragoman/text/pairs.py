"""A pair: one source text and its translation."""

from typing import NamedTuple


class Pair(NamedTuple):
    """One source text and its translation; neither holds a line feed."""

    source: str
    target: str
