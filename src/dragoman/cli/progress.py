"""How a run looks in the terminal: notices, a progress bar, validations. All of it goes to stderr."""

import time
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dragoman.run.reporter import SCORE_NAMES, Plan, Probe, Reporter, Sample
from dragoman.storage.progress import Progress as RunProgress
from dragoman.train.step import StepResult

_PLAIN_SECONDS = 15.0
"""Time between two lines of progress where there is no terminal."""


class TerminalReporter(Reporter):
    """Shows a run: a bar where there is a terminal, a line now and then where there is none.

    Args:
        console: Where to show it; left out, standard error.
        samples: Whether to show some outputs at each validation.
    """

    def __init__(self, console: Console | None = None, *, samples: bool = True) -> None:
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._samples = samples
        self._bar: Progress | None = None
        self._num_steps = 0
        self._first = RunProgress()
        self._started = self._last_shown = 0.0

    def notice(self, text: str) -> None:
        """Show a notice."""
        self.console.print(text, markup=False)

    def stage(self, text: str) -> None:
        """Show which part of the work begins."""
        self.console.print(f"{text} ...", markup=False, style="dim")

    def planned(self, plan: Plan) -> None:
        """Show what the run is going to do."""
        for line in plan_lines(plan):
            self.console.print(line, markup=False)

    def probed(self, plan: Plan, probe: Probe) -> None:
        """Show what a dry run has measured."""
        for line in probe_lines(plan, probe):
            self.console.print(line, markup=False)

    def training_started(self, progress: RunProgress, num_steps: int) -> None:
        """Draw the bar, or say where training begins."""
        self._first, self._num_steps = progress, num_steps
        self._started = self._last_shown = time.monotonic()
        if progress.step:
            self.notice(f"going on after step {progress.step:,}")
        if self.console.is_terminal:
            self._bar = Progress(
                TextColumn("step"),
                MofNCompleteColumn(),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[numbers]}"),
                TimeRemainingColumn(compact=True),
                TextColumn("left"),
                console=self.console,
            )
            self._bar.add_task("training", total=num_steps, completed=progress.step, numbers="")
            self._bar.start()

    def stepped(self, progress: RunProgress, result: StepResult, rate: float) -> None:
        """Move the bar, or print a line if the last one is old."""
        speed = self._tokens_per_second(progress)
        numbers = f"loss {result.plain_loss:.3f}  rate {rate:.2e}  {speed:,.0f} tokens/s"
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=progress.step, numbers=numbers)
        elif time.monotonic() - self._last_shown >= _PLAIN_SECONDS:
            self._last_shown = time.monotonic()
            left = self._seconds_left(progress)
            self.notice(f"step {progress.step:,} of {self._num_steps:,}  {numbers}  {minutes(left)} left")

    def validated(
        self, progress: RunProgress, scores: Mapping[str, float], samples: Sequence[Sample], *, is_best: bool
    ) -> None:
        """Print the development scores and a few outputs."""
        numbers = "  ".join(
            f"{SCORE_NAMES.get(name, name)} {_figure(value)}" for name, value in scores.items()
        )
        self.notice(f"step {progress.step:,}  development: {numbers}{'  best so far' if is_best else ''}")
        if self._samples:
            for sample in samples:
                self.console.print(f"    source      {printable(sample.source)}", markup=False, style="dim")
                self.console.print(
                    f"    reference   {printable(sample.reference)}", markup=False, style="dim"
                )
                self.console.print(f"    {sample.kind:<11} {printable(sample.hypothesis)}", markup=False)

    def training_ended(self, reason: str) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        words = {
            "max_minutes": "the time that train.max_minutes allows is over",
            "patience": "no better development score for train.patience validations",
        }
        if reason in words:
            self.notice(f"training ends: {words[reason]}")

    def _tokens_per_second(self, progress: RunProgress) -> float:
        seconds = time.monotonic() - self._started  # a step's own are counted after it is told
        return (progress.num_target_tokens - self._first.num_target_tokens) / max(seconds, 1e-9)

    def _seconds_left(self, progress: RunProgress) -> float:
        seconds = time.monotonic() - self._started
        return seconds / max(progress.step - self._first.step, 1) * (self._num_steps - progress.step)


def _figure(value: float) -> str:
    """Return a score as it is printed; the perplexity of a run that goes wrong has hundreds of digits."""
    return f"{value:.2f}" if abs(value) < 1e6 else f"{value:.2e}"


def plan_lines(plan: Plan) -> list[str]:
    """Return what a run is going to do, in lines."""
    epochs = plan.num_steps / plan.steps_per_epoch
    return [
        f"model: {plan.num_parameters:,} parameters, {plan.vocabulary_size:,} pieces; "
        f"{plan.optimizer_bytes / 2**20:,.0f} MiB with gradients and Adam's moments",
        f"data: {plan.num_training_pairs:,} training {plan.unit}s; "
        f"{plan.padding_share:.1%} of all positions are padding",
        f"training: {plan.num_steps:,} steps ({epochs:,.1f} epochs), "
        f"{plan.num_steps * plan.step_flops:.1e} FLOPs executed",
        f"computing on {plan.device} in {plan.precision}",
    ]


def probe_lines(plan: Plan, probe: Probe) -> list[str]:
    """Return what a run will take, by the steps that were measured, in lines."""
    if probe.num_steps == 0:
        return [
            f"memory: a micro-batch of {plan.micro_batch_tokens:,} positions does not fit; lower it with "
            f"--set train.micro_batch_tokens={max(plan.micro_batch_tokens // 2, 1)}, the step stays as large"
        ]
    num_steps = plan.num_steps - plan.num_steps_done
    training = num_steps * probe.seconds_per_step
    validations = plan.num_validations * probe.seconds_per_validation
    total = training + validations
    peak = "not told by this system" if probe.peak_bytes is None else f"{probe.peak_bytes / 2**20:,.0f} MiB"
    that_are_left = " that are left" if plan.num_steps_done else ""
    where = "of all tensors" if plan.device.startswith("cuda") else "of the process, PyTorch included"
    lines = [
        f"measured in {probe.num_steps:,} {'step' if probe.num_steps == 1 else 'steps'}: "
        f"{probe.seconds_per_step:.3g} seconds a step, "
        f"{probe.target_tokens_per_second:,.0f} target pieces a second",
        f"memory: {peak} at most {where}, with the longest pairs",
        f"time: about {minutes(total)}; {num_steps:,} steps{that_are_left} take {minutes(training)}, "
        f"{plan.num_validations:,} validations {minutes(validations)}",
    ]
    if probe.num_cuts:
        fitting = max(plan.micro_batch_tokens // 2**probe.num_cuts, 1)
        lines.append(
            f"memory did not suffice for micro-batches of {plan.micro_batch_tokens:,} positions; they are "
            f"cut into {2**probe.num_cuts}: set train.micro_batch_tokens={fitting}"
        )
    if probe.processor_share < 0.5 and plan.device.startswith("cpu"):
        lines.append(
            f"only {probe.processor_share:.0%} of one processor was free for it; alone it will be faster"
        )
    if plan.max_minutes is not None and 60 * plan.max_minutes < total:
        step = plan.num_steps_done + int(num_steps * 60 * plan.max_minutes / total)
        lines.append(f"train.max_minutes ends it after {plan.max_minutes:g} minutes, near step {step:,}")
        total = 60 * plan.max_minutes
    lines.append(
        f"cost as the paper counts: {total * probe.sustained_flops:.1e} FLOPs "
        f"(time x {probe.sustained_flops / 1e9:,.0f} sustained GFLOPS)"
    )
    return lines


def printable(text: str) -> str:
    """Return a text whose control characters are spelled out, so that no corpus can steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def minutes(seconds: float) -> str:
    """Return a time in words, as "2.3 minutes"."""
    if seconds < 99.5:
        return f"{seconds:.0f} seconds"
    if seconds < 7_200:
        return f"{seconds / 60:.1f} minutes"
    return f"{seconds / 3_600:.1f} hours" if seconds < 72 * 3_600 else f"{seconds / 86_400:,.1f} days"
