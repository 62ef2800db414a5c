"""Runs that really go wrong are noticed, and those that go well are left alone."""

import math
import random
from collections import Counter

import pytest
import torch

from dragoman.config import TrainConfig
from dragoman.data import collate
from dragoman.model import Transformer
from dragoman.storage.progress import Health
from dragoman.text.ids import END
from dragoman.train.health import after_step, explain_not_learning, has_diverged
from dragoman.train.loop import make_optimizer
from dragoman.train.step import train_step
from tiny_models import tiny_config

pytestmark = pytest.mark.untraced

PADDING = 23


def twenty_pairs() -> list[tuple[list[int], list[int]]]:
    """Return random pairs that have nothing to do with each other."""
    draw = random.Random(3)
    rows = [[draw.randint(2, 22) for _ in range(draw.randint(2, 5))] for _ in range(40)]
    return list(zip(rows[:20], rows[20:], strict=True))


def entropy() -> float:
    """Return the entropy of the pieces of the twenty targets, in nats."""
    counts = Counter(piece for _, target in twenty_pairs() for piece in [*target, END])
    shares = [count / counts.total() for count in counts.values()]
    return -sum(share * math.log(share) for share in shares)


def healths(rates: list[float]) -> list[Health]:
    """Learn twenty pairs by heart at these rates, and return the health after each step."""
    health, found = Health(), []
    batch = collate(twenty_pairs(), end=END, padding=PADDING)
    torch.manual_seed(1)
    config = TrainConfig(precision="float32", max_steps=len(rates))
    sizes = {"d_model": 32, "num_encoder_layers": 1, "num_decoder_layers": 1}
    model = Transformer(tiny_config(**sizes)).train()
    optimizer = make_optimizer(model, config)
    for rate in rates:
        optimizer.param_groups[0]["lr"] = rate
        result = train_step(model, [batch], optimizer, config)
        health = after_step(health, result.plain_loss, result.num_target_tokens)
        found.append(health)
    return found


def test_a_rate_a_hundred_times_too_high_is_noticed() -> None:
    """A run that learns well is left alone; once its rate is a hundredfold it is told to go back."""
    found = healths([0.005] * 120 + [0.5] * 80)
    reasons = [has_diverged(health) for health in found]

    assert reasons[:120] == [None] * 120
    assert str(reasons[-1]).startswith("the loss has risen from")


def test_a_run_that_never_learned_is_explained() -> None:
    """At such a rate from its first step a model knows no more than frequencies, or runs away."""
    ill = healths([0.5] * 200)[-1]
    notice = explain_not_learning(ill, entropy(), step=500, rate=0.5, warmup_steps=1)

    assert notice is not None or has_diverged(ill) is not None


def test_a_run_that_learns_is_not_called_ill() -> None:
    """The same model at a good rate is far below guessing by frequency."""
    well = healths([0.005] * 120)[-1]

    assert explain_not_learning(well, entropy(), step=500, rate=0.005, warmup_steps=1) is None
