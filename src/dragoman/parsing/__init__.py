"""Decoding that can end in nothing but a tree over the words of the sentence.

The way of a sentence: any ``Decoder`` → ``WordReader``, where the model was trained to read words →
``TreeDecoder`` → ``search`` → ids of symbols; their tree is that of ``dragoman.trees.tree_of``.
"""

from dragoman.parsing.constraint import LEAST_EXTRA, TreeDecoder
from dragoman.parsing.reading import WordReader, leaves_of
from dragoman.parsing.symbol_ids import SymbolIds

__all__ = ["LEAST_EXTRA", "SymbolIds", "TreeDecoder", "WordReader", "leaves_of"]
