"""One update."""

import copy
import json
from pathlib import Path

import pytest
import torch

from dragoman.config import TrainConfig
from dragoman.data import Batch, collate
from dragoman.errors import OutOfMemoryError
from dragoman.model import Transformer
from dragoman.text.ids import END
from dragoman.train.loop import make_optimizer
from dragoman.train.loss import Loss
from dragoman.train.parallel import Parallel
from dragoman.train.step import StepResult, StopRequestedError, train_step
from text_samples import trained
from tiny_models import random_ids, tiny_config, tiny_model

CONFIG = TrainConfig(precision="float32")
Pairs = list[tuple[list[int], list[int]]]


def some_pairs(number: int) -> Pairs:
    lengths = [3 + i % 9 for i in range(number)]
    return list(zip(random_ids(lengths, 1), random_ids(lengths[::-1], 2), strict=True))


def cut(pairs: Pairs, sizes: list[int], padding: int = 23) -> list[Batch]:
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    parts = [pairs[start : start + size] for start, size in zip(starts, sizes, strict=True)]
    return [collate(part, end=END, padding=padding) for part in parts]


def gradients(
    model: Transformer, batches: list[Batch], config: TrainConfig
) -> tuple[StepResult, list[torch.Tensor]]:
    """Return what a step says and the gradient it went along: with plain descent it is what has changed."""
    own = copy.deepcopy(model)
    optimizer = torch.optim.SGD(own.parameters(), lr=1.0)
    result = train_step(own, batches, optimizer, config)
    moved = zip(model.parameters(), own.parameters(), strict=True)
    return result, [(before - after).detach() for before, after in moved]


@pytest.mark.parametrize("sizes", [[12], [4, 4, 4], [1, 2, 9], [1] * 12])
@pytest.mark.parametrize("fast", [True, False])
def test_micro_batches_change_nothing(sizes: list[int], fast: bool) -> None:
    """Cutting a step into micro-batches of any sizes gives the same loss and the same gradient."""
    model, pairs = tiny_model(), some_pairs(12)
    config = TrainConfig(precision="float32", fast=fast)
    (whole, expected), (cut_up, found) = (gradients(model, cut(pairs, one), config) for one in ([12], sizes))

    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    assert cut_up == pytest.approx(whole, rel=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
def test_accumulation_on_real_sentences(shared: Path, dtype: torch.dtype, tolerance: float) -> None:
    """S26: 64 sentences at once, as 2 × 32, 4 × 16 and 64 × 1 have the same gradient."""
    sides = [
        (shared / "cases" / "mini" / name).read_text().splitlines() for name in ("train.src", "train.tgt")
    ]
    tokenizer = trained([*sides[0], *sides[1]], 320)
    encoded = [tokenizer.encode_all(side[:64]) for side in sides]
    pairs = list(zip(*encoded, strict=True))
    torch.manual_seed(1)
    model = Transformer(tiny_config(vocabulary_size=tokenizer.vocabulary_size)).to(dtype)
    padding = model.padding
    _, expected = gradients(model, cut(pairs, [64], padding), CONFIG)
    for sizes in ([32] * 2, [16] * 4, [1] * 64):
        _, found = gradients(model, cut(pairs, sizes, padding), CONFIG)
        norm = torch.cat([grad.flatten() for grad in expected]).norm()
        difference = torch.cat([(a - b).flatten() for a, b in zip(found, expected, strict=True)]).norm()

        assert float(difference / norm) <= tolerance


def test_the_loss_is_per_token_of_the_whole_step(shared: Path) -> None:
    """S26: micro-batches of 10 and 100 tokens are weighed by their tokens, not one as much as the other."""
    case = json.loads((shared / "cases" / "S26-gradient-accumulation" / "case.json").read_text())
    parts = [case[f"micro_batch_{n}_token_losses"] for n in (1, 2)]
    right = sum(map(sum, parts)) / sum(map(len, parts))
    model = tiny_model()
    batches = cut([([5], [6] * 9), ([5], [7] * 99)], [1, 1])
    together, _ = gradients(model, batches, CONFIG)
    alone = [gradients(model, [batch], CONFIG)[0] for batch in batches]
    of_tokens = sum(one.loss * one.num_target_tokens for one in alone) / 110

    assert right == pytest.approx(case["right_mean"], abs=1e-6)
    assert [one.num_target_tokens for one in alone] == [10, 100]
    assert together.loss == pytest.approx(of_tokens, rel=1e-6)
    assert together.loss != pytest.approx(sum(one.loss for one in alone) / 2, rel=1e-3)


def test_adam_has_the_papers_settings() -> None:
    """β₁ = 0.9, β₂ = 0.98, ε = 10⁻⁹, no weight decay, and by default no clipping (§5.3)."""
    (group,) = make_optimizer(tiny_model(), TrainConfig()).param_groups

    assert (group["betas"], group["eps"], group["weight_decay"], group["amsgrad"]) == (
        (0.9, 0.98),
        1e-9,
        0,
        False,
    )
    assert TrainConfig().max_grad_norm is None


def test_two_steps_of_adam_by_hand() -> None:
    """The parameters move as Kingma and Ba's formula says, with both corrections."""
    model, batches = tiny_model(), cut(some_pairs(6), [6])
    optimizer = make_optimizer(model, CONFIG)
    parameters = [parameter.detach().clone() for parameter in model.parameters()]
    mean = [torch.zeros_like(one) for one in parameters]
    variance = [torch.zeros_like(one) for one in parameters]
    for step, rate in ((1, 0.01), (2, 0.02)):
        _, grads = gradients(model, batches, CONFIG)
        for group in optimizer.param_groups:
            group["lr"] = rate
        train_step(model, batches, optimizer, CONFIG)
        for i, grad in enumerate(grads):
            mean[i] = 0.9 * mean[i] + 0.1 * grad
            variance[i] = 0.98 * variance[i] + 0.02 * grad**2
            corrected = (variance[i] / (1 - 0.98**step)).sqrt() + 1e-9
            parameters[i] = parameters[i] - rate * mean[i] / (1 - 0.9**step) / corrected
        # A gradient that is zero but for rounding is moved by its sign alone.
        sure = [(grad.abs() > 1e-9) | (grad == 0) for grad in grads]
        for expected, found, is_sure in zip(parameters, model.parameters(), sure, strict=True):
            torch.testing.assert_close(found.detach()[is_sure], expected[is_sure], rtol=1e-6, atol=1e-8)


def test_clipping_scales_the_whole_gradient() -> None:
    """A gradient that is too long keeps its direction and gets the length allowed; a short one stays."""
    model, batches = tiny_model(), cut(some_pairs(6), [6])
    result, free = gradients(model, batches, CONFIG)
    length = result.grad_norm
    for share in (0.5, 2.0):
        config = TrainConfig(precision="float32", max_grad_norm=share * length)
        clipped, found = gradients(model, batches, config)

        assert clipped.grad_norm == pytest.approx(length, rel=1e-6)
        torch.testing.assert_close(found, [min(share, 1.0) * one for one in free], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_step_that_is_not_finite_is_skipped(value: float) -> None:
    """Where the gradient is not finite the update is skipped: parameters and moments are as they were."""
    model, batches = tiny_model(), cut(some_pairs(6), [3, 3])
    optimizer = make_optimizer(model, CONFIG)
    train_step(model, batches, optimizer, CONFIG)
    with torch.no_grad():
        model.encoder[0].feed_forward.inner.weight[0, 0] = value
    before = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    result = train_step(model, batches, optimizer, CONFIG)

    assert result.is_skipped
    torch.testing.assert_close(
        (model.state_dict(), optimizer.state_dict()), before, equal_nan=True, rtol=0, atol=0
    )
    assert all(parameter.grad is None for parameter in model.parameters())


NO_MEMORY = RuntimeError("DefaultCPUAllocator: can't allocate memory")


class SmallMemory(Parallel):
    """Memory that holds micro-batches of so many pairs."""

    def __init__(self, model: Transformer, most_pairs: int, error: RuntimeError) -> None:
        super().__init__(model, CONFIG)
        self.most_pairs, self.error, self.computed = most_pairs, error, 0

    def loss(self, batch: Batch) -> Loss:
        """Compute the loss, or run out of memory after a part of the step has its gradient."""
        if len(batch.source_BS) > self.most_pairs:
            raise self.error
        self.computed += 1
        return super().loss(batch)


@pytest.mark.parametrize("error", [NO_MEMORY, torch.OutOfMemoryError("CUDA out of memory")])
def test_a_step_that_does_not_fit_changes_nothing(error: RuntimeError) -> None:
    """Memory that ends in the middle of a step leaves parameters and moments, and the next step no trace."""
    model = tiny_model()
    optimizer = make_optimizer(model, CONFIG)
    train_step(model, cut(some_pairs(4), [4]), optimizer, CONFIG)
    other = copy.deepcopy(model)
    before = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    with pytest.raises(OutOfMemoryError):
        train_step(model, cut(some_pairs(12), [3, 9]), optimizer, CONFIG, SmallMemory(model, 3, error))

    torch.testing.assert_close((model.state_dict(), optimizer.state_dict()), before, rtol=0, atol=0)

    plain = torch.optim.SGD(model.parameters(), lr=1.0)
    train_step(model, cut(some_pairs(12), [12]), plain, CONFIG)
    train_step(other, cut(some_pairs(12), [12]), torch.optim.SGD(other.parameters(), lr=1.0), CONFIG)

    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=0, atol=0)


def test_a_wish_to_stop_does_not_wait_for_the_step() -> None:
    """Between micro-batches a step is given up, and nothing has changed."""
    model = tiny_model()
    optimizer, parallel = make_optimizer(model, CONFIG), SmallMemory(model, 12, NO_MEMORY)
    before = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    with pytest.raises(StopRequestedError):
        train_step(
            model, cut(some_pairs(12), [4, 4, 4]), optimizer, CONFIG, parallel, lambda: parallel.computed == 2
        )

    torch.testing.assert_close((model.state_dict(), optimizer.state_dict()), before, rtol=0, atol=0)
    assert parallel.computed == 2


def test_the_message_tells_what_does_not_fit() -> None:
    """The largest micro-batch is told by pairs and length, and which key helps."""
    model = tiny_model()
    small = SmallMemory(model, 0, NO_MEMORY)
    with pytest.raises(OutOfMemoryError, match="9 pairs of up to 12 pieces") as fault:
        train_step(model, cut(some_pairs(9), [9]), torch.optim.SGD(model.parameters()), CONFIG, small)

    assert "train.micro_batch_tokens" in (fault.value.hint or "")


def test_other_faults_of_torch_stay_what_they_are() -> None:
    """A RuntimeError that has nothing to do with memory is not taken for a lack of it."""
    model = tiny_model()
    broken = SmallMemory(model, 0, RuntimeError("the sizes do not match"))
    with pytest.raises(RuntimeError, match="sizes"):
        train_step(model, cut(some_pairs(2), [2]), torch.optim.SGD(model.parameters()), CONFIG, broken)


def test_bfloat16_steps_go_the_same_way() -> None:
    """Under bfloat16 the gradient points where the float32 one does, and parameters stay float32."""
    model, batches = tiny_model(dtype=torch.float32), cut(some_pairs(12), [6, 6])
    directions = []
    for precision in ("float32", "bfloat16"):
        _, grads = gradients(model, batches, TrainConfig(precision=precision))
        directions.append(torch.cat([grad.flatten() for grad in grads]))

        assert {grad.dtype for grad in grads} == {torch.float32}
    assert float(torch.cosine_similarity(*directions, dim=0)) > 0.99
