"""One update on 1, 2 and 4 ranks, cut in many ways; a program, so that no rank shares a process with tests.

usage: one_update.py FOLDER

PyTorch is imported once, and the ranks are forked from it: each import takes seconds. Rank 0 of each number
of ranks writes what it has found into FOLDER; if a rank fails, the whole does.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
import torch._dynamo  # what optimizers and shards import takes seconds as well
import torch.distributed.fsdp
import torch.distributed.tensor

from dragoman.config import TrainConfig
from dragoman.data import EncodedCorpus, gather
from dragoman.run.joining import MEETING_FILE, joined
from dragoman.text.ids import END
from dragoman.train.parallel import Parallel
from dragoman.train.ranks import Ranks
from dragoman.train.step import train_step
from tiny_models import random_ids, tiny_model

SIZES = (1, 2, 4)

CUTS = {
    "one micro-batch": [11],
    "three uneven micro-batches": [2, 8, 1],
    "seven micro-batches": [1, 2, 1, 3, 1, 2, 1],
    "fewer pairs than ranks": [1],
    "micro-batches of fewer pairs than ranks": [2, 1, 3],
}
"""Pairs of each micro-batch of a step."""


class Case(NamedTuple):
    """A way to make one update."""

    cut: str
    dtype: torch.dtype
    sharded: bool
    embeddings: str
    fast: bool = True

    def __str__(self) -> str:
        kind = f"{str(self.dtype).removeprefix('torch.')}, {'shards' if self.sharded else 'copies'}"
        return f"{self.cut}, {kind}, {self.embeddings} embeddings, {'fast' if self.fast else 'readable'}"


CASES = [
    *(Case(cut, torch.float64, sharded, "shared") for cut in CUTS for sharded in (False, True)),
    *(Case("three uneven micro-batches", torch.float32, sharded, "shared") for sharded in (False, True)),
    Case("seven micro-batches", torch.float64, True, "target"),
    Case("seven micro-batches", torch.float64, False, "separate", fast=False),
]


class Pairs(list[tuple[list[int], list[int]]]):
    """Pairs of ids as a corpus of texts has them."""

    leaves = None


class Recording(torch.optim.SGD):
    """Keeps the gradients that it is asked to follow, put together if they are in shards."""

    def __init__(self, parallel: Parallel) -> None:
        super().__init__(parallel.model.parameters(), lr=0.0)
        self._parallel = parallel
        self.gradients: dict[str, torch.Tensor] = {}

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        named = self._parallel.model.named_parameters()
        self.gradients = self._parallel.whole(
            {name: p.grad.clone() for name, p in named if p.grad is not None}
        )


def update(case: Case, ranks: Ranks) -> dict[str, np.ndarray[Any, Any]]:
    """Return the gradient of one update, its length and its losses."""
    config = TrainConfig(precision="float32", sharded=case.sharded, fast=case.fast, max_grad_norm=0.5)
    sizes = CUTS[case.cut]
    ends = np.cumsum(sizes)
    lengths = [3 + 5 * i % 9 for i in range(int(ends[-1]))]
    pairs = Pairs(zip(random_ids(lengths, 1), random_ids(lengths[::-1], 2), strict=True))
    model = tiny_model(dtype=case.dtype, embeddings=case.embeddings).train()
    model.use_fast_forms(case.fast)
    parallel = Parallel(model, config, ranks)
    batches = [
        gather(cast(EncodedCorpus, pairs), part, end=END, padding=model.padding)
        for part in ranks.share([np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)])
    ]
    optimizer = Recording(parallel)
    result = train_step(parallel.model, batches, optimizer, config, parallel)
    found = {name: gradient.numpy() for name, gradient in optimizer.gradients.items()}
    told = np.array([result.loss, result.plain_loss, result.grad_norm, result.num_target_tokens])
    return {f"{case}/{name}": value for name, value in (found | {"told": told}).items()}


def exchange(ranks: Ranks) -> Iterator[bool]:
    """Yield whether each way to exchange values does what it says."""
    yield ranks.sum(1.0, ranks.rank) == [ranks.size, sum(range(ranks.size))]
    yield ranks.any(ranks.rank == ranks.size - 1)
    yield not ranks.any(False)
    yield ranks.from_first({"rank": ranks.rank}) == {"rank": 0}


def as_rank(rank: int, size: int, folder: Path) -> None:
    """Be one of the ranks: make all updates, and let rank 0 write them down."""
    own = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size}
    os.environ |= {name: str(value) for name, value in own.items()}
    os.environ[MEETING_FILE] = str(folder / f"meeting-{size}")
    with joined("cpu") as (ranks, _):
        assert all(exchange(ranks))
        found: dict[str, np.ndarray[Any, Any]] = {}
        for case in CASES:
            found |= update(case, ranks)
        if ranks.is_first:
            np.savez(folder / f"{size}.npz", **found)  # type: ignore[arg-type]


def fork(size: int, folder: Path) -> Sequence[int]:
    """Start the ranks of one size and return their processes."""
    started = []
    for rank in range(size):
        process = os.fork()
        if not process:
            code = 1
            try:
                as_rank(rank, size, folder)
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        started.append(process)
    return started


def main() -> int:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    codes = [os.waitpid(process, 0)[1] for size in SIZES for process in fork(size, folder)]
    return max(codes) and 1


if __name__ == "__main__":
    sys.exit(main())
