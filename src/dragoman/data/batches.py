"""Batches: pairs of like length together, cut by a budget of positions."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from dragoman.data.encoded import EncodedCorpus
from dragoman.data.leaves import as_read

Indices = npt.NDArray[np.intp]


class Batch(NamedTuple):
    """Pairs that are computed at once."""

    source_BS: Tensor
    """Pieces of the sources with their ends, filled up with padding."""

    input_BT: Tensor
    """The targets shifted right: they start with padding, whose vector is zero (§3.1)."""

    target_BT: Tensor
    """The targets with their ends, filled up with padding."""

    num_target_tokens: int
    """Target pieces, ends included, padding not."""

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on ``device``."""
        return Batch(
            self.source_BS.to(device, non_blocking=True),
            self.input_BT.to(device, non_blocking=True),
            self.target_BT.to(device, non_blocking=True),
            self.num_target_tokens,
        )

    def twice(self) -> "Batch":
        """Return the batch with all pairs once more after all."""
        source_BS, input_BT, target_BT = (torch.cat([one, one]) for one in self[:3])
        return Batch(source_BS, input_BT, target_BT, 2 * self.num_target_tokens)

    @property
    def num_positions(self) -> int:
        """Source and target positions, padding included."""
        return self.source_BS.numel() + self.target_BT.numel()


def collate(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], *, end: int, padding: int) -> Batch:
    """Return one batch of pairs of ids that have no ends yet."""
    source_BS = pad([source for source, _ in pairs], end=end, padding=padding)
    target_BT = pad([target for _, target in pairs], end=end, padding=padding)
    input_BT = _shifted(target_BT, target_BT, padding)
    return Batch(source_BS, input_BT, target_BT, sum(len(target) + 1 for _, target in pairs))


def _shifted(read_BT: Tensor, target_BT: Tensor, padding: int) -> Tensor:
    """Return what is read before each target (BT): padding at first, and again where there is no target."""
    start_B1 = torch.full_like(read_BT[:, :1], padding)
    input_BT = torch.cat([start_B1, read_BT[:, :-1]], dim=1)
    return input_BT.masked_fill(target_BT == padding, padding)


def pad(rows: Sequence[Sequence[int]], *, end: int, padding: int) -> Tensor:
    """Return rows of ids, each with its end, filled up with padding to the longest (BT)."""
    token_BT = np.full((len(rows), max(map(len, rows)) + 1), padding, np.int64)
    for b, row in enumerate(rows):
        token_BT[b, : len(row)] = row
        token_BT[b, len(row)] = end
    return torch.from_numpy(token_BT)


def plan_epoch(
    lengths: npt.NDArray[Any], *, seed: int, epoch: int, batch_tokens: int, micro_batch_tokens: int
) -> list[list[Indices]]:
    """Return the steps of an epoch: for each step its micro-batches, for each of them its pairs.

    Every pair comes once. The order is a function of the seed and the epoch alone. Pairs of like length
    stand together (§5.1): they are sorted by their longer side, then by the difference of both sides, up
    and down in turn, so that neighbors differ little in either; equal ones stand in random order. Then they
    are cut into micro-batches, and the micro-batches are shuffled.

    Source: Vaswani et al. (2017), §5.1.

    Args:
        lengths: Source and target length of every pair (pairs × 2), in pieces.
        seed: Of the run.
        epoch: Counted from 0.
        batch_tokens: Source positions and target positions of a step, each, at most.
        micro_batch_tokens: Positions of a micro-batch at most; a pair longer than this stands alone.
    """
    generator = np.random.Generator(np.random.PCG64([seed, epoch]))
    num_micro_batches = -(-batch_tokens // micro_batch_tokens)
    shuffled = generator.permutation(len(lengths))
    source, target = lengths[shuffled, 0], lengths[shuffled, 1]
    longest, difference = np.maximum(source, target), source - target
    ordered = shuffled[np.lexsort((np.where(longest % 2, difference, -difference), longest))]
    micro_batches = list(_cut(ordered, lengths.max(axis=1), batch_tokens // num_micro_batches))
    order = generator.permutation(len(micro_batches))
    return [
        [micro_batches[i] for i in order[first : first + num_micro_batches]]
        for first in range(0, len(order), num_micro_batches)
    ]


def _cut(ordered: Indices, longest: npt.NDArray[Any], budget: int) -> Iterator[Indices]:
    """Cut an order of pairs so that pairs × longest side stays within the budget."""
    first, width = 0, 0
    for i, length in enumerate(longest[ordered].tolist()):
        width = max(width, length)
        if (i + 1 - first) * width > budget and i > first:
            yield ordered[first:i]
            first, width = i, length
    if first < len(ordered):
        yield ordered[first:]


def gather(corpus: EncodedCorpus, indices: Indices, *, end: int, padding: int) -> Batch:
    """Return the batch of these pairs of a corpus; of none, one row of padding that counts nothing."""
    if len(indices) == 0:
        nothing_11 = torch.full((1, 1), padding)
        return Batch(nothing_11, nothing_11, nothing_11, 0)
    batch = collate([corpus[int(i)] for i in indices], end=end, padding=padding)  # type: ignore[misc]
    if corpus.leaves is None:
        return batch
    read_BT = as_read(batch.source_BS, batch.target_BT, corpus.leaves)
    return batch._replace(input_BT=_shifted(read_BT, batch.target_BT, padding))


def by_length(lengths: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """Yield the indices of sentences in batches, each of sentences of like length; the shortest come first.

    Args:
        lengths: Source tokens of each sentence, its end included.
        max_tokens: Source positions of a batch, padding included; a longer sentence has a batch of its own.
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[i] > max_tokens:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
