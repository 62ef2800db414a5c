"""Decoding constrained to trees: complete, sound, robust."""

import itertools
import math
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.model import CachedDecoder
from dragoman.parsing import LEAST_EXTRA, SymbolIds, TreeDecoder
from dragoman.search import search
from dragoman.trees import fault_of
from search_tables import END, START, Table, random_table, score
from tiny_models import random_batch, tiny_model
from tree_tables import IDS, NAMES, keeps_the_rules, named, run_trees, symbol_ids, tree_over


class Recorder:
    """A decoder to which every token is as likely as its id tells; it knows which rows it was given."""

    def __init__(self, num_rows: int) -> None:
        self.row_N = torch.arange(num_rows)

    def step(self, token_N: Tensor) -> Tensor:
        return -torch.arange(1.0, len(NAMES) + 1).expand(len(token_N), -1)

    def reorder(self, row_N: Tensor) -> None:
        self.row_N = self.row_N[row_N]


def ids_of(text: str) -> list[int]:
    return [IDS[name] for name in text.split()]


def possible_names(logprob_V: Tensor) -> set[str]:
    return {name for name, logprob in zip(NAMES, logprob_V.tolist(), strict=True) if logprob > -math.inf}


def one_row(words: int, limit: int, **changes: Any) -> TreeDecoder:
    return TreeDecoder(Recorder(1), symbol_ids(**changes), torch.tensor([words]), torch.tensor([limit]), 1)


def read(decoder: TreeDecoder, text: str) -> Tensor:
    """Read names after the start and return the last log-probabilities."""
    for token in ids_of(f"<s> {text}"):
        logprob_NV = decoder.step(torch.tensor([token]))
    return logprob_NV[0]


@cache
def every_tree(words: int, limit: int, symbols: SymbolIds) -> list[tuple[int, ...]]:
    """Try all sequences of symbols and keep those that are trees."""
    ids = (*symbols.openings, *symbols.closings, *symbols.leaves)
    return [
        tokens
        for length in range(words + 2, limit)
        for tokens in itertools.product(ids, repeat=length)
        if tokens[0] in symbols.roots
        and tokens.count(symbols.leaves[0]) == words
        and fault_of(named(tokens), words) is None
        and keeps_the_rules(tokens, words, limit, symbols)
    ]


def total(table: Table, tokens: tuple[int, ...]) -> float:
    history = (START, *tokens, END)
    return sum(table(0, history[:place])[history[place]] for place in range(1, len(history)))


@pytest.mark.parametrize(
    ("read_so_far", "left"),
    [
        ("", "(TOP (S"),
        ("(S", "(S (NP (TOP XX NN"),
        ("(S (NP (NP", "XX NN"),  # three in a row
        ("(S (NP XX", "(S (NP (TOP XX NN )NP"),
        ("(S NN", "(S (NP (TOP XX NN"),  # the root may not close before the last word
        ("(S (NP XX XX", ")NP"),
        ("(S (NP XX )NP XX", ")S"),
        ("(S XX XX )S", "</s>"),
    ],
)
def test_what_may_follow(read_so_far: str, left: str) -> None:
    """Of a sentence of two words, each rule leaves what it should."""
    assert possible_names(read(one_row(2, 30), read_so_far)) == set(left.split())


@pytest.mark.parametrize(
    ("read_so_far", "left"),
    [
        ("", "(TOP"),
        ("(TOP", "(S (NP XX NN"),
        ("(TOP (S NN", "(S (NP XX NN )S"),
        ("(TOP XX XX", ")TOP"),
        ("(TOP XX XX )TOP", "</s>"),
    ],
)
def test_a_label_of_roots_alone_opens_nowhere_inside(read_so_far: str, left: str) -> None:
    """What is a root and may not stand inside begins a tree, and is never seen again before it closes."""
    decoder = one_row(2, 30, roots=(IDS["(TOP"],), inner=(IDS["(S"], IDS["(NP"]))

    assert possible_names(read(decoder, read_so_far)) == set(left.split())


def test_without_inner_brackets_a_tree_is_flat() -> None:
    """A treebank whose trees have a root alone gives trees that are a root alone."""
    [[found]] = run_trees(
        random_table(1, len(NAMES), holes=False),
        [(0, 3, 30)],
        SearchConfig(beam_size=1),
        symbol_ids(inner=()),
    )

    assert len(tree_over(found.tokens, 3).children) == 3


@pytest.mark.parametrize(
    ("limit", "read_so_far", "opens"),
    [
        (5, "(S", False),
        (6, "(S", False),
        (7, "(S", True),
        (7, "(S (NP", False),
        (8, "(S XX (NP", False),
        (9, "(S (NP", True),
        (9, "(S XX (NP", True),
    ],
)
def test_brackets_open_while_the_limit_has_room(limit: int, read_so_far: str, opens: bool) -> None:
    """A bracket opens only if all words, all closings and the end still fit behind it."""
    assert ("(NP" in possible_names(read(one_row(2, limit), read_so_far))) == opens


def test_log_probabilities_stay_the_decoder_s_own() -> None:
    """What is possible keeps its log-probability; all else is minus infinity."""
    logprob_V = read(one_row(1, 30), "(S XX")

    assert logprob_V.tolist() == [
        -(place + 1.0) if name == ")S" else -math.inf for place, name in enumerate(NAMES)
    ]


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("longest_run", [1, 3])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_a_beam_with_room_for_all_finds_every_tree(words: int, longest_run: int, alpha: float) -> None:
    """Search finds exactly the trees that trying all sequences finds, in the order of their scores."""
    symbols = symbol_ids(
        openings=(IDS["(S"], IDS["(NP"]),
        closings=(IDS[")S"], IDS[")NP"]),
        roots=(IDS["(S"],),
        leaves=(IDS["XX"],),
        longest_run=longest_run,
    )
    limit = words + 7
    table = random_table(7, len(NAMES), holes=False)
    scores = {
        tokens: score(total(table, tokens), len(tokens) + 1, alpha)
        for tokens in every_tree(words, limit, symbols)
    }
    config = SearchConfig(beam_size=300, n_best=300, length_penalty=alpha)
    [found] = run_trees(table, [(0, words, limit)], config, symbols)

    assert [one.tokens for one in found] == sorted(scores, key=lambda tokens: -scores[tokens])
    assert [one.score for one in found] == pytest.approx(sorted(scores.values(), reverse=True), abs=1e-12)


def test_impossible_rows_disturb_no_other() -> None:
    """A row reads its tree as if alone, whatever the rows beside it are given to read."""
    tree = ids_of("<s> (S (NP XX )NP (NP XX XX )NP )S")
    generator = torch.Generator().manual_seed(1)
    decoder = TreeDecoder(Recorder(40), symbol_ids(), torch.tensor([3]), torch.tensor([14]), 40)
    alone = one_row(3, 14)
    for token in tree:
        token_N = torch.randint(len(NAMES), (40,), generator=generator)
        token_N[17] = token
        logprob_NV = decoder.step(token_N)
        expected_V = alone.step(torch.tensor([token]))[0]

        assert torch.equal(logprob_NV[17], expected_V)
        assert not bool(logprob_NV.isnan().any())


def test_rows_are_carried_on_with_what_they_read() -> None:
    """Rows are copied and dropped, and sentences leave, with both decoders in step."""
    recorder = Recorder(6)
    decoder = TreeDecoder(recorder, symbol_ids(), torch.tensor([1, 2, 3]), torch.tensor([9, 9, 9]), 2)
    decoder.step(torch.tensor([START] * 6))
    decoder.step(torch.tensor(ids_of("(S (S (S (TOP (TOP (S")))
    decoder.reorder(torch.tensor([3, 3, 5, 4]))
    decoder.step(torch.tensor(ids_of("XX (NP XX XX")))
    logprob_NV = decoder.step(torch.tensor(ids_of("XX XX XX XX")))

    assert recorder.row_N.tolist() == [3, 3, 5, 4]
    assert [possible_names(row) & {")S", ")NP", ")TOP", "XX"} for row in logprob_NV] == [
        {")TOP"},
        {"XX", ")NP"},
        {"XX"},
        {"XX"},
    ]


@pytest.mark.parametrize("beam_size", [1, 4])
@torch.inference_mode()
def test_a_model_that_has_learned_nothing_writes_trees(beam_size: int) -> None:
    """Random weights and words of any number of pieces: all of the n best are trees."""
    model = tiny_model()
    memory = model.encode(random_batch([1, 4, 7, 12], [1] * 4).source_BS)
    words, symbols = [1, 3, 7, 5], symbol_ids()
    limit_B = torch.tensor([4, 30, 20, 24])
    decoder = TreeDecoder(
        CachedDecoder(model, memory, beam_size, impossible=[START]),
        symbols,
        torch.tensor(words),
        limit_B,
        beam_size,
    )
    config = SearchConfig(beam_size=beam_size, n_best=beam_size, length_penalty=0.3)
    found = search(decoder, start=model.padding, end=END, limit_B=limit_B, config=config)

    assert [len(hypotheses) > 0 for hypotheses in found] == [True] * 4
    for num_words, limit, hypotheses in zip(words, limit_B.tolist(), found, strict=True):
        assert all(one.finished for one in hypotheses)
        assert all(keeps_the_rules(one.tokens, num_words, limit, symbols) for one in hypotheses)


def test_the_tightest_limit_holds_a_tree() -> None:
    """The least that a limit must hold besides the words is enough for one bracket over them."""
    [[found]] = run_trees(
        random_table(1, len(NAMES), holes=False), [(0, 2, 2 + LEAST_EXTRA)], SearchConfig(beam_size=1)
    )

    assert len(tree_over(found.tokens, 2).children) == 2


def test_ids_are_those_of_a_tokenizer_s_symbols() -> None:
    """Of the names of symbols come brackets in pairs, the one root, what stands inside, and the tags."""
    names = ("(S", "(NP", "(TOP", ")NP", ")TOP", ")S", "XX", "NN")
    symbols = {name: IDS[name] for name in names}

    assert SymbolIds.of(symbols, longest_run=3, end=END) == symbol_ids(
        roots=(IDS["(TOP"],), inner=(IDS["(S"], IDS["(NP"])
    )


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("(TOP", ")TOP", "(S", "(NP", ")NP", "XX"), r"no symbol closes \(S"),
        (("(S", ")S", "XX"), r"roots \(\) must be one or more"),
        (("(TOP", ")TOP"), "no id stands for a word"),
        ((), r"roots \(\) must be one or more"),
    ],
)
def test_symbols_without_trees_are_refused(names: tuple[str, ...], reason: str) -> None:
    """A bracket that nothing closes, no root, no tag: with such symbols no tree can be written."""
    with pytest.raises(ValueError, match=reason):
        SymbolIds.of({name: IDS[name] for name in names}, longest_run=3, end=END)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"closings": (4, 8)}, "3 brackets open and 2 close"),
        ({"leaves": (4,)}, "an id stands for two symbols"),
        ({"end": 3}, "an id stands for two symbols"),
        ({"roots": ()}, r"roots \(\) must be one or more"),
        ({"roots": (5,)}, r"roots \(5,\) must be one or more"),
        ({"inner": (5,)}, r"inner \(5,\) must be some of the brackets"),
        ({"leaves": ()}, "no id stands for a word"),
        ({"longest_run": 0}, "longest_run is 0"),
    ],
)
def test_ids_without_trees_are_refused(changes: dict[str, Any], reason: str) -> None:
    """Ids that contradict each other are an error at once."""
    with pytest.raises(ValueError, match=reason):
        symbol_ids(**changes)


@pytest.mark.parametrize(("words", "limit", "reason"), [(0, 9, "no words"), (4, 6, "a limit is 2 above")])
def test_sentences_without_trees_are_refused(words: int, limit: int, reason: str) -> None:
    """A sentence without words, or whose limit is shorter than any tree over it, is an error."""
    with pytest.raises(ValueError, match=reason):
        one_row(words, limit)
