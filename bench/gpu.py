"""Training steps of the paper's base and big models on a GPU, in several forms, within a budget of minutes.

usage: ./run bench gpu [--device cuda] [--minutes 8] [--batch-tokens 25000] [--seconds 6] [--skip WORD]
                       [--tiny] [--json FILE]

A step is what the paper's was: 25,000 source and 25,000 target positions, 37,000 pieces, in bfloat16. Pieces
are random; lengths are drawn like those of news text. First the logits of processor and GPU are compared in
float32, and the GPU's ceilings are measured on matrix products; then a line is printed for each form of the
step. A form that fails is named and the next one tried; what the minutes do not allow is named and left out.

Columns: target tokens a second; milliseconds a step (median); executed TFLOP/s, their share of the peak in
the data sheet and of the measured ceiling; highest memory; hours of the paper's steps at this speed. The two
forms without padding and without masks are bounds: what they gain is all that packing sentences could.
"""

import argparse
import json
import signal
import statistics
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from dragoman.config import Config, TrainConfig, read_config
from dragoman.data import Batch
from dragoman.model import Transformer
from dragoman.train.loop import make_optimizer
from dragoman.train.step import train_step
from gpu_steps.forms import ROUNDS, Form, make_steps, padding_share, step_flops
from gpu_steps.machine import Machine, meet, wait

PAPER = {"base": (100_000, 12.0), "big": (300_000, 84.0)}  # steps, hours on eight P100 (§5.2)
TINY = ["d_model=32", "d_ff=64", "num_heads=2", "d_k=16", "d_v=16", "vocabulary_size=512"]


class OutOfTimeError(BaseException):
    """The minutes are over; no ``except Exception`` of a compiler may swallow it."""


@dataclass(frozen=True)
class Measured:
    """What one form of a step takes."""

    recipe: str
    form: str
    target_tokens_per_second: float
    median_milliseconds: float
    least_milliseconds: float
    most_milliseconds: float
    num_steps: int
    tflops: float
    share_of_peak: float | None
    share_of_ceiling: float
    peak_memory_gib: float | None
    padding_share: float
    first_round_seconds: float
    hours_for_paper: float

    def line(self) -> str:
        share = "    -" if self.share_of_peak is None else f"{self.share_of_peak:5.1%}"
        memory = "    -" if self.peak_memory_gib is None else f"{self.peak_memory_gib:5.1f}"
        return (
            f"{self.recipe:<4} {self.form:<28} {self.target_tokens_per_second:>9,.0f} tokens/s "
            f"{self.median_milliseconds:>7.1f} ms {self.tflops:>6.1f} TFLOP/s {share} "
            f"{self.share_of_ceiling:5.1%} {memory} GiB {self.hours_for_paper:>6.1f} h "
            f"(padding {self.padding_share:.1%}, first round {self.first_round_seconds:.1f} s)"
        )


class StepClock:
    """A model in training and its steps, on the device, timed."""

    def __init__(self, config: Config, form: Form, steps: list[list[Batch]], device: torch.device) -> None:
        self.device = device
        self.steps = [[batch.to(device) for batch in step] for step in steps]
        self.train: TrainConfig = replace(config.train, precision="bfloat16", fast=form.fast_loss)
        torch.manual_seed(1)
        with torch.device(device):
            self.model = Transformer(config.model).train()
        self.model.use_fast_forms(form.fast_model)
        # Its rate stays 0: the work is the same, and nothing diverges.
        self.optimizer = make_optimizer(self.model, self.train)

    def round(self) -> list[float]:
        """Make each step once, and return the seconds of each."""
        times = []
        for step in self.steps:
            before = time.perf_counter()
            train_step(self.model, step, self.optimizer, self.train)
            wait(self.device)
            times.append(time.perf_counter() - before)
        return times

    def tell_hot_spots(self) -> None:
        """Print where the time of a step goes, and how often the processor waits for the GPU in it."""
        on_gpu = self.device.type == "cuda"
        with torch.profiler.profile() as profile:
            train_step(self.model, self.steps[0], self.optimizer, self.train)
        key = "self_device_time_total" if on_gpu else "self_cpu_time_total"
        # Kernels stand in the list by their own names too; here each counts for the operation that called it.
        spots = [spot for spot in profile.key_averages() if spot.device_type.name == "CPU"]
        times = {f"{spot.count:>5} × {spot.key[:70]}": float(getattr(spot, key)) / 1e3 for spot in spots}
        total = sum(times.values())
        for spot, milliseconds in sorted(times.items(), key=lambda item: -item[1])[:12]:
            print(f"    {milliseconds:8.2f} ms {milliseconds / total:5.1%} {spot}")
        if not on_gpu:
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            try:
                train_step(self.model, self.steps[0], self.optimizer, self.train)
            finally:
                torch.cuda.set_sync_debug_mode("default")
        print(f"    {total:.2f} ms in all; the processor waits for the GPU {len(caught)} times in a step")


def measure(
    machine: Machine, recipe: str, config: Config, form: Form, options: argparse.Namespace
) -> Measured:
    device = torch.device(machine.device)
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    steps = make_steps(config, form, num_pairs=options.pairs, num_steps=options.steps)
    clock = StepClock(config, form, steps, device)
    with form.setting(clock.model):
        first_round, times = sum(clock.round()), clock.round()
        while sum(times) < options.seconds:
            times += clock.round()
        if form.name == ROUNDS[0][0].name:
            clock.tell_hot_spots()
    repeats = len(times) // len(steps)
    tokens = repeats * sum(batch.num_target_tokens for step in steps for batch in step)
    tflops = repeats * sum(step_flops(config.model, step) for step in steps) / sum(times) / 1e12
    return Measured(
        recipe,
        form.name,
        target_tokens_per_second=tokens / sum(times),
        median_milliseconds=1e3 * statistics.median(times),
        least_milliseconds=1e3 * min(times),
        most_milliseconds=1e3 * max(times),
        num_steps=len(times),
        tflops=tflops,
        share_of_peak=None if machine.peak_tflops is None else tflops / machine.peak_tflops,
        share_of_ceiling=tflops / machine.ceiling_tflops,
        peak_memory_gib=torch.cuda.max_memory_allocated(device) / 2**30 if on_gpu else None,
        padding_share=padding_share(steps, config.model.vocabulary_size - 1),
        first_round_seconds=first_round,
        hours_for_paper=PAPER[recipe][0] * statistics.mean(times) / 3600,
    )


def measure_all(
    options: argparse.Namespace, configs: dict[str, Config], machine: Machine, end: float
) -> Iterator[Measured]:
    """Yield what each form takes that fits before ``end``, the most valuable ones first."""
    chosen = [
        (recipe, config, form)
        for forms in ROUNDS
        for recipe, config in configs.items()
        for form in forms
        if not any(word in form.name for word in options.skip)
    ]
    for recipe, config, form in chosen:
        needed = 0.0 if options.tiny else form.expected_seconds + options.seconds
        if time.monotonic() + needed > end:
            print(f"{recipe:<4} {form.name:<28} skipped: {options.minutes:g} minutes do not allow it")
            continue
        try:
            yield measure(machine, recipe, config, form, options)
        except Exception as error:  # a form that does not run is a result too
            print(f"{recipe:<4} {form.name:<28} failed: {type(error).__name__}: {str(error)[:200]}")
            torch._dynamo.reset()


def out_of_time(*_: object) -> None:
    raise OutOfTimeError


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=8.0, help="after which it ends")
    parser.add_argument("--batch-tokens", type=int, default=25_000, help="positions of a step, each side")
    parser.add_argument("--seconds", type=float, default=6.0, help="that each form is measured for")
    parser.add_argument("--skip", action="append", default=[], metavar="WORD", help="forms of such a name")
    parser.add_argument("--tiny", action="store_true", help="a model of no use, to try this program")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there as well")
    options = parser.parse_args()
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        parser.error("torch sees no GPU here; --device cpu --tiny tries this program without one")
    options.pairs, options.steps, options.square = 200_000, 8, 8_192
    if options.tiny:
        options.pairs, options.steps, options.square = 2_000, 2, 128
        options.batch_tokens, options.seconds = min(options.batch_tokens, 1_000), 0.0
    return options


def tell_best(results: list[Measured], machine: str) -> None:
    """Print the paper's training at the speed of the best form; bounds are no form of training."""
    for recipe, (num_steps, hours) in PAPER.items():
        found = [one for one in results if one.recipe == recipe and "no padding" not in one.form]
        if found:
            best = min(found, key=lambda one: one.hours_for_paper)
            print(
                f"{recipe}: {num_steps:,} steps in {best.hours_for_paper:,.1f} hours on one {machine} "
                f"({best.form}); the paper took {hours:g} hours on eight P100"
            )


def main() -> None:
    options = parse()
    end = time.monotonic() + 60 * options.minutes
    signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, 60 * options.minutes)
    settings = [f"model.{size}" for size in (TINY if options.tiny else ["vocabulary_size=37000"])]
    settings.append(f"train.batch_tokens={options.batch_tokens}")
    configs = {name: read_config(recipe=name, file=None, settings=settings) for name in PAPER}
    results: list[Measured] = []
    try:
        base = configs["base"]
        machine = meet(
            torch.device(options.device),
            base.model,
            size=options.square,
            batch_tokens=options.batch_tokens,
        )
        for measured in measure_all(options, configs, machine, end):
            results.append(measured)
            print(measured.line(), flush=True)
            if options.json is not None:
                report = {"torch": torch.__version__, "machine": machine._asdict()}
                numbers = [asdict(one) for one in results]
                options.json.write_text(json.dumps(report | {"results": numbers}, indent=1) + "\n")
        signal.setitimer(signal.ITIMER_REAL, 0)
        tell_best(results, machine.name)
    except OutOfTimeError:
        print(f"stopped: {options.minutes:g} minutes are over")


main()
