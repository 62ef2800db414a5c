"""Scores of a model on pairs whose translation is known."""

from collections.abc import Sequence

from dragoman.bundle import Bundle
from dragoman.evaluate import Scores, score
from dragoman.text import Pair
from dragoman.translator import Translator


def score_pairs(bundle: Bundle, pairs: Sequence[Pair]) -> Scores:
    """Translate the sources and score the translations against the targets."""
    translations = Translator(bundle).translate([pair.source for pair in pairs])
    return score(
        [translation.text for translation in translations],
        [pair.target for pair in pairs],
        tokenized=bundle.config.data.tokenized,
        num_cut=sum(not translation.alternatives[0].finished for translation in translations),
    )
