"""Sentences of our own for tests of text, and tokenizers trained on them."""

import random

from dragoman.text import Tokenizer

STEMS = (
    "boat",
    "river",
    "bridge",
    "night",
    "train",
    "window",
    "garden",
    "letter",
    "kitchen",
    "winter",
    "stone",
)
ENDINGS = ("", "s", "ing", "ed", "er", "ly")


def sentences(number: int, seed: int = 1) -> list[str]:
    """Return so many sentences of eight words, the same for a seed."""
    draw = random.Random(seed)
    return [
        " ".join(draw.choice(STEMS) + draw.choice(ENDINGS) for _ in range(8)).capitalize() + "."
        for _ in range(number)
    ]


def trained(texts: list[str], vocabulary_size: int = 400) -> Tokenizer:
    """Return a tokenizer that has learned from all the texts."""
    return Tokenizer.train(iter(texts), vocabulary_size, max_sentences=100_000, seed=1)
