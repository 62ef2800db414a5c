"""Parsers of a few hundred weights that have learned nothing, and what they can write."""

from functools import cache
from typing import Any

from dragoman.bundle import Bundle
from dragoman.config import Config, DataConfig, SearchConfig
from dragoman.parser import Parser
from dragoman.text import Tokenizer
from dragoman.trees import ROOT, Inventory
from text_samples import sentences
from tiny_models import tiny_model

INVENTORY = Inventory(
    roots=(ROOT,),
    labels=(ROOT, "S", "NP", ""),
    tags=("NN", ",", "''"),
    longest_chain=3,
    longest_run=3,
)


@cache
def tokenizer_of(keep_tags: bool) -> Tokenizer:
    symbols = INVENTORY.symbols(keep_tags=keep_tags)
    return Tokenizer.train(iter(sentences(300)), 336, max_sentences=10_000, seed=1, symbols=symbols)


@cache
def tiny_parser(
    *,
    keep_tags: bool = False,
    reads_words: bool = False,
    constrained: bool = True,
    seed: int = 1,
    **model: Any,
) -> Parser:
    """Return a parser with random weights in float64, where no two scores are equal by rounding."""
    tokenizer = tokenizer_of(keep_tags)
    network = tiny_model(seed, vocabulary_size=tokenizer.vocabulary_size, **model)
    data = DataConfig(
        task="parsing", keep_tags=keep_tags, reads_words=reads_words, longest_run=INVENTORY.longest_run
    )
    search = SearchConfig(beam_size=4, extra_length=12, length_penalty=0.3)
    config = Config(model=network.config, data=data, search=search)
    return Parser(Bundle(config, tokenizer, network), constrained=constrained)
