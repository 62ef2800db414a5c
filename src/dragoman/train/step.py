"""One optimizer update."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import torch
from torch import nn

from dragoman.config import TrainConfig
from dragoman.data import Batch
from dragoman.errors import DivergedError
from dragoman.model import Transformer
from dragoman.train.loss import loss_sums


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


def autocast(device: torch.device, precision: str) -> AbstractContextManager[None]:
    """Return a context in which matrix products are computed in ``precision``."""
    context: AbstractContextManager[None] = torch.autocast(
        device.type, torch.bfloat16, enabled=precision == "bfloat16"
    )
    return context


def train_step(
    model: Transformer, batches: Sequence[Batch], optimizer: torch.optim.Optimizer, config: TrainConfig
) -> StepResult:
    """Update the parameters once from micro-batches that together are one batch.

    The loss is the sum over all target pieces divided by the pieces of the whole step, so it does not
    matter how the step is cut.

    Source: Vaswani et al. (2017), §5.1 and §5.3.

    Args:
        model: In training mode.
        batches: Micro-batches on the model's device.
        optimizer: Its learning rate is already that of this step.
        config: Label smoothing, clipping and precision; ``auto`` must have been resolved.

    Raises:
        DivergedError: The gradient is not finite; the parameters are as they were.
    """
    tokens = sum(batch.num_target_tokens for batch in batches)
    device = model.output_weight_VD.device
    smoothed, plain = torch.zeros((), device=device), torch.zeros((), device=device)
    for batch in batches:
        with autocast(device, config.precision):
            loss = loss_sums(model, batch, config.label_smoothing, fast=config.fast)
        (loss.smoothed / tokens).backward()  # type: ignore[no-untyped-call]
        smoothed += loss.smoothed.detach()
        plain += loss.plain.detach()
    grad_norm = float(nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm or torch.inf))
    if not torch.isfinite(torch.tensor(grad_norm)):
        optimizer.zero_grad(set_to_none=True)
        raise DivergedError(
            f"the gradient's length is {grad_norm} in a step of {tokens:,} target pieces",
            hint="go on from the last checkpoint with a lower rate or shorter gradients: "
            "--resume --set train.peak_rate=0.0005, or --resume --set train.max_grad_norm=1",
        )
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return StepResult(float(smoothed) / tokens, float(plain) / tokens, grad_norm, tokens)
