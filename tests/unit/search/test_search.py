"""Search over tables that are small enough to be judged by hand."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.search import length_penalty, search
from dragoman.search.beam import largest
from native_search import Search, both_searches, rounded
from search_tables import END, START, TableDecoder, first_order, random_table, run, token_scores

PENALTIES = [-0.6, 0.0, 0.6, 1.0, 2.0]
# Probabilities of the next token; token 0 starts and 1 ends.
TWO_ROADS = {0: {2: 0.812, 3: 0.015, 4: 0.173}, 2: {1: 0.018, 2: 0.063, 3: 0.802, 4: 0.117}}
TWO_ROADS |= {3: {1: 0.41, 2: 0.192, 4: 0.398}, 4: {1: 0.98, 3: 0.02}}
FIVE_TOKENS = {0: {3: 0.6, 4: 0.4}, 3: {1: 0.7, 3: 0.1, 4: 0.2}, 4: {1: 0.6, 3: 0.3, 4: 0.1}}
ENDLESS = {0: {3: 0.7, 4: 0.3}, 3: {3: 0.5, 4: 0.5}, 4: {3: 0.9, 4: 0.1}}
ONE_OUTPUT = {0: {3: 1.0}, 3: {1: 1.0}}


@both_searches
def test_early_stop_waits_for_the_better_road(search_table: Search) -> None:
    """The first output to end is not returned while a live one can still beat it (S30)."""
    config = SearchConfig(beam_size=4, length_penalty=0.6)
    [[best]] = search_table(rounded(first_order(TWO_ROADS, 5)), [0], [8], config)

    assert (best.tokens, best.finished) == ((2, 3, 4), True)
    assert best.log_probability == pytest.approx(math.log(0.812 * 0.802 * 0.398 * 0.98), abs=1e-6)


@both_searches
def test_early_stop_knows_negative_penalties(search_table: Search) -> None:
    """Where long outputs are punished, what ends next may still win although what ends late cannot."""
    rows = {0: {2: 0.75, 3: 0.25}, 2: {2: 0.5, 4: 0.5}, 3: {1: 1.0}, 4: {1: 1.0}}
    [[best]] = search_table(
        rounded(first_order(rows, 5)), [0], [20], SearchConfig(beam_size=4, length_penalty=-0.6)
    )

    assert best.tokens == (2, 4)
    assert best.score == pytest.approx(math.log(0.375) * (8 / 6) ** 0.6, abs=1e-6)


@both_searches
def test_of_equal_outputs_the_one_that_ended_first_is_better(search_table: Search) -> None:
    """Outputs of equal score are ordered by when they ended, so a longer search does not swap them."""
    config = SearchConfig(beam_size=3, length_penalty=0.0, n_best=3)
    rows = {0: {1: 0.25, 2: 0.25, 3: 0.5}, 2: {1: 1.0}, 3: {4: 0.5, 2: 0.5}, 4: {1: 1.0}}
    [found] = search_table(rounded(first_order(rows, 5)), [0], [9], config)

    assert [hypothesis.tokens for hypothesis in found] == [(), (2,), (3, 2)]


@both_searches
@pytest.mark.parametrize("beam_size", [1, 4, 5, 6, 8, 64])
def test_a_beam_may_be_larger_than_the_vocabulary(search_table: Search, beam_size: int) -> None:
    """A beam as large as the vocabulary, or larger, finds the outputs in their order (S31)."""
    config = SearchConfig(beam_size=beam_size, length_penalty=0.0, n_best=min(beam_size, 3))
    [found] = search_table(rounded(first_order(FIVE_TOKENS, 5)), [0], [3], config)

    assert [hypothesis.tokens for hypothesis in found] == [(3,), (4,), (4, 3)][: config.n_best]
    right = [math.log(0.6 * 0.7), math.log(0.4 * 0.6), math.log(0.4 * 0.3 * 0.7)][: config.n_best]
    assert [hypothesis.log_probability for hypothesis in found] == pytest.approx(right, abs=1e-6)


@both_searches
def test_a_wide_beam_returns_all_there_is(search_table: Search) -> None:
    """With room for all, all six outputs of the table are found, best first (S31)."""
    config = SearchConfig(beam_size=64, length_penalty=0.0, n_best=64)
    [found] = search_table(rounded(first_order(FIVE_TOKENS, 5)), [0], [3], config)

    assert [hypothesis.tokens for hypothesis in found] == [(3,), (4,), (4, 3), (3, 4), (3, 3), (4, 4)]


@both_searches
@pytest.mark.parametrize(("beam_size", "n_best"), [(1, 1), (3, 3)])
def test_what_never_ends_is_cut_and_says_so(search_table: Search, beam_size: int, n_best: int) -> None:
    """Where nothing can end, live hypotheses come back at the limit, marked as cut (S32)."""
    config = SearchConfig(beam_size=beam_size, n_best=n_best)
    [found] = search_table(rounded(first_order(ENDLESS, 5)), [0], [6], config)

    assert [(len(hypothesis.tokens), hypothesis.finished) for hypothesis in found] == [(6, False)] * n_best
    assert len({hypothesis.tokens for hypothesis in found}) == n_best


@both_searches
def test_fewer_outputs_than_asked_for_are_not_repeated(search_table: Search) -> None:
    """One possible output gives one result, whatever n is (S33)."""
    config = SearchConfig(beam_size=5, n_best=5)
    [found] = search_table(rounded(first_order(ONE_OUTPUT, 4)), [0], [6], config)

    assert [(hypothesis.tokens, hypothesis.score) for hypothesis in found] == [((3,), 0.0)]


@pytest.mark.parametrize(
    ("case", "rows", "words"),
    [
        ("S30-early-stop", TWO_ROADS, ["<s>", "</s>", "w0", "w1", "w2"]),
        ("S31-beam-larger-than-vocabulary", FIVE_TOKENS, ["<s>", "</s>", "<pad>", "a", "b"]),
        ("S32-never-ends", ENDLESS, ["<s>", "</s>", "<pad>", "a", "b"]),
        ("S33-fewer-than-n", ONE_OUTPUT, ["<s>", "</s>", "<pad>", "a"]),
    ],
)
def test_tables_are_those_of_the_cases(
    case: str, rows: dict[int, dict[int, float]], words: list[str], shared: Path
) -> None:
    """The tables above are the ones of the shared cases, number by number."""
    given = json.loads((shared / "cases" / case / "case.json").read_text())["next_token_probabilities_after"]
    ours = {words[last]: {words[token]: p for token, p in row.items()} for last, row in rows.items()}

    assert ours == {last: {word: p for word, p in row.items() if p > 0} for last, row in given.items()}


@both_searches
def test_a_finished_output_hides_the_cut_ones(search_table: Search) -> None:
    """Cut hypotheses are never mixed with finished ones, even if fewer than n have finished."""
    rows = {0: {2: 0.9, 3: 0.1}, 2: {2: 1.0}, 3: {1: 1.0}}
    [found] = search_table(rounded(first_order(rows, 4)), [0], [5], SearchConfig(beam_size=3, n_best=3))

    assert [(hypothesis.tokens, hypothesis.finished) for hypothesis in found] == [((3,), True)]


@both_searches
@pytest.mark.parametrize("beam_size", [1, 4])
def test_an_output_may_end_at_its_limit(search_table: Search, beam_size: int) -> None:
    """The limit counts the end token, and an output that ends just there is finished."""
    [[found]] = search_table(rounded(first_order(ONE_OUTPUT, 4)), [0], [2], SearchConfig(beam_size=beam_size))

    assert (found.tokens, found.finished) == ((3,), True)


@both_searches
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_limit_of_one_leaves_room_for_the_end(search_table: Search, beam_size: int) -> None:
    """The smallest limit gives the empty output."""
    [[found]] = search_table(
        rounded(first_order({0: {1: 0.7, 2: 0.3}}, 3)), [0], [1], SearchConfig(beam_size=beam_size)
    )

    assert (found.tokens, found.token_scores, found.finished) == ((), (pytest.approx(math.log(0.7)),), True)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_limit_below_one_is_refused(beam_size: int) -> None:
    """A sentence without room for the end token is an error of the caller."""
    with pytest.raises(ValueError, match="limit_B is 0"):
        run(first_order(ONE_OUTPUT, 4), [0, 1], [3, 0], SearchConfig(beam_size=beam_size))


@pytest.mark.parametrize("nothing", [-math.inf, math.nan])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_dead_end_is_an_error(beam_size: int, nothing: float) -> None:
    """A decoder that leaves no token possible, or gives no numbers, is named and not searched on."""

    def table(sentence: int, history: tuple[int, ...]) -> list[float]:
        return [-math.inf, -math.inf, 0.0] if len(history) < 3 else [nothing] * 3

    with pytest.raises(ValueError, match="no token possible after 2 tokens"):
        run(table, [0], [9], SearchConfig(beam_size=beam_size))


@pytest.mark.parametrize("beam_size", [1, 4])
def test_no_sentences_give_no_outputs(beam_size: int) -> None:
    """An empty batch is searched without a step."""
    assert run(first_order(ONE_OUTPUT, 4), [], [], SearchConfig(beam_size=beam_size)) == []


@both_searches
@pytest.mark.parametrize("seed", range(20))
def test_greedy_takes_the_likeliest_token(search_table: Search, seed: int) -> None:
    """A beam of one follows the likeliest token to the end or to the limit."""
    table = rounded(random_table(seed, 6))
    history = [START]
    while history[-1] != END and len(history) <= 7:
        row = table(0, tuple(history))
        history.append(row.index(max(row)))
    [[found]] = search_table(table, [0], [7], SearchConfig(beam_size=1))

    assert found.finished == (history[-1] == END)
    assert list(found.tokens) == [token for token in history[1:] if token != END]
    assert list(found.token_scores) == token_scores(table, 0, found)


@pytest.mark.parametrize("beam_size", [1, 2])
def test_settled_sentences_leave_the_batch(beam_size: int) -> None:
    """A sentence costs no rows once it is settled, and no step once all are."""
    decoder = TableDecoder(first_order(ENDLESS, 5), [0, 1, 2], beam_size)
    config = SearchConfig(beam_size=beam_size)
    search(decoder, start=START, end=END, limit_B=torch.tensor([1, 4, 2]), config=config)

    assert decoder.rows_at_step == [rows * beam_size for rows in (3, 2, 1, 1)]


@pytest.mark.parametrize("alpha", PENALTIES)
def test_search_stops_when_nothing_can_improve(alpha: float) -> None:
    """A sure output ends the search long before the limit."""
    decoder = TableDecoder(first_order({0: {2: 0.999, 3: 0.001}, 2: {1: 1.0}, 3: {3: 1.0}}, 4), [0], 4)
    config = SearchConfig(beam_size=4, length_penalty=alpha)
    search(decoder, start=START, end=END, limit_B=torch.tensor([20]), config=config)

    assert len(decoder.rows_at_step) == 2


@pytest.mark.parametrize("alpha", PENALTIES)
def test_length_penalty_is_the_papers(alpha: float) -> None:
    """The penalty is 1 for one token and 2^α for seven, for numbers and tensors alike."""
    right = [1.0, 2.0**alpha, 3.0**alpha]

    assert [length_penalty(length, alpha) for length in (1, 7, 13)] == pytest.approx(right, rel=1e-15)
    assert length_penalty(torch.tensor([1, 7, 13]), alpha).tolist() == pytest.approx(right, rel=1e-15)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("size", "count"), [(1, 4), (5, 4), (5, 5), (5, 8), (300, 4), (300, 40)])
@pytest.mark.parametrize("levels", [1, 3, 1000])
def test_of_equals_the_lower_id_is_chosen(dtype: torch.dtype, size: int, count: int, levels: int) -> None:
    """The candidates of a row are those of a stable sort, however many tokens are equally likely."""
    generator = torch.Generator().manual_seed(size + count)
    value_NV = torch.randint(levels, (64, size), generator=generator).to(dtype)
    value_NC, place_NC = largest(value_NV, count)
    right = value_NV.sort(dim=1, descending=True, stable=True)

    torch.testing.assert_close(value_NC[:, :size], right.values[:, :count], rtol=0, atol=0)
    torch.testing.assert_close(place_NC[:, :size], right.indices[:, :count], rtol=0, atol=0)
    assert value_NC.shape == (64, count)
    assert bool((value_NC[:, size:] == -math.inf).all())


def test_single_precision_is_summed_in_double() -> None:
    """Sums over float32 log-probabilities are exact to double precision."""

    class Float32(TableDecoder):
        def step(self, token_N: Tensor) -> Tensor:
            return super().step(token_N).float()

    limit_B = torch.tensor([40])
    config = SearchConfig(beam_size=3, length_penalty=0.0)
    [[found]] = search(
        Float32(first_order(ENDLESS, 5), [0], 3), start=START, end=END, limit_B=limit_B, config=config
    )

    assert found.score == pytest.approx(math.fsum(found.token_scores), rel=1e-14)
    assert all(torch.tensor(score).float().double().item() == score for score in found.token_scores)
