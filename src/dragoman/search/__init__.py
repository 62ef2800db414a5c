"""Greedy and beam search over a protocol of two methods."""

from dragoman.hypothesis import Hypothesis
from dragoman.search.beam import search
from dragoman.search.hypotheses import length_penalty
from dragoman.search.protocol import Decoder

__all__ = ["Decoder", "Hypothesis", "length_penalty", "search"]
