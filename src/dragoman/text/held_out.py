"""Held-out pairs: development and test pairs that training has not seen, not even in other spelling.

Two texts count as the same when they differ only in case, punctuation and white space. Texts are
kept as 64-bit hashes, so memory is 24 bytes a pair and some working room, not the corpus.
"""

import hashlib
import unicodedata
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.text.pairs import Pair

_SMALLEST_CORPUS = 4
_TRIES_PER_PAIR = 20

Hashes = NDArray[np.uint64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class HeldOut:
    """Line numbers that training leaves out; no number is in two of the sets."""

    dev: frozenset[int]
    """Pairs for development."""

    test: frozenset[int]
    """Pairs for the final test."""

    dropped: frozenset[int]
    """Pairs for nothing: their source or target is also that of a held-out pair."""


def split_held_out(pairs: Iterable[tuple[int, Pair]], num_dev: int, num_test: int, seed: int) -> HeldOut:
    """Choose development and test pairs so that training shares no text with them.

    No pair left for training has the source or the target of a held-out pair, and no development pair
    that of a test pair. Dev and test have each at most a twentieth of the corpus, but one pair from
    four pairs on. Pairs whose texts occur once are taken first, as they cost nothing. Others are taken
    only while no more than a fifth of the corpus is dropped for them, so either set may stay smaller
    than was asked, or empty.

    A pair's place in the draw depends on its texts and the seed alone: a corpus that grows keeps most
    of its held-out pairs.

    Args:
        pairs: Line number and pair, as ``usable_pairs`` yields them; read once.
        num_dev: Development pairs wanted.
        num_test: Test pairs wanted.
        seed: Start of the random choice, 0 or more.
    """
    nothing = HeldOut(frozenset(), frozenset(), frozenset())
    if not num_dev and not num_test:
        return nothing
    line, source, target = _hashes(pairs)
    if len(line) < _SMALLEST_CORPUS:
        return nothing
    most = max(1, len(line) // 20)
    wanted = (min(num_dev, most), min(num_test, most))
    order = np.argsort(_mixed(source ^ _mixed(target ^ _mixed(np.array([seed], np.uint64)))), kind="stable")
    num_same_source, num_same_target = _counts(source), _counts(target)
    is_unique = (num_same_source == 1) & (num_same_target == 1)
    unique = order[is_unique[order]]
    dev = unique[: wanted[0]].tolist()
    test = unique[len(dev) : len(dev) + wanted[1]].tolist()
    dropped: set[int] = set()
    missing = (wanted[0] - len(dev), wanted[1] - len(test))
    if any(missing):
        cost = num_same_source + num_same_target - 2
        shared = order[~is_unique[order]]
        shared = shared[np.argsort(cost[shared], kind="stable")]
        budget = len(line) // 5
        candidates = shared[cost[shared] <= budget].tolist()
        choice = _SharedChoice(source, target, budget)
        dev += choice.take(candidates, missing[0])
        test += choice.take(candidates, missing[1])
        dropped = choice.dropped
    return HeldOut(_lines(line, dev), _lines(line, test), _lines(line, sorted(dropped)))


def normalized(text: str) -> str:
    """Return a text without case, punctuation and white space; texts of nothing else keep theirs."""
    folded = text.casefold()
    return folded.translate(_REMOVED) or folded


class _Removed(dict[int, int | None]):
    """For ``str.translate``: None for punctuation and white space, found as they are met."""

    def __missing__(self, scalar: int) -> int | None:
        character = chr(scalar)
        is_removed = character.isspace() or unicodedata.category(character)[0] in "PZ"
        return self.setdefault(scalar, None if is_removed else scalar)


_REMOVED = _Removed()


class _SharedChoice:
    """Choose among pairs that share texts with others, and count what must be dropped for them."""

    def __init__(self, source: Hashes, target: Hashes, budget: int) -> None:
        self.dropped: set[int] = set()
        self._taken: set[int] = set()
        self._budget = budget
        self._tables = tuple((side, np.argsort(side, kind="stable")) for side in (source, target))
        self._sorted = tuple(side[order] for side, order in self._tables)

    def take(self, candidates: list[int], wanted: int) -> list[int]:
        """Return up to ``wanted`` candidates that share no text with those of earlier calls."""
        taken: list[int] = []
        kin: set[int] = set()  # pairs that share a text with one taken in this call
        before = self._taken | self.dropped
        for candidate in candidates[: wanted * _TRIES_PER_PAIR]:
            if len(taken) == wanted:
                break
            same = self._same(candidate)
            if candidate in before or same & self._taken:
                continue
            if len(self.dropped) + len((kin | same) - before - {*taken, candidate}) > self._budget:
                continue
            taken.append(candidate)
            kin |= same
        self._taken |= set(taken)
        self.dropped |= kin - self._taken
        return taken

    def _same(self, index: int) -> set[int]:
        """Return the pairs with the source or the target of this one, itself included."""
        same: set[int] = set()
        for (side, order), ranked in zip(self._tables, self._sorted, strict=True):
            first = np.searchsorted(ranked, side[index], side="left")
            last = np.searchsorted(ranked, side[index], side="right")
            same.update(order[first:last].tolist())
        return same


def _hashes(pairs: Iterable[tuple[int, Pair]]) -> tuple[Indices, Hashes, Hashes]:
    """Return the line number of each pair and the hashes of its normalized source and target."""
    line, source, target = array("q"), array("Q"), array("Q")
    for number, pair in pairs:
        line.append(number)
        source.append(_hash(pair.source))
        target.append(_hash(pair.target))
    return np.array(line, np.int64), np.array(source, np.uint64), np.array(target, np.uint64)


def _hash(text: str) -> int:
    """Return 64 bits of the normalized text, the same in every process."""
    digest = hashlib.blake2b(normalized(text).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mixed(value: Hashes) -> Hashes:
    """Return the values with their bits mixed (the finalizer of SplitMix64; Steele et al., 2014)."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def _counts(side: Hashes) -> Indices:
    """Return for each pair how many pairs have the same text on this side."""
    _, group, size = np.unique(side, return_inverse=True, return_counts=True)
    return size[group].astype(np.int64)


def _lines(line: Indices, chosen: list[int]) -> frozenset[int]:
    return frozenset(line[np.array(chosen, np.int64)].tolist())
