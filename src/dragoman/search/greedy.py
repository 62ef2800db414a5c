"""Greedy search: the likeliest token, again and again.

Shapes: B sentences, V vocabulary, N rows (as many as sentences), W = 1.
"""

import math

import torch
from torch import Tensor

from dragoman.search.hypotheses import Progress, length_penalty
from dragoman.search.protocol import Decoder
from dragoman.selection import largest


def advance_greedily(
    decoder: Decoder, progress: Progress, *, end: int, alpha: float
) -> tuple[Progress, Tensor, Tensor]:
    """Take the likeliest token of each sentence until one has ended or reached its limit.

    Of equally likely tokens the lower id is taken. Nothing is reordered as long as all sentences stay.

    Returns:
        The progress, the rows to continue with (N), and which sentences are settled (B).
    """
    growing, finished, limit_B, length = progress
    settled_B = torch.zeros_like(limit_B, dtype=torch.bool)
    while not bool(settled_B.any()):
        length += 1
        logprob_N1, token_N1 = largest(decoder.step(growing.token_BWL[:, 0, -1]), 1)
        logprob_N1 = logprob_N1.double()
        growing = growing.append(token_N1, logprob_N1)
        growing = growing._replace(score_BW=_sum(growing.score_BW, logprob_N1))
        settled_B = (token_N1[:, 0] == end) | (limit_B <= length) | (growing.score_BW[:, 0] == -math.inf)
    ended_BW = growing.token_BWL[:, :, -1] == end
    score_BW = growing.score_BW / length_penalty(length, alpha)
    finished = growing._replace(score_BW=score_BW.masked_fill(~ended_BW, -math.inf))
    row_N = torch.arange(limit_B.numel(), device=limit_B.device)
    return Progress(growing, finished, limit_B, length), row_N, settled_B


def _sum(score_BW: Tensor, logprob_BW: Tensor) -> Tensor:
    """Add log-probabilities to scores; what is not a number is impossible."""
    total_BW = score_BW + logprob_BW
    return total_BW.masked_fill(total_BW.isnan(), -math.inf)
