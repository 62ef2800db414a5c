"""The label-smoothed loss, readable and in chunks."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from dragoman.agreement import disagreement, pull_together
from dragoman.data import Batch
from dragoman.model import Transformer
from dragoman.model.precision import for_products, product_type

_CHUNK_ROWS = 2_048
"""Rows whose logits are held at once: enough for the sum over chunks to cost little."""

_CHUNK_LOGITS = 2**28
"""On a GPU, where a chunk must keep thousands of cores busy, logits that are held at once."""

_CACHED_LOGITS = 2**19
"""Logits that stay in a processor's cache while they become probabilities."""


Extras = tuple[float, float]
"""ε of the label smoothing, and the weight of the disagreement of every two rows."""


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

    No tensor of all rows × V is ever kept: a chunk's logits become its gradient in place, p - q with the
    smoothed target q = (1 - ε) · onehot + ε / C over the C classes. Its constant part ε / C is not written
    into every row; it reaches both gradients as the mean of the weights and of the rows. The softmax is
    taken of a few rows at a time, in the parameters' type, so that they stay in the processor's cache.
    """

    @staticmethod
    def forward(
        ctx: Any, x_ND: Tensor, weight_VD: Tensor, bias_V: Tensor | None, target_N: Tensor, extras: Extras
    ) -> tuple[Tensor, Tensor]:
        smoothing, pull = extras
        exact, padding, num_rows = weight_VD.dtype, len(weight_VD) - 1, len(x_ND)
        # products of an odd number of rows are a tenth slower: one row of zeros more counts nothing
        even, cast_VD = F.pad(for_products(x_ND), (0, 0, 0, num_rows % 2)), weight_VD.to(product_type(x_ND))
        total_D = even.sum(dim=0, dtype=exact)
        mean_D = weight_VD[:padding].mean(dim=0)
        grad_x_ND = torch.empty_like(x_ND)
        grad_weight_VD = (total_D * (-smoothing / padding)).repeat(padding + 1, 1)
        grad_bias_V = None if bias_V is None else bias_V.new_full((), -smoothing / padding) * num_rows
        plain = x_ND.new_zeros((), dtype=exact)
        smoothed = -smoothing * (total_D * mean_D).sum()  # autocast would round a product
        if bias_V is not None:
            smoothed -= smoothing * bias_V[:padding].mean() * num_rows
        rows = max(_CHUNK_ROWS, _CHUNK_LOGITS // len(weight_VD)) if x_ND.is_cuda else _CHUNK_ROWS
        for first in range(0, num_rows, rows):
            part = slice(first, min(first + rows, num_rows))
            some = even[first : first + rows]
            logits = F.linear(some, cast_VD)
            logit_CV = logits[: part.stop - first]
            for few in _few_rows(logit_CV):
                nll, right, apart = _become_gradient(logit_CV[few], bias_V, target_N[part][few], extras)
                plain += nll
                smoothed += nll + smoothing * right + pull * apart
            if grad_bias_V is not None:
                grad_bias_V = grad_bias_V + logit_CV.sum(dim=0, dtype=exact)
            grad_x_ND[part] = (logits @ cast_VD)[: part.stop - first]
            grad_weight_VD += logits.T @ some
        grad_x_ND -= smoothing * mean_D
        for grad in (grad_weight_VD, grad_bias_V):
            if grad is not None:
                grad[padding] = 0.0
        ctx.save_for_backward(grad_x_ND, grad_weight_VD, grad_bias_V)
        ctx.mark_non_differentiable(plain)
        return smoothed, plain

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        grad_x_ND, grad_weight_VD, grad_bias_V = ctx.saved_tensors
        scale = grads[0]
        grad_bias_V = None if grad_bias_V is None else grad_bias_V * scale
        return grad_x_ND * scale, grad_weight_VD * scale, grad_bias_V, None, None


def _few_rows(logit_CV: Tensor) -> Iterator[slice]:
    """Yield all rows, on a processor as many at a time as its cache can hold, and never half of two."""
    num_rows = len(logit_CV)
    few = max(2, _CACHED_LOGITS // logit_CV.size(1) // 2 * 2) if logit_CV.device.type == "cpu" else num_rows
    return (slice(first, first + few) for first in range(0, num_rows, few))


def _become_gradient(
    logit_CV: Tensor, bias_V: Tensor | None, target_C: Tensor, extras: Extras
) -> tuple[Tensor, Tensor, Tensor | float]:
    """Turn logits into their gradient in place, but for its constant part.

    Returns:
        The sums of the negative log-likelihood, of the right pieces' logits and of the disagreement of twos,
        where it has a weight; in float32 at least.
    """
    exact_CV = logit_CV.to(torch.promote_types(logit_CV.dtype, torch.float32), copy=True)
    if bias_V is not None:
        exact_CV += bias_V
    exact_CV[:, -1] = torch.finfo(exact_CV.dtype).min  # padding is no class
    target_C1 = target_C[:, None]
    right_C1 = exact_CV.gather(1, target_C1)
    probability_CV = exact_CV.softmax(dim=1)
    # the greatest logit has the greatest probability, 1 / Σ exp(z - max)
    total_C1 = exact_CV.amax(dim=1, keepdim=True) - probability_CV.amax(dim=1, keepdim=True).log()
    smoothing, pull = extras
    apart = pull_together(exact_CV, probability_CV, pull) if pull else 0.0
    at_right_C1 = probability_CV.gather(1, target_C1) - (1.0 - smoothing)
    logit_CV.copy_(probability_CV.scatter_(1, target_C1, at_right_C1))
    return (total_C1 - right_C1).sum(), right_C1.sum(), apart


def loss_sums(
    model: Transformer, batch: Batch, smoothing: float, *, fast: bool = True, r_drop: float = 0.0
) -> Loss:
    """Return the loss of a batch, summed over its target pieces; padding counts nothing.

    The classes are all pieces but padding, which is never produced.

    With R-Drop every pair is computed twice, with other units dropped. The loss is the mean of both plus
    α / 4 · (KL(p‖q) + KL(q‖p)) of their predictions: half of that of Liang et al. (2021), Eq. 4.

    Args:
        model: In training or evaluation mode.
        batch: On the model's device.
        smoothing: ε of the label smoothing.
        fast: Compute in chunks and never hold the logits of all positions.
        r_drop: Its α; with 0 every pair is seen once.
    """
    batch = batch.twice() if r_drop else batch
    x_BTD = model.decode(batch.input_BT, model.encode(batch.source_BS))
    is_real = (batch.target_BT != model.padding).flatten()
    row_N = is_real.nonzero_static(size=batch.num_target_tokens)[:, 0]  # known, so a GPU need not wait
    row_N = row_N.view(2, -1).T.flatten() if r_drop else row_N  # the two of a piece side by side
    x_ND, target_N = x_BTD.flatten(0, 1).index_select(0, row_N), batch.target_BT.flatten()[row_N]
    weight_VD, bias_V = model.output_weight_VD, model.output_bias_V
    if fast:
        extras = (smoothing, r_drop / 2)
        loss = Loss(*_ChunkedLoss.apply(x_ND, weight_VD, bias_V, target_N, extras))  # type: ignore[no-untyped-call]
    else:
        logit_NC = F.linear(x_ND, weight_VD, bias_V)[:, : model.padding]
        loss = smoothed_cross_entropy(logit_NC, target_N, smoothing)
        if r_drop:
            apart = disagreement(logit_NC.log_softmax(dim=1, dtype=loss.smoothed.dtype))
            loss = loss._replace(smoothed=loss.smoothed + r_drop / 2 * apart)
    return Loss(loss.smoothed / 2, loss.plain / 2) if r_drop else loss
