"""Dropout: how much, how scaled, where."""

from fractions import Fraction

import pytest
import torch

from dragoman.model.dropout import Dropout, drop
from tiny_models import random_batch, tiny_model


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.25, 0.3, 0.5, 0.999])
def test_the_expected_value_is_exact(rate: float) -> None:
    """What is kept is scaled by one over the share that is kept, whatever the rate was rounded to."""
    torch.manual_seed(1)
    dropped = drop(torch.ones(400_000, dtype=torch.float64), rate)
    share = Fraction(min(max(round(rate * 256), 1), 255), 256)
    sigma = (float(share * (1 - share)) / 400_000) ** 0.5
    kept = dropped[dropped != 0].unique()

    assert abs(share - Fraction(rate)) <= Fraction(1, 256)
    assert kept.tolist() == [float(1 / (1 - share))]
    assert float((dropped == 0).double().mean()) == pytest.approx(float(share), abs=5 * sigma)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1_000])
def test_any_number_of_elements(size: int) -> None:
    """The shape stays, also where the number of elements is no multiple of eight."""
    torch.manual_seed(1)

    assert drop(torch.ones(size, 3), 0.5).shape == (size, 3)


def test_elements_are_dropped_independently() -> None:
    """Neighbors, and elements that share one random number, are dropped together as often as by chance."""
    torch.manual_seed(2)
    dropped = (drop(torch.ones(50_000, 16), 0.5) == 0).double()
    together = dropped.T @ dropped / 50_000
    sigma = (0.25 * 0.75 / 50_000) ** 0.5

    torch.testing.assert_close(
        together, torch.full((16, 16), 0.25).double().fill_diagonal_(0.5), rtol=0, atol=6 * sigma
    )


@pytest.mark.parametrize("fast", [True, False])
def test_the_seed_decides(fast: bool) -> None:
    """The same seed drops the same elements, another seed others."""
    layer = Dropout(0.3).train()
    layer.fast = fast
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append(layer(torch.ones(1_000)))

    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


@pytest.mark.parametrize("fast", [True, False])
def test_nothing_is_dropped_outside_training(fast: bool) -> None:
    """In evaluation, and at rate zero, the very same tensor comes back and no random number is drawn."""
    x, state = torch.ones(10), torch.random.get_rng_state()
    asleep, without = Dropout(0.9).eval(), Dropout(0.0).train()
    asleep.fast = without.fast = fast

    assert asleep(x) is x
    assert without(x) is x
    assert torch.equal(torch.random.get_rng_state(), state)


def test_gradients_are_dropped_with_their_elements() -> None:
    """The gradient is the scale where an element was kept and zero where it was not."""
    torch.manual_seed(1)
    x = torch.ones(1_000, requires_grad=True)
    dropped = drop(x, 0.4)
    (grad,) = torch.autograd.grad(dropped.sum(), x)

    assert torch.equal(grad, dropped.detach())


def test_dropout_stands_where_the_paper_has_it() -> None:
    """Once on each side's embeddings and once on each sub-layer's output, and nowhere else (§5.4)."""
    model = tiny_model(dropout=0.1, num_encoder_layers=2, num_decoder_layers=3).train()
    shapes: list[tuple[int, ...]] = []
    for module in model.modules():
        if isinstance(module, Dropout | torch.nn.Dropout):
            module.register_forward_hook(lambda _module, _inputs, output: shapes.append(tuple(output.shape)))
    batch = random_batch([5, 3], [4, 6])
    model(batch.source_BS, batch.input_BT)

    assert shapes == [(2, 6, 16)] * (1 + 2 * 2) + [(2, 7, 16)] * (1 + 3 * 3)
