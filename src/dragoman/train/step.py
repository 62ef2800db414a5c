"""One optimizer update."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from dragoman.config import TrainConfig
from dragoman.data import Batch
from dragoman.errors import OutOfMemoryError
from dragoman.model import Transformer
from dragoman.train.parallel import Parallel


class StopRequestedError(Exception):
    """A wish to stop that cannot wait for the end of a long task: it is given up, and made again later."""


class StepResult(NamedTuple):
    """What one update did."""

    loss: float
    """Label-smoothed loss before the update, in nats per target piece."""

    plain_loss: float
    """The same without label smoothing."""

    grad_norm: float
    """Length of the gradient before clipping."""

    num_target_tokens: int
    """Target pieces of the step, ends of sentences included."""

    is_skipped: bool = False
    """Whether loss or gradient was not finite, so that the parameters are as they were."""


def autocast(device: torch.device, precision: str) -> AbstractContextManager[None]:
    """Return a context in which matrix products are computed in ``precision``."""
    context: AbstractContextManager[None] = torch.autocast(
        device.type, torch.bfloat16, enabled=precision == "bfloat16"
    )
    return context


def train_step(
    model: Transformer,
    batches: Sequence[Batch],
    optimizer: torch.optim.Optimizer,
    config: TrainConfig,
    parallel: Parallel | None = None,
    stop_requested: Callable[[], bool] = lambda: False,
) -> StepResult:
    """Update the parameters once from micro-batches that together are one batch.

    The loss is the sum over all target pieces divided by the pieces of the whole step, so it does not
    matter how the step is cut: into micro-batches, over ranks, or further because memory does not suffice.
    Only dropout depends on it: other parts draw other units.

    Source: Vaswani et al. (2017), §5.1 and §5.3.

    Args:
        model: In training mode.
        batches: The micro-batches of this rank, on the model's device; as many as other ranks have.
        optimizer: Its learning rate is already that of this step.
        config: Label smoothing, clipping and precision; ``auto`` must have been resolved.
        parallel: The model on several ranks; left out, this process is alone.
        stop_requested: Asked on every rank between two micro-batches.

    Returns:
        What it did; an update that is not finite is skipped.

    Raises:
        StopRequestedError: A rank is to stop; no parameter has changed.
        OutOfMemoryError: A micro-batch does not fit; no parameter has changed, and smaller ones may be tried.
    """
    parallel = parallel or Parallel(model, config)
    tokens = int(parallel.ranks.sum(sum(batch.num_target_tokens for batch in batches))[0])
    optimizer.zero_grad(set_to_none=True)  # of a step that was given up
    try:
        smoothed, plain = _accumulate(parallel, batches, config, tokens, stop_requested)
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise too_large(max(batches, key=lambda batch: batch.num_positions)) from error
        raise
    grad_norm = _grad_norm(model, config.max_grad_norm)
    is_finite = bool(torch.isfinite(torch.tensor([grad_norm, smoothed])).all())
    if is_finite:
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return StepResult(smoothed / tokens, plain / tokens, grad_norm, tokens, not is_finite)


def _accumulate(
    parallel: Parallel, batches: Sequence[Batch], config: TrainConfig, tokens: int, stop: Callable[[], bool]
) -> tuple[float, float]:
    """Add up the gradients of the whole step; return its loss with and without smoothing, summed."""
    device = batches[0].source_BS.device
    sums: list[Tensor] = []
    for i, batch in enumerate(batches):
        if i and parallel.ranks.any(stop()):
            raise StopRequestedError
        with parallel.exchange(now=i == len(batches) - 1):
            with autocast(device, config.precision):
                loss = parallel.loss(batch)
            # averaging over the ranks makes the gradient of the step's mean of this sum
            (loss.smoothed * (parallel.ranks.size / tokens)).backward()  # type: ignore[no-untyped-call]
        sums.append(torch.stack([loss.smoothed.detach(), loss.plain.detach()]))
    smoothed, plain = parallel.ranks.sum(*torch.stack(sums).sum(dim=0).tolist())
    return smoothed, plain


def _grad_norm(model: Transformer, limit: float | None) -> float:
    """Return the length of the gradient, and scale it down to the limit if there is one."""
    if limit is not None:
        norm = nn.utils.clip_grad_norm_(model.parameters(), limit)
    else:
        norm = nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
    return float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)


def too_large(batch: Batch) -> OutOfMemoryError:
    """Return the error that tells which micro-batch did not fit into memory."""
    positions = max(batch.source_BS.size(1), batch.target_BT.size(1))
    return OutOfMemoryError(
        f"memory does not suffice for a micro-batch of {len(batch.source_BS):,} pairs of up to "
        f"{positions:,} pieces",
        hint="set train.micro_batch_tokens lower, or data.max_length if it is a single pair",
    )


def lack_of_memory(parallel: Parallel, batch: Batch, config: TrainConfig) -> RuntimeError | None:
    """Return the error if a micro-batch does not fit into memory; nothing else is changed by trying."""
    try:
        with parallel.exchange(now=False), autocast(batch.source_BS.device, config.precision):
            parallel.loss(batch).smoothed.backward()  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        return error
    finally:
        parallel.model.zero_grad(set_to_none=True)
    return None


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch could not get the memory it asked for; on the processor that is a plain RuntimeError."""
    words = ("can't allocate memory", "not enough memory")
    return isinstance(error, torch.OutOfMemoryError) or any(text in str(error) for text in words)
