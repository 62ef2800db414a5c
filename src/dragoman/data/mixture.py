"""Pairs that people have made, and a share of those that a machine has made, as one corpus."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dragoman.data.encoded import EncodedCorpus, Ids


class Mixture(EncodedCorpus):
    """The pairs of one epoch: all gold ones, and the silver ones whose turn it is.

    All silver pairs stand in a ring, in an order that the seed draws, and each epoch goes on where the one
    before has ended. So each of them has come as often as any other, or once more.

    Args:
        gold: Comes whole.
        silver: Comes in parts.
        weight: The share of the silver pairs, above 0 and at most 1; one pair comes at least.
        seed: Of the run.
        epoch: Counted from 0.
    """

    def __init__(
        self, gold: EncodedCorpus, silver: EncodedCorpus, weight: float, *, seed: int, epoch: int
    ) -> None:
        self._gold, self._silver, self.leaves = gold, silver, gold.leaves
        count = min(max(1, round(weight * len(silver))), len(silver))
        ring = np.random.Generator(np.random.PCG64([seed, len(silver)])).permutation(len(silver))
        self._chosen: npt.NDArray[Any] = ring[(epoch * count + np.arange(count)) % max(1, len(silver))]
        self.lengths = np.concatenate([gold.lengths, silver.lengths[self._chosen]])

    def __getitem__(self, index: int) -> tuple[Ids, Ids]:
        """Return the ids of one pair, without ends of sentences."""
        beyond = index - len(self._gold)
        return self._gold[index] if beyond < 0 else self._silver[int(self._chosen[beyond])]
