"""What a search has found, whichever it was; no torch."""

from typing import NamedTuple


class Hypothesis(NamedTuple):
    """One output that search has found."""

    tokens: tuple[int, ...]
    """Ids, without the start and without the end token."""

    token_scores: tuple[float, ...]
    """Log-probability of each token in nats; the end token's comes last where the hypothesis is finished."""

    log_probability: float
    """Sum of the token scores, in nats."""

    score: float
    """``log_probability / length_penalty(|Y|)``; |Y| counts the end token."""

    finished: bool
    """True if the end token was reached, False if the hypothesis was cut at the limit."""
