"""The Transformer of Vaswani et al. (2017), §3.

Letters of shapes: B sentences, S source positions, T target positions, Q query positions, M memory
positions, D d_model, H heads, K d_k, E d_v, F d_ff, V vocabulary, N rows (sentences × beam),
L pieces so far, 1 broadcast.
"""

from dragoman.model.decoding import CachedDecoder
from dragoman.model.transformer import AttentionWeights, Memory, Transformer

__all__ = ["AttentionWeights", "CachedDecoder", "Memory", "Transformer"]
