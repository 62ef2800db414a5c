"""Sampling from tables whose probabilities are known."""

import math
from collections import Counter
from typing import Any

import pytest
import torch

from decoding_tables import run_samples
from dragoman.choice import Sampling
from dragoman.config import SearchConfig
from dragoman.decoding import Draws, sample
from dragoman.decoding.sampling import _draw
from search_tables import END, START, TableDecoder, first_order, random_table, run, score, token_scores

ONE_TOKEN = {0: {2: 0.4, 3: 0.3, 4: 0.2, 5: 0.1}, 2: {1: 1.0}, 3: {1: 1.0}, 4: {1: 1.0}, 5: {1: 1.0}}
"""Outputs of one token, and how likely each is."""
LARGEST_SHARE = 1.0 - 2**-53
"""The largest number below 1, which a generator can draw."""


def frequencies(count: int = 4_000, **settings: Any) -> dict[int, float]:
    [found] = run_samples(first_order(ONE_TOKEN, 6), [7], [5], Sampling(count=count, seed=1, **settings))
    return {token: number / count for token, number in Counter(one.tokens[0] for one in found).items()}


def close(share: float, count: int = 4_000) -> Any:
    """Five standard deviations of a share; the seed is fixed, so this does not flake."""
    return pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / count))


def test_outputs_come_as_often_as_they_are_likely() -> None:
    """Each output's share of many samples is its probability."""
    assert frequencies() == {2: close(0.4), 3: close(0.3), 4: close(0.2), 5: close(0.1)}


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_temperature_is_a_power(temperature: float) -> None:
    """Probabilities are raised to one over the temperature and normalized."""
    powers = {token: p ** (1 / temperature) for token, p in ONE_TOKEN[0].items()}
    total = sum(powers.values())

    assert frequencies(temperature=temperature) == {token: close(p / total) for token, p in powers.items()}


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"top_k": 3}, {2, 3, 4}),
        ({"top_k": 99}, {2, 3, 4, 5}),
        ({"top_p": 1e-9}, {2}),
        ({"top_p": 0.39}, {2}),
        ({"top_p": 0.41}, {2, 3}),
        ({"top_p": 0.69}, {2, 3}),
        ({"top_p": 0.71}, {2, 3, 4}),
        ({"top_p": 0.91}, {2, 3, 4, 5}),
        ({"top_k": 2, "top_p": 0.56}, {2}),  # of the two left, the first has 4/7
        ({"top_k": 2, "top_p": 0.58}, {2, 3}),
        ({"temperature": 0.5, "top_p": 0.52}, {2}),  # 0.16/0.3 = 0.533
        ({"temperature": 0.5, "top_p": 0.54}, {2, 3}),
    ],
)
def test_only_the_promised_tokens_come(settings: dict[str, Any], kept: set[int]) -> None:
    """What is kept by top-k and then top-p comes, each as often as it is likely among the kept."""
    power = 1 / settings.get("temperature", 1.0)
    total = sum(ONE_TOKEN[0][token] ** power for token in kept)

    assert frequencies(**settings) == {token: close(ONE_TOKEN[0][token] ** power / total) for token in kept}


@pytest.mark.parametrize("settings", [{"top_k": 1}, {"temperature": 1e-12}, {"top_p": 1e-12}])
@pytest.mark.parametrize("seed", range(5))
def test_the_likeliest_token_alone_is_greedy_search(seed: int, settings: dict[str, Any]) -> None:
    """One token kept, or a temperature near zero, gives the output and the scores of greedy search."""
    table, limits = random_table(seed, 7, holes=False), [9, 3, 12]
    found = [one for [one] in run_samples(table, [0, 1, 2], limits, Sampling(seed=seed, **settings))]
    right = [one for [one] in run(table, [0, 1, 2], limits, SearchConfig(beam_size=1))]

    assert [one._replace(score=0.0) for one in found] == [one._replace(score=0.0) for one in right]
    assert [one.score for one in found] == pytest.approx([one.score for one in right], abs=1e-12)


def test_of_equals_the_lower_id_is_kept() -> None:
    """Among equally likely tokens top-k keeps the first, however high the temperature."""
    table = first_order({0: {5: 0.25, 3: 0.25, 4: 0.5}, 3: {1: 1.0}, 4: {1: 1.0}, 5: {1: 1.0}}, 6)
    [found] = run_samples(table, [0], [4], Sampling(count=50, top_k=2, temperature=1e300))

    assert {one.tokens for one in found} == {(3,), (4,)}


@pytest.mark.parametrize(
    "settings", [{}, {"top_p": 0.9}, {"top_p": 0.9999}, {"temperature": 3.0}, {"top_k": 900}]
)
def test_ordering_the_likeliest_first_changes_nothing(settings: dict[str, Any]) -> None:
    """Of a large vocabulary the drawn token is what ordering all of it gives, for any random share."""
    generator = torch.Generator().manual_seed(1)
    logprob_NV = (3.0 * torch.randn(40, 2_000, generator=generator).double()).log_softmax(dim=1)
    uniform_N1 = torch.rand(40, 1, generator=generator, dtype=torch.float64)
    uniform_N1[0], uniform_N1[1] = 0.0, LARGEST_SHARE
    sampling = Sampling(**settings)
    right = []
    for logprobs, share in zip(logprob_NV.tolist(), uniform_N1.flatten().tolist(), strict=True):
        order = sorted(range(2_000), key=lambda token, row=logprobs: (-row[token], token))
        order = order[: sampling.top_k or None]
        weights = [math.exp(logprobs[token] / sampling.temperature) for token in order]
        total, last = sum(weights), len(order) - 1
        if sampling.top_p < 1.0:
            last = next(i for i in range(len(order)) if sum(weights[: i + 1]) >= sampling.top_p * total)
            total = sum(weights[: last + 1])
        place = next(i for i in range(last + 1) if i == last or sum(weights[: i + 1]) > share * total)
        right.append(order[place])

    assert _draw(logprob_NV, uniform_N1, sampling).flatten().tolist() == right


def test_what_is_impossible_never_comes() -> None:
    """The largest share that can be drawn still ends at a token that is possible."""
    logprobs = [-math.inf, math.log(0.1), math.log(0.2), math.log(0.7), -math.inf]
    logprob_NV, uniform_N1 = (torch.tensor([row], dtype=torch.float64) for row in (logprobs, [LARGEST_SHARE]))

    assert _draw(logprob_NV, uniform_N1, Sampling()).tolist() == [[1]]


def test_scores_are_the_decoder_s_own() -> None:
    """Whatever the temperature, token scores are the table's, summed and divided by the length penalty."""
    table = random_table(4, 6, holes=False)
    [found] = run_samples(table, [3], [8], Sampling(count=20, temperature=0.3, top_k=4), alpha=1.0)
    for one in found:
        right = token_scores(table, 3, one)

        assert list(one.token_scores) == right
        assert one.log_probability == math.fsum(right)
        assert one.score == pytest.approx(score(sum(right), len(right), 1.0), abs=1e-12)


def test_what_never_ends_is_cut_and_says_so() -> None:
    """An output that reaches the limit has as many tokens as the limit allows and is not finished."""
    [found] = run_samples(
        first_order({0: {2: 1.0}, 2: {2: 0.5, 3: 0.5}, 3: {1: 1.0}}, 4), [0], [3], Sampling(count=30)
    )

    assert {(one.tokens, one.finished) for one in found} == {
        ((2, 3), True),
        ((2, 2, 3), False),
        ((2, 2, 2), False),
    }


def test_finished_sentences_leave_the_batch() -> None:
    """All rows of a sentence stay until its last sample has ended or it is at its limit."""
    decoder = TableDecoder(first_order({0: {2: 1.0}, 2: {2: 1.0}}, 3), [0, 1, 2], 2)
    limit_B, draws = torch.tensor([1, 4, 2]), Draws(Sampling(count=2), [0, 1, 2])
    sample(decoder, start=START, end=END, limit_B=limit_B, config=SearchConfig(), draws=draws)

    assert decoder.rows_at_step == [6, 4, 2, 2]


def test_a_dead_end_is_an_error() -> None:
    """A decoder that leaves no token possible is named and not sampled on."""
    with pytest.raises(ValueError, match="no token possible after 1 tokens"):
        run_samples(first_order({0: {2: 1.0}}, 3), [0], [4], Sampling(count=2))


def test_a_limit_below_one_is_refused() -> None:
    """A sentence without room for the end token is an error of the caller."""
    with pytest.raises(ValueError, match="limit_B is 0"):
        run_samples(first_order(ONE_TOKEN, 6), [0, 1], [3, 0], Sampling())


def test_no_sentences_give_no_outputs() -> None:
    """An empty batch is sampled without a step."""
    assert run_samples(first_order(ONE_TOKEN, 6), [], [], Sampling(count=3)) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"count": 0},
        {"temperature": 0.0},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"seed": -1},
        {"seed": 2**64},
    ],
)
def test_settings_outside_their_range_are_refused(settings: dict[str, Any]) -> None:
    """A number that means nothing is an error at once, by its name."""
    with pytest.raises(ValueError, match=f"{next(iter(settings))} is "):
        Sampling(**settings)
