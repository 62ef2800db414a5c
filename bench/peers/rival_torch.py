"""torch.nn.Transformer in plain code that follows PyTorch's advice.

Started as several processes (``RANK`` and ``WORLD_SIZE``), each takes its share of every batch and
DistributedDataParallel adds up the gradients.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from peers.batches import Pairs, framed
from peers.rival import Rival, rank_and_size
from peers.sizes import ADAM_BETAS, ADAM_EPSILON, DROPOUT, LABEL_SMOOTHING, LEARNING_RATE, Size

START, END, PADDING, MAX_LENGTH = 0, 1, 2, 256


class TorchBatch(NamedTuple):
    source_BS: Tensor
    input_BT: Tensor
    target_BT: Tensor
    num_target_tokens: int
    """Of all ranks."""


class TorchTransformer(nn.Module):
    position_LD: Tensor

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.scale = math.sqrt(size.d_model)
        self.embedding = nn.Embedding(size.vocabulary_size, size.d_model, padding_idx=PADDING)
        nn.init.normal_(self.embedding.weight, std=size.d_model**-0.5)
        self.dropout = nn.Dropout(DROPOUT)
        self.transformer = nn.Transformer(
            size.d_model,
            size.num_heads,
            size.num_layers,
            size.num_layers,
            size.d_ff,
            dropout=DROPOUT,
            batch_first=True,
        )
        self.register_buffer("position_LD", sinusoids(size.d_model), persistent=False)

    def embed(self, token_BL: Tensor) -> Tensor:
        x_BLD = self.embedding(token_BL) * self.scale + self.position_LD[: token_BL.size(1)]
        dropped_BLD: Tensor = self.dropout(x_BLD)
        return dropped_BLD

    def forward(self, source_BS: Tensor, input_BT: Tensor) -> Tensor:
        padding_BS = source_BS == PADDING
        x_BTD = self.transformer(
            self.embed(source_BS),
            self.embed(input_BT),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(input_BT.size(1)),
            src_key_padding_mask=padding_BS,
            memory_key_padding_mask=padding_BS,
            tgt_is_causal=True,
        )
        return F.linear(x_BTD, self.embedding.weight)


def sinusoids(d_model: int) -> Tensor:
    angle_L1 = torch.arange(MAX_LENGTH)[:, None].float()
    angle_LK = angle_L1 * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000.0) / d_model))
    return torch.stack([angle_LK.sin(), angle_LK.cos()], dim=2).flatten(1)


def prepare(pairs: Pairs) -> TorchBatch:
    """Return this rank's share."""
    share = pairs.share(*rank_and_size())
    source_BS = framed(share.source_BL, padding=PADDING, last=END)
    input_BT = framed(share.target_BL, padding=PADDING, first=START)
    target_BT = framed(share.target_BL, padding=PADDING, last=END)
    source, inputs, targets = (torch.from_numpy(ids) for ids in (source_BS, input_BT, target_BT))
    return TorchBatch(source, inputs, targets, pairs.num_target_tokens)


def make(size: Size) -> Rival:
    """Build the model and its step."""
    num_ranks = rank_and_size()[1]
    model: nn.Module = TorchTransformer(size).train()
    if num_ranks > 1:
        distributed.init_process_group("gloo")
        model = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=LEARNING_RATE, betas=ADAM_BETAS, eps=ADAM_EPSILON, fused=True
    )

    def step(batch: TorchBatch) -> float:
        with torch.autocast("cpu", torch.bfloat16):
            logit_BTV = model(batch.source_BS, batch.input_BT)
            loss = F.cross_entropy(
                logit_BTV.flatten(0, 1),
                batch.target_BT.flatten(),
                ignore_index=PADDING,
                label_smoothing=LABEL_SMOOTHING,
                reduction="sum",
            )
        loss = loss * num_ranks / batch.num_target_tokens
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    return Rival(torch.__version__, model, prepare, step)
