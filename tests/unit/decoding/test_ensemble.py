"""Several decoders as one."""

import math

import pytest
import torch

from dragoman.config import SearchConfig
from dragoman.decoding import EnsembleDecoder
from dragoman.search import search
from search_tables import END, START, Table, TableDecoder, log, random_table, run

TABLES = [random_table(seed, 6) for seed in (1, 2, 3)]


def mean_table(sentence: int, history: tuple[int, ...]) -> list[float]:
    rows = [[math.exp(logprob) for logprob in table(sentence, history)] for table in TABLES]
    return [log(sum(column) / len(rows)) for column in zip(*rows, strict=True)]


def decoders(tables: list[Table], sentences: list[int], beam_size: int) -> list[TableDecoder]:
    return [TableDecoder(table, sentences, beam_size) for table in tables]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_an_ensemble_is_searched_like_the_mean_of_its_members(beam_size: int) -> None:
    """Search finds what it finds in one table of mean probabilities, while rows move and sentences leave."""
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    sentences, limits = [0, 1, 2], [7, 2, 5]
    together = EnsembleDecoder(decoders(TABLES, sentences, beam_size))
    found = search(together, start=START, end=END, limit_B=torch.tensor(limits), config=config)
    right = run(mean_table, sentences, limits, config)

    assert [[one.tokens for one in some] for some in found] == [
        [one.tokens for one in some] for some in right
    ]
    for some, expected in zip(found, right, strict=True):
        assert [one.score for one in some] == pytest.approx([one.score for one in expected], abs=1e-12)


def test_an_ensemble_of_one_is_the_decoder() -> None:
    """The mean of one is itself, to the last digit."""
    [alone], [member] = decoders(TABLES[:1], [0], 1), decoders(TABLES[:1], [0], 1)
    token_N = torch.tensor([START])

    assert torch.equal(EnsembleDecoder([member]).step(token_N), alone.step(token_N))


def test_only_what_all_call_impossible_is_impossible() -> None:
    """A token that one member allows keeps its share of the mean; one that none allows stays impossible."""
    one, other = (lambda s, h: [-math.inf, 0.0, -math.inf]), (lambda s, h: [-math.inf, -math.inf, 0.0])
    [logprob_V] = EnsembleDecoder(decoders([one, other], [0], 1)).step(torch.tensor([START]))

    assert logprob_V.tolist() == pytest.approx([-math.inf, math.log(0.5), math.log(0.5)])


def test_an_ensemble_needs_a_decoder() -> None:
    """No decoders are an error of the caller."""
    with pytest.raises(ValueError, match="no decoders"):
        EnsembleDecoder([])
