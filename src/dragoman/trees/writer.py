"""Trees as text: one tree a line, which the reader gives back as it was."""

import re

from dragoman.trees.escapes import escape
from dragoman.trees.tree import Leaf, Tree, walk

_NO_NAME = re.compile(r"[ \t\n()]")
_NO_WORD = re.compile(r"[\t\n]|  |^ | $")


def format_tree(tree: Tree) -> str:
    """Return a tree as one line of Penn brackets; brackets in words are escaped.

    Raises:
        ValueError: A label or tag holds a blank or a bracket, or a word holds more than single spaces
            between other characters.
    """
    parts = []
    for step in walk(tree):
        if isinstance(step, Leaf):
            parts.append(f" ({_checked(step.tag, _NO_NAME)} {_checked(escape(step.word), _NO_WORD)})")
        else:
            parts.append(f" ({_checked(step.label, _NO_NAME)}" if step.opens else ")")
    return "".join(parts)[1:]


def _checked(text: str, forbidden: re.Pattern[str]) -> str:
    if forbidden.search(text):
        raise ValueError(f"{text!r} cannot stand in a file of trees: blanks or brackets in it would be lost")
    return text
