"""Trees over the words of a sentence, and the walk that everything else is made of.

A walk goes through a tree depth first: a bracket opens, a word, a bracket closes. Reading, writing, cleaning
and comparing trees all handle such steps, one after the other. Nothing calls itself, so a tree may be deeper
than Python's stack.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple


class Leaf(NamedTuple):
    """A word of the sentence."""

    tag: str
    """Its part-of-speech tag."""

    word: str
    """The word as typed: ``(`` and not ``-LRB-``."""


class Bracket(NamedTuple):
    """A step of a walk: a constituent begins or ends."""

    label: str
    """The label of the constituent."""

    opens: bool
    """True where it begins."""


Step = Leaf | Bracket


class Fault(NamedTuple):
    """Why steps are no tree."""

    step: int
    """Index of the first step that no tree has there, or the number of steps where they end too early."""

    reason: str
    """What is wrong with it."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Tree:
    """A constituent: a label over words and other constituents.

    Two trees are equal if they have the same labels, tags and words in the same places.

    Raises:
        ValueError: There are no children, or a leaf among them has no tag or no word.
    """

    label: str
    """The label; empty for an outer bracket without one."""

    children: tuple["Tree | Leaf", ...]
    """What the constituent is made of, from left to right; at least one."""

    def __post_init__(self) -> None:
        if not self.children:
            raise ValueError(f"a constituent has at least one child; ({self.label} has none")
        if not all(all(child) for child in self.children if isinstance(child, Leaf)):
            raise ValueError(f"a leaf has a tag and a word; one of ({self.label} lacks them")

    def leaves(self) -> list[Leaf]:
        """Return the words of the sentence with their tags, in order."""
        return [step for step in walk(self) if isinstance(step, Leaf)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip_longest(walk(self), walk(other)))

    def __hash__(self) -> int:
        return hash(tuple(walk(self)))

    def __repr__(self) -> str:
        return f"<Tree {' '.join(_shown(step) for step in walk(self))}>"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Copy and pickle a tree as its steps, which do not nest."""
        return build, (tuple(walk(self)),)


class _Growing(NamedTuple):
    """A constituent whose bracket is open."""

    label: str
    children: list[Tree | Leaf]


def walk(tree: Tree) -> Iterator[Step]:
    """Yield the steps through a tree, depth first and from left to right."""
    ahead: list[Tree | Step] = [tree]
    while ahead:
        node = ahead.pop()
        if isinstance(node, Tree):
            yield Bracket(node.label, opens=True)
            ahead.append(Bracket(node.label, opens=False))
            ahead.extend(reversed(node.children))
        else:
            yield node


def build(steps: Iterable[Step]) -> Tree | Fault:
    """Return the tree that steps walk through, or why there is none: the inverse of ``walk``."""
    growing = [_Growing("", [])]  # the lowest is no constituent: it receives the whole tree
    num_steps = 0
    for step in steps:
        reason = _objection(step, growing)
        if reason:
            return Fault(num_steps, reason)
        num_steps += 1
        if isinstance(step, Leaf):
            growing[-1].children.append(step)
        elif step.opens:
            growing.append(_Growing(step.label, []))
        else:
            label, children = growing.pop()
            growing[-1].children.append(Tree(label, tuple(children)))
    if len(growing) > 1:
        return Fault(num_steps, _unclosed(len(growing) - 1, growing[1].label))
    for tree in growing[0].children:
        if isinstance(tree, Tree):
            return tree
    return Fault(num_steps, "there is no bracket")


def _objection(step: Step, growing: list[_Growing]) -> str:
    """Return why no tree goes on with this step, or nothing where one does."""
    label, children = growing[-1]
    outside = len(growing) == 1
    if outside and children:
        reason = "stands after the end of the tree"
    elif isinstance(step, Leaf) and outside:
        reason = "stands outside of all brackets"
    elif isinstance(step, Leaf):
        reason = "" if step.tag else "has no part-of-speech tag"
    elif step.opens:
        reason = ""
    elif outside:
        reason = "closes no bracket"
    elif step.label != label:
        reason = f"stands where ({label} must be closed"
    else:
        return "" if children else f"({label} holds neither a word nor a bracket"
    return reason and f"{_shown(step)} {reason}"


def _unclosed(num_open: int, outermost: str) -> str:
    if num_open == 1:
        return f"({outermost} is not closed"
    return f"{num_open:,} brackets are not closed, the outermost of them ({outermost}"


def _shown(step: Step) -> str:
    """Return a step as messages show it: ``(NP``, ``)NP``, ``'dog'/NN``, or ``'dog'`` without a tag."""
    if isinstance(step, Bracket):
        return f"{'(' if step.opens else ')'}{step.label}"
    return f"{step.word!r}/{step.tag}" if step.tag else repr(step.word)
