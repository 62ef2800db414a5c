"""What measures the layers of Table 1, on layers whose cost and reach are known."""

import math

import pytest
import torch
from torch.nn import functional as F

from dragoman.reproduce.layers import (
    Convolution,
    Layer,
    Recurrence,
    restricted_self_attention,
    self_attention,
)
from dragoman.reproduce.measures import (
    counted_flops,
    crossing,
    exponent,
    kept_bytes,
    path_length,
    recurrent_steps,
    sequential_operations,
)
from dragoman.reproduce.table3 import rank_correlation


def drawn(length: int, width: int) -> torch.Tensor:
    return torch.randn(length, width, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 40])
@pytest.mark.parametrize("radius", [1, 3, 8, 50])
def test_restricted_attention_is_attention_with_a_window(length: int, radius: int) -> None:
    """It equals full attention whose scores beyond the radius are masked, and so do its gradients."""
    x = drawn(length, 6).requires_grad_()
    place = torch.arange(length)
    near = (place[:, None] - place[None, :]).abs() <= radius
    expected = F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=near)[0]
    found = restricted_self_attention(x, radius)
    (wanted_grad,), (grad,) = (torch.autograd.grad(one.square().sum(), x) for one in (expected, found))

    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(grad, wanted_grad)


def test_restricted_attention_costs_less_and_keeps_less() -> None:
    """From 256 to 1,024 positions operations and memory grow fourfold, of full attention sixteenfold."""
    short, long = drawn(256, 16), drawn(1_024, 16)

    def growth(layer: Layer) -> tuple[float, float]:
        flops = [counted_flops(lambda x=x: layer(x)) for x in (short, long)]
        kept = [kept_bytes(layer, x) for x in (short, long)]
        return flops[1] / flops[0], kept[1] / kept[0]

    window, full = growth(lambda x: restricted_self_attention(x, 16)), growth(self_attention)

    assert window[0] == pytest.approx(4, rel=0.01)
    assert window[1] == pytest.approx(4, rel=0.1)
    assert full[0] == pytest.approx(16, rel=0.01)
    assert full[1] > 12


def test_operations_are_counted_as_by_hand() -> None:
    """A product of 3 × 4 by 4 × 5 has 60 multiply-adds, each of two operations."""
    assert counted_flops(lambda: torch.zeros(3, 4) @ torch.zeros(4, 5)) == 120


def test_a_chain_of_operations_has_its_length() -> None:
    """Ten steps that wait for each other are ten, and two chains beside each other are no longer than one."""
    x = torch.ones(1, requires_grad=True)
    chain = x
    for _ in range(10):
        chain = chain.sin()
    beside = x.sin() + x.cos().cos().cos()

    assert sequential_operations(chain) - sequential_operations(x.sin()) == 9
    assert sequential_operations(beside) - sequential_operations(x.sin()) == 3


def test_layers_reach_as_far_as_they_are_built() -> None:
    """One layer of attention, n - 1 steps, a window at a time, or a power of the window at a time."""
    generator = torch.Generator().manual_seed(1)
    recurrence = Recurrence(4, generator, torch.float64)
    window = Convolution(4, 3, generator, dtype=torch.float64)
    dilated = [Convolution(4, 3, generator, dilation=3**i, dtype=torch.float64) for i in range(6)]

    assert path_length(lambda _: self_attention, 28, 4) == 1
    assert recurrent_steps(recurrence, 28, 4) == 27
    assert path_length(lambda _: window, 28, 4) == 14
    assert path_length(dilated.__getitem__, 28, 4) == 4
    assert path_length(lambda _: lambda x: restricted_self_attention(x, 9), 28, 4) == 3


def test_a_recurrence_is_torch_s_own() -> None:
    """With the same weights it gives what torch's recurrent network gives."""
    ours = Recurrence(5, torch.Generator().manual_seed(1), torch.float64)
    theirs = torch.nn.RNN(5, 5, bias=False, dtype=torch.float64)
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(ours.input_DD.T)
        theirs.weight_hh_l0.copy_(ours.state_DD.T)
    x = drawn(9, 5)

    torch.testing.assert_close(ours(x), theirs(x)[0])


def test_exponents_and_crossings_of_known_curves() -> None:
    """A power law has its exponent, and two of them cross where they are equal."""
    x = [16, 32, 64, 128, 256]
    square, line = [3.0 * n**2 for n in x], [150.0 * n for n in x]

    assert exponent(x, square) == pytest.approx(2)
    assert crossing(x, square, line) == pytest.approx(50)
    assert crossing(x, line, square) is None
    assert math.isclose(crossing([1, 2], [1, 4], [2, 2]) or 0, math.sqrt(2))


@pytest.mark.parametrize(
    ("one", "other", "correlation"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
        ([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 0.8),
        ([1, 1, 2], [1, 2, 3], math.sqrt(3) / 2),
        ([1, 1, 1], [1, 2, 3], 0.0),
    ],
)
def test_rank_correlation_is_spearman_s(one: list[float], other: list[float], correlation: float) -> None:
    """Values worked out by hand, equal ranks among them."""
    assert rank_correlation(one, other) == pytest.approx(correlation)
