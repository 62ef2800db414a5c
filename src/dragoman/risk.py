"""The output that is closest to all others: minimum-Bayes-risk choice."""

import math
from collections.abc import Sequence

from sacrebleu import CHRF


def by_expected_utility(texts: Sequence[str], weights: Sequence[float]) -> list[int]:
    """Return the places of texts, that of the highest expected utility first; of equals, the earlier one.

    u(h) = Σᵣ w(r) · chrF(h, r)

    The texts are the candidates, and each is a reference for all, itself too. With samples of a model and
    equal weights this estimates the utility that the model expects of an output.

    Source: Kumar and Byrne (2004), with Popović (2015) as the utility.

    Args:
        texts: What to choose from.
        weights: How much each counts as a reference, 0 or more.

    Raises:
        ValueError: There are not as many weights as texts, or one is negative.
    """
    if len(weights) != len(texts) or min(weights, default=0.0) < 0.0:
        raise ValueError(f"{len(weights)} weights of {len(texts)} texts: each needs one, 0 or more")
    weight_of: dict[str, float] = {}
    for text, weight in zip(texts, weights, strict=True):
        weight_of[text] = weight_of.get(text, 0.0) + weight
    against = [(CHRF(references=[[text]]), weight) for text, weight in weight_of.items() if weight > 0.0]
    utility = {  # a sum that does not depend on the order, so that equals are equal
        text: math.fsum(weight * chrf.corpus_score([text], None).score for chrf, weight in against)
        for text in weight_of
    }
    return sorted(range(len(texts)), key=lambda place: -utility[texts[place]])
