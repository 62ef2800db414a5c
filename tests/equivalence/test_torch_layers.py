"""Layers and stacks agree with torch.nn weight for weight."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model import Memory, Transformer
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.layers import DecoderLayer, EncoderLayer
from tiny_models import random_batch, tiny_model

D_MODEL, HEADS, D_FF = 16, 2, 24
# torch.nn ties d_k and d_v to d_model / h.
TIED = {"d_k": D_MODEL // HEADS, "d_v": D_MODEL // HEADS}
VARIANTS: list[dict[str, Any]] = [
    {"norm": norm, "attention_bias": bias, "activation": activation}
    for norm in ("post", "pre")
    for bias in (False, True)
    for activation in ("relu", "gelu")
]


@pytest.fixture(params=VARIANTS, ids=lambda variant: "-".join(str(value) for value in variant.values()))
def model(request: pytest.FixtureRequest) -> Transformer:
    return tiny_model(**TIED, **request.param)


def torch_layer(kind: type[nn.Module], config: ModelConfig) -> nn.Module:
    """Return torch's layer; it stays in training mode, for in evaluation torch takes another path."""
    return kind(
        D_MODEL,
        HEADS,
        D_FF,
        dropout=0.0,
        activation=config.activation,
        layer_norm_eps=config.norm_epsilon,
        batch_first=True,
        norm_first=config.norm == "pre",
        dtype=torch.float64,
    )


@torch.no_grad()
def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    projections = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in projections]))
    theirs.out_proj.weight.copy_(ours.output.weight)
    theirs.in_proj_bias.zero_()
    theirs.out_proj.bias.zero_()
    if ours.output.bias is not None:
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in projections]))
        theirs.out_proj.bias.copy_(ours.output.bias)


def copied(ours: EncoderLayer | DecoderLayer, config: ModelConfig) -> nn.Module:
    if isinstance(ours, EncoderLayer):
        theirs = torch_layer(nn.TransformerEncoderLayer, config)
        copy_attention(ours.attention, theirs.self_attn)
        norms = [ours.attention_residual.norm, ours.feed_forward_residual.norm]
    else:
        theirs = torch_layer(nn.TransformerDecoderLayer, config)
        copy_attention(ours.self_attention, theirs.self_attn)
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms = [ours.self_residual.norm, ours.cross_residual.norm, ours.feed_forward_residual.norm]
    pairs = [(ours.feed_forward.inner, theirs.linear1), (ours.feed_forward.outer, theirs.linear2)]
    pairs += [(norm, getattr(theirs, f"norm{number}")) for number, norm in enumerate(norms, start=1)]
    for from_, to in pairs:
        to.load_state_dict(from_.state_dict())
    return theirs


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


X_BSD, X_BTD = drawn(3, 6, D_MODEL, seed=1), drawn(3, 5, D_MODEL, seed=2)
SEEN_BS = torch.arange(6) < torch.tensor([[6], [4], [1]])
LATER_TT = torch.ones(5, 5, dtype=torch.bool).triu(1)


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("fast", [False, True])
def test_encoder_layer_agrees(model: Transformer, fast: bool) -> None:
    """The encoder layer gives what torch's does, padding in the batch included."""
    layer = model.encoder[0]
    theirs = copied(layer, model.config)
    layer.attention.fast = fast
    with torch.set_grad_enabled(not fast):
        found, expected = layer(X_BSD, SEEN_BS[:, None, None]), theirs(X_BSD, src_key_padding_mask=~SEEN_BS)

    assert_equal(found[SEEN_BS], expected[SEEN_BS])


@pytest.mark.parametrize("fast", [False, True])
def test_decoder_layer_agrees(model: Transformer, fast: bool) -> None:
    """The decoder layer gives what torch's does, looking back on itself and over a padded memory."""
    layer = model.decoder[0]
    theirs = copied(layer, model.config)
    layer.self_attention.fast = layer.cross_attention.fast = fast
    with torch.set_grad_enabled(not fast):
        found = layer(X_BTD, ~LATER_TT[None, None], Memory(X_BSD, SEEN_BS[:, None, None]))
        expected = theirs(X_BTD, X_BSD, tgt_mask=LATER_TT, memory_key_padding_mask=~SEEN_BS)

    assert_equal(found, expected)


def test_gradients_of_a_layer_agree(model: Transformer) -> None:
    """Inputs and feed-forward weights receive the gradients that torch computes."""
    layer = model.encoder[0]
    theirs = copied(layer, model.config)
    probe = drawn(3, 6, D_MODEL, seed=3) * SEEN_BS[..., None]
    grads = []
    for one in (
        lambda x: (layer(x, SEEN_BS[:, None, None]), layer.feed_forward.inner.weight),
        lambda x: (theirs(x, src_key_padding_mask=~SEEN_BS), theirs.linear1.weight),
    ):
        x = X_BSD.clone().requires_grad_()
        output, weight = one(x)
        grads.append(torch.autograd.grad((output * probe).sum(), [x, weight]))

    torch.testing.assert_close(grads[0], grads[1], rtol=0, atol=1e-11)


def test_whole_stacks_agree(model: Transformer) -> None:
    """Encoder, decoder and projection give the logits of torch's stacks on the same embeddings."""
    config, batch = model.config, random_batch([5, 3, 1], [4, 6, 2])
    padding = model.padding
    final = {"post": lambda _norm: None, "pre": lambda norm: norm}[config.norm]
    encoder = nn.TransformerEncoder(
        torch_layer(nn.TransformerEncoderLayer, config),
        2,
        norm=final(getattr(model, "encoder_norm", None)),
        enable_nested_tensor=False,
    )
    encoder.layers = nn.ModuleList(copied(layer, config) for layer in model.encoder)
    decoder = nn.TransformerDecoder(
        torch_layer(nn.TransformerDecoderLayer, config), 2, norm=final(getattr(model, "decoder_norm", None))
    )
    decoder.layers = nn.ModuleList(copied(layer, config) for layer in model.decoder)
    hidden = batch.source_BS == padding
    later = torch.ones(7, 7, dtype=torch.bool).triu(1)
    memory = encoder(model.embedding(batch.source_BS), src_key_padding_mask=hidden)
    output = decoder(model.embedding(batch.input_BT), memory, tgt_mask=later, memory_key_padding_mask=hidden)
    expected = output @ model.embedding.weight_VD.T

    assert_equal(model(batch.source_BS, batch.input_BT)[..., :padding], expected[..., :padding])
