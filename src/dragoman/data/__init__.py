"""From pairs to batches.

Letters of shapes: B sentences, S source positions, T target positions.
"""

from dragoman.data.batches import Batch, collate, gather, pad, plan_epoch
from dragoman.data.encoded import EncodeAll, EncodedCorpus, encode_corpus

__all__ = ["Batch", "EncodeAll", "EncodedCorpus", "collate", "encode_corpus", "gather", "pad", "plan_epoch"]
