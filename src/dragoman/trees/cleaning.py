"""Trees without what annotators add to the words: traces, function tags and indices.

A model of the surface is trained and scored without them, as is usual since Collins (1997).
"""

import re

from dragoman.trees.tree import Bracket, Leaf, Step, Tree, build, walk

EMPTY_TAG = "-NONE-"
"""The tag of empty elements: traces and other leaves that are no words of the sentence."""

_CORE = re.compile(r"[^-=|]+")


def clean(tree: Tree) -> Tree | None:
    """Return a tree without empty elements, function tags and indices, or None where no word is left.

    Constituents that are left without words go too. Of a label or tag only its core stays.
    """
    steps: list[Step] = []
    for step in walk(tree):
        if isinstance(step, Leaf):
            if step.tag != EMPTY_TAG:
                steps.append(Leaf(core(step.tag), step.word))
        elif not step.opens and isinstance(steps[-1], Bracket) and steps[-1].opens:
            steps.pop()  # nothing is left between the two brackets
        else:
            steps.append(Bracket(core(step.label), step.opens))
    cleaned = build(steps)
    return cleaned if isinstance(cleaned, Tree) else None


def core(label: str) -> str:
    """Return a label up to its first ``-``, ``=`` or ``|``: NP of NP-SBJ-1.

    A label that begins with one of them, such as -LRB-, stays whole.
    """
    found = _CORE.match(label)
    return found[0] if found else label
