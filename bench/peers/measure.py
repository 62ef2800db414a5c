"""One rival in a process of its own: builds it, warms up, times its steps, and sees whether it learns.

usage: python -m peers.measure RIVAL SIZE BATCHES [--learn] --report FILE

RIVAL names a file ``rival_*.py``. The report is a JSON file, since rivals print what they like. With
``--learn`` twelve more steps are made on the same sixteen pairs, whose first and last loss are reported.
"""

import argparse
import importlib
import json
import time
from pathlib import Path

import torch
from torch import distributed

from peers.batches import load
from peers.rival import Rival, rank_and_size
from peers.sizes import SIZES

NUM_WARMUP, NUM_LEARN, NUM_LEARN_PAIRS = 2, 12, 16


def timed(rival: Rival, batches_path: Path) -> dict[str, float]:
    pairs = load(batches_path)
    batches = [rival.prepare(batch) for batch in pairs]
    for batch in batches[:NUM_WARMUP]:
        rival.step(batch)
    if distributed.is_initialized():
        distributed.barrier()
    started = time.perf_counter()
    losses = [rival.step(batch) for batch in batches]
    if distributed.is_initialized():
        distributed.barrier()
    seconds = time.perf_counter() - started
    tokens = sum(batch.num_target_tokens for batch in pairs)
    return {"seconds": seconds, "target_tokens": tokens, "loss": losses[-1]}


def learned(rival: Rival, batches_path: Path) -> dict[str, float]:
    few = rival.prepare(load(batches_path)[0].head(NUM_LEARN_PAIRS))
    losses = [rival.step(few) for _ in range(NUM_LEARN)]
    return {"first_loss": losses[0], "last_loss": losses[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rival")
    parser.add_argument("size", choices=SIZES)
    parser.add_argument("batches", type=Path)
    parser.add_argument("--learn", action="store_true")
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args()
    torch.manual_seed(1)
    rival: Rival = importlib.import_module(f"peers.rival_{options.rival}").make(SIZES[options.size])
    report: dict[str, object] = {
        "version": rival.version,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "parameters": rival.num_parameters,
        **timed(rival, options.batches),
    }
    if options.learn:
        report |= learned(rival, options.batches)
    if rank_and_size()[0] == 0:
        options.report.write_text(json.dumps(report), encoding="utf-8")


main()
