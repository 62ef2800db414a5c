"""Beam search over a decoder that it knows nothing else about.

Shapes: B sentences, W beam size, N = B·W rows, V vocabulary, C = 2·W candidates of a row or of a sentence.
"""

import math
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.hypothesis import Hypothesis
from dragoman.search.greedy import advance_greedily
from dragoman.search.hypotheses import (
    Beam,
    Progress,
    first_progress,
    length_penalty,
    settle,
)
from dragoman.search.protocol import Decoder
from dragoman.selection import largest


def search(
    decoder: Decoder, *, start: int, end: int, limit_B: Tensor, config: SearchConfig
) -> list[list[Hypothesis]]:
    """Return the best outputs of each sentence, best first.

    Beam search keeps the W likeliest hypotheses of each sentence and stops when none of them can still
    come among the n best; so stopping early changes nothing. With a beam size of 1 the search is greedy.
    A sentence has fewer than n results where fewer have finished. Where none has finished within the
    limit, its live hypotheses are returned, cut.

    What is found for a sentence does not depend on the others of the batch, as long as the decoder's
    log-probabilities do not. Of equals, the extension of the better hypothesis, then the lower id, wins.

    Source: Vaswani et al. (2017), §6.1.

    Args:
        decoder: Is asked for the next tokens and told which rows go on.
        start: Id that each row reads first.
        end: Id that ends a hypothesis.
        limit_B: Tokens an output may have, end of sentence included; on the decoder's device.
        config: Beam size, length penalty and number of results.

    Raises:
        ValueError: A limit is below 1, or the decoder leaves a sentence no possible token.
    """
    if config.beam_size == 1:
        advance = partial(advance_greedily, decoder, end=end, alpha=config.length_penalty)
    else:
        advance = partial(advance_beam, decoder, end=end, config=config)
    return settle(advance, decoder, first_progress(start, limit_B, config.beam_size), end=end, config=config)


def advance_beam(
    decoder: Decoder, progress: Progress, *, end: int, config: SearchConfig
) -> tuple[Progress, Tensor, Tensor]:
    """Lengthen the hypotheses of each sentence until one sentence is settled.

    Returns:
        The progress, the rows to continue with (N), and which sentences are settled (B).
    """
    growing, finished, limit_B, length = progress
    while True:
        length += 1
        logprob_NV = decoder.step(growing.token_BWL[:, :, -1].flatten())
        candidates = _extend(growing, logprob_NV)
        finished = _finish(finished, candidates, end, length_penalty(length, config.length_penalty))
        growing, row_N = _grow(candidates, end, config.beam_size)
        progress = Progress(growing, finished, limit_B, length)
        settled_B = _settled(progress, config)
        if bool(settled_B.any()):
            return progress, row_N, settled_B
        decoder.reorder(row_N)


class _Candidates(NamedTuple):
    """The 2·W best extensions of each sentence: if W of them end, W can still go on."""

    beam: Beam
    parent_BC: Tensor
    """Which of the W hypotheses was extended."""


def _extend(growing: Beam, logprob_NV: Tensor) -> _Candidates:
    """Return the best extensions of each sentence by one token.

    They lie among the best of each row, so the sums are made only for those.
    """
    num_sentences, beam_size = growing.score_BW.shape
    num_candidates = 2 * beam_size
    logprob_NC, token_NC = largest(logprob_NV, num_candidates)
    logprob_BWC = logprob_NC.double().view(num_sentences, beam_size, num_candidates)
    score_BWC = growing.score_BW[:, :, None] + logprob_BWC
    score_BWC = score_BWC.masked_fill(score_BWC.isnan(), -math.inf)
    ordered = score_BWC.flatten(1).sort(dim=1, descending=True, stable=True)
    choice_BC = ordered.indices[:, :num_candidates]
    parent_BC = choice_BC // num_candidates
    token_BC = token_NC.view(num_sentences, -1).gather(1, choice_BC)
    beam = growing.take(parent_BC).append(token_BC, logprob_BWC.flatten(1).gather(1, choice_BC))
    return _Candidates(beam._replace(score_BW=ordered.values[:, :num_candidates]), parent_BC)


def _finish(finished: Beam, candidates: _Candidates, end: int, penalty: float) -> Beam:
    """Return the best of the finished hypotheses and the candidates that end now."""
    end_BW = torch.full_like(finished.token_BWL[:, :, 0], end)
    kept = finished.append(end_BW, torch.zeros_like(finished.score_BW))
    ended_BC = candidates.beam.token_BWL[:, :, -1] == end
    score_BC = (candidates.beam.score_BW / penalty).masked_fill(~ended_BC, -math.inf)
    return kept.join(candidates.beam._replace(score_BW=score_BC)).best(finished.score_BW.size(1))[0]


def _grow(candidates: _Candidates, end: int, beam_size: int) -> tuple[Beam, Tensor]:
    """Return the best candidates that go on, and the decoder's rows (N) that they extend."""
    ended_BC = candidates.beam.token_BWL[:, :, -1] == end
    score_BC = candidates.beam.score_BW.masked_fill(ended_BC, -math.inf)
    growing, place_BW = candidates.beam._replace(score_BW=score_BC).best(beam_size)
    first_row_B = torch.arange(score_BC.size(0), device=score_BC.device) * beam_size
    row_BW = first_row_B[:, None] + candidates.parent_BC.gather(1, place_BW)
    return growing, row_BW.flatten()


def _settled(progress: Progress, config: SearchConfig) -> Tensor:
    """Tell which sentences (B) are at their limit or can no longer change their n best.

    A log-probability only falls, so a live hypothesis can at best keep its own, divided by the largest
    penalty still ahead: the limit's if α is positive, the next length's if it is negative.
    """
    growing, finished, limit_B, length = progress
    next_penalty = length_penalty(length + 1, config.length_penalty)
    penalty_B = length_penalty(limit_B, config.length_penalty).clamp(min=next_penalty)
    best_possible_B = growing.score_BW[:, 0] / penalty_B
    return (limit_B <= length) | (best_possible_B <= finished.score_BW[:, config.n_best - 1])
