"""The training loop."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np
import torch

from dragoman.config import ModelConfig, TrainConfig
from dragoman.data import Batch, EncodedCorpus, gather, plan_epoch
from dragoman.data.batches import Indices
from dragoman.errors import OutOfMemoryError
from dragoman.model import Transformer
from dragoman.model.arithmetic import forward_flops
from dragoman.storage.progress import Progress
from dragoman.text.ids import END
from dragoman.train.average import update_moving_average
from dragoman.train.health import (
    MAX_SETBACKS,
    after_skip,
    after_step,
    explain_not_learning,
    give_up,
    has_diverged,
)
from dragoman.train.run import Scores, TrainingRun
from dragoman.train.schedule import learning_rate
from dragoman.train.state import averaged, go_back, load_newest, save
from dragoman.train.step import StopRequestedError, lack_of_memory, too_large, train_step


class _Step(NamedTuple):
    """What comes next: the same on every rank, but for the micro-batches."""

    epoch: int
    step_in_epoch: int
    share: list[Indices]
    """The micro-batches of this rank."""
    num_source_tokens: int
    num_target_tokens: int
    num_positions: int
    """Source and target positions, padding included."""
    flops: float
    """Of all ranks, forward and backward."""
    corpus: EncodedCorpus


def make_optimizer(model: Transformer, config: TrainConfig) -> torch.optim.Adam:
    """Return Adam as the paper has it.

    Source: Vaswani et al. (2017), §5.3.
    """
    return torch.optim.Adam(
        model.parameters(),
        lr=0.0,
        betas=(config.adam_beta1, config.adam_beta2),
        eps=config.adam_epsilon,
        fused=True,
    )


def fit(run: TrainingRun, progress: Progress) -> tuple[Progress, str]:
    """Train from where ``progress`` stands to the end.

    Source: Vaswani et al. (2017), §5.2, for the number of steps.

    Returns:
        How far the run has come, and why it ended: ``max_steps``, ``max_minutes``, ``patience`` or
        ``interrupted``. Interrupted, it has saved and can be resumed.

    Raises:
        DivergedError: The run has diverged, also at an eighth of the rate.
        CheckpointError: A checkpoint cannot be written.
    """
    ranks, started = run.parallel.ranks, time.monotonic() - progress.seconds  # as if it had never stopped
    run.model.train()
    steps, is_tried, is_saved = _steps(run, progress), False, True
    device = run.model.output_weight_VD.device
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        if _validation_is_pending(run, progress):
            progress, ended = _validate_and_save(run, progress, started)
            if ended:
                return progress, ended
        while True:
            try:
                step = next(steps)
                if not is_tried:
                    progress = replace(progress, num_cuts=_cuts_that_fit(run, step, progress.num_cuts))
                    is_tried = True
                progress = _make(run, progress, step)
            except StopRequestedError:
                if not is_saved:
                    save(run, progress, validated=False)
                return progress, "interrupted"
            if reason := has_diverged(progress.health):
                if progress.health.num_setbacks == MAX_SETBACKS:
                    peak_rate = learning_rate(run.config.warmup_steps, run.config, run.model.config.d_model)
                    raise give_up(reason, progress.step, peak_rate)
                progress = go_back(run, progress)
                run.observer.went_back(progress, reason)
                steps, is_saved = _steps(run, progress), True
                continue
            seconds, num_stops = ranks.sum(
                time.monotonic() - started if ranks.is_first else 0.0, float(run.stop_requested())
            )
            progress = replace(progress, seconds=seconds)
            ended = why_ended(progress, run.config)
            is_saved = ended is not None or progress.step % run.config.validation_interval_steps == 0
            if is_saved:
                progress, ended = _validate_and_save(run, progress, started)
            if ended:
                return progress, ended
            if num_stops:
                if not is_saved:
                    save(run, progress, validated=False)
                return progress, "interrupted"


def resume(run: TrainingRun, notice: Callable[[str], None]) -> Progress:
    """Put the newest whole checkpoint into the run's model and optimizer, on every rank.

    Args:
        run: Its model and optimizer are changed, unless it has no checkpoint.
        notice: Is told of checkpoints that are damaged; they are deleted.

    Raises:
        CheckpointError: Checkpoints are listed, but none of them is whole.
    """
    return load_newest(run, notice) or Progress()


def is_over(run: TrainingRun, progress: Progress) -> bool:
    """Tell whether nothing is left to do; every rank must ask."""
    return why_ended(progress, run.config) is not None and not _validation_is_pending(run, progress)


def _validation_is_pending(run: TrainingRun, progress: Progress) -> bool:
    """Tell whether the run was stopped in the middle of a validation, which then is made first."""
    entries, config = [] if run.keeper is None else run.keeper.entries, run.config
    is_due = progress.step % config.validation_interval_steps == 0 or progress.step == config.max_steps
    kinds = {entry.validated for entry in entries if entry.step == progress.step}
    return run.parallel.ranks.from_first(is_due and kinds == {False})


def why_ended(progress: Progress, config: TrainConfig) -> str | None:
    """Return why a run that has come this far is over, or None."""
    if progress.step >= config.max_steps:
        return "max_steps"
    if config.max_minutes is not None and progress.seconds >= 60 * config.max_minutes:
        return "max_minutes"
    if config.patience is not None and progress.num_worse >= config.patience:
        return "patience"
    return None


def selection_score(scores: Scores, select_by: str) -> float:
    """Return the score by which checkpoints are compared, greater is better.

    Where nothing is translated there is no BLEU, and where all of it is bad it is 0: then the loss decides.
    """
    return scores[select_by] if select_by != "loss" and scores.get(select_by) else -scores["loss"]


def _make(run: TrainingRun, progress: Progress, step: _Step) -> Progress:
    """Make one update; return how far the run has come."""
    config, ranks = run.config, run.parallel.ranks
    rate = learning_rate(progress.step + 1, config, run.model.config.d_model) * progress.health.rate_factor
    for group in run.optimizer.param_groups:
        group["lr"] = rate
    # gone back to the first weights, a run has no checkpoint yet that knows of it
    stop_requested = run.stop_requested if progress.step or not progress.health.num_setbacks else bool
    while True:
        torch.manual_seed((ranks.rank << 40) + config.seed * 1_000_003 + progress.step)
        batches = _batches(run, step, progress.num_cuts)
        try:
            result = train_step(run.model, batches, run.optimizer, config, run.parallel, stop_requested)
            break
        except OutOfMemoryError:
            # a single pair cannot be cut, and other ranks wait for what this one cannot compute
            if ranks.size > 1 or max(len(batch.source_BS) for batch in batches) == 1:
                raise
        progress = replace(progress, num_cuts=progress.num_cuts + 1)
        run.observer.notice(
            f"step {progress.step + 1:,}: memory did not suffice; from here on micro-batches are cut into "
            f"{2**progress.num_cuts} parts: the loss is the same, but dropout draws other units"
        )
    if config.moving_average and not result.is_skipped:
        update_moving_average(run.optimizer, config.moving_average, progress.step + 1)
    health = progress.health
    health = (
        after_skip(health)
        if result.is_skipped
        else after_step(health, result.plain_loss, result.num_target_tokens)
    )
    if result.is_skipped:
        run.observer.notice(
            f"step {progress.step + 1:,}: loss or gradient is not finite; the update is skipped "
            f"({health.num_skipped:,} so far)"
        )
    if text := explain_not_learning(health, run.entropy, progress.step + 1, rate, config.warmup_steps):
        run.observer.notice(text)
    progress = replace(
        progress,
        step=progress.step + 1,
        epoch=step.epoch,
        step_in_epoch=step.step_in_epoch + 1,
        num_target_tokens=progress.num_target_tokens + step.num_target_tokens,
        num_source_tokens=progress.num_source_tokens + step.num_source_tokens,
        num_positions=progress.num_positions + step.num_positions,
        flops=progress.flops + step.flops,
        health=health,
    )
    run.observer.stepped(progress, result, rate)
    return progress


def _steps(run: TrainingRun, progress: Progress) -> Iterator[_Step]:
    """Yield what comes next, from where ``progress`` stands, without end."""
    config, epoch, first = run.config, progress.epoch, progress.step_in_epoch
    while True:
        corpus = run.corpus_of_epoch(epoch)
        plan = plan_of(corpus, config, epoch)
        for step_in_epoch in range(first, len(plan)):
            parts = plan[step_in_epoch]
            source, target = corpus.lengths[np.concatenate(parts)].sum(axis=0).tolist()
            positions = sum(pairs * (s + t) for pairs, s, t in corpus.shapes(parts))
            flops = flops_of(parts, corpus, run.model.config, run.config)
            share = run.parallel.ranks.share(parts)
            yield _Step(epoch, step_in_epoch, share, source, target, positions, flops, corpus)
        epoch, first = epoch + 1, 0


def plan_of(corpus: EncodedCorpus, config: TrainConfig, epoch: int) -> list[list[Indices]]:
    """Return the micro-batches of each step of an epoch."""
    return plan_epoch(
        corpus.lengths,
        seed=config.seed,
        epoch=epoch,
        batch_tokens=config.batch_tokens,
        micro_batch_tokens=config.positions_at_once,
    )


def flops_of(
    parts: Iterable[Indices], corpus: EncodedCorpus, model: ModelConfig, config: TrainConfig
) -> float:
    """Return the operations of micro-batches, forward and backward, padding included."""
    times = 6 if config.r_drop else 3
    return sum(times * forward_flops(model, *shape) for shape in corpus.shapes(parts))


def _cuts_that_fit(run: TrainingRun, first: _Step, at_least: int) -> int:
    """Return how often, so often at least, micro-batches are halved for the largest to fit on every rank.

    A rank alone finds out as it goes. Several try it beforehand with copies of the model, since a rank that
    fails inside a step leaves the others waiting for it.

    Raises:
        OutOfMemoryError: A single pair does not fit.
    """
    ranks, model = run.parallel.ranks, run.model
    if ranks.size == 1 or run.parallel.is_sharded:
        return at_least
    corpus, plan = first.corpus, plan_of(first.corpus, run.config, first.epoch)
    shares = [part for parts in plan for part in ranks.share(parts) if len(part)]
    largest = max(shares, key=lambda part: len(part) * int(corpus.lengths[part].max()), default=None)
    for num_cuts in count(at_least):
        error = None
        if largest is not None:
            part = halved([largest], num_cuts)[0]
            batch = gather(corpus, part, end=END, padding=model.padding)
            error = lack_of_memory(run.parallel, batch.to(model.output_weight_VD.device), run.config)
        if not ranks.any(error is not None):
            break
        if error is not None and len(part) == 1:
            raise too_large(batch) from error
    if num_cuts:
        run.observer.notice(f"micro-batches are cut into {2**num_cuts} parts, so that they fit into memory")
    return num_cuts


def _batches(run: TrainingRun, step: _Step, num_cuts: int) -> list[Batch]:
    """Return the micro-batches of this rank on its device: as many as every other rank has."""
    device, padding = run.model.output_weight_VD.device, run.model.padding
    return [
        gather(step.corpus, part, end=END, padding=padding).to(device)
        for part in halved(step.share, num_cuts)
        if len(part) or run.parallel.ranks.size > 1
    ]


def halved(parts: Iterable[Indices], times: int) -> list[Indices]:
    """Return every part as two, so many times; of few pairs some are empty."""
    return [piece for part in parts for piece in np.array_split(part, 2**times)]


def _validate_and_save(run: TrainingRun, progress: Progress, started: float) -> tuple[Progress, str | None]:
    """Score the model, remember whether it is the best so far, and write a checkpoint.

    Returns:
        How far the run has come, and why it is over, if it is. A wish to stop leaves the scores for later.
    """
    ranks = run.parallel.ranks
    scores: Scores | None = None
    with averaged(run), run.parallel.evaluating(), suppress(StopRequestedError):
        if ranks.is_first:
            scores = run.validate()
    scores = ranks.from_first(scores)
    if scores is None:
        save(run, progress, validated=False)
        return progress, "interrupted"
    score = selection_score(scores, run.config.select_by)
    is_best = progress.best_score is None or score > progress.best_score
    progress = replace(
        progress,
        best_score=score if is_best else progress.best_score,
        best_step=progress.step if is_best else progress.best_step,
        num_worse=0 if is_best else progress.num_worse + 1,
        seconds=ranks.from_first(time.monotonic() - started),
    )
    run.observer.validated(progress, scores, is_best=is_best)  # first: no checkpoint is newer than its record
    save(run, progress, score=score)
    return progress, why_ended(progress, run.config)
