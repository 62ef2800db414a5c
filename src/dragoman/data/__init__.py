"""From pairs to batches.

Letters of shapes: B sentences, S source positions, T target positions.
"""

from dragoman.data.batches import Batch, by_length, collate, gather, pad, plan_epoch
from dragoman.data.encoded import EncodeAll, EncodedCorpus, encode_corpus
from dragoman.data.leaves import Leaves, as_read, first_pieces
from dragoman.data.mixture import Mixture

__all__ = [
    "Batch",
    "EncodeAll",
    "EncodedCorpus",
    "Leaves",
    "Mixture",
    "as_read",
    "by_length",
    "collate",
    "encode_corpus",
    "first_pieces",
    "gather",
    "pad",
    "plan_epoch",
]
