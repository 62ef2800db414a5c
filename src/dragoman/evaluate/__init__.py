"""Scores of translations: BLEU, chrF and TER with signatures, and whether a difference is real."""

from dragoman.evaluate.compounds import paper_bleu, split_compounds
from dragoman.evaluate.scores import EmptyReference, Score, Scores, SentenceScore, score, sentence_scores
from dragoman.evaluate.significance import Comparison, MetricComparison, ResampledScore, compare

__all__ = [
    "Comparison",
    "EmptyReference",
    "MetricComparison",
    "ResampledScore",
    "Score",
    "Scores",
    "SentenceScore",
    "compare",
    "paper_bleu",
    "score",
    "sentence_scores",
    "split_compounds",
]
