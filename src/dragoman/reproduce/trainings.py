"""Many trainings that differ in a few keys: one after the other or side by side, each resumable."""

import json
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from pathlib import Path

import torch

from dragoman.config import AUTO, read_config
from dragoman.errors import ConfigError, UsageError
from dragoman.model.arithmetic import forward_flops
from dragoman.model_search import choose_device
from dragoman.reproduce.request import Request
from dragoman.run import Reporter, TrainOptions, train
from dragoman.run.device import choose_precision
from dragoman.run.folder import FINISHED, stored_config
from dragoman.run.metrics import whole_records
from dragoman.run.report import HISTORY
from dragoman.run.reporter import Plan, Probe
from dragoman.run.sheet import SETTINGS
from dragoman.run.training import read_metrics
from dragoman.storage.durable import replace_durably
from dragoman.train.step import StopRequestedError
from dragoman.visualize.charts import Line, line_chart


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training."""

    name: str
    """What it is called, also in its folder's name."""
    folder: Path
    corpus: Sequence[Path]
    dev: Sequence[Path]
    settings: Sequence[str]
    recipe: str = "base"
    silver: Sequence[Path] = ()


@dataclass(frozen=True)
class Trained:
    """What a training has come to."""

    dev_scores: Mapping[str, float]
    """Scores of the kept model on the development pairs."""
    minutes: float
    """Of training; validations are left out."""
    flops: float
    """Executed operations, forward and backward."""
    sustained_flops: float
    """Float32 operations a second that the device sustains."""
    kept: str = ""
    """Which parameters were kept, in words."""

    @property
    def paper_flops(self) -> float:
        """Cost as the paper counts it: time times sustained operations (§6.1)."""
        return 60 * self.minutes * self.sustained_flops


_RESULT = "trained.json"
_ASK_SECONDS = 0.2
"""How long to wait for a training before asking whether all are to stop."""
_WIDTHS = ("model.d_model", "model.d_ff", "model.d_k", "model.d_v")


def train_all(trainings: Sequence[Training], request: Request) -> dict[str, Trained]:
    """Make all trainings that are not finished yet, and return by name what they have come to.

    Args:
        trainings: With different folders.
        request: How many at the same time, who hears of them, and who may stop them.

    Raises:
        StopRequestedError: A stop was requested; all is saved.
    """
    for one in trainings:
        _check_settings(one)
    found = {one.name: known for one in trainings if (known := _known(one)) is not None}
    waiting = [training for training in trainings if training.name not in found]
    if found and waiting:
        request.told(f"{len(found)} of {len(trainings)} trainings are finished already")
    if waiting and request.scale != "tiny":
        request.told(predicted_cost(waiting, request.jobs))
    if request.jobs == 1:
        for number, training in enumerate(waiting, start=len(found) + 1):
            request.told(f"training {number} of {len(trainings)}: {training.name}")
            found[training.name] = run_training(training, request.reporter, request.stop_requested)
        return found
    return found | _side_by_side(waiting, request, len(trainings))


def _side_by_side(waiting: Sequence[Training], request: Request, num_all: int) -> dict[str, Trained]:
    """Make trainings in processes of their own; several GPUs are dealt out among them.

    Raises:
        StopRequestedError: A stop was requested; all is saved.
    """
    threads = max(1, torch.get_num_threads() // request.jobs)
    context = get_context("spawn")
    stop, devices = context.Event(), context.SimpleQueue()
    for name in _devices(request.jobs):
        devices.put(name)
    device = choose_device("auto")
    precision = f"train.precision={choose_precision('auto', device)[0]}"  # measured while nothing else runs
    waiting = [
        replace(one, settings=[precision, *one.settings]) if stored_config(one.folder) is None else one
        for one in waiting
    ]
    found: dict[str, Trained] = {}
    with ProcessPoolExecutor(request.jobs, context, _begin, (stop, devices, threads)) as pool:
        running: dict[Future[Trained], str] = {
            pool.submit(_in_process, training): training.name for training in waiting
        }
        try:
            while running:
                for done in wait(running, timeout=_ASK_SECONDS, return_when=FIRST_COMPLETED).done:
                    name = running.pop(done)
                    found[name] = done.result()
                    request.told(f"{num_all - len(running)} of {num_all} trainings are finished: {name}")
                if request.stop_requested():
                    raise StopRequestedError
        except BaseException:
            stop.set()  # what is trained is saved, and what waits does not begin
            pool.shutdown(cancel_futures=True)
            raise
    return found


def run_training(
    training: Training,
    reporter: Reporter | None = None,
    stop_requested: Callable[[], bool] = lambda: False,
    device: str = "auto",
) -> Trained:
    """Train, or go on where an earlier call was stopped, and keep the result.

    Raises:
        StopRequestedError: A stop was requested; the training is saved.
    """
    note = training.folder / "training" / FINISHED
    note.unlink(missing_ok=True)  # ended just before its result was kept, it is judged once more
    outcome = train(
        training.corpus,
        training.folder,
        replace(_options(training), device=device),
        reporter=reporter,
        stop_requested=stop_requested,
    )
    if outcome.reason == "interrupted":
        raise StopRequestedError
    validating = sum(one["validation_seconds"] for one in whole_records(training.folder / HISTORY))
    trained = Trained(
        dict(outcome.dev_scores),
        max(0.0, outcome.progress.seconds - validating) / 60,
        outcome.progress.flops,
        outcome.sustained_flops,
        outcome.chosen,
    )
    replace_durably(training.folder / _RESULT, (json.dumps(asdict(trained), indent=2) + "\n").encode())
    return trained


def _check_settings(training: Training) -> None:
    """Refuse to go on with a training that was begun with other keys, by an older version for instance.

    Raises:
        UsageError: With the folder.
    """
    note = training.folder.with_name(f"{training.folder.name}.json")
    asked = {"recipe": training.recipe, "settings": list(training.settings)}
    if note.exists():
        if json.loads(note.read_bytes()) != asked:
            raise UsageError(
                f"{training.folder}: the training was begun with other keys",
                hint="name a new folder by --out, or delete this one",
            )
        return
    note.parent.mkdir(parents=True, exist_ok=True)
    replace_durably(note, (json.dumps(asked, indent=2) + "\n").encode())


def _options(training: Training, *, dry_run: bool = False) -> TrainOptions:
    return TrainOptions(
        recipe=training.recipe,
        settings=training.settings,
        dev=training.dev,
        silver=training.silver,
        resume=True,
        dry_run=dry_run,
    )


class _Measured(Reporter):
    """Remembers what a dry run has measured."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self.probe: Probe | None = None

    def probed(self, plan: Plan, probe: Probe) -> None:
        self.plan, self.probe = plan, probe


def configurations(trainings: Sequence[Training]) -> tuple[tuple[str, str], ...]:
    """Return the name of each finished training and its whole configuration as TOML."""
    return tuple((one.name, (one.folder / SETTINGS).read_text(encoding="utf-8")) for one in trainings)


def training_chart(trainings: Sequence[Training], score: str, title: str) -> str:
    """Return how a development score went in trainings that are finished, as an SVG element.

    Args:
        trainings: At most as many as a chart has lines.
        score: ``perplexity``, ``bleu`` or ``f1``.
        title: What stands above it.
    """
    lines = [
        Line(
            training.name,
            [
                (record["step"], record["validation"][score])
                for record in read_metrics(training.folder)
                if score in record.get("validation", ())
            ],
        )
        for training in trainings
    ]
    return line_chart(title, lines, x_name="step")


def predicted_cost(trainings: Sequence[Training], jobs: int) -> str:
    """Return in words what trainings are going to take: some steps of the first are measured.

    The others are taken to need as much more time as they have more operations.
    """
    measured = _Measured()
    first = trainings[0]
    train(first.corpus, first.folder, _options(first, dry_run=True), reporter=measured)
    plan, probe = measured.plan, measured.probe
    if plan is None or probe is None or not probe.num_steps:
        return f"{len(trainings)} trainings; what they take could not be measured"
    of_first = _flops(first)
    share = sum(_flops(one) for one in trainings) / of_first
    steps = plan.num_steps - plan.num_steps_done
    left = steps * probe.seconds_per_step + plan.num_validations * probe.seconds_per_validation
    seconds = left + (share - 1) * left * plan.num_steps / max(
        steps, 1
    )  # the others have all their steps ahead
    operations = (steps + (share - 1) * plan.num_steps) * plan.step_flops
    num_devices = min(len(set(_devices(jobs))), len(trainings))
    devices = "the same device" if num_devices == 1 else f"{num_devices} GPUs"
    together = " one after the other" if jobs == 1 else f", {jobs} at a time on {devices}"
    hours = seconds / 3600 / num_devices
    return (
        f"{len(trainings)} trainings{together}: about {hours:.1f} hours, {operations:.1e} "
        f"operations; as the paper prices it {seconds * probe.sustained_flops:.1e}"
    )


def _flops(training: Training) -> float:
    """Return a number in proportion to the operations of a training."""
    if training.recipe == AUTO:
        return 1.0
    config = read_config(recipe=training.recipe, file=None, settings=training.settings)
    return forward_flops(config.model, 1, 30, 30) * config.train.batch_tokens * config.train.max_steps


def _devices(jobs: int) -> list[str]:
    """Return where each of so many processes trains: on the GPUs in turn, if there are several."""
    num_gpus = torch.cuda.device_count()
    return [f"cuda:{i % num_gpus}" if num_gpus > 1 else "auto" for i in range(jobs)]


class _Process:
    """What a process of its own knows besides its training."""

    stop_requested: Callable[[], bool]
    """Whether all are to stop."""
    device: str
    """Where it trains."""


def _begin(stop: Event, devices: "SimpleQueue[str]", threads: int) -> None:
    """Prepare a process for trainings: a Ctrl-C of the terminal is the parent's, who says when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(threads)
    _Process.stop_requested, _Process.device = stop.is_set, devices.get()


def _in_process(training: Training) -> Trained:
    return run_training(training, stop_requested=_Process.stop_requested, device=_Process.device)


def _known(training: Training) -> Trained | None:
    with suppress(OSError, ValueError, TypeError):
        return Trained(**json.loads((training.folder / _RESULT).read_bytes()))
    return None


def shrunk(keys: Mapping[str, object], factor: int) -> list[str]:
    """Return settings with widths divided by a factor; the number of heads and layers stays.

    Raises:
        ConfigError: A width is not divisible.
    """
    return [f"{key}={_narrowed(key, value, factor)}" for key, value in keys.items()]


def _narrowed(key: str, value: object, factor: int) -> object:
    if key not in _WIDTHS or not isinstance(value, int):
        return value
    if value % factor:
        raise ConfigError(f"{key}={value} is not divisible by {factor}", hint="choose another factor")
    return value // factor
