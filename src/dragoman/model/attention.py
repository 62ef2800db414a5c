"""Scaled dot-product attention, readable and in two fast forms, and its multi-head form.

Source: Vaswani et al. (2017), §3.2.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.config import ModelConfig
from dragoman.model.precision import for_products

_VECTOR_LENGTH = 16
"""Numbers in float32 that a processor computes at once."""

_FEW_QUERIES = 32
"""Queries of a head below which a processor is faster with two products than in the fused kernel."""


def scaled_dot_product_attention(
    query_BHQK: Tensor, key_BHMK: Tensor, value_BHME: Tensor, visible_BHQM: Tensor
) -> tuple[Tensor, Tensor]:
    """Mix the values by how well each key matches each query.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

    Source: Vaswani et al. (2017), §3.2.1, Eq. 1.

    Args:
        query_BHQK: What each position looks for.
        key_BHMK: What each memory position is found by.
        value_BHME: What each memory position passes on.
        visible_BHQM: True where a query may look; broadcasts over B, H and Q.

    Returns:
        The mixed values (BHQE) and the weights (BHQM). A row of weights sums to 1,
        or is all zeros where the query may look nowhere.
    """
    d_k = query_BHQK.size(-1)
    score_BHQM = (query_BHQK / math.sqrt(d_k)) @ key_BHMK.transpose(-2, -1)
    score_BHQM = score_BHQM.masked_fill(~visible_BHQM, torch.finfo(score_BHQM.dtype).min)
    weight_BHQM = score_BHQM.softmax(dim=-1).masked_fill(~visible_BHQM, 0.0)
    return weight_BHQM @ value_BHME, weight_BHQM


def fused_attention(query_BHQK: Tensor, key_BHMK: Tensor, value_BHME: Tensor, visible_BHQM: Tensor) -> Tensor:
    """Mix the values as :func:`scaled_dot_product_attention` does, in one kernel without the weights.

    The kernel leaves a query that may look nowhere undefined, so its row is set to zero here.

    Returns:
        The mixed values (BHQE).
    """
    mixed_BHQE = F.scaled_dot_product_attention(query_BHQK, key_BHMK, value_BHME, attn_mask=visible_BHQM)
    return mixed_BHQE.masked_fill(~visible_BHQM.any(dim=-1, keepdim=True), 0.0)


def trained_attention(
    query_BHQK: Tensor, key_BHMK: Tensor, value_BHME: Tensor, visible_BHQM: Tensor
) -> Tensor:
    """Mix the values as :func:`scaled_dot_product_attention` does, for training on a processor.

    Scale and mask are one pass over the scores and none over their gradient: what is added to an invisible
    score is so low that neither a weight nor a gradient is left of it. The softmax is taken in float32 of
    16 keys at least, since torch computes a shorter row number by number, forward and backward.

    Returns:
        The mixed values (BHQE).
    """
    exact = torch.promote_types(query_BHQK.dtype, torch.float32)
    if (missing := _VECTOR_LENGTH - key_BHMK.size(2)) > 0:
        key_BHMK, value_BHME = (F.pad(x, (0, 0, 0, missing)) for x in (key_BHMK, value_BHME))
        visible_BHQM = F.pad(visible_BHQM, (0, missing))
    bias = torch.zeros_like(visible_BHQM, dtype=exact).masked_fill_(~visible_BHQM, torch.finfo(exact).min)
    score_BHQM = query_BHQK @ key_BHMK.transpose(-2, -1)
    weight_BHQM = torch.add(bias, score_BHQM, alpha=query_BHQK.size(-1) ** -0.5).softmax(dim=-1)
    mixed_BHQE = weight_BHQM.to(query_BHQK.dtype) @ value_BHME
    sees = visible_BHQM.any(dim=-1, keepdim=True)
    return mixed_BHQE if sees.all() else mixed_BHQE.masked_fill(~sees, 0.0)


def _fast_attention(
    query_BHQK: Tensor, key_BHMK: Tensor, value_BHME: Tensor, visible_BHQM: Tensor | None
) -> Tensor:
    """Mix the values (BHQE) in the form that is fastest on the device and for the shape."""
    if visible_BHQM is None:
        return F.scaled_dot_product_attention(query_BHQK, key_BHMK, value_BHME)
    if not query_BHQK.is_cuda:
        if query_BHQK.requires_grad:  # the backward pass of the fused kernel is the slower one
            return trained_attention(query_BHQK, key_BHMK, value_BHME, visible_BHQM)
        if query_BHQK.size(2) < _FEW_QUERIES:
            return scaled_dot_product_attention(query_BHQK, key_BHMK, value_BHME, visible_BHQM)[0]
    return fused_attention(query_BHQK, key_BHMK, value_BHME, visible_BHQM)


class MultiHeadAttention(nn.Module):
    """Attention of several heads, each with projections of its own.

    MultiHead(Q, K, V) = Concat(head_1, …, head_h) W^O,  head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)

    The projections of all heads lie in one matrix. d_k and d_v are free of d_model / h.

    Source: Vaswani et al. (2017), §3.2.2.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.num_heads = config.num_heads
        self.fast = True
        bias = config.attention_bias
        self.query = nn.Linear(config.d_model, config.num_heads * config.d_k, bias=bias)
        self.key = nn.Linear(config.d_model, config.num_heads * config.d_k, bias=bias)
        self.value = nn.Linear(config.d_model, config.num_heads * config.d_v, bias=bias)
        self.output = nn.Linear(config.num_heads * config.d_v, config.d_model, bias=bias)

    def forward(
        self, x_BQD: Tensor, memory_BMD: Tensor, visible_BHQM: Tensor, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return what each position of ``x_BQD`` gathers from the memory (BQD).

        Args:
            x_BQD: What asks.
            memory_BMD: What is asked; ``x_BQD`` itself in self-attention.
            visible_BHQM: True where a query may look; broadcasts over B, H and Q.
            weights: A list that receives the weights (BHQM) of this call, if they are wanted.
        """
        is_self_attention = memory_BMD is x_BQD
        if self.fast:
            x_BQD = for_products(x_BQD)
            memory_BMD = x_BQD if is_self_attention else for_products(memory_BMD)
        return self.attend(x_BQD, *self.project_memory(memory_BMD), visible_BHQM, weights)

    def project_memory(self, memory_BMD: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys (BHMK) and values (BHME) of a memory; they can be kept while the memory stands."""
        return self._split(self.key(memory_BMD)), self._split(self.value(memory_BMD))

    def attend(
        self,
        x_BQD: Tensor,
        key_BHMK: Tensor,
        value_BHME: Tensor,
        visible_BHQM: Tensor | None,
        weights: list[Tensor] | None = None,
    ) -> Tensor:
        """Return what ``x_BQD`` gathers through keys and values that are already projected (BQD).

        All is as in ``forward``, but that ``visible_BHQM`` may be None where nothing is hidden.
        """
        query_BHQK = self._split(self.query(x_BQD))
        if self.fast and weights is None:
            mixed_BHQE = _fast_attention(query_BHQK, key_BHMK, value_BHME, visible_BHQM)
        else:
            if visible_BHQM is None:
                visible_BHQM = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=query_BHQK.device)
            mixed_BHQE, weight_BHQM = scaled_dot_product_attention(
                query_BHQK, key_BHMK, value_BHME, visible_BHQM
            )
            if weights is not None:
                weights.append(weight_BHQM)
        output: Tensor = self.output(mixed_BHQE.transpose(1, 2).flatten(2))
        return output

    def _split(self, x: Tensor) -> Tensor:
        """Turn positions of all heads side by side into heads of positions."""
        return x.view(*x.shape[:-1], self.num_heads, -1).transpose(1, 2)
