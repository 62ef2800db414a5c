"""The forms of a training step that are compared, and the batches of which a step consists."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from unittest import mock

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from dragoman.config import Config, ModelConfig
from dragoman.data import Batch, collate, plan_epoch
from dragoman.model import Transformer
from dragoman.model import attention as attention_module
from dragoman.model.arithmetic import forward_flops
from dragoman.text.ids import END
from dragoman.train import loss as loss_module

Setting = Callable[[Transformer], AbstractContextManager[object]]


def as_it_is(_: Transformer) -> AbstractContextManager[object]:
    return nullcontext()


@dataclass(frozen=True)
class Form:
    """One way of making a step."""

    name: str
    setting: Setting = as_it_is
    micro_batch_tokens: int | None = None
    """Positions computed at once; None takes the whole step at once."""
    fast_model: bool = True
    fast_loss: bool = True
    even: bool = False
    """All pairs have one length, so that there is no padding."""
    expected_seconds: float = 10.0
    """Besides the measuring: compilation, mostly."""


@contextmanager
def compiled_layers(model: Transformer) -> Iterator[None]:
    """Compile a layer of each kind; all layers of a kind share the code."""
    for layer in [*model.encoder, *model.decoder]:
        layer.compile(dynamic=True)
    yield
    torch._dynamo.reset()


@contextmanager
def compiled_layers_and_loss(model: Transformer) -> Iterator[None]:
    """Compile the layers, and the readable loss with them."""
    loss = torch.compile(loss_module.smoothed_cross_entropy, dynamic=True)
    with compiled_layers(model), mock.patch.object(loss_module, "smoothed_cross_entropy", loss):
        yield


@contextmanager
def compiled_stacks(model: Transformer) -> Iterator[None]:
    """Compile the whole encoder and the whole decoder."""
    encode, decode = (torch.compile(part, dynamic=True) for part in (model.encode, model.decode))
    with mock.patch.object(model, "encode", encode), mock.patch.object(model, "decode", decode):
        yield
    torch._dynamo.reset()


def without_masks(_: Transformer) -> AbstractContextManager[object]:
    """Attend without masks, which lets flash kernels run; right only where there is no padding."""
    return mock.patch.object(attention_module, "fused_attention", unmasked_attention)


def unmasked_attention(
    query_BHQK: Tensor, key_BHMK: Tensor, value_BHME: Tensor, visible_BHQM: Tensor
) -> Tensor:
    is_causal = visible_BHQM.size(-2) > 1  # masks of padding are alike for all queries
    return F.scaled_dot_product_attention(query_BHQK, key_BHMK, value_BHME, is_causal=is_causal)


# Most valuable first: what the minutes do not allow is at the end.
ROUNDS: list[list[Form]] = [
    [
        Form("one micro-batch"),
        Form("micro-batches of 8,192", micro_batch_tokens=8_192),
        Form("micro-batches of 4,096", micro_batch_tokens=4_096),
        Form("readable loss", fast_loss=False),
        Form("readable forms", fast_loss=False, fast_model=False),
        Form("no padding", even=True),
        Form("no padding, no masks", without_masks, even=True),
    ],
    [Form("compiled layers", compiled_layers, expected_seconds=45)],
    [Form("compiled layers and loss", compiled_layers_and_loss, fast_loss=False, expected_seconds=60)],
    [Form("compiled encoder and decoder", compiled_stacks, expected_seconds=90)],
]


def draw_lengths(num_pairs: int) -> npt.NDArray[np.int64]:
    """Return lengths of pairs with their ends (pairs × 2).

    They are drawn from a fit to newstest2013, English and German, in pieces: log-normal with median 23, and
    the target 1.06 times the source, with a spread of a sixth.
    """
    generator = np.random.default_rng(1)
    source = generator.lognormal(3.13, 0.585, num_pairs)
    target = source * generator.lognormal(0.062, 0.17, num_pairs)
    return np.clip(np.stack([source, target], axis=1).round().astype(np.int64), 2, 100)


def make_steps(config: Config, form: Form, *, num_pairs: int, num_steps: int) -> list[list[Batch]]:
    """Return the first steps of an epoch over many pairs, so that they are as well filled as in earnest."""
    train, vocabulary = config.train, config.model.vocabulary_size
    lengths = draw_lengths(num_pairs)
    if form.even:
        lengths = np.full_like(lengths, round(lengths.mean()))
    plan = plan_epoch(
        lengths,
        seed=1,
        epoch=0,
        batch_tokens=train.batch_tokens,
        micro_batch_tokens=min(form.micro_batch_tokens or train.batch_tokens, train.batch_tokens),
    )
    generator = np.random.default_rng(2)

    def some_ids(length: int) -> list[int]:
        ids: list[int] = generator.integers(2, vocabulary - 1, length - 1).tolist()
        return ids

    return [
        [
            collate(
                [(some_ids(source), some_ids(target)) for source, target in lengths[part].tolist()],
                end=END,
                padding=vocabulary - 1,
            )
            for part in step
        ]
        for step in plan[:num_steps]
    ]


def step_flops(config: ModelConfig, step: Sequence[Batch]) -> float:
    """Return the operations of an update; the projection to pieces leaves padding out."""
    total = 0.0
    for batch in step:
        num_sentences, target_length = batch.target_BT.shape
        left_out = num_sentences * target_length - batch.num_target_tokens
        total += forward_flops(config, num_sentences, batch.source_BS.size(1), target_length)
        total -= 2.0 * left_out * config.d_model * config.vocabulary_size
    return 3 * total


def padding_share(steps: Sequence[Sequence[Batch]], padding: int) -> float:
    tensors = [t for step in steps for batch in step for t in (batch.source_BS, batch.target_BT)]
    num_padding = sum(int((t == padding).sum()) for t in tensors)
    return num_padding / sum(t.numel() for t in tensors)
