"""Training steps of dragoman and of five other programs, on the same padded batches, in turns.

usage: ./run bench training [--size small|base|all] [--runs 5] [--steps N] [--rivals NAME,...]
                            [--threads 2] [--keep-memory] [--program] [--minutes 2] [--json FILE]

Each rival builds the same model (bench/peers/sizes.py) with its own class and trains it in bfloat16 with its
own loss and optimizer, in a process of its own with two threads; rivals take turns, each process is new,
warms up for two steps and then makes the steps that count. Random pieces, lengths like those of image
captions, seed 1. The peers are installed into .peers at the first use, which takes minutes; one that fails is
named.

Columns: target pieces a second, padding not counted, median and spread over the runs; GFLOP/s of the matrix
products of the model, padding counted, and their share of the ceiling measured between the rivals; dragoman's
speed as a multiple of the rival's; parameters; loss before and after twelve steps on sixteen pairs.

--keep-memory has every rival's allocator keep its memory; --program measures whole programs on Multi30k, each
with its own batches, for some minutes each.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

import padding
from dragoman.data import plan_epoch
from peers.batches import Pairs, caption_lengths, random_pairs, save
from peers.environment import PeerError, install
from peers.program import measure_programs
from peers.report import Measured, print_table, spoken_load
from peers.rivals import ENTRIES, make_environment, run_entry, run_module
from peers.sizes import SIZES, Size

NUM_PAIRS, LEAST_FULL = 20_000, 0.8


def make_batches(size: Size, num_steps: int) -> list[Pairs]:
    """Return the batches of the first steps of an epoch; those not well filled are skipped."""
    lengths = caption_lengths(NUM_PAIRS, seed=1)
    tokens = size.batch_tokens
    steps = plan_epoch(lengths, seed=1, epoch=0, batch_tokens=tokens, micro_batch_tokens=tokens)
    generator = np.random.default_rng(1)
    batches = (random_pairs(lengths[parts[0]], size, generator) for parts in steps)
    full = (one for one in batches if len(one.target_BL) * max(one.shape[1:]) > LEAST_FULL * tokens)
    return [next(full) for _ in range(num_steps)]


def ready(names: list[str]) -> list[str]:
    """Install what the rivals need and return those that stand; the others are named with the reason."""
    standing = []
    for name in names:
        try:
            if ENTRIES[name].is_peer:
                install(ENTRIES[name].module)
            standing.append(name)
        except PeerError as error:
            print(f"left out: {ENTRIES[name].title} cannot be installed: {error}")
    return standing


def measure(size: Size, names: list[str], options: argparse.Namespace) -> Measured:
    """Let the rivals take turns; one that fails is named and drops out."""
    batches = make_batches(size, options.steps or size.num_steps)
    measured = Measured(size, batches, ceilings=[], reports={name: [] for name in names})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batches.npz"
        save(batches, path)
        for run in range(options.runs):
            alone = make_environment(options.threads)
            measured.ceilings.append(run_module(["peers.gemm"], alone, is_peer=False))
            for name in list(measured.reports):
                arguments = [size.name, str(path), *(["--learn"] if run == 0 else [])]
                try:
                    measured.reports[name].append(
                        run_entry(ENTRIES[name], arguments, options.threads, keep_memory=options.keep_memory)
                    )
                except PeerError as error:
                    print(f"left out: {ENTRIES[name].title}: {error}")
                    del measured.reports[name]
            print(f"{size.name}: run {run + 1} of {options.runs}, load {spoken_load()}", file=sys.stderr)
    return measured


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", choices=[*SIZES, "all"], default="small")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, help="timed steps a run; left out, 8 (small) or 4 (base)")
    parser.add_argument("--threads", type=int, default=2, help="of each rival, all its processes together")
    parser.add_argument("--rivals", default=",".join(ENTRIES), help="comma-separated: %(default)s")
    parser.add_argument("--keep-memory", action="store_true")
    parser.add_argument("--program", action="store_true")
    parser.add_argument("--minutes", type=float, default=2.0, help="of each whole program in a run")
    parser.add_argument("--json", type=Path, help="also write every figure of every run to this file")
    options = parser.parse_args()
    options.rivals = options.rivals.split(",")
    if unknown := [name for name in options.rivals if name not in ENTRIES]:
        parser.error(f"no such rival: {', '.join(unknown)}; there are {', '.join(ENTRIES)}")
    return options


def main() -> None:
    options = parse()
    names = ready(options.rivals)
    print(f"torch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}, ", end="")
    print(f"{os.cpu_count()} cores, threads of a rival: {options.threads}; load before: {spoken_load()}")
    found: dict[str, Any] = {}
    if options.program:
        print("\n".join(padding.lines()))
        found = measure_programs(names, options.runs, options.minutes, options.threads)
    else:
        for size in SIZES.values() if options.size == "all" else [SIZES[options.size]]:
            measured = measure(size, names, options)
            print_table(measured)
            found[size.name] = {"ceilings": measured.ceilings, "reports": measured.reports}
    print(f"load after: {spoken_load()}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


main()
