"""dragoman: its own step, as its loop makes it; several processes share a batch as its ranks do."""

import torch
from torch import distributed

from dragoman import __version__
from dragoman.config import Config, read_config
from dragoman.data import Batch
from dragoman.model import Transformer
from dragoman.train.loop import make_optimizer
from dragoman.train.parallel import Parallel
from dragoman.train.ranks import Ranks
from dragoman.train.step import train_step
from peers.batches import Pairs, framed
from peers.rival import Rival, rank_and_size
from peers.sizes import DROPOUT, LABEL_SMOOTHING, LEARNING_RATE, Size

END = 0


def configuration(size: Size) -> Config:
    """Return the recipe of this name with what the measurement fixes."""
    settings = [
        f"model.vocabulary_size={size.vocabulary_size}",
        f"model.dropout={DROPOUT}",
        f"train.label_smoothing={LABEL_SMOOTHING}",
        "train.precision=bfloat16",
    ]
    return read_config(recipe=size.name, file=None, settings=settings)


def make(size: Size) -> Rival:
    """Build the model and its step."""
    config, ranks = configuration(size), Ranks(*rank_and_size())
    if ranks.size > 1:
        distributed.init_process_group("gloo")
    model = Transformer(config.model).train()
    model.use_fast_forms(config.train.fast)
    optimizer = make_optimizer(model, config.train)
    for group in optimizer.param_groups:
        group["lr"] = LEARNING_RATE
    parallel = Parallel(model, config.train, ranks)

    def prepare(pairs: Pairs) -> Batch:
        padding, share = model.padding, pairs.share(ranks.rank, ranks.size)
        source_BS = framed(share.source_BL, padding=padding, last=END)
        target_BT = framed(share.target_BL, padding=padding, last=END)
        input_BT = framed(share.target_BL, padding=padding, first=padding)
        source, inputs, targets = (torch.from_numpy(ids) for ids in (source_BS, input_BT, target_BT))
        return Batch(source, inputs, targets, share.num_target_tokens)

    def step(batch: Batch) -> float:
        return train_step(model, [batch], optimizer, config.train, parallel).loss

    return Rival(__version__, model, prepare, step)
