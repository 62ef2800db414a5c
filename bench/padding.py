"""How much of the batches is padding: Multi30k in 8,000 pieces, or lengths like its own if it is not there.

usage: ./run bench padding

Printed for each budget of positions: the share of padding in sources, in targets and in both, for batches as
dragoman cuts them and for pairs in random order, cut as soon as the budget is full. Epoch 0 of seed 1.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dragoman.data import plan_epoch
from peers import multi30k
from peers.batches import caption_lengths

BUDGETS, VOCABULARY_SIZE = (4_096, 1_024), 8_000

Lengths = npt.NDArray[np.int64]


def in_random_order(lengths: Lengths, budget: int) -> list[Lengths]:
    """Cut pairs in random order so that pairs × longest side stays within the budget."""
    batches: list[Lengths] = []
    batch: list[int] = []
    longest = 0
    for i in np.random.default_rng(1).permutation(len(lengths)).tolist():
        longest = max(longest, int(lengths[i].max()))
        if batch and (len(batch) + 1) * longest > budget:
            batches.append(np.array(batch))
            batch, longest = [], int(lengths[i].max())
        batch.append(i)
    return [*batches, np.array(batch)]


def padding_shares(
    lengths: Lengths, batches: Sequence[npt.NDArray[np.integer]]
) -> tuple[float, float, float]:
    """Return the share of padding in sources, in targets and in both."""
    padded = sum(len(batch) * lengths[batch].max(axis=0) for batch in batches)
    real = lengths.sum(axis=0)
    source, target = (1 - real / padded).tolist()
    return source, target, float(1 - real.sum() / padded.sum())


def lines() -> list[str]:
    """Return the table."""
    if multi30k.is_there():
        lengths, name = multi30k.piece_lengths(VOCABULARY_SIZE), "Multi30k, 8,000 pieces"
    else:
        lengths, name = caption_lengths(29_000, seed=1), "random lengths like those of captions"
    rows = [f"padding in batches of {name} ({len(lengths):,} pairs): sources, targets, both"]
    for budget in BUDGETS:
        steps = plan_epoch(lengths, seed=1, epoch=0, batch_tokens=budget, micro_batch_tokens=budget)
        ways = {"dragoman": [step[0] for step in steps], "random order": in_random_order(lengths, budget)}
        for way, batches in ways.items():
            shares = ", ".join(f"{share:5.1%}" for share in padding_shares(lengths, batches))
            rows.append(f"  {budget:,} positions, {way:<12} {shares}")
    return rows


if __name__ == "__main__":
    print("\n".join(lines()))
