"""The words and brackets of a tree that count under the rules of EVALB."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from dragoman.evaluate.bracket_rules import Rules
from dragoman.trees import EMPTY_TAG, Leaf, Tree, walk

_FUNCTION_TAG = re.compile("[-=]")
_QUOTATION_MARKS = ("'", '"', "/")


class Span(NamedTuple):
    """A bracket over the counted words from ``start`` to ``end``, which is no longer in it; both from 0."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FlatTree:
    """A tree as EVALB sees it: leaves in a row, and brackets over them in the order in which they open."""

    leaves: tuple[Leaf, ...]

    counts: tuple[int, ...]
    """How often each leaf counts as a word: 0 where its tag is deleted, else 1; see `restore_quotes`."""

    brackets: tuple[Span, ...]
    """Every bracket with its label as it stands, over positions in ``leaves``."""

    def words(self) -> list[Leaf]:
        """Return the leaves that count."""
        return [leaf for leaf, count in zip(self.leaves, self.counts, strict=True) for _ in range(count)]

    def spans(self, rules: Rules) -> list[Span]:
        """Return the brackets that count, labels cut to their category, over positions in ``words()``.

        A bracket without counted words and one with a deleted label are left out.

        Unlike EVALB, a bracket without any label, as the outermost of Penn's own files, never counts. EVALB
        counts it as a right one, so that both scores would be higher for such files than for the same trees
        under TOP.
        """
        positions = [0, *accumulate(self.counts)]
        spans = []
        for whole, first, last in self.brackets:
            label = _FUNCTION_TAG.split(whole, maxsplit=1)[0]
            start, end = positions[first], positions[last]
            if whole and start < end and not rules.deletes_bracket(label):
                spans.append(Span(label, start, end))
        return spans


def same_words(one: Tree, other: Tree) -> bool:
    """Whether two trees are over the same words, traces left out, whatever their tags."""
    first, second = ([leaf.word for leaf in tree.leaves() if leaf.tag != EMPTY_TAG] for tree in (one, other))
    return first == second


def flatten(tree: Tree, rules: Rules) -> FlatTree:
    """Return the leaves and brackets of a tree of any depth."""
    leaves: list[Leaf] = []
    brackets: list[Span] = []
    growing: list[int] = []
    for step in walk(tree):
        if isinstance(step, Leaf):
            leaves.append(step)
        elif step.opens:
            growing.append(len(brackets))
            brackets.append(Span(step.label, len(leaves), len(leaves)))
        else:
            number = growing.pop()
            brackets[number] = brackets[number]._replace(end=len(leaves))
    counts = tuple(int(leaf.tag not in rules.delete_labels) for leaf in leaves)
    return FlatTree(tuple(leaves), counts, tuple(brackets))


@dataclass(slots=True)
class _Quote:
    """A leaf that is a quotation mark under one of the tags that may change."""

    leaf: int
    """Its position among all leaves."""

    deleted: bool

    word: int
    """The number of words before it, as EVALB keeps count while it puts marks back."""


def restore_quotes(gold: FlatTree, predicted: FlatTree, rules: Rules) -> tuple[FlatTree, FlatTree]:
    """Return both trees with those quotation marks counted again that one deletes while the other keeps them.

    A tagger may give the mark in ``the boys ' boat`` the tag of a quotation mark or of a possessive. One of
    the two is deleted with its word, so trees over the same words differ in length. EVALB does this only
    where the lengths differ, and so must the caller.
    """
    gold_quotes, predicted_quotes = _quotes(gold, rules), _quotes(predicted, rules)
    gold_counts, predicted_counts = list(gold.counts), list(predicted.counts)
    for i, other in enumerate(predicted_quotes):
        word = other.word
        for j, one in enumerate(gold_quotes):
            if one.word != word or one.deleted == other.deleted:
                continue
            if one.deleted:
                _restore(gold_counts, gold_quotes[j:])
            else:
                _restore(predicted_counts, predicted_quotes[i:])
    return replace(gold, counts=tuple(gold_counts)), replace(predicted, counts=tuple(predicted_counts))


def _quotes(tree: FlatTree, rules: Rules) -> list[_Quote]:
    positions = [0, *accumulate(tree.counts)]
    return [
        _Quote(number, leaf.tag in rules.delete_labels, positions[number])
        for number, leaf in enumerate(tree.leaves)
        if leaf.tag in rules.quote_labels and leaf.word in _QUOTATION_MARKS
    ]


def _restore(counts: list[int], quotes: Sequence[_Quote]) -> None:
    """Count the first of ``quotes`` once more; the others follow it in the sentence.

    EVALB moves the mark itself on as well, and may so meet it again and count it twice where two marks stand
    side by side. The numbers are to be EVALB's, so that is kept.
    """
    counts[quotes[0].leaf] += 1
    for quote in quotes:
        quote.word += 1
