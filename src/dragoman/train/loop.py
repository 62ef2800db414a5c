"""The training loop."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from dragoman.config import TrainConfig
from dragoman.data import Batch, EncodedCorpus, gather, plan_epoch
from dragoman.errors import CheckpointError
from dragoman.model import Transformer
from dragoman.model.arithmetic import forward_flops
from dragoman.text.ids import END
from dragoman.train.checkpoint import CheckpointKeeper, Progress
from dragoman.train.schedule import learning_rate
from dragoman.train.step import StepResult, train_step

Scores = Mapping[str, float]


class Observer(Protocol):
    """Hears what happens; it changes nothing."""

    def stepped(self, progress: Progress, result: StepResult, rate: float) -> None:
        """One update was made."""

    def validated(self, progress: Progress, scores: Scores, *, is_best: bool) -> None:
        """The model was validated and saved."""


@dataclass(frozen=True)
class TrainingRun:
    """Everything a run consists of."""

    model: Transformer
    optimizer: torch.optim.Adam
    config: TrainConfig
    corpus_of_epoch: Callable[[int], EncodedCorpus]
    """The encoded pairs of an epoch; another one each time when BPE-dropout is on."""
    validate: Callable[[], Scores]
    """Development scores of the model as it stands, ``loss`` among them."""
    keeper: CheckpointKeeper
    observer: Observer
    stop_requested: Callable[[], bool]
    """Asked after each step; True saves and ends the run."""


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
        DivergedError: A gradient is not finite.
        CheckpointError: A checkpoint cannot be written.
    """
    config, started = run.config, time.monotonic() - progress.seconds
    run.model.train()
    with torch.random.fork_rng(devices=_cuda_devices(run.model)):
        for epoch, step_in_epoch, batches in _steps(run, progress):
            rate = learning_rate(progress.step + 1, config, run.model.config.d_model)
            for group in run.optimizer.param_groups:
                group["lr"] = rate
            torch.manual_seed(config.seed * 1_000_003 + progress.step)
            result = train_step(run.model, batches, run.optimizer, config)
            progress = replace(
                progress,
                step=progress.step + 1,
                epoch=epoch,
                step_in_epoch=step_in_epoch + 1,
                num_target_tokens=progress.num_target_tokens + result.num_target_tokens,
                num_source_tokens=progress.num_source_tokens + _num_source_tokens(run.model, batches),
                flops=progress.flops + _flops(run.model, batches),
                seconds=time.monotonic() - started,
            )
            run.observer.stepped(progress, result, rate)
            ended = why_ended(progress, config)
            if ended or progress.step % config.validation_interval_steps == 0:
                progress = _validate_and_save(run, progress, started)
                ended = ended or why_ended(progress, config)
            if ended:
                return progress, ended
            if run.stop_requested():
                save(run, progress, validated=False)
                return progress, "interrupted"
    raise AssertionError("epochs do not end")


def why_ended(progress: Progress, config: TrainConfig) -> str | None:
    """Return why a run that has come this far is over, or None."""
    if progress.step >= config.max_steps:
        return "max_steps"
    if config.max_minutes is not None and progress.seconds >= 60 * config.max_minutes:
        return "max_minutes"
    if config.patience is not None and progress.num_worse >= config.patience:
        return "patience"
    return None


def _steps(run: TrainingRun, progress: Progress) -> Iterator[tuple[int, int, list[Batch]]]:
    """Yield epoch, step of the epoch and micro-batches, from where ``progress`` stands, without end."""
    config, epoch, first = run.config, progress.epoch, progress.step_in_epoch
    device, padding = run.model.output_weight_VD.device, run.model.padding
    while True:
        corpus = run.corpus_of_epoch(epoch)
        plan = plan_epoch(
            corpus.lengths,
            seed=config.seed,
            epoch=epoch,
            batch_tokens=config.batch_tokens,
            micro_batch_tokens=config.micro_batch_tokens,
        )
        for step_in_epoch in range(first, len(plan)):
            batches = [gather(corpus, part, end=END, padding=padding) for part in plan[step_in_epoch]]
            yield epoch, step_in_epoch, [batch.to(device) for batch in batches]
        epoch, first = epoch + 1, 0


def _validate_and_save(run: TrainingRun, progress: Progress, started: float) -> Progress:
    """Score the model, remember whether it is the best so far, and write a checkpoint."""
    run.model.eval()
    scores = run.validate()
    run.model.train()
    score = selection_score(scores, run.config.select_by)
    is_best = progress.best_score is None or score > progress.best_score
    progress = replace(
        progress,
        best_score=score if is_best else progress.best_score,
        best_step=progress.step if is_best else progress.best_step,
        num_worse=0 if is_best else progress.num_worse + 1,
        seconds=time.monotonic() - started,
    )
    save(run, progress, score=score)
    run.observer.validated(progress, scores, is_best=is_best)
    return progress


def selection_score(scores: Scores, select_by: str) -> float:
    """Return the score by which checkpoints are compared, greater is better.

    Where nothing is translated there is no BLEU, and the loss decides.
    """
    return scores[select_by] if select_by != "loss" and select_by in scores else -scores["loss"]


def _num_source_tokens(model: Transformer, batches: list[Batch]) -> int:
    padding = model.source_padding
    return sum(int((batch.source_BS != padding).sum()) for batch in batches)


def _flops(model: Transformer, batches: list[Batch]) -> float:
    shapes = [(*batch.source_BS.shape, batch.target_BT.size(1)) for batch in batches]
    return sum(3 * forward_flops(model.config, *shape) for shape in shapes)


def save(run: TrainingRun, progress: Progress, *, score: float | None = None, validated: bool = True) -> None:
    """Write a checkpoint of the run as it stands, unless this step has one already."""
    if not validated and run.keeper.last is not None and run.keeper.last.step == progress.step:
        return
    run.keeper.save(
        progress, parameters_of(run.model), optimizer_tensors(run), score=score, validated=validated
    )


def resume(run: TrainingRun, notice: Callable[[str], None]) -> Progress:
    """Put the newest whole checkpoint into the run's model and optimizer.

    Args:
        run: Its model and optimizer are changed, unless it has no checkpoint.
        notice: Is told of checkpoints that are damaged; they are deleted.

    Raises:
        CheckpointError: Checkpoints are listed, but none of them is whole.
    """
    while (entry := run.keeper.last) is not None:
        try:
            progress, parameters, optimizer = run.keeper.load(entry)
            break
        except CheckpointError as error:
            if len(run.keeper.entries) == 1:
                raise
            notice(f"{error.message}; going back to the one before")
            run.keeper.drop(entry)
    else:
        return Progress()
    run.model.load_state_dict(parameters)
    for name, parameter in run.model.named_parameters():
        run.optimizer.state[parameter] = {
            "step": optimizer["step"].clone(),
            "exp_avg": optimizer[f"exp_avg.{name}"].to(parameter.device),
            "exp_avg_sq": optimizer[f"exp_avg_sq.{name}"].to(parameter.device),
        }
    return progress


def parameters_of(model: Transformer) -> dict[str, Tensor]:
    """Return the model's tensors by name; a tied tensor is one and has one name."""
    return {name: tensor.detach() for name, tensor in model.state_dict().items()}


def optimizer_tensors(run: TrainingRun) -> dict[str, Tensor]:
    """Return Adam's two moments of every parameter, and its count of steps."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in run.model.named_parameters():
        state = run.optimizer.state[parameter]
        tensors["step"] = torch.as_tensor(state["step"]).cpu()
        tensors[f"exp_avg.{name}"] = state["exp_avg"]
        tensors[f"exp_avg_sq.{name}"] = state["exp_avg_sq"]
    return tensors


def _cuda_devices(model: Transformer) -> list[torch.device]:
    device = model.output_weight_VD.device
    return [device] if device.type == "cuda" else []
