"""Minimum-Bayes-risk choice against a double loop."""

import random

import pytest
from sacrebleu import sentence_chrf

from dragoman.risk import by_expected_utility
from text_samples import sentences


@pytest.mark.parametrize("seed", range(4))
def test_the_order_is_that_of_all_pairs(seed: int) -> None:
    """Texts are ordered by their weighted mean sentence chrF against all, as two plain loops find it."""
    draw = random.Random(seed)
    words = " ".join(sentences(2, seed)).split()
    texts = [" ".join(draw.choices(words, k=draw.randint(0, 7))) for _ in range(12)]
    weights = [draw.random() for _ in texts]
    utility = [
        sum(w * sentence_chrf(text, [other]).score for other, w in zip(texts, weights, strict=True))
        for text in texts
    ]

    assert by_expected_utility(texts, weights) == sorted(range(12), key=lambda place: -utility[place])


def test_equal_texts_stand_together_in_their_order() -> None:
    """A text that comes several times counts as often, and of equals the earlier is first."""
    texts = ["the old boat", "a new bridge", "the old boat", "a new bridge", "the old boat"]

    assert by_expected_utility(texts, [1.0] * 5) == [0, 2, 4, 1, 3]
    assert by_expected_utility(texts, [1.0, 9.0, 1.0, 1.0, 1.0]) == [1, 3, 0, 2, 4]


def test_weightless_texts_are_candidates_alone() -> None:
    """A text without weight may be chosen and chooses nothing."""
    assert by_expected_utility(["the boat", "the boats", "a bridge"], [0.0, 1.0, 0.0]) == [1, 0, 2]
    assert by_expected_utility(["the boat", "a bridge"], [0.0, 0.0]) == [0, 1]


def test_nothing_is_chosen_from_nothing() -> None:
    """No texts have no order."""
    assert by_expected_utility([], []) == []


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0]])
def test_weights_that_mean_nothing_are_refused(weights: list[float]) -> None:
    """Each text has one weight, and none is negative."""
    with pytest.raises(ValueError, match="weights of 2 texts"):
        by_expected_utility(["a", "b"], weights)
