"""The sub-layers and layers of Figure 1."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.config import ModelConfig
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.dropout import Dropout

SubLayer = Callable[[Tensor], Tensor]

ACTIVATIONS: dict[str, SubLayer] = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}


class Memory(NamedTuple):
    """What the encoder has made of a batch of sources."""

    x_BSD: Tensor
    """The encoder's output."""

    visible_B11S: Tensor
    """True at real pieces, False at padding."""


class FeedForward(nn.Module):
    """Two linear maps with an activation between them, at each position alike.

    FFN(x) = max(0, x W₁ + b₁) W₂ + b₂

    Source: Vaswani et al. (2017), §3.3, Eq. 2.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.d_model, config.d_ff)
        self.outer = nn.Linear(config.d_ff, config.d_model)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Return the transformed positions (BTD)."""
        output: Tensor = self.outer(self.activation(self.inner(x_BTD)))
        return output


class PostNormResidual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))).

    Source: Vaswani et al. (2017), §3.1 and §5.4.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, config.norm_epsilon)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: SubLayer) -> Tensor:
        """Return ``x`` joined with what ``sublayer`` makes of it."""
        output: Tensor = self.norm(x + self.dropout(sublayer(x)))
        return output


class PreNormResidual(PostNormResidual):
    """x + Dropout(Sublayer(LayerNorm(x))).

    Unlike the paper, the norm comes first: for deep models and for imported weights.
    """

    def forward(self, x: Tensor, sublayer: SubLayer) -> Tensor:
        """Return ``x`` joined with what ``sublayer`` makes of it."""
        output: Tensor = x + self.dropout(sublayer(self.norm(x)))
        return output


RESIDUALS = {"post": PostNormResidual, "pre": PreNormResidual}


class EncoderLayer(nn.Module):
    """Self-attention over the source, then the feed-forward network.

    Source: Vaswani et al. (2017), §3.1 and Figure 1, left.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.attention = MultiHeadAttention(config)
        self.attention_residual = residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = residual(config)

    def forward(self, x_BSD: Tensor, visible_B11S: Tensor, weights: list[Tensor] | None = None) -> Tensor:
        """Return ``x_BSD`` after both sub-layers; padding is not visible."""
        x_BSD = self.attention_residual(x_BSD, lambda x: self.attention(x, x, visible_B11S, weights))
        output_BSD: Tensor = self.feed_forward_residual(x_BSD, self.feed_forward)
        return output_BSD


class LayerCache(NamedTuple):
    """What one decoder layer keeps while it writes a target piece by piece."""

    key_NHLK: Tensor
    """Keys of the pieces so far."""

    value_NHLE: Tensor
    """Values of the pieces so far."""

    memory_key_BHSK: Tensor
    """Keys of the source, once a sentence."""

    memory_value_BHSE: Tensor
    """Values of the source, once a sentence."""


class DecoderLayer(nn.Module):
    """Self-attention over the target so far, attention over the source, then the feed-forward network.

    The three uses of attention are the encoder's self-attention, the decoder's, and ``cross_attention``,
    the paper's encoder-decoder attention.

    Source: Vaswani et al. (2017), §3.1, §3.2.3 and Figure 1, right.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.self_attention = MultiHeadAttention(config)
        self.self_residual = residual(config)
        self.cross_attention = MultiHeadAttention(config)
        self.cross_residual = residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = residual(config)

    def forward(
        self,
        x_BTD: Tensor,
        visible_11TT: Tensor,
        memory: Memory,
        weights: tuple[list[Tensor], list[Tensor]] | None = None,
    ) -> Tensor:
        """Return ``x_BTD`` after the three sub-layers; no position looks at a later one."""
        own, cross = weights or (None, None)
        x_BTD = self.self_residual(x_BTD, lambda x: self.self_attention(x, x, visible_11TT, own))
        x_BTD = self.cross_residual(
            x_BTD, lambda x: self.cross_attention(x, memory.x_BSD, memory.visible_B11S, cross)
        )
        output_BTD: Tensor = self.feed_forward_residual(x_BTD, self.feed_forward)
        return output_BTD

    def start(self, memory: Memory, num_rows: int) -> LayerCache:
        """Return the cache of a target that has no piece yet, for ``num_rows`` hypotheses in all."""
        # a product would copy them at every step otherwise
        key_BHSK, value_BHSE = (x.contiguous() for x in self.cross_attention.project_memory(memory.x_BSD))
        _, num_heads, _, d_k = key_BHSK.shape
        return LayerCache(
            key_BHSK.new_empty(num_rows, num_heads, 0, d_k),
            value_BHSE.new_empty(num_rows, num_heads, 0, value_BHSE.size(-1)),
            key_BHSK,
            value_BHSE,
        )
