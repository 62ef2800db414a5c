"""Files of Penn brackets: each tree on a line of its own, or over many lines.

A tree begins where a line begins. Lines that are indented deeper than its first one, or that begin with a
closing bracket, belong to it; so a tree that is not closed spoils itself and not the one after it. Blank
lines and comments (``#``, ``%``, ``;`` or ``*x*`` in the first column) are skipped.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from dragoman.errors import TreeError
from dragoman.text import display_name, read_lines
from dragoman.trees.escapes import unescape
from dragoman.trees.tree import Bracket, Fault, Leaf, Step, Tree, build

_BLANK = " \t"
_COMMENTS = ("#", "%", ";", "*x*")
_GAP = r"[ \t\n]"
_TEXT = r"[^ \t\n()]+"
_TOKEN = re.compile(
    rf"""\( {_GAP}* (?P<tag> {_TEXT} ) {_GAP}+ (?P<word> {_TEXT} (?: {_GAP}+ {_TEXT} )* ) {_GAP}* \)
       | \( {_GAP}* (?P<label> (?: {_TEXT} )? )
       | \)
       | (?P<stray> {_TEXT} )""",
    re.VERBOSE,
)
_GAPS = re.compile(f"{_GAP}+")

_MAX_TOLD = 8
"""How many things that are no trees one message describes."""


class NumberedTree(NamedTuple):
    """A tree and its place in a file."""

    line: int
    """Number of the line in which its first bracket stands, from 1."""

    tree: Tree
    """The tree."""


class BadTree(NamedTuple):
    """What stands in a file where a tree should, and is none."""

    line: int
    """Number of its first line, from 1."""

    error: TreeError
    """What is wrong with it, with file and line."""

    leaves: tuple[Leaf, ...] = ()
    """The words in it that have a tag."""


def read_trees(path: Path | str) -> Iterator[NumberedTree]:
    """Yield the trees of a file in order.

    The file is read as any text: UTF-8, plain or compressed by gzip, ``-`` for standard input.

    Raises:
        CorpusError: The file cannot be read or is not UTF-8.
        TreeError: Something is no tree, or the file holds none; as ``parse_trees``.
    """
    numbered = None
    for numbered in parse_trees(read_lines(path), display_name(path)):
        yield numbered
    if numbered is None:
        raise TreeError(
            f"{display_name(path)} holds no tree",
            hint="name a file of trees such as (S (NP (PRP I)) (VP (VBP see)))",
        )


def parse_trees(lines: Iterable[str], name: str) -> Iterator[NumberedTree]:
    """Yield the trees in lines of text, up to the first thing that is none; then read on to find all such.

    Args:
        lines: The lines without their ends.
        name: What messages call them, such as the path of their file.

    Raises:
        TreeError: Something is no tree; the message names the line and the reason, of several things of each.
    """
    errors = []
    for found in scan_trees(lines, name):
        if isinstance(found, BadTree):
            errors.append(found.error)
        elif not errors:
            yield found
    if len(errors) == 1:
        raise errors[0]
    if errors:
        told = [f"  {error.message}" for error in errors[:_MAX_TOLD]]
        more = [f"  and {len(errors) - _MAX_TOLD:,} more"] if len(errors) > _MAX_TOLD else []
        raise TreeError(
            "\n".join([f"{len(errors):,} trees cannot be read", *told, *more]), hint=errors[0].hint
        )


def scan_trees(lines: Iterable[str], name: str) -> Iterator[NumberedTree | BadTree]:
    """Yield the trees in lines of text and, where something is none, what is wrong; then read on.

    Args:
        lines: The lines without their ends.
        name: What messages call them, such as the path of their file.
    """
    for line, text in _cut(lines):
        yield _found(line, text, name)


def scan_lines(lines: Iterable[str], name: str) -> Iterator[NumberedTree | BadTree | None]:
    """Yield what stands on each line where every line is a tree by itself; None where it is blank.

    Comments are left out. Brackets that stand side by side, as in ``(X a) (X b)``, get an outer one without
    a label: parsers write such lines where they find no whole tree.

    Args:
        lines: The lines without their ends.
        name: What messages call them, such as the path of their file.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip(_BLANK):
            yield None
        elif not line.startswith(_COMMENTS):
            yield _found(number, line, name, side_by_side=True)


def _found(line: int, text: str, name: str, *, side_by_side: bool = False) -> NumberedTree | BadTree:
    """Return the tree in a text that begins in a line of a file, or why there is none."""
    tokens = list(_TOKEN.finditer(text))
    steps = list(_steps(tokens))
    outer = [Bracket("", opens=True), *steps, Bracket("", opens=False)]
    tree = build(outer if len(steps) == 1 and tokens[0]["tag"] else steps)
    if isinstance(tree, Tree):
        return NumberedTree(line, tree)
    if side_by_side and isinstance(joined := build(outer), Tree):
        return NumberedTree(line, joined)
    at = tokens[tree.step].start() if tree.step < len(tokens) else 0
    leaves = tuple(step for step in steps if isinstance(step, Leaf) and step.tag)
    return BadTree(line, _error(tree, name, line, line + text.count("\n", 0, at)), leaves)


def _cut(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the text of each tree with the number of its first line."""
    part: list[str] = []
    first = margin = 0
    for number, line in enumerate(lines, start=1):
        text = line.lstrip(_BLANK)
        indent = len(line) - len(text)
        skipped = not text or line.startswith(_COMMENTS)
        if part and not skipped and indent <= margin and not text.startswith(")"):
            yield first, "\n".join(part)
            part = []
        if skipped and not part:
            continue
        if not part:
            first, margin = number, indent
        part.append("" if skipped else line)
    if part:
        yield first, "\n".join(part)


def _steps(tokens: list[re.Match[str]]) -> Iterator[Step]:
    """Yield a step for each token; a word without brackets of its own has no tag, so no tree takes it."""
    labels: list[str] = []
    for token in tokens:
        if token["word"]:
            yield Leaf(token["tag"], unescape(_GAPS.sub(" ", token["word"])))
        elif token["stray"]:
            yield Leaf("", token["stray"])
        elif token[0] == ")":
            yield Bracket(labels.pop() if labels else "", opens=False)
        else:
            labels.append(token["label"])
            yield Bracket(token["label"], opens=True)


def _error(fault: Fault, name: str, first: int, line: int) -> TreeError:
    """Return the error for what is no tree.

    Args:
        fault: What is wrong.
        name: The file, as messages call it.
        first: The line where the tree begins.
        line: The line where the fault is.
    """
    begins = "" if line == first else f" (the tree begins in line {first:,})"
    return TreeError(
        f"{name}, line {line:,}: {fault.reason}{begins}",
        hint="mend or remove the tree: its brackets must balance, a word stands as (TAG word), "
        "and the lines after a tree's first are indented",
    )
