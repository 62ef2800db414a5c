"""Development scores: loss over all pairs, and scores of real outputs."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from dragoman.bundle import Bundle
from dragoman.data import EncodedCorpus, gather, plan_epoch
from dragoman.errors import DivergedError
from dragoman.run.reporter import Sample
from dragoman.run.scoring import quick_scores
from dragoman.text import Pair
from dragoman.text.ids import END
from dragoman.train.loss import loss_sums

_POSITIONS_AT_ONCE = 4_096
"""The logits of all of them are held: for 37,000 pieces 600 MB."""


@dataclass(frozen=True)
class DevSet:
    """Pairs that training never sees, by which checkpoints are judged."""

    encoded: EncodedCorpus
    pairs: Sequence[Pair]
    """Those that are translated at each validation."""


def validate(
    bundle: Bundle, dev: DevSet, before_batch: Callable[[], None] = lambda: None
) -> tuple[dict[str, float], list[Sample]]:
    """Return the scores of a model on development pairs, and a few of its outputs.

    The scores are ``loss`` (nats per target piece, without label smoothing), ``perplexity`` (its
    exponential), and, if there are pairs, those of ``quick_scores``.

    Args:
        bundle: The model.
        dev: The pairs.
        before_batch: Called before each batch; what it raises ends the validation.

    Raises:
        DivergedError: The loss is not finite.
    """
    loss = dev_loss(bundle, dev.encoded, before_batch)
    if not math.isfinite(loss):
        raise DivergedError(
            f"the development loss is {loss}: the parameters have left the range of numbers",
            hint="go on from the last checkpoint with a lower rate: --resume --set train.peak_rate=0.0005",
        )
    scores = {"loss": loss, "perplexity": math.exp(min(loss, 700.0))}
    if not dev.pairs:
        return scores, []
    found, samples = quick_scores(bundle, dev.pairs, before_batch)
    return scores | found, samples


@torch.inference_mode()
def dev_loss(
    bundle: Bundle, encoded: EncodedCorpus, before_batch: Callable[[], None] = lambda: None
) -> float:
    """Return the negative log-likelihood per target piece, in nats, without label smoothing."""
    model, budget = bundle.model, min(bundle.config.train.positions_at_once, _POSITIONS_AT_ONCE)
    device = model.output_weight_VD.device
    plan = plan_epoch(encoded.lengths, seed=0, epoch=0, batch_tokens=budget, micro_batch_tokens=budget)
    total, num_tokens = 0.0, 0
    for (indices,) in plan:
        before_batch()
        batch = gather(encoded, indices, end=END, padding=model.padding).to(device)
        total += float(loss_sums(model, batch, 0.0, fast=False).plain)
        num_tokens += batch.num_target_tokens
    return total / num_tokens
