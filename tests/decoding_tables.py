"""Tables over the pieces of a real tokenizer, and judges of the texts that come of them."""

import random
import re
from collections.abc import Collection, Sequence

import torch

from dragoman.choice import Sampling
from dragoman.config import SearchConfig
from dragoman.decoding import Draws, sample
from dragoman.search import Decoder, Hypothesis, search
from dragoman.text import Tokenizer
from search_tables import END, START, Table, TableDecoder, log

CHARACTERS = " .-_\u0301äé²€×中😀▁"
"""Parts of words and not, of one to four bytes."""


def piece_table(
    seed: int, tokenizer: Tokenizer, liked: Collection[int] = (), liking: float = 100.0, ending: float = 0.1
) -> Table:
    """A table of random rows over all pieces of which one may come, that likes some far more than others."""
    size, impossible = tokenizer.vocabulary_size, set(tokenizer.impossible)
    mean = size / max(1, len(liked))

    def table(sentence: int, history: tuple[int, ...]) -> list[float]:
        draw = random.Random(f"{seed} {sentence} {history}")
        weights = [draw.random() for _ in range(size)]
        for token in liked:
            weights[token] *= mean * liking
        weights[tokenizer.end] = sum(weights) * ending * draw.random()
        for token in impossible:
            weights[token] = 0.0
        total = sum(weights)
        return [log(weight / total) for weight in weights]

    return table


def run_pieces(
    decoder: Decoder, tokenizer: Tokenizer, limits: Sequence[int], config: SearchConfig
) -> list[list[Hypothesis]]:
    """Search a decoder over the pieces of a tokenizer."""
    limit_B = torch.tensor(limits)
    return search(decoder, start=tokenizer.padding, end=tokenizer.end, limit_B=limit_B, config=config)


def run_samples(
    table: Table, keys: Sequence[int], limits: Sequence[int], sampling: Sampling, alpha: float = 0.6
) -> list[list[Hypothesis]]:
    """Draw outputs of a table; the key of a sentence is its number in the table."""
    return sample(
        TableDecoder(table, keys, sampling.count),
        start=START,
        end=END,
        limit_B=torch.tensor(limits),
        config=SearchConfig(length_penalty=alpha),
        draws=Draws(sampling, keys),
    )


def holds(text: str, phrase: str) -> bool:
    """Whether a text holds a phrase with no part of a word on either side."""
    places = [match.start() for match in re.finditer(f"(?={re.escape(phrase)})", text)]
    return any(
        not is_part_of_word(text[max(place - 1, 0) : place])
        and not is_part_of_word(text[place + len(phrase) :][:1])
        for place in places
    )


def is_part_of_word(character: str) -> bool:
    return character == "_" or character.isalnum()
