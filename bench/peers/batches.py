"""Batches that all rivals share: the same sentences in the same order, cut and padded alike.

Letters of shapes: B sentences, L pieces of the longest. A file holds pieces without marks of start and end,
since each rival has its own; they are drawn so that no rival takes one of them for a mark.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from peers.sizes import Size

Ids = npt.NDArray[np.int64]

NOTHING = -1
"""Stands where a sentence has ended."""

NUM_RESERVED = 16
"""Ids at the start and at the end of the vocabulary that no sentence has."""


class Pairs(NamedTuple):
    """Sentences and their translations."""

    source_BL: Ids
    target_BL: Ids

    @property
    def num_target_tokens(self) -> int:
        """Pieces of the targets, ends of sentences included."""
        return int((self.target_BL != NOTHING).sum()) + len(self.target_BL)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Sentences, positions of the sources and of the targets, ends included."""
        return len(self.source_BL), self.source_BL.shape[1] + 1, self.target_BL.shape[1] + 1

    def head(self, num_sentences: int) -> "Pairs":
        """Return the first few."""
        return Pairs(self.source_BL[:num_sentences], self.target_BL[:num_sentences])

    def share(self, rank: int, num_ranks: int) -> "Pairs":
        """Return every ``num_ranks``-th pair, padded as before."""
        return Pairs(self.source_BL[rank::num_ranks], self.target_BL[rank::num_ranks])


def caption_lengths(num_pairs: int, seed: int) -> Ids:
    """Return lengths of source and target (pairs × 2) like those of image captions, ends included."""
    generator = np.random.default_rng(seed)
    source = np.clip(generator.normal(14, 4.5, num_pairs).astype(int), 4, 45)
    target = np.clip(source + generator.normal(1, 2, num_pairs).astype(int), 4, 45)
    return np.stack([source + 1, target + 1], axis=1)


def random_pairs(lengths: Ids, size: Size, generator: np.random.Generator) -> Pairs:
    """Return random sentences of these lengths."""
    return Pairs(*(_random_rows(lengths[:, side] - 1, size, generator) for side in (0, 1)))


def _random_rows(length_B: Ids, size: Size, generator: np.random.Generator) -> Ids:
    shape = (len(length_B), int(length_B.max()))
    row_BL = generator.integers(NUM_RESERVED, size.vocabulary_size - NUM_RESERVED, shape)
    row_BL[np.arange(shape[1]) >= length_B[:, None]] = NOTHING
    return row_BL


def framed(row_BL: Ids, *, padding: int, first: int | None = None, last: int | None = None) -> Ids:
    """Return rows with a mark before and after each sentence, filled up with ``padding``."""
    length_B = (row_BL != NOTHING).sum(axis=1)
    before = int(first is not None)
    shape = (len(row_BL), before + row_BL.shape[1] + int(last is not None))
    framed_BL = np.full(shape, padding, np.int64)
    framed_BL[:, before : before + row_BL.shape[1]] = np.where(row_BL == NOTHING, padding, row_BL)
    if first is not None:
        framed_BL[:, 0] = first
    if last is not None:
        framed_BL[np.arange(len(row_BL)), before + length_B] = last
    return framed_BL


def save(batches: list[Pairs], path: Path) -> None:
    """Write batches to a file."""
    arrays = {f"source_{i}": batch.source_BL for i, batch in enumerate(batches)}
    arrays |= {f"target_{i}": batch.target_BL for i, batch in enumerate(batches)}
    np.savez(path, allow_pickle=False, **arrays)


def load(path: Path) -> list[Pairs]:
    """Read what ``save`` wrote."""
    with np.load(path) as arrays:
        return [Pairs(arrays[f"source_{i}"], arrays[f"target_{i}"]) for i in range(len(arrays) // 2)]
