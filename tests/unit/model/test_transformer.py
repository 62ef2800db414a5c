"""The whole model."""

from typing import Any

import pytest
import torch
from torch import nn

from dragoman.data import collate
from dragoman.model import AttentionWeights, Transformer
from dragoman.model.arithmetic import forward_flops, num_parameters
from dragoman.text.ids import END
from dragoman.train.loss import loss_sums
from tiny_models import random_batch, random_ids, tiny_config, tiny_model

VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_bias": True, "output_bias": True, "embeddings": "separate"},
    {"embeddings": "target", "source_vocabulary_size": 24, "positions": "halves", "activation": "swish"},
    {"positions": "learned", "max_positions": 16, "activation": "gelu", "num_decoder_layers": 1},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("changed", [1, 3, 6])
@pytest.mark.parametrize("fast", [True, False])
def test_no_output_depends_on_a_later_piece(variant: dict[str, Any], changed: int, fast: bool) -> None:
    """Changing target pieces from one place on changes no output before it, bit for bit."""
    model = tiny_model(dtype=torch.float32, **variant)
    model.use_fast_forms(fast)
    batch = random_batch([5, 2, 7], [6, 6, 6])
    other_BT = batch.input_BT.clone()
    other_BT[:, changed:] = torch.tensor(random_ids([7 - changed] * 3, seed=5))
    with torch.set_grad_enabled(not fast):
        logits, others = (model(batch.source_BS, input_BT) for input_BT in (batch.input_BT, other_BT))

    assert torch.equal(logits[:, :changed], others[:, :changed])
    assert not torch.equal(logits[:, changed], others[:, changed])


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_output_depends_on_the_whole_source(variant: dict[str, Any]) -> None:
    """Each source piece has a gradient at each target position, in one layer or more."""
    model = tiny_model(**variant, num_encoder_layers=1)
    batch = random_batch([4], [3])
    memory = model.encode(batch.source_BS)
    x_BSD = memory.x_BSD.detach().requires_grad_()
    output_BTD = model.decode(batch.input_BT, memory._replace(x_BSD=x_BSD))
    for position in range(4):
        probe = torch.randn(16, dtype=torch.float64, generator=torch.Generator().manual_seed(position))
        (grad,) = torch.autograd.grad((output_BTD[0, position] * probe).sum(), x_BSD, retain_graph=True)

        assert bool(grad.abs().sum(dim=-1).all())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("fast", [True, False])
def test_padding_changes_nothing(variant: dict[str, Any], fast: bool) -> None:
    """Sentences have the same loss and gradients alone as beside longer ones (float64, 1e-12)."""
    model = tiny_model(**variant)
    model.use_fast_forms(fast)
    lengths = ([1, 7, 3, 9], [8, 2, 1, 5])
    together = random_batch(*lengths)
    pairs = list(zip(random_ids(lengths[0], 1), random_ids(lengths[1], 1_001), strict=True))
    alone = [collate([pair], end=END, padding=23) for pair in pairs]

    def loss_and_gradients(batches: list[Any]) -> list[torch.Tensor]:
        loss = sum(loss_sums(model, batch, 0.1, fast=fast).smoothed for batch in batches)
        return [loss, *torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)]

    torch.testing.assert_close(
        loss_and_gradients([together]), loss_and_gradients(alone), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_extra_padding_changes_no_logit(variant: dict[str, Any]) -> None:
    """Columns of padding after the longest sentence change nothing that is real."""
    model = tiny_model(**variant)
    batch = random_batch([5, 3], [4, 6])
    wide_BS, wide_BT = (nn.functional.pad(ids, (0, 4), value=23) for ids in (batch.source_BS, batch.input_BT))
    expected = model(batch.source_BS, batch.input_BT)

    torch.testing.assert_close(model(wide_BS, wide_BT)[:, :7], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_fast_and_readable_forms_agree(variant: dict[str, Any]) -> None:
    """The whole model gives the same logits through either form of attention."""
    model, batch = tiny_model(**variant), random_batch([5, 3], [4, 6])
    with torch.no_grad():
        fast = model(batch.source_BS, batch.input_BT)
        model.use_fast_forms(False)
        readable = model(batch.source_BS, batch.input_BT)

    torch.testing.assert_close(fast, readable, rtol=0, atol=1e-12)


def test_weights_of_all_three_kinds_are_returned() -> None:
    """Each layer hands over its weights; rows over what may be seen sum to 1, the rest is exactly zero."""
    model, batch = tiny_model(num_decoder_layers=3), random_batch([5, 3], [4, 6])
    weights = AttentionWeights()
    memory = model.encode(batch.source_BS, weights)
    output = model.decode(batch.input_BT, memory, weights)
    shapes = [
        [tuple(one.shape) for one in kind] for kind in (weights.encoder, weights.decoder, weights.cross)
    ]
    seen = memory.visible_B11S.expand(2, 2, 1, 6)

    assert shapes == [[(2, 2, 6, 6)] * 2, [(2, 2, 7, 7)] * 3, [(2, 2, 7, 6)] * 3]
    for weight in weights.encoder + weights.decoder + weights.cross:
        torch.testing.assert_close(weight.sum(-1), torch.ones_like(weight.sum(-1)), rtol=0, atol=1e-12)
    assert not any(weight.masked_fill(seen, 0.0).any() for weight in weights.encoder + weights.cross)
    assert not any(weight.triu(1).any() for weight in weights.decoder)
    torch.testing.assert_close(output, model.decode(batch.input_BT, memory), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("embeddings", "names"),
    [
        ("shared", {"embedding.weight_VD"}),
        ("target", {"embedding.weight_VD", "source_embedding.weight_VD"}),
        ("separate", {"embedding.weight_VD", "source_embedding.weight_VD", "projection_VD"}),
    ],
)
def test_a_tied_tensor_is_one(embeddings: str, names: set[str]) -> None:
    """Embeddings and projection are one, two or three tensors, and each has one name where it is saved."""
    model = tiny_model(embeddings=embeddings)
    matrices = {name for name in model.state_dict() if name.endswith("_VD")}
    storages = {tensor.data_ptr() for name, tensor in model.state_dict().items() if name in matrices}

    assert matrices == names
    assert len(storages) == len(names)
    assert num_parameters(model) == sum(tensor.numel() for tensor in model.state_dict().values())


def test_a_source_may_have_a_vocabulary_of_its_own() -> None:
    """Its size and its padding are those of the source, not of the target."""
    model = tiny_model(embeddings="separate", source_vocabulary_size=53)

    assert model.source_embedding.weight_VD.shape == (53, 16)
    assert (model.source_padding, model.padding) == (52, 23)
    assert model.encode(torch.tensor([[51, 0, 52]])).visible_B11S.flatten().tolist() == [True, True, False]


@pytest.mark.parametrize("embeddings", ["shared", "target", "separate"])
@pytest.mark.parametrize("fast", [True, False])
def test_padding_stays_the_zero_vector(embeddings: str, fast: bool) -> None:
    """Training never moves the padding piece, on either side."""
    torch.manual_seed(1)
    model = Transformer(tiny_config(embeddings=embeddings)).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    before = model.embedding.weight_VD.detach().clone()
    for seed in range(5):
        loss_sums(model, random_batch([5, 3], [4, 6], seed), 0.1, fast=fast).smoothed.backward()
        optimizer.step()
        optimizer.zero_grad()

    assert not model.embedding.weight_VD[model.padding].any()
    assert not model._reader.weight_VD[model.source_padding].any()
    assert not torch.equal(model.embedding.weight_VD, before)


def test_padding_is_never_likely() -> None:
    """Its logit is minus infinity at every position, and no other is."""
    model, batch = tiny_model(), random_batch([5, 3], [4, 6])
    logits = model(batch.source_BS, batch.input_BT)

    assert bool(logits[..., 23].isneginf().all())
    assert bool(logits[..., :23].isfinite().all())


@pytest.mark.parametrize("bfloat16", [False, True])
@pytest.mark.parametrize("with_weights", [False, True])
def test_a_sentence_of_padding_alone_harms_nobody(bfloat16: bool, with_weights: bool) -> None:
    """S24: forward and backward stay finite, and the other rows keep their values."""
    model = tiny_model(dtype=torch.float32)
    source_BS = torch.tensor([[5, 6, 7, 0], [23] * 4, [8, 0, 23, 23]])
    input_BT = torch.tensor([[23, 5, 6, 7], [23] * 4, [23, 8, 23, 23]])
    others = torch.tensor([0, 2])
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        weights = AttentionWeights() if with_weights else None
        output = model.decode(input_BT, model.encode(source_BS, weights), weights)
        alone = model.decode(input_BT[others], model.encode(source_BS[others]))
        with torch.no_grad():
            fused = model.decode(input_BT, model.encode(source_BS))
    grads = torch.autograd.grad(output.float().square().sum(), list(model.parameters()))

    assert all(bool(tensor.isfinite().all()) for tensor in (output, fused, *grads))
    for form in (output, fused):
        torch.testing.assert_close(form[others], alone, rtol=0, atol=0.1 if bfloat16 else 1e-6)


@pytest.mark.untraced
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("variant", VARIANTS[:2])
def test_gradients_are_the_slopes_of_the_loss(fast: bool, variant: dict[str, Any]) -> None:
    """The gradient of the smoothed loss equals finite differences in float64, for every parameter."""
    sizes = {"vocabulary_size": 16, "d_model": 4, "d_ff": 5, "num_heads": 2, "d_k": 2, "d_v": 1}
    model = tiny_model(**sizes, **variant | {"num_encoder_layers": 1, "num_decoder_layers": 1})
    batch = collate([([3, 4], [5, 6]), ([7], [8])], end=END, padding=15)

    class LossOf(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self) -> torch.Tensor:
            return loss_sums(self.model, batch, 0.1, fast=fast).smoothed

    of_model = LossOf()
    names = [name for name, _ in of_model.named_parameters()]
    values = [parameter.detach().clone().requires_grad_() for parameter in of_model.parameters()]

    def loss(*tensors: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(of_model, dict(zip(names, tensors, strict=True)), ())

    # The padding row is held at zero and has no gradient by design, so it is left out of the comparison.
    rows = [index for index, name in enumerate(names) if name.endswith("embedding.weight_VD")]

    def loss_of_real_rows(*tensors: torch.Tensor) -> torch.Tensor:
        padded = list(tensors)
        for index in rows:
            padded[index] = torch.cat([tensors[index], torch.zeros(1, 4, dtype=torch.float64)])
        return loss(*padded)

    for index in rows:
        values[index] = values[index][:15].detach().clone().requires_grad_()

    assert torch.autograd.gradcheck(loss_of_real_rows, values, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_operations_are_counted_as_torch_counts_them(variant: dict[str, Any]) -> None:
    """The closed form equals a count of every matrix product of a real forward pass."""
    from torch.utils.flop_counter import FlopCounterMode

    model = tiny_model(**variant)
    model.use_fast_forms(False)
    batch = random_batch([5, 3, 2], [4, 9, 1])
    with FlopCounterMode(display=False) as counter:
        model(batch.source_BS, batch.input_BT)

    assert forward_flops(model.config, 3, 6, 10) == counter.get_total_flops()
