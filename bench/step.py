"""One training step in its fast and its readable forms, in bfloat16 and in float32, interleaved in one run.

usage: ./run bench step [RUNS]

The model is the recipe tiny with 9,856 pieces; the pairs have random pieces and lengths like those of image
captions. Printed are target pieces a second, medians over the runs, and the ratio to the readable forms in
float32.
"""

import os
import platform
import statistics
import sys
import time
from dataclasses import replace

import numpy as np
import torch

from dragoman.config import ModelConfig, TrainConfig, read_config
from dragoman.data import Batch, collate, plan_epoch
from dragoman.model import Transformer
from dragoman.train.loop import make_optimizer
from dragoman.train.step import train_step

NUM_PAIRS, NUM_STEPS = 4_000, 6
FORMS = {
    "fast forms, bfloat16": ("bfloat16", True),
    "fast forms, float32": ("float32", True),
    "readable forms, bfloat16": ("bfloat16", False),
    "readable forms, float32": ("float32", False),
}


def make_batches(config: TrainConfig, vocabulary_size: int) -> list[list[Batch]]:
    generator = np.random.default_rng(1)
    source = np.clip(generator.normal(14, 4.5, NUM_PAIRS).astype(int), 4, 45)
    target = np.clip(source + generator.normal(1, 2, NUM_PAIRS).astype(int), 4, 45)
    steps = plan_epoch(
        np.stack([source + 1, target + 1], axis=1),
        seed=1,
        epoch=0,
        batch_tokens=config.batch_tokens,
        micro_batch_tokens=config.positions_at_once,
    )

    def some_ids(length: int) -> list[int]:
        ids: list[int] = generator.integers(2, vocabulary_size - 1, length).tolist()
        return ids

    return [
        [
            collate(
                [(some_ids(source[i]), some_ids(target[i])) for i in part],
                end=0,
                padding=vocabulary_size - 1,
            )
            for part in step
        ]
        for step in steps[:NUM_STEPS]
    ]


def tokens_per_second(model_config: ModelConfig, config: TrainConfig, batches: list[list[Batch]]) -> float:
    torch.manual_seed(1)
    model = Transformer(model_config).train()
    model.use_fast_forms(config.fast)
    optimizer = make_optimizer(model, config)
    train_step(model, batches[0], optimizer, config)  # the first one is slower
    started = time.perf_counter()
    tokens = sum(train_step(model, step, optimizer, config).num_target_tokens for step in batches)
    return tokens / (time.perf_counter() - started)


def main() -> None:
    num_runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    config = read_config(
        recipe="tiny", file=None, settings=["model.vocabulary_size=9856", "model.dropout=0.3"]
    )
    batches = make_batches(config.train, config.model.vocabulary_size)
    print(f"torch {torch.__version__}, Python {platform.python_version()}, {torch.get_num_threads()} threads")
    print(f"load before: {', '.join(f'{load:.1f}' for load in os.getloadavg())}; runs: {num_runs}")
    measured: dict[str, list[float]] = {name: [] for name in FORMS}
    for _ in range(num_runs):
        for name, (precision, fast) in FORMS.items():
            settings = replace(config.train, precision=precision, fast=fast)
            measured[name].append(tokens_per_second(config.model, settings, batches))
    base = statistics.median(measured["readable forms, float32"])
    for name, values in measured.items():
        median = statistics.median(values)
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(f"{name:<26} {median:>8,.0f} target pieces/s ({spread})  {median / base:.2f} x")


main()
