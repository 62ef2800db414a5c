"""What holds for search over any table."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import SearchConfig
from dragoman.search import Hypothesis
from native_search import Search, both_searches, rounded
from search_tables import exhaustive, patient_beam, random_table, score, token_scores

penalties = st.sampled_from([-0.6, 0.0, 0.6, 1.0, 2.0])
seeds = st.integers(0, 10**6)
often = settings(max_examples=40, deadline=None, derandomize=True)


def plain(found: list[Hypothesis]) -> list[tuple[tuple[int, ...], bool]]:
    return [(hypothesis.tokens, hypothesis.finished) for hypothesis in found]


@both_searches
@pytest.mark.parametrize("memory", [1, 100])
@often
@given(seed=seeds, alpha=penalties, limit=st.integers(1, 4))
def test_a_beam_with_room_for_all_finds_the_best(
    search_table: Search, memory: int, seed: int, alpha: float, limit: int
) -> None:
    """With a beam wide enough, search gives what trying every output gives."""
    table = rounded(random_table(seed, 5, memory=memory))
    right = exhaustive(table, 5, limit, alpha)[:6]
    [found] = search_table(table, [0], [limit], SearchConfig(beam_size=81, length_penalty=alpha, n_best=6))

    assert plain(found) == [(tokens, finished) for tokens, _, finished in right]
    assert [hypothesis.score for hypothesis in found] == pytest.approx([s for _, s, _ in right], abs=1e-12)


@both_searches
@often
@given(
    seed=seeds,
    alpha=penalties,
    limit=st.integers(1, 12),
    beam=st.tuples(st.integers(2, 9), st.integers(1, 9)),
    memory=st.sampled_from([1, 2, 100]),
)
def test_early_stop_changes_nothing(
    search_table: Search, seed: int, alpha: float, limit: int, beam: tuple[int, int], memory: int
) -> None:
    """Search gives what a plain beam gives that never stops before the limit."""
    table = rounded(random_table(seed, 7, memory=memory, holes=False))
    config = SearchConfig(beam_size=beam[0], length_penalty=alpha, n_best=min(beam))
    right = patient_beam(table, 0, limit, config)
    [found] = search_table(table, [0], [limit], config)

    assert plain(found) == [(tokens, finished) for tokens, _, finished in right]
    assert [hypothesis.score for hypothesis in found] == pytest.approx([s for _, s, _ in right], abs=1e-12)


@both_searches
@often
@given(seed=seeds, limit=st.integers(1, 8), beam_size=st.integers(2, 6))
def test_ties_are_broken_by_order(search_table: Search, seed: int, limit: int, beam_size: int) -> None:
    """Of equal scores the extension of the earlier hypothesis, then the lower id, is better."""
    table = rounded(random_table(seed, 7, memory=1, ties=True, holes=False))
    config = SearchConfig(beam_size=beam_size, length_penalty=0.0, n_best=beam_size)
    [found] = search_table(table, [0], [limit], config)

    assert plain(found) == [(tokens, ended) for tokens, _, ended in patient_beam(table, 0, limit, config)]


@both_searches
@often
@given(
    seed=seeds,
    alpha=penalties,
    beam_size=st.sampled_from([1, 2, 4]),
    limits=st.lists(st.integers(1, 12), min_size=1, max_size=7),
    data=st.data(),
)
def test_the_batch_changes_nothing(
    search_table: Search, seed: int, alpha: float, beam_size: int, limits: list[int], data: st.DataObject
) -> None:
    """Any order and any cut into batches gives each sentence the same outputs to the last digit."""
    table = rounded(random_table(seed, 6, holes=False))
    config = SearchConfig(beam_size=beam_size, length_penalty=alpha, n_best=beam_size)
    alone = [search_table(table, [sentence], [limit], config)[0] for sentence, limit in enumerate(limits)]
    order = data.draw(st.permutations(range(len(limits))))
    cut = data.draw(st.integers(0, len(limits)))
    together: dict[int, list[Hypothesis]] = {}
    for batch in (order[:cut], order[cut:]):
        together |= zip(batch, search_table(table, batch, [limits[i] for i in batch], config), strict=True)

    assert [together[sentence] for sentence in range(len(limits))] == alone


@both_searches
@often
@given(seed=seeds, alpha=penalties, limit=st.integers(1, 10))
def test_asking_for_more_does_not_change_the_first(
    search_table: Search, seed: int, alpha: float, limit: int
) -> None:
    """The n best are the first n of any longer list, with the same scores (S29)."""
    table = rounded(random_table(seed, 6))
    lists = [
        search_table(table, [0, 1], [limit, 6], SearchConfig(beam_size=5, length_penalty=alpha, n_best=n))
        for n in range(1, 6)
    ]

    assert lists[:4] == [[found[:n] for found in lists[4]] for n in range(1, 5)]


@both_searches
@often
@given(seed=seeds, alpha=penalties, limit=st.integers(1, 10), beam_size=st.sampled_from([1, 5]))
def test_scores_are_those_of_a_scorer(
    search_table: Search, seed: int, alpha: float, limit: int, beam_size: int
) -> None:
    """Each token's score is the table's for its own history, so rows were carried on rightly."""
    table = rounded(random_table(seed, 6, holes=False))
    config = SearchConfig(beam_size=beam_size, length_penalty=alpha, n_best=beam_size)
    for sentence, found in enumerate(search_table(table, [0, 1, 2], [limit, 3, 12], config)):
        for hypothesis in found:
            right = token_scores(table, sentence, hypothesis)
            length = len(hypothesis.tokens) + hypothesis.finished

            assert list(hypothesis.token_scores) == right
            assert hypothesis.log_probability == math.fsum(right)
            assert hypothesis.score == pytest.approx(score(sum(right), length, alpha), abs=1e-12)


@both_searches
@often
@given(seed=seeds, alpha=penalties, limit=st.integers(1, 10))
def test_results_differ_and_fall(search_table: Search, seed: int, alpha: float, limit: int) -> None:
    """Scores never rise down a list, no output comes twice, no list is empty, finished and cut do not mix."""
    table = rounded(random_table(seed, 5, memory=2, holes=False))
    [found] = search_table(table, [0], [limit], SearchConfig(beam_size=8, length_penalty=alpha, n_best=8))
    scores = [hypothesis.score for hypothesis in found]

    assert scores == sorted(scores, reverse=True)
    assert len({hypothesis.tokens for hypothesis in found}) == len(found) > 0
    assert len({hypothesis.finished for hypothesis in found}) == 1
