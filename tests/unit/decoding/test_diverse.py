"""Diverse beam search over tables."""

import math

import pytest
import torch

from dragoman.config import SearchConfig
from dragoman.decoding import search_diversely
from dragoman.search import Hypothesis
from search_tables import END, START, Table, TableDecoder, first_order, random_table

FAVORITE = {
    0: {2: 0.6, 3: 0.3, 4: 0.1},
    2: {1: 0.9, 5: 0.1},
    3: {1: 0.8, 5: 0.2},
    4: {1: 0.7, 5: 0.3},
    5: {1: 1.0},
}
"""Each token but the favorite costs more than the one before it."""


def diverse(
    table: Table, sentences: list[int], limits: list[int], config: SearchConfig, diversity: float
) -> list[list[Hypothesis]]:
    decoder = TableDecoder(table, sentences, config.beam_size)
    return search_diversely(
        decoder, start=START, end=END, limit_B=torch.tensor(limits), config=config, diversity=diversity
    )


def test_groups_keep_out_of_each_other_s_way() -> None:
    """Groups of one choose the best, the second and the third token where the difference is worth it."""
    config = SearchConfig(beam_size=3, n_best=3, length_penalty=0.0)
    found = {
        diversity: {
            one.tokens[0] for one in diverse(first_order(FAVORITE, 6), [0], [5], config, diversity)[0]
        }
        for diversity in (0.0, 0.3, 1.0, 1.5, 3.0)
    }

    assert found == {0.0: {2}, 0.3: {2}, 1.0: {2, 3}, 1.5: {2, 3}, 3.0: {2, 3, 4}}


def test_a_token_costs_more_the_more_have_chosen_it() -> None:
    """The third group pays twice for a token that both groups before it have chosen."""
    table = first_order({0: {2: 0.6, 3: 0.2, 4: 0.2}, 2: {1: 1.0}, 3: {1: 1.0}, 4: {1: 1.0}}, 5)
    config = SearchConfig(beam_size=3, n_best=3, length_penalty=0.0)
    [found] = diverse(table, [0], [5], config, 0.6)  # 0.6 < log 3 < 2 · 0.6

    assert [one.tokens for one in found] == [(2,), (3,)]


def test_scores_are_the_decoder_s_own() -> None:
    """Diversity chooses outputs and leaves their scores alone."""
    config = SearchConfig(beam_size=3, n_best=3, length_penalty=0.0)
    [found] = diverse(first_order(FAVORITE, 6), [0], [5], config, 3.0)

    assert {one.tokens: one.log_probability for one in found} == pytest.approx(
        {
            (2,): math.log(0.6 * 0.9),
            (3, 5): math.log(0.3 * 0.2),  # the first group has just ended
            (4,): math.log(0.1 * 0.7),  # the first has ended and the second has not
        }
    )


def test_settled_groups_choose_no_more() -> None:
    """What a group would write after its best output is found costs the others nothing."""
    rows = {
        0: {2: 0.6, 3: 0.4},
        2: {1: 0.9, 4: 0.1},
        3: {4: 1.0},
        4: {5: 0.6, 6: 0.4},
        5: {1: 1.0},
        6: {1: 1.0},
    }
    config = SearchConfig(beam_size=2, n_best=2, length_penalty=0.0)
    [found] = diverse(first_order(rows, 7), [0], [9], config, 1.0)

    assert [one.tokens for one in found] == [(2,), (3, 4, 5)]


def test_what_ended_comes_before_what_was_cut() -> None:
    """A group that has not ended within the limit gives its best, cut, after the others."""
    rows = {0: {2: 0.9, 3: 0.1}, 2: {2: 1.0}, 3: {1: 1.0}}
    config = SearchConfig(beam_size=2, n_best=2, length_penalty=0.0)
    [found] = diverse(first_order(rows, 4), [0], [4], config, 9.0)

    assert [(one.tokens, one.finished) for one in found] == [((3,), True), ((2, 2, 2, 2), False)]


def test_settled_sentences_leave_the_batch() -> None:
    """A sentence costs no rows once all its groups are settled."""
    decoder = TableDecoder(first_order({0: {2: 1.0}, 2: {2: 1.0}}, 3), [0, 1, 2], 4)
    config = SearchConfig(beam_size=4, n_best=2)
    search_diversely(
        decoder, start=START, end=END, limit_B=torch.tensor([1, 4, 2]), config=config, diversity=1.0
    )

    assert decoder.rows_at_step == [12, 8, 4, 4]


def test_a_dead_end_is_an_error() -> None:
    """A decoder that leaves all groups no token is named and not searched on."""
    with pytest.raises(ValueError, match="no token possible after 1 tokens"):
        diverse(first_order({0: {2: 1.0}}, 3), [0], [4], SearchConfig(beam_size=4, n_best=2), 0.5)


def test_groups_of_different_sizes_are_refused() -> None:
    """A beam that cannot be shared out evenly is an error of the caller."""
    with pytest.raises(ValueError, match="must be a multiple of n_best, 2"):
        diverse(random_table(1, 5), [0], [4], SearchConfig(beam_size=5, n_best=2), 0.5)


@pytest.mark.parametrize("diversity", [-0.1, math.inf, math.nan])
def test_a_diversity_that_means_nothing_is_refused(diversity: float) -> None:
    """Diversity is a finite number of nats, 0 or more."""
    with pytest.raises(ValueError, match="diversity is"):
        diverse(random_table(1, 5), [0], [4], SearchConfig(beam_size=4, n_best=2), diversity)


def test_no_sentences_give_no_outputs() -> None:
    """An empty batch is searched without a step."""
    assert diverse(random_table(1, 5), [], [], SearchConfig(beam_size=4, n_best=2), 0.5) == []
