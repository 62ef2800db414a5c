"""The model learns what a Transformer must be able to learn."""

import random
from collections.abc import Callable

import pytest
import torch

from dragoman.config import SearchConfig, TrainConfig
from dragoman.data import collate, pad
from dragoman.model import CachedDecoder, Transformer
from dragoman.search import search
from dragoman.text.ids import END
from dragoman.train.loop import make_optimizer
from dragoman.train.schedule import learning_rate
from dragoman.train.step import train_step
from tiny_models import tiny_config

pytestmark = pytest.mark.untraced

Ids = list[int]
PADDING = 23


def learned(pairs: Callable[[], list[tuple[Ids, Ids]]], num_steps: int, **model: object) -> Transformer:
    """Train on batches that ``pairs`` makes, with the paper's optimizer and loss."""
    torch.manual_seed(1)
    config = TrainConfig(
        precision="float32",
        max_steps=num_steps,
        warmup_steps=num_steps // 5,
        peak_rate=0.005,
        cooldown_share=0.33,
    )
    sizes = {"d_model": 32, "d_ff": 64, "num_heads": 4, "d_k": 8, "d_v": 8} | model
    network = Transformer(tiny_config(**sizes)).train()
    optimizer = make_optimizer(network, config)
    for step in range(1, num_steps + 1):
        optimizer.param_groups[0]["lr"] = learning_rate(step, config, 32)
        train_step(network, [collate(pairs(), end=END, padding=PADDING)], optimizer, config)
    return network.eval()


@torch.inference_mode()
def written(model: Transformer, sources: list[Ids]) -> list[Ids]:
    """Return what a beam of 2 writes for each source."""
    decoder = CachedDecoder(model, model.encode(pad(sources, end=END, padding=PADDING)), 2)
    limit_B = torch.tensor([len(source) + 1 + 20 for source in sources])
    found = search(decoder, start=PADDING, end=END, limit_B=limit_B, config=SearchConfig(beam_size=2))
    return [list(hypotheses[0].tokens) for hypotheses in found]


def exact(model: Transformer, pairs: list[tuple[Ids, Ids]]) -> float:
    """Return the share of sources whose target is written exactly."""
    found = written(model, [source for source, _ in pairs])
    return sum(one == target for one, (_, target) in zip(found, pairs, strict=True)) / len(pairs)


def drawer(longest: int, turned: Callable[[Ids], Ids], seed: int) -> Callable[[int], list[tuple[Ids, Ids]]]:
    """Return a maker of random sources and what shall become of them."""
    draw = random.Random(seed)

    def pairs(number: int) -> list[tuple[Ids, Ids]]:
        sources = [[draw.randint(2, 22) for _ in range(draw.randint(1, longest))] for _ in range(number)]
        return [(source, turned(source)) for source in sources]

    return pairs


TURNS: dict[str, Callable[[Ids], Ids]] = {"copy": list, "reverse": lambda source: source[::-1]}


@pytest.mark.parametrize("turn", TURNS)
def test_it_copies_and_reverses_what_it_never_saw(turn: str) -> None:
    """In seconds it learns where each piece comes from: nearly all short rows are right."""
    pairs = drawer(5, TURNS[turn], seed=1)
    model = learned(lambda: pairs(64), 500, num_encoder_layers=1, num_decoder_layers=1)

    assert exact(model, drawer(5, TURNS[turn], seed=2)(200)) >= 0.9


@pytest.mark.full
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("turn", TURNS)
def test_it_copies_and_reverses_longer_rows(turn: str, norm: str) -> None:
    """With more layers and steps, rows of up to twelve pieces are right, in either order of the norm."""
    pairs = drawer(12, TURNS[turn], seed=1)
    model = learned(lambda: pairs(64), 2_500, norm=norm)

    assert exact(model, drawer(12, TURNS[turn], seed=2)(300)) >= 0.97


@pytest.mark.parametrize("variant", [{}, {"norm": "pre", "embeddings": "separate", "output_bias": True}])
def test_it_knows_twenty_pairs_by_heart(variant: dict[str, object]) -> None:
    """Twenty pairs that have nothing to do with each other are all written exactly after 150 steps."""
    draw = random.Random(3)
    sides = [[[draw.randint(2, 22) for _ in range(draw.randint(2, 8))] for _ in range(20)] for _ in range(2)]
    pairs = list(zip(*sides, strict=True))
    model = learned(lambda: pairs, 150, **variant)

    assert exact(model, pairs) == 1.0
