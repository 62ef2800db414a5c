"""The processes that train one model together."""

from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import distributed

from dragoman.data.batches import Indices

T = TypeVar("T")


class Ranks:
    """All processes of a run, seen from one of them; a run alone has one and exchanges nothing.

    Args:
        rank: Of this process, counted from 0; only rank 0 writes.
        size: Number of processes; if there are more than one, they have joined a process group before.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank = rank
        self.size = size

    @property
    def is_first(self) -> bool:
        """Whether this is rank 0, the only one that writes."""
        return self.rank == 0

    def sum(self, *values: float) -> list[float]:
        """Return the sum of each value over all ranks."""
        total = torch.tensor(values, dtype=torch.float64)
        if self.size > 1:
            distributed.all_reduce(total)
        return [float(value) for value in total]

    def any(self, fact: bool) -> bool:
        """Tell whether something is so on at least one rank."""
        return self.sum(float(fact))[0] > 0

    def from_first(self, value: T) -> T:
        """Return the value that rank 0 has."""
        if self.size == 1:
            return value
        box = [value]
        distributed.broadcast_object_list(box, 0)
        return box[0]

    def wait(self) -> None:
        """Wait until all ranks have come here."""
        self.sum(0.0)

    def share(self, step: Sequence[Indices]) -> list[Indices]:
        """Return what this rank computes of a step: as many micro-batches as every other rank.

        Whole micro-batches are dealt out first. Those that are left over are cut by rows for all ranks, so
        that a step holds the same pairs on any number of ranks. A share without pairs is an empty one.
        """
        whole = len(step) // self.size
        mine = list(step[self.rank * whole : (self.rank + 1) * whole])
        return mine + [part[self.rank :: self.size] for part in step[self.size * whole :]]
