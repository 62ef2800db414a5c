"""The label-smoothed loss."""

import json
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from dragoman.agreement import disagreement
from dragoman.data import Batch
from dragoman.train.loss import _ChunkedLoss, loss_sums, smoothed_cross_entropy
from tiny_models import random_batch, tiny_model


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def fast_loss(
    x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, smoothing: float, pull: float = 0.0
) -> Tensor:
    """The chunked loss, whose last class is padding."""
    bias = None if bias is None else F.pad(bias, (0, 1))
    padded = F.pad(weight, (0, 0, 0, 1), value=0.5)
    return _ChunkedLoss.apply(x, padded, bias, target, (smoothing, pull))[0]


def readable_loss(
    x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, smoothing: float, pull: float = 0.0
) -> Tensor:
    logits = F.linear(x, weight, bias)
    value = smoothed_cross_entropy(logits, target, smoothing).smoothed
    return value + pull * disagreement(logits.double().log_softmax(dim=1)) if pull else value


def test_smoothing_spreads_over_all_classes(shared: Path) -> None:
    """S25: ε is spread over all V classes, the target and any padding among them (torch's rule)."""
    case = json.loads((shared / "cases" / "S25-label-smoothing-values" / "case.json").read_text())
    logits = torch.tensor(case["probabilities"], dtype=torch.float64).log()
    targets = torch.tensor(case["targets"])
    loss = smoothed_cross_entropy(logits, targets, case["epsilon"])
    each = [
        float(smoothed_cross_entropy(logits[i : i + 1], targets[i : i + 1], case["epsilon"]).smoothed)
        for i in range(3)
    ]

    assert float(loss.smoothed) / 3 == pytest.approx(case["mean_uniform_over_all_V"], abs=1e-5)
    assert each == pytest.approx(case["per_token_uniform_over_all_V"], abs=1e-5)
    assert float(loss.plain) / 3 == pytest.approx(case["nll_mean"], abs=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("loss", [readable_loss, fast_loss])
def test_the_loss_is_torchs(loss: object, smoothing: float) -> None:
    """Sum and gradient agree with torch's cross-entropy."""
    weight, x, target = drawn(19, 6).requires_grad_(), drawn(40, 6, seed=2), torch.arange(40) % 19
    found = loss(x, weight, None, target, smoothing)
    expected = F.cross_entropy(x @ weight.T, target, label_smoothing=smoothing, reduction="sum")
    grads = [torch.autograd.grad(one, weight)[0] for one in (found, expected)]

    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(grads[0], grads[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("num_rows", "pull"), [(1, 0.0), (2_047, 0.0), (2_048, 0.0), (2_049, 0.0), (2, 2.5), (5_000, 2.5)]
)
@pytest.mark.parametrize("with_bias", [False, True])
def test_chunks_change_nothing(
    num_rows: int, with_bias: bool, pull: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loss in chunks has the value and every gradient of the readable one (float64, 1e-12)."""
    monkeypatch.setattr(sys.modules[loss_sums.__module__], "_CACHED_LOGITS", 9_000)
    leaves = [drawn(num_rows, 6), drawn(19, 6, seed=2), *([drawn(19, seed=3)] if with_bias else [])]
    target = torch.randint(19, (num_rows,), generator=torch.Generator().manual_seed(4))
    results = []
    for loss in (readable_loss, fast_loss):
        own = [leaf.clone().requires_grad_() for leaf in leaves]
        value = loss(own[0], own[1], own[2] if with_bias else None, target, 0.1, pull)
        results.append([value, *torch.autograd.grad(value * 0.37, own)])

    torch.testing.assert_close(results[0], results[1], rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("pull", [0.0, 2.5])
@pytest.mark.parametrize("with_bias", [False, True])
def test_chunks_are_as_exact_in_bfloat16(with_bias: bool, pull: float) -> None:
    """Under autocast the loss in chunks is as near to the float64 loss as the readable one is."""
    leaves = [drawn(300, 32).float(), drawn(97, 32, seed=2).float(), drawn(97, seed=3).float()]
    target, results = torch.arange(300) % 97, []
    for loss, bfloat16 in ((readable_loss, False), (readable_loss, True), (fast_loss, True)):
        own = [leaf.clone().requires_grad_() for leaf in leaves]
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            value = loss(own[0], own[1], own[2] if with_bias else None, target, 0.1, pull)
        results.append([value.detach(), *torch.autograd.grad(value, own[: 3 if with_bias else 2])])
    exact, readable, fast = results
    for right, one, other in zip(exact, readable, fast, strict=True):
        off = [float((form.double() - right).norm() / right.norm()) for form in (one, other)]

        assert other.dtype == torch.float32
        assert off[1] <= max(2 * off[0], 1e-3)


def test_logits_of_any_size_are_safe() -> None:
    """Logits far beyond what an exponential can hold give finite losses and gradients."""
    for loss in (readable_loss, fast_loss):
        x = torch.tensor([[1e4, -1e4], [3e4, 3e4]]).requires_grad_()
        value = loss(x, torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]]), None, torch.tensor([1, 2]), 0.1)
        (grad,) = torch.autograd.grad(value, x)

        assert bool(value.isfinite())
        assert bool(grad.isfinite().all())


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("num_more", [1, 50])
def test_padding_targets_change_nothing(fast: bool, num_more: int) -> None:
    """S25: positions of padding after the targets add nothing, whatever stands there."""
    model, batch = tiny_model(), random_batch([5, 3], [4, 6])
    wider = batch._replace(
        input_BT=F.pad(batch.input_BT, (0, num_more), value=7),
        target_BT=F.pad(batch.target_BT, (0, num_more), value=23),
    )
    loss, more = (loss_sums(model, one, 0.1, fast=fast) for one in (batch, wider))

    torch.testing.assert_close(more.smoothed, loss.smoothed, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(more.plain, loss.plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("fast", [True, False])
def test_nothing_but_padding_is_no_loss(fast: bool) -> None:
    """S25: a batch whose targets are all padding has a loss of 0 and gradients of 0, not NaN."""
    model = tiny_model()
    nothing = Batch(torch.full((2, 3), 23), torch.full((2, 4), 23), torch.full((2, 4), 23), 0)
    loss = loss_sums(model, nothing, 0.1, fast=fast)
    grads = torch.autograd.grad(loss.smoothed, list(model.parameters()), allow_unused=True)

    assert (float(loss.smoothed.detach()), float(loss.plain.detach())) == (0.0, 0.0)
    assert not any(grad.any() for grad in grads if grad is not None)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("output_bias", [False, True])
def test_the_classes_are_all_pieces_but_padding(fast: bool, output_bias: bool) -> None:
    """The loss of a model is torch's over its logits without the padding class, over real targets."""
    model, batch = tiny_model(output_bias=output_bias), random_batch([5, 3], [4, 6])
    loss = loss_sums(model, batch, 0.1, fast=fast)
    real = batch.target_BT != 23
    logits = model(batch.source_BS, batch.input_BT)[real][:, :23]
    for smoothing, found in ((0.1, loss.smoothed), (0.0, loss.plain)):
        expected = F.cross_entropy(logits, batch.target_BT[real], label_smoothing=smoothing, reduction="sum")

        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("output_bias", [False, True])
@pytest.mark.parametrize("embeddings", ["shared", "separate"])
def test_fast_and_readable_losses_train_alike(output_bias: bool, embeddings: str) -> None:
    """Every parameter of a model, biases and tied tensors included, has the same gradient in both forms."""
    model = tiny_model(output_bias=output_bias, embeddings=embeddings)
    batch = random_batch([5, 3], [4, 6])
    results = []
    for fast in (True, False):
        model.use_fast_forms(fast)
        loss = loss_sums(model, batch, 0.1, fast=fast).smoothed
        results.append([loss, *torch.autograd.grad(loss, list(model.parameters()))])

    torch.testing.assert_close(results[0], results[1], rtol=1e-12, atol=1e-12)


def test_disagreement_is_torchs_divergence_both_ways() -> None:
    """Of rows 0 and 1, 2 and 3, and so on (Liang et al., 2021, Eq. 2)."""
    logprob = drawn(8, 19).log_softmax(dim=1)
    first, second = logprob[0::2], logprob[1::2]
    expected = F.kl_div(first, second, log_target=True, reduction="sum")
    expected += F.kl_div(second, first, log_target=True, reduction="sum")

    torch.testing.assert_close(disagreement(logprob), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("fast", [True, False])
def test_r_drop_of_equal_predictions_is_the_plain_loss(fast: bool) -> None:
    """Without dropout both passes say the same, so nothing pulls."""
    model, batch = tiny_model(dropout=0.0).train(), random_batch([5, 3], [4, 6])
    found = []
    for r_drop in (0.0, 5.0):
        loss = loss_sums(model, batch, 0.1, fast=fast, r_drop=r_drop)
        found.append([*loss, *torch.autograd.grad(loss.smoothed, list(model.parameters()))])

    torch.testing.assert_close(found[0], found[1], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("fast", [True, False])
def test_r_drop_pulls_predictions_together(fast: bool) -> None:
    """With dropout its loss is that of both passes and what is between them, piece by piece."""
    model, batch = tiny_model(dropout=0.3).train(), random_batch([5, 3, 4], [4, 6, 2])
    torch.manual_seed(1)
    plain = loss_sums(model, batch, 0.0, fast=fast, r_drop=1e-30).plain
    torch.manual_seed(1)
    pulled = loss_sums(model, batch, 0.0, fast=fast, r_drop=4.0)
    torch.manual_seed(1)
    two = batch.twice()
    logprob = model(two.source_BS, two.input_BT)[..., :23].log_softmax(dim=-1)
    first, second = logprob.chunk(2)
    real = batch.target_BT != 23
    apart = ((first.exp() - second.exp()) * (first - second))[real].sum()

    torch.testing.assert_close(pulled.plain, plain, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(pulled.smoothed - pulled.plain, apart, rtol=1e-10, atol=1e-10)
