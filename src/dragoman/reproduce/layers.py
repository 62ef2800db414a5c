"""The layer types of Table 1, each reduced to what its row counts: how positions of a sequence are mixed.

A layer takes a sequence (TD) and returns one of the same shape. Projections that all types could have are
left out. Letters of shapes: T positions, D width, C blocks, R radius, J positions of a block and both its
neighbors.

Source: Vaswani et al. (2017), §4 and Table 1.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

Layer = Callable[[Tensor], Tensor]


def self_attention(x_TD: Tensor) -> Tensor:
    """Let each position look at all: softmax(x xᵀ / √d) x, n² · d multiplications twice."""
    score_TT = x_TD @ x_TD.T / math.sqrt(x_TD.size(1))
    mixed_TD: Tensor = score_TT.softmax(dim=1) @ x_TD
    return mixed_TD


def restricted_self_attention(x_TD: Tensor, radius: int) -> Tensor:
    """Let each position look at those at most ``radius`` away: r · n · d.

    Queries are cut into blocks of r; a block's keys lie in itself and its two neighbors. So no score is
    computed between positions that are 2·r or more apart, and cost and memory grow with n and not with n².

    Args:
        x_TD: The sequence.
        radius: How far a position looks to each side, at least 1.
    """
    length, width = x_TD.shape
    num_blocks = -(-length // radius)
    padded = F.pad(x_TD, (0, 0, radius, (num_blocks + 1) * radius - length))
    query_CRD = padded[radius : (num_blocks + 1) * radius].view(num_blocks, radius, width)
    key_CJD = padded.unfold(0, 3 * radius, radius).transpose(1, 2)
    query_C1R = torch.arange(num_blocks * radius, device=x_TD.device).view(num_blocks, radius)
    place_CJ = torch.arange(-radius, (num_blocks + 1) * radius, device=x_TD.device).unfold(
        0, 3 * radius, radius
    )
    near_CRJ = (query_C1R[:, :, None] - place_CJ[:, None, :]).abs() <= radius
    real_C1J = ((place_CJ >= 0) & (place_CJ < length))[:, None, :]
    score_CRJ = query_CRD @ key_CJD.transpose(1, 2) / math.sqrt(width)
    score_CRJ = score_CRJ.masked_fill(~(near_CRJ & real_C1J), -math.inf)
    weight_CRJ = score_CRJ.softmax(dim=2).nan_to_num()  # a query of the padding sees nothing
    return (weight_CRJ @ key_CJD).flatten(0, 1)[:length]


class Recurrence:
    """h_t = tanh(W x_t + U h_{t-1}): n · d² twice, one step after the other.

    Args:
        width: d.
        generator: Draws the weights.
        dtype: Of the weights.
    """

    def __init__(self, width: int, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> None:
        self.input_DD, self.state_DD = (
            torch.randn(width, width, generator=generator, dtype=dtype) / math.sqrt(width) for _ in range(2)
        )

    def __call__(self, x_TD: Tensor) -> Tensor:
        """Return the state after each position."""
        given_TD = x_TD @ self.input_DD
        state_1D = torch.zeros_like(given_TD[:1])
        states = []
        for position in range(len(x_TD)):
            state_1D = (given_TD[position : position + 1] + state_1D @ self.state_DD).tanh()
            states.append(state_1D)
        return torch.cat(states)


class Convolution:
    """A window of ``kernel`` positions, the last of them its own: k · n · d²; separable, k · n · d + n · d².

    Args:
        width: d.
        kernel: k.
        generator: Draws the weights.
        dilation: Distance of the positions of a window.
        separable: Whether each column is convolved alone, and columns are mixed by a matrix after that.
        dtype: Of the weights.
    """

    def __init__(
        self,
        width: int,
        kernel: int,
        generator: torch.Generator,
        *,
        dilation: int = 1,
        separable: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.kernel, self.dilation, self.separable = kernel, dilation, separable
        shape = (width, 1 if separable else width, kernel)
        scale = math.sqrt(kernel * shape[1])
        self.weight = torch.randn(shape, generator=generator, dtype=dtype) / scale
        self.mixing_DD = torch.randn(width, width, generator=generator, dtype=dtype) / math.sqrt(width)

    def __call__(self, x_TD: Tensor) -> Tensor:
        """Return what each window gives at its last position."""
        groups = x_TD.size(1) if self.separable else 1
        padded_1DT = F.pad(x_TD.T[None], (self.dilation * (self.kernel - 1), 0))
        mixed_DT = F.conv1d(padded_1DT, self.weight, dilation=self.dilation, groups=groups)[0]
        return mixed_DT.T @ self.mixing_DD if self.separable else mixed_DT.T


class LayerType(NamedTuple):
    """A row of Table 1."""

    name: str
    make: Callable[[int, torch.Generator], Layer]
    """Returns a layer of this width."""
    complexity: str
    """As Table 1 has it."""
    n_exponent: float
    """Of n in the complexity."""
    d_exponent: float
    """Of d."""
    path: str
    """The longest path, as Table 1 has it."""


KERNEL, RADIUS = 3, 32
"""k and r of the measurements."""

LAYER_TYPES = (
    LayerType("self-attention", lambda *_: self_attention, "n² · d", 2, 1, "1"),
    LayerType("recurrence", Recurrence, "n · d²", 1, 2, "n"),
    LayerType("convolution", lambda d, g: Convolution(d, KERNEL, g), "k · n · d²", 1, 2, "n / k"),
    LayerType(
        "dilated convolution",
        lambda d, g: Convolution(d, KERNEL, g, dilation=KERNEL),
        "k · n · d²",
        1,
        2,
        "log_k n",
    ),
    LayerType(
        "separable convolution",
        lambda d, g: Convolution(d, KERNEL, g, separable=True),
        "k · n · d + n · d²",
        1,
        2,
        "n / k",
    ),
    LayerType(
        "restricted self-attention",
        lambda *_: lambda x: restricted_self_attention(x, RADIUS),
        "r · n · d",
        1,
        1,
        "n / r",
    ),
)
