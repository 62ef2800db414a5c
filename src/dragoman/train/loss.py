"""The label-smoothed loss, readable and in chunks."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from dragoman.data import Batch
from dragoman.model import Transformer

_CHUNK_ROWS = 256


class Loss(NamedTuple):
    """Sums over the target pieces of a batch, in nats."""

    smoothed: Tensor
    """With label smoothing: what training lowers."""

    plain: Tensor
    """Without it: the negative log-likelihood, whose mean's exponential is the perplexity."""


def smoothed_cross_entropy(logit_NV: Tensor, target_N: Tensor, smoothing: float) -> Loss:
    """Return the loss of pieces that are to be predicted.

    The target probability is 1 - ε at the target plus ε / V at every one of the V classes:
    loss = nll + ε · (z_target - mean_v z_v), with logits z.

    Source: Vaswani et al. (2017), §5.4; Szegedy et al. (2015), §7.

    Args:
        logit_NV: Logits, all finite.
        target_N: Right pieces.
        smoothing: ε.
    """
    logit_NV = logit_NV.float() if logit_NV.dtype != torch.float64 else logit_NV
    right_N = logit_NV.gather(1, target_N[:, None])[:, 0]
    plain = (logit_NV.logsumexp(dim=1) - right_N).sum()
    return Loss(plain + smoothing * (right_N - logit_NV.mean(dim=1)).sum(), plain)


class _ChunkedLoss(torch.autograd.Function):
    """Projection, softmax and loss in chunks, with the gradient made on the way forward.

    No tensor of all rows × V is ever kept: a chunk's logits become its gradient in place. A chunk is
    small enough to stay in the processor's cache.
    """

    @staticmethod
    def forward(
        ctx: Any, x_ND: Tensor, weight_VD: Tensor, bias_V: Tensor | None, target_N: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        product = _product_type(x_ND)
        weight_cast_VD = weight_VD.to(product)
        grad_x_ND = torch.empty_like(x_ND)
        grad_weight_VD = torch.zeros_like(weight_VD)
        grad_bias_V = None if bias_V is None else torch.zeros_like(bias_V)
        smoothed = x_ND.new_zeros((), dtype=weight_VD.dtype)
        plain = smoothed.clone()
        for first in range(0, len(x_ND), _CHUNK_ROWS):
            part = slice(first, first + _CHUNK_ROWS)
            x_CD, target_C1 = x_ND[part].to(product), target_N[part, None]
            logit_CV = F.linear(x_CD, weight_cast_VD).to(weight_VD.dtype)
            if bias_V is not None:
                logit_CV += bias_V
            logit_CV -= logit_CV.amax(dim=1, keepdim=True)
            right_C1 = logit_CV.gather(1, target_C1)
            mean_C1 = logit_CV.mean(dim=1, keepdim=True)
            grad_CV = logit_CV.exp_()
            total_C1 = grad_CV.sum(dim=1, keepdim=True)
            nll = (total_C1.log() - right_C1).sum()
            plain += nll
            smoothed += nll + smoothing * (right_C1 - mean_C1).sum()
            grad_CV.div_(total_C1).sub_(smoothing / logit_CV.size(1))
            grad_CV.scatter_add_(1, target_C1, torch.full_like(right_C1, smoothing - 1.0))
            if grad_bias_V is not None:
                grad_bias_V += grad_CV.sum(dim=0)
            grad_cast_CV = grad_CV.to(product)
            grad_x_ND[part] = grad_cast_CV @ weight_cast_VD
            grad_weight_VD += grad_cast_CV.T @ x_CD
        ctx.save_for_backward(grad_x_ND, grad_weight_VD, grad_bias_V)
        ctx.mark_non_differentiable(plain)
        return smoothed, plain

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
        grad_x_ND, grad_weight_VD, grad_bias_V = ctx.saved_tensors
        scale = grads[0]
        grad_bias_V = None if grad_bias_V is None else grad_bias_V * scale
        return grad_x_ND * scale, grad_weight_VD * scale, grad_bias_V, None, None


def _product_type(x: Tensor) -> torch.dtype:
    """The type in which matrix products are computed here: autocast's, or that of ``x``."""
    if torch.is_autocast_enabled(x.device.type):
        return torch.get_autocast_dtype(x.device.type)
    return x.dtype


def loss_sums(model: Transformer, batch: Batch, smoothing: float, *, fast: bool = True) -> Loss:
    """Return the loss of a batch, summed over its target pieces; padding counts nothing.

    The classes are all pieces but padding, which is never produced.

    Args:
        model: In training or evaluation mode.
        batch: On the model's device.
        smoothing: ε of the label smoothing.
        fast: Compute in chunks and never hold the logits of all positions.
    """
    x_BTD = model.decode(batch.input_BT, model.encode(batch.source_BS))
    real_BT = batch.target_BT != model.padding
    x_ND, target_N = x_BTD[real_BT], batch.target_BT[real_BT]
    weight_VD = model.output_weight_VD[: model.padding]
    bias_V = model.output_bias_V
    bias_V = None if bias_V is None else bias_V[: model.padding]
    if not fast:
        return smoothed_cross_entropy(F.linear(x_ND, weight_VD, bias_V), target_N, smoothing)
    sums: tuple[Tensor, Tensor] = _ChunkedLoss.apply(  # type: ignore[no-untyped-call]
        x_ND, weight_VD, bias_V, target_N, smoothing
    )
    return Loss(*sums)
