"""Random sequences are learned by the loop of the product: to copy them, and to sort them."""

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from dragoman.config import TrainConfig
from dragoman.data import EncodedCorpus, encode_corpus, gather, plan_epoch
from dragoman.model import Transformer
from dragoman.storage.checkpoint import CheckpointKeeper
from dragoman.storage.progress import Progress
from dragoman.text import Pair
from dragoman.text.ids import END
from dragoman.train.loop import fit, make_optimizer
from dragoman.train.loss import loss_sums
from dragoman.train.parallel import Parallel
from dragoman.train.run import TrainingRun
from tiny_models import tiny_config

pytestmark = pytest.mark.untraced

Ids = list[int]
PADDING = 23
SIZES = {
    "num_encoder_layers": 1,
    "num_decoder_layers": 2,
    "d_model": 32,
    "d_ff": 128,
    "num_heads": 4,
    "d_k": 8,
    "d_v": 8,
}


class Task(NamedTuple):
    """What is learned, and how well."""

    turn: Callable[[Ids], Ids]
    limit: float
    """Greatest perplexity on sequences that were never seen."""


TASKS = {"copy": Task(list, 1.02), "sort": Task(sorted, 1.03)}


class Silent:
    """An observer that does nothing."""

    def stepped(self, *_: Any) -> None: ...

    def validated(self, *_: Any, **__: Any) -> None: ...

    def went_back(self, *_: Any) -> None: ...

    def notice(self, text: str) -> None: ...


def corpora(task: Task, longest: int, seed: int, folder: Path) -> tuple[EncodedCorpus, EncodedCorpus]:
    """Return 20,000 random sequences to learn from, and 500 others that are not among them."""
    draw = random.Random(seed)
    drawn = {tuple(draw.randint(2, 22) for _ in range(draw.randint(3, longest))) for _ in range(25_000)}
    sources = [list(source) for source in sorted(drawn, key=lambda _: draw.random())[:20_500]]

    def encoded(chosen: list[Ids], name: str) -> EncodedCorpus:
        texts = [Pair(str(i), str(i)) for i in range(len(chosen))]
        return encode_corpus(
            enumerate(texts),
            (
                lambda keys: [chosen[int(key)] for key in keys],
                lambda keys: [task.turn(chosen[int(key)]) for key in keys],
            ),
            folder / name,
            key=name,
            max_length=99,
            vocabulary_size=24,
        )

    return encoded(sources[500:], "train.bin"), encoded(sources[:500], "dev.bin")


@torch.inference_mode()
def loss_of(model: Transformer, corpus: EncodedCorpus) -> float:
    """Return the loss in nats per target piece, without label smoothing."""
    plan = plan_epoch(corpus.lengths, seed=0, epoch=0, batch_tokens=2_000, micro_batch_tokens=2_000)
    batches = [gather(corpus, part, end=END, padding=PADDING) for step in plan for part in step]
    total = sum(float(loss_sums(model, batch, 0.0).plain) for batch in batches)
    return total / sum(batch.num_target_tokens for batch in batches)


def perplexity(
    task: Task, folder: Path, *, longest: int, batch_tokens: int, num_steps: int, seed: int
) -> float:
    """Train a tiny model with the product's loop and return its perplexity on unseen sequences."""
    train, dev = corpora(task, longest, seed, folder)
    config = TrainConfig(
        seed=seed,
        precision="float32",
        label_smoothing=0.0,  # with it even a model that is always right has a perplexity above 1.1
        max_steps=num_steps,
        warmup_steps=num_steps // 8,
        peak_rate=0.005,
        cooldown_share=0.5,
        batch_tokens=batch_tokens,
        micro_batch_tokens=batch_tokens,
        validation_interval_steps=num_steps,
    )
    torch.manual_seed(seed)
    model = Transformer(tiny_config(**SIZES))
    run = TrainingRun(
        parallel=Parallel(model, config),
        optimizer=make_optimizer(model, config),
        config=config,
        corpus_of_epoch=lambda _: train,
        first_weights=lambda: model,
        entropy=math.inf,
        validate=lambda: {"loss": loss_of(model, dev)},
        keeper=CheckpointKeeper(folder / "checkpoints", 1),
        observer=Silent(),
        stop_requested=lambda: False,
    )
    progress, _ = fit(run, Progress())
    assert progress.best_score is not None
    return math.exp(-progress.best_score)


@pytest.mark.parametrize("name", TASKS)
def test_short_random_sequences_are_learned(name: str, tmp_path: Path) -> None:
    """In seconds a model copies and sorts up to five pieces that it never saw, nearly without doubt."""
    task = TASKS[name]
    found = perplexity(task, tmp_path, longest=5, batch_tokens=500, num_steps=450, seed=1)

    assert found <= task.limit


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize("name", TASKS)
def test_random_sequences_are_learned_from_ten_seeds(name: str, seed: int, tmp_path: Path) -> None:
    """From each of ten seeds a model learns to copy and to sort up to eight pieces that it never saw."""
    task = TASKS[name]
    found = perplexity(task, tmp_path, longest=8, batch_tokens=1_000, num_steps=1_000, seed=seed)

    assert found <= task.limit
