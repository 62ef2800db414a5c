"""A run's state: written to a checkpoint, and put back from one, on every rank."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor

from dragoman.errors import CheckpointError
from dragoman.storage.checkpoint import CheckpointKeeper
from dragoman.storage.progress import Health, Progress
from dragoman.train.average import AVERAGE, exchange_averages
from dragoman.train.health import is_well, set_back
from dragoman.train.run import TrainingRun

Loaded = tuple[Progress, dict[str, Tensor], dict[str, Tensor]]


@contextmanager
def averaged(run: TrainingRun) -> Iterator[None]:
    """While it is entered, the model holds the moving averages of its parameters, if there are any."""
    exchange_averages(run.model, run.optimizer)
    try:
        yield
    finally:
        exchange_averages(run.model, run.optimizer)


def save(run: TrainingRun, progress: Progress, *, score: float | None = None, validated: bool = True) -> None:
    """Write a checkpoint of the run as it stands; every rank must ask, the first one writes.

    Where there are moving averages, they are the checkpoint's model, and the parameters lie with the moments.
    """
    with averaged(run):
        parameters = run.parallel.whole(parameters_of(run.model))
        moments = run.parallel.whole(_moments(run))
        if run.keeper is not None:
            run.keeper.save(progress, parameters, moments, score=score, validated=validated)
    run.parallel.ranks.wait()


def load_newest(run: TrainingRun, notice: Callable[[str], None]) -> Progress | None:
    """Put the newest whole checkpoint into the run; return None if there is none."""
    loaded = None if run.keeper is None else _newest(run.keeper, notice, lambda _: True)
    return _put(run, loaded)


def go_back(run: TrainingRun, progress: Progress) -> Progress:
    """Put the newest checkpoint whose health is good into the run, or its first weights.

    A run that went back to this very checkpoint before goes to an older one, where there is one: a
    checkpoint holds the parameters after an update and the losses before it, so its health can be good and
    the parameters ruined already. A second checkpoint of the same step holds the setback, so that a run that
    is killed knows of it.

    Args:
        run: Has diverged.
        progress: Where.
    """
    loaded = None if run.keeper is None else _newest_good(run.keeper, run.observer.notice, progress.health)
    saved = _put(run, loaded)
    if saved is None:
        run.parallel.fill(parameters_of(run.model), parameters_of(run.first_weights()))
        _forget_moments(run)
        saved = Progress(health=set_back(progress.health, Health(), 0))
        return replace(saved, seconds=progress.seconds, num_cuts=progress.num_cuts)
    health = set_back(progress.health, saved.health, saved.step)
    saved = replace(saved, health=health, seconds=progress.seconds, num_cuts=progress.num_cuts)
    save(run, saved, validated=False)
    return saved


def parameters_of(model: torch.nn.Module) -> dict[str, Tensor]:
    """Return the model's tensors by name; a tied tensor is one and has one name."""
    return {name: tensor.detach() for name, tensor in model.state_dict().items()}


def _moments(run: TrainingRun) -> dict[str, Tensor]:
    """Return Adam's two moments of every parameter, and its count of steps, of which all are equal.

    What keeps the moving average in memory is called by what it is in a checkpoint: there the averages are
    the model.
    """
    tensors: dict[str, Tensor] = {}
    for name, parameter in run.model.named_parameters():
        state = run.optimizer.state[parameter]
        tensors["step"] = state["step"]
        tensors[f"exp_avg.{name}"] = state["exp_avg"]
        tensors[f"exp_avg_sq.{name}"] = state["exp_avg_sq"]
        if AVERAGE in state:
            tensors[f"parameter.{name}"] = state[AVERAGE]
    return tensors


def _newest(
    keeper: CheckpointKeeper, notice: Callable[[str], None], wanted: Callable[[Progress], bool]
) -> Loaded | None:
    """Return the newest checkpoint that is whole and wanted; those that are newer are deleted.

    Raises:
        CheckpointError: The only one that is left is damaged.
    """
    while (entry := keeper.last) is not None:
        try:
            loaded = keeper.load(entry)
            if wanted(loaded[0]):
                return loaded
        except CheckpointError as error:
            if len(keeper.entries) == 1:
                raise
            notice(f"{error.message}; going back to the one before")
        keeper.drop(entry)
    return None


def _newest_good(keeper: CheckpointKeeper, notice: Callable[[str], None], health: Health) -> Loaded | None:
    """Return the newest checkpoint that a run of this health, which has diverged, should go back to."""

    def is_good(saved: Progress) -> bool:
        is_last_resort = all(entry.step == saved.step for entry in keeper.entries)
        return is_well(saved.health) and (saved.step != health.setback_step or is_last_resort)

    return _newest(keeper, notice, is_good)


def _put(run: TrainingRun, loaded: Loaded | None) -> Progress | None:
    """Put what rank 0 has loaded into the model and the optimizer of every rank."""
    progress = run.parallel.ranks.from_first(None if loaded is None else loaded[0])
    if progress is None:
        _forget_moments(run)
        return None
    _, parameters, moments = loaded or (None, {}, {})
    run.parallel.fill(parameters_of(run.model), parameters)
    _forget_moments(run)
    mine = _moments(run)
    run.parallel.fill(mine, moments)
    for parameter in run.model.parameters():
        run.optimizer.state[parameter]["step"].copy_(mine["step"])
    exchange_averages(run.model, run.optimizer)
    return progress


def _forget_moments(run: TrainingRun) -> None:
    """Let Adam begin anew, and the moving averages with the parameters as they are."""
    for parameter in run.model.parameters():
        state = run.optimizer.state[parameter] = {
            "step": torch.zeros((), device=parameter.device),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }
        if run.config.moving_average:
            state[AVERAGE] = parameter.detach().clone()
