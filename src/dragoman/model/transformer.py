"""The whole model: encoder, decoder, and the projection to pieces."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.config import ModelConfig
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.dropout import Dropout
from dragoman.model.embedding import Embedding
from dragoman.model.layers import DecoderLayer, EncoderLayer, Memory

__all__ = ["AttentionWeights", "Memory", "Transformer"]


class AttentionWeights:
    """The weights of every layer's attention for one batch.

    Attributes:
        encoder: For each layer, source positions over source positions (BHSS).
        decoder: For each layer, target positions over target positions (BHTT).
        cross: For each layer, target positions over source positions (BHTS).
    """

    def __init__(self) -> None:
        self.encoder: list[Tensor] = []
        self.decoder: list[Tensor] = []
        self.cross: list[Tensor] = []


class Transformer(nn.Module):
    """An encoder that reads the source and a decoder that writes the target.

    The embedding of the source, the embedding of the target and the projection before the softmax are
    one tensor. The last id of a vocabulary is padding and is never produced.

    Source: Vaswani et al. (2017), §3 and Figure 1; §3.4 for the shared tensor.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config, config.vocabulary_size)
        if config.embeddings != "shared":
            self.source_embedding = Embedding(config, config.source_vocabulary_size or config.vocabulary_size)
        if config.embeddings == "separate":
            self.projection_VD = nn.Parameter(torch.empty(config.vocabulary_size, config.d_model))
        if config.output_bias:
            self.bias_V = nn.Parameter(torch.zeros(config.vocabulary_size))
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_decoder_layers))
        if config.norm == "pre":
            self.encoder_norm = nn.LayerNorm(config.d_model, config.norm_epsilon)
            self.decoder_norm = nn.LayerNorm(config.d_model, config.norm_epsilon)
        self._initialize()

    def _initialize(self) -> None:
        """Draw every matrix from Glorot's uniform distribution, and set biases to zero.

        The paper does not say how it starts. Where the norm comes after the sum, values, outputs and
        feed-forward matrices start smaller by (8 N)^(-1/4): each layer then begins near the identity,
        and gradients reach the first one. Without it a small model stands still for hundreds of steps.

        Source: Glorot & Bengio (2010), Eq. 16; Wang et al. (2022), DeepNet, §4, without its residual scale.
        """
        for stack in (self.encoder, self.decoder):
            gain = (8 * len(stack)) ** -0.25 if self.config.norm == "post" else 1.0
            for name, module in stack.named_modules():
                if isinstance(module, nn.Linear):
                    is_branch = name.rpartition(".")[2] in ("value", "output", "inner", "outer")
                    nn.init.xavier_uniform_(module.weight, gain if is_branch else 1.0)
                    if module.bias is not None:
                        nn.init.zeros_(module.bias)
        if self.config.embeddings == "separate":
            nn.init.normal_(self.projection_VD, std=self.config.d_model**-0.5)

    @property
    def output_weight_VD(self) -> Tensor:
        """The matrix of the projection before the softmax (§3.4)."""
        return self.projection_VD if self.config.embeddings == "separate" else self.embedding.weight_VD

    @property
    def output_bias_V(self) -> Tensor | None:
        """The bias of that projection, where a foreign format has one."""
        return self.bias_V if self.config.output_bias else None

    @property
    def padding(self) -> int:
        """The id of padding on the target side, from which the decoder starts."""
        return self.embedding.padding

    @property
    def source_padding(self) -> int:
        """The id of padding on the source side."""
        return self._reader.padding

    @property
    def _reader(self) -> Embedding:
        """The embedding of the source."""
        return self.embedding if self.config.embeddings == "shared" else self.source_embedding

    def use_fast_forms(self, fast: bool) -> None:
        """Compute with the fast forms of embedding, attention and dropout, or with the readable ones."""
        for module in self.modules():
            if isinstance(module, MultiHeadAttention | Dropout | Embedding):
                module.fast = fast

    def encode(self, source_BS: Tensor, weights: AttentionWeights | None = None) -> Memory:
        """Read the sources.

        Args:
            source_BS: Pieces of each source with its end, filled up with padding.
            weights: Receives the weights of the encoder's attention, if they are wanted.
        """
        visible_B11S = (source_BS != self.source_padding)[:, None, None, :]
        x_BSD = self._reader(source_BS)
        for layer in self.encoder:
            x_BSD = layer(x_BSD, visible_B11S, None if weights is None else weights.encoder)
        if self.config.norm == "pre":
            x_BSD = self.encoder_norm(x_BSD)
        return Memory(x_BSD, visible_B11S)

    def decode(self, input_BT: Tensor, memory: Memory, weights: AttentionWeights | None = None) -> Tensor:
        """Return the decoder's output (BTD) at every position of a target that is known.

        Source: Vaswani et al. (2017), §3.1: a position depends on the known outputs before it only.

        Args:
            input_BT: The target shifted right by one, starting with padding.
            memory: The sources as ``encode`` read them.
            weights: Receives the weights of the decoder's attention, if they are wanted.
        """
        num_positions = input_BT.size(1)
        visible_11TT = torch.ones(
            1, 1, num_positions, num_positions, dtype=torch.bool, device=input_BT.device
        ).tril()
        x_BTD: Tensor = self.embedding(input_BT)
        lists = None if weights is None else (weights.decoder, weights.cross)
        for layer in self.decoder:
            x_BTD = layer(x_BTD, visible_11TT, memory, lists)
        if self.config.norm == "pre":
            x_BTD = self.decoder_norm(x_BTD)
        return x_BTD

    def logits(self, x_BTD: Tensor) -> Tensor:
        """Return the logits (BTV) of the next piece; padding has minus infinity."""
        logit_BTV = F.linear(x_BTD, self.output_weight_VD, self.output_bias_V)
        logit_BTV[..., self.padding] = -torch.inf
        return logit_BTV

    def forward(self, source_BS: Tensor, input_BT: Tensor) -> Tensor:
        """Return the logits (BTV) of each next target piece, given the source and the pieces before."""
        return self.logits(self.decode(input_BT, self.encode(source_BS)))
