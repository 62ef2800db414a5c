"""By what checkpoints are compared."""

import pytest

from dragoman.train.loop import selection_score


@pytest.mark.parametrize(
    ("worse", "better", "key"),
    [
        ({"loss": 1.0, "bleu": 3.0}, {"loss": 2.0, "bleu": 3.1}, "bleu"),
        ({"loss": 2.0, "bleu": 3.1}, {"loss": 1.0, "bleu": 3.0}, "loss"),
        ({"loss": 2.0}, {"loss": 1.9}, "f1"),  # nothing was parsed
        ({"loss": 6.0, "bleu": 0.0}, {"loss": 5.0, "bleu": 0.0}, "bleu"),  # a young model
        ({"loss": 0.1, "f1": 0.0}, {"loss": 9.0, "f1": 0.01}, "f1"),
    ],
)
def test_the_score_that_was_asked_for_decides_and_else_the_loss(
    worse: dict[str, float], better: dict[str, float], key: str
) -> None:
    """A model without any right word is behind every other, and before one of a greater loss."""
    assert selection_score(better, key) > selection_score(worse, key)
