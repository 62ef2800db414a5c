"""Whole training runs by one process and by two ranks, interleaved: what a second process brings.

usage: ./run bench ranks [--runs 5] [--steps 60] [--recipe small] [--set KEY=VALUE ...]

The corpus is generated: invented words, frequent ones more often, sentences about as long as image captions.
Printed are target pieces a second of the training loop, as ``dragoman train`` tells them, medians over the
runs with their spread, and the ratio to one process of one thread. No run validates.
"""

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

NUM_PAIRS, NUM_WORDS = 20_000, 12_000
LETTERS = "aeioubdfgklmnprstvz"
WAYS = {
    "1 process of 1 thread": (1, 1),
    "1 process of 2 threads": (1, 2),
    "2 ranks of 1 thread": (2, 1),
}
"""Number of ranks, and threads of each."""


def write_corpus(folder: Path) -> list[Path]:
    generator = np.random.default_rng(1)
    shape = generator.integers(3, 10, NUM_WORDS)
    words = ["".join(generator.choice(list(LETTERS), length)) for length in shape]
    frequency = 1.0 / np.arange(10, NUM_WORDS + 10)
    paths = [folder / "corpus.en", folder / "corpus.xx"]
    for path in paths:
        lengths = np.clip(generator.normal(11, 3.5, NUM_PAIRS).astype(int), 3, 35)
        chosen = generator.choice(NUM_WORDS, int(lengths.sum()), p=frequency / frequency.sum())
        lines = np.split(chosen, np.cumsum(lengths)[:-1])
        path.write_text("".join(" ".join(words[i] for i in line) + "\n" for line in lines), encoding="utf-8")
    return paths


def pieces_per_second(command: list[str], num_threads: int) -> float:
    environment = os.environ | {"OMP_NUM_THREADS": str(num_threads)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"([\d,]+) target pieces a second", done.stdout)
    if done.returncode or found is None:
        sys.exit(f"the run ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return float(found.group(1).replace(",", ""))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--recipe", default="small")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    options = parser.parse_args()
    settings = [
        *("data.dev_pairs=0", "data.test_pairs=0", "train.average_checkpoints=1"),
        *(f"train.max_steps={options.steps}", f"train.validation_interval_steps={options.steps}"),
        *options.settings,
    ]
    print(f"torch {torch.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores")
    print(f"load before: {', '.join(f'{load:.1f}' for load in os.getloadavg())}; runs: {options.runs}")
    print(f"recipe {options.recipe}, {options.steps} steps, {' '.join(options.settings)}")
    measured: dict[str, list[float]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory(prefix="dragoman-bench-") as scratch:
        corpus = write_corpus(Path(scratch))
        for run in range(options.runs):
            for name, (num_ranks, num_threads) in WAYS.items():
                out = Path(scratch) / f"{run}-{num_ranks}-{num_threads}"
                command = [sys.executable, "-m", "dragoman", "train", *map(str, corpus), "--out", str(out)]
                command += ["--recipe", options.recipe, "--ranks", str(num_ranks), "--device", "cpu"]
                command += [word for setting in settings for word in ("--set", setting)]
                measured[name].append(pieces_per_second(command, num_threads))
    base = statistics.median(measured["1 process of 1 thread"])
    for name, values in measured.items():
        median = statistics.median(values)
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(f"{name:<24} {median:>8,.0f} target pieces/s ({spread})  {median / base:.2f} x")


if __name__ == "__main__":
    main()
