"""Other ways to choose an output: decoders that wrap decoders, and other searches over them.

``EnsembleDecoder``, ``PrefixDecoder`` and ``ForbiddingDecoder`` are decoders that any search can ask.
``sample`` and ``search_diversely`` ask any decoder, as ``dragoman.search.search`` does.
"""

from dragoman.decoding.diverse import search_diversely
from dragoman.decoding.ensemble import EnsembleDecoder
from dragoman.decoding.forbidden import Forbidden, ForbiddingDecoder
from dragoman.decoding.prefix import PieceTable, Prefix, PrefixDecoder
from dragoman.decoding.sampling import Draws, sample

__all__ = [
    "Draws",
    "EnsembleDecoder",
    "Forbidden",
    "ForbiddingDecoder",
    "PieceTable",
    "Prefix",
    "PrefixDecoder",
    "sample",
    "search_diversely",
]
