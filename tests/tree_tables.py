"""A small vocabulary of trees among other pieces, and tables that would rather write anything else."""

import random
from collections.abc import Sequence
from typing import Any

import torch

from dragoman.config import SearchConfig
from dragoman.parsing import SymbolIds, TreeDecoder
from dragoman.search import Hypothesis, search
from dragoman.trees import Tree, linear, take_inventory, tree_of
from search_tables import END, START, Table, TableDecoder, log, random_table

NAMES = ("<s>", "</s>", "▁a", "(S", ")S", "XX", "▁b", "(NP", ")NP", "(TOP", ")TOP", "NN")
IDS = {name: place for place, name in enumerate(NAMES)}
NEEDED = ("</s>", ")S", ")NP", ")TOP", "(TOP", "XX")
"""With these, each sequence that can lead to a tree can go on."""


def symbol_ids(**changes: Any) -> SymbolIds:
    """The symbols of ``NAMES``, where a tree begins with S or TOP, and all brackets may stand inside."""
    given: dict[str, Any] = {
        "openings": (IDS["(S"], IDS["(NP"], IDS["(TOP"]),
        "closings": (IDS[")S"], IDS[")NP"], IDS[")TOP"]),
        "roots": (IDS["(TOP"], IDS["(S"]),
        "leaves": (IDS["XX"], IDS["NN"]),
        "end": END,
        "longest_run": 3,
    }
    given |= changes
    return SymbolIds(**({"inner": given["openings"]} | given))


def named(tokens: Sequence[int]) -> list[str]:
    return [NAMES[token] for token in tokens]


def tree_over(tokens: Sequence[int], num_words: int) -> Tree:
    """The tree of an output; a TreeError where it is none with just so many words."""
    return tree_of(named(tokens), [f"word{place}" for place in range(num_words)])


def keeps_the_rules(tokens: Sequence[int], num_words: int, limit: int, symbols: SymbolIds) -> bool:
    """Whether an output is a tree, a judge that shares no code with the constraint."""
    tree = tree_over(tokens, num_words)
    return (
        linear(tree, keep_tags=True) == named(tokens)
        and [leaf.word for leaf in tree.leaves()] == [f"word{place}" for place in range(num_words)]
        and tokens[0] in symbols.roots
        and all(token in symbols.inner for token in tokens[1:] if token in symbols.openings)
        and take_inventory([tree]).longest_run <= symbols.longest_run
        and len(tokens) + 1 <= limit
    )


def stubborn_table(seed: int, favorite: int) -> Table:
    """A table that gives nearly everything to one token, wherever it stands."""
    other = random_table(seed, len(NAMES), holes=False)

    def table(sentence: int, history: tuple[int, ...]) -> list[float]:
        row = [logprob - 200.0 for logprob in other(sentence, history)]
        row[favorite] = -1e-9
        return row

    return table


def torn_table(seed: int) -> Table:
    """A table in which most tokens are impossible, but never those that are ``NEEDED``."""

    def table(sentence: int, history: tuple[int, ...]) -> list[float]:
        draw = random.Random(f"{seed} {sentence} {history}")
        weights = [draw.random() * (name in NEEDED or draw.random() < 0.3) for name in NAMES]
        return [log(weight / sum(weights)) for weight in weights]

    return table


def run_trees(
    table: Table,
    sentences: Sequence[tuple[int, int, int]],
    config: SearchConfig,
    symbols: SymbolIds | None = None,
) -> list[list[Hypothesis]]:
    """Search a table for trees; a sentence is its number, its words and its limit."""
    limit_B = torch.tensor([limit for _, _, limit in sentences])
    decoder = TreeDecoder(
        TableDecoder(table, [number for number, _, _ in sentences], config.beam_size),
        symbols or symbol_ids(),
        torch.tensor([words for _, words, _ in sentences]),
        limit_B,
        config.beam_size,
    )
    return search(decoder, start=START, end=END, limit_B=limit_B, config=config)
