r"""Words inside brackets: how those that hold brackets themselves are written.

==========  ===================================================================================
in a file   as typed
==========  ===================================================================================
``-LRB-``   ``(``, and in the same way ``-RRB-`` ``)``, ``-LSB-`` ``[``, ``-RSB-`` ``]``,
            ``-LCB-`` ``{`` and ``-RCB-`` ``}``, anywhere in a word
``\/``      ``/``, and in the same way ``\*`` for an asterisk, ``\\`` for a backslash and ``\-``
            for a hyphen; a backslash before any other character is a backslash
==========  ===================================================================================

A word is written with the names of its brackets. A hyphen that would begin such a name, as in the typed word
``-LRB-``, gets a backslash, and so does a backslash; hence every word comes back.
"""

import re

_NAMES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_BRACKETS = {name: bracket for bracket, name in _NAMES.items()}

_TO_ESCAPE = re.compile(r"[()\[\]{}\\]|-(?=[LR][RSC]B)")
_ESCAPED = re.compile(r"-[LR][RSC]B-|\\[\\/*-]")


def escape(word: str) -> str:
    """Return a typed word as it stands in a file of trees."""
    return _TO_ESCAPE.sub(lambda found: _NAMES.get(found[0], f"\\{found[0]}"), word)


def unescape(text: str) -> str:
    """Return the typed word that stands for this text in a file of trees: the inverse of ``escape``."""
    return _ESCAPED.sub(lambda found: _BRACKETS.get(found[0], found[0][1:]), text)
