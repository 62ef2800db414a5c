"""Attention: readable and in two fast forms."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dragoman.model.attention import (
    MultiHeadAttention,
    fused_attention,
    scaled_dot_product_attention,
    trained_attention,
)
from tiny_models import tiny_config


def drawn(*shape: int, seed: int = 1, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=dtype, generator=generator).requires_grad_()


def visibility(num_queries: int, num_memory: int, seed: int = 1) -> Tensor:
    """Random, and in each sentence one query that may look nowhere."""
    generator = torch.Generator().manual_seed(seed)
    visible = torch.rand(3, 1, num_queries, num_memory, generator=generator) < 0.5
    visible[:, :, 1] = False
    visible[:, :, 2] = True
    return visible


def inputs(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    query, key, value = drawn(3, 2, 5, 4), drawn(3, 2, 7, 4, seed=2), drawn(3, 2, 7, 6, seed=3)
    return query.to(dtype), key.to(dtype), value.to(dtype), visibility(5, 7)


def readable_attention(*all_: Tensor) -> Tensor:
    return scaled_dot_product_attention(*all_)[0]


def test_attention_is_the_papers_formula() -> None:
    """Each output is the sum of the values it may see, weighted by exp(q·k / √d_k) over their sum."""
    query, key, value, visible = inputs()
    query, key, value = query.detach(), key.detach(), value.detach()
    mixed, weight = scaled_dot_product_attention(query, key, value, visible)
    for b, h, q in [(0, 0, 0), (1, 1, 2), (2, 0, 4)]:
        seen = [m for m in range(7) if visible[b, 0, q, m]]
        raw = {m: math.exp(float(query[b, h, q] @ key[b, h, m]) / math.sqrt(4)) for m in seen}
        share = {m: raw[m] / sum(raw.values()) for m in seen}
        expected = sum(share[m] * value[b, h, m] for m in seen)

        assert weight[b, h, q].tolist() == pytest.approx([share.get(m, 0.0) for m in range(7)], abs=1e-12)
        torch.testing.assert_close(mixed[b, h, q], expected, rtol=0, atol=1e-12)


def test_rows_of_weights_sum_to_one_or_are_zero() -> None:
    """A query's weights sum to 1; what it may not see has weight exactly 0; where it sees nothing all are."""
    _, weight, visible = (*scaled_dot_product_attention(*inputs()), visibility(5, 7))
    sees = visible.any(dim=-1).expand(3, 2, 5)

    torch.testing.assert_close(weight.sum(-1), sees.double(), rtol=0, atol=1e-12)
    assert not weight[~visible.expand_as(weight)].any()


@pytest.mark.parametrize("form", [fused_attention, trained_attention])
@pytest.mark.parametrize("num_keys", [1, 7, 16, 23])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_fast_attention_agrees_with_the_readable_one(
    form: Callable[..., Tensor], num_keys: int, dtype: torch.dtype, tolerance: float
) -> None:
    """All forms have the same values and the same gradients, rows that see nothing included."""
    shapes = [(3, 2, 5, 4), (3, 2, num_keys, 4), (3, 2, num_keys, 6)]
    leaves = [drawn(*shape, seed=seed, dtype=dtype) for seed, shape in enumerate(shapes, start=1)]
    visible = visibility(5, num_keys)
    readable, _ = scaled_dot_product_attention(*leaves, visible)
    fast = form(*leaves, visible)
    probe = drawn(*readable.shape, seed=9, dtype=dtype).detach()
    grads = [torch.autograd.grad((one * probe).sum(), leaves) for one in (readable, fast)]

    torch.testing.assert_close(fast, readable, rtol=0, atol=tolerance)
    torch.testing.assert_close(grads[1], grads[0], rtol=0, atol=10 * tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("attention", [readable_attention, fused_attention, trained_attention])
def test_a_query_that_may_look_nowhere_gets_zeros(
    dtype: torch.dtype, attention: Callable[..., Tensor]
) -> None:
    """It gathers exactly nothing, and every gradient stays finite (S24)."""
    query, key, value = (tensor.detach().requires_grad_() for tensor in inputs(dtype)[:3])
    visible = torch.zeros(3, 1, 5, 7, dtype=torch.bool)
    visible[0] = True
    mixed = attention(query, key, value, visible)
    grads = torch.autograd.grad(mixed.float().square().sum(), [query, key, value])

    assert not mixed[1:].any()
    assert all(bool(grad.isfinite().all()) and not grad[1:].any() for grad in grads)


@pytest.mark.parametrize("attention", [readable_attention, trained_attention])
def test_no_gradient_flows_to_what_is_not_visible(attention: Callable[..., Tensor]) -> None:
    """Keys and values that nobody may see have a gradient of exactly zero."""
    query, key, value = (tensor.detach().requires_grad_() for tensor in inputs()[:3])
    visible = torch.ones(3, 1, 5, 7, dtype=torch.bool)
    visible[..., 5:] = False
    mixed = attention(query, key, value, visible)
    key_grad, value_grad = torch.autograd.grad(mixed.square().sum(), [key, value])

    assert not key_grad[:, :, 5:].any()
    assert not value_grad[:, :, 5:].any()
    assert key_grad[:, :, :5].all()


def test_scores_have_unit_variance() -> None:
    """With components of variance 1, q·k has variance d_k, and 1 after the division (footnote 4)."""
    d_k, count = 64, 200_000
    generator = torch.Generator().manual_seed(1)
    query, key = (torch.randn(count, d_k, generator=generator, dtype=torch.float64) for _ in range(2))
    product = (query * key).sum(dim=1)

    assert float(product.var()) == pytest.approx(d_k, rel=0.02)
    assert float((product / math.sqrt(d_k)).var()) == pytest.approx(1.0, rel=0.02)


def test_heads_are_attentions_of_their_own() -> None:
    """Several heads equal single attentions, each with its own slices of the matrices, summed by W^O."""
    layer = MultiHeadAttention(tiny_config()).double()
    x, memory, visible = drawn(3, 5, 16), drawn(3, 7, 16, seed=2), visibility(5, 7)
    output = layer(x, memory, visible)
    expected = torch.zeros_like(output)
    for head in range(2):
        of_k, of_v = slice(6 * head, 6 * head + 6), slice(10 * head, 10 * head + 10)
        query = x @ layer.query.weight[of_k].T
        key, value = memory @ layer.key.weight[of_k].T, memory @ layer.value.weight[of_v].T
        mixed, _ = scaled_dot_product_attention(query[:, None], key[:, None], value[:, None], visible)
        expected = expected + mixed[:, 0] @ layer.output.weight[:, of_v].T

    torch.testing.assert_close(output, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("num_heads", "d_k", "d_v"), [(3, 5, 7), (1, 1, 1), (8, 16, 2)])
def test_d_k_and_d_v_are_free(num_heads: int, d_k: int, d_v: int) -> None:
    """Widths of keys and values need not divide d_model (Table 3, rows A and B)."""
    config = tiny_config(num_heads=num_heads, d_k=d_k, d_v=d_v)
    layer = MultiHeadAttention(config).double()
    weights: list[Tensor] = []
    output = layer(drawn(3, 5, 16), drawn(3, 7, 16), visibility(5, 7), weights)

    assert output.shape == (3, 5, 16)
    assert [tuple(weight.shape) for weight in weights] == [(3, num_heads, 5, 7)]
    assert {name for name, _ in layer.named_parameters()} == {
        "query.weight",
        "key.weight",
        "value.weight",
        "output.weight",
    }
