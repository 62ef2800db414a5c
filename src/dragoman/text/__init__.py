"""Text: lines, pairs, held-out pairs and the tokenizer; nothing here needs torch.

The way of the text: file → lines → ``Pair`` → tokens. Files are streamed, so memory does not grow with
the corpus.
"""

from dragoman.text.held_out import HeldOut, normalized, split_held_out
from dragoman.text.lines import STANDARD_INPUT, display_name, read_lines
from dragoman.text.pairs import (
    Corpus,
    CorpusReport,
    NumberedPair,
    Pair,
    PairSource,
    check_corpus,
    languages_of,
    open_corpus,
    usable_pairs,
)
from dragoman.text.tokenizer import Tokenizer

__all__ = [
    "STANDARD_INPUT",
    "Corpus",
    "CorpusReport",
    "HeldOut",
    "NumberedPair",
    "Pair",
    "PairSource",
    "Tokenizer",
    "check_corpus",
    "display_name",
    "languages_of",
    "normalized",
    "open_corpus",
    "read_lines",
    "split_held_out",
    "usable_pairs",
]
