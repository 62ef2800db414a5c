"""Sampling: outputs drawn with the model's own probabilities, or sharper ones.

Shapes: B sentences, W samples of a sentence, N = B·W rows, V vocabulary, C candidates of a row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dragoman.choice import Sampling
from dragoman.config import SearchConfig
from dragoman.hypothesis import Hypothesis
from dragoman.search import Decoder, length_penalty
from dragoman.selection import largest

_FIRST_CANDIDATES = 128
"""So many of the likeliest tokens are ordered at first; more only where a draw falls outside them."""


class Draws(NamedTuple):
    """How outputs are drawn, and for whom."""

    sampling: Sampling
    """How outputs are drawn."""

    keys_B: Sequence[int]
    """A number for each sentence, 0 or more and below 2^64; equal keys draw alike."""


@dataclass
class _Sample:
    """One output as it grows."""

    generator: np.random.Generator
    tokens: list[int] = field(default_factory=list)
    token_scores: list[float] = field(default_factory=list)
    finished: bool = False


def sample(
    decoder: Decoder, *, start: int, end: int, limit_B: Tensor, config: SearchConfig, draws: Draws
) -> list[list[Hypothesis]]:
    """Return outputs of each sentence that are drawn token by token, in the order of their numbers.

    What is drawn depends on the seed, the key of the sentence and the number of the sample, never on the
    batch, as long as the decoder's log-probabilities do not. More samples leave the first ones as they are.
    Scores are the decoder's own, whatever the temperature. An output may come several times.

    Args:
        decoder: Is asked for the next tokens; it has ``draws.sampling.count`` rows a sentence.
        start: Id that each row reads first.
        end: Id that ends an output.
        limit_B: Tokens an output may have, end of sentence included; on the decoder's device.
        config: The length penalty; the rest is not used.
        draws: How outputs are drawn, and the keys of the sentences.

    Raises:
        ValueError: A limit is below 1, or the decoder leaves an output no possible token.
    """
    if bool((limit_B < 1).any()):
        raise ValueError(
            f"limit_B is {int(limit_B.min())} for a sentence; it counts the end token, so at least 1"
        )
    sampling, limits = draws.sampling, limit_B.tolist()
    samples = [
        [_Sample(_generator(sampling.seed, key, number)) for number in range(sampling.count)]
        for key in draws.keys_B
    ]
    waiting = list(range(len(limits)))
    rows = [row for sentence in samples for row in sentence]
    token_N = torch.full((len(rows),), start, device=limit_B.device)
    for length in range(1, max(limits, default=0) + 1):
        _lengthen(rows, decoder.step(token_N), end, sampling)
        stays = [length < limits[i] and not all(row.finished for row in samples[i]) for i in waiting]
        waiting = [sentence for sentence, stay in zip(waiting, stays, strict=True) if stay]
        if not waiting:
            break
        if not all(stays):
            row_stays = torch.tensor(stays, device=limit_B.device).repeat_interleave(sampling.count)
            decoder.reorder(row_stays.nonzero().flatten())
        rows = [row for sentence in waiting for row in samples[sentence]]
        last = [end if row.finished else row.tokens[-1] for row in rows]
        token_N = torch.tensor(last, device=limit_B.device)
    return [[_hypothesis(row, config.length_penalty) for row in sentence] for sentence in samples]


def _generator(seed: int, key: int, number: int) -> np.random.Generator:
    """Return the source of randomness of one sample; no two share one.

    Source: Salmon et al. (2011): a generator with a key, of which each counter begins a stream.
    """
    return np.random.Generator(np.random.Philox(key=[seed, key], counter=[0, 0, 0, number]))


def _lengthen(rows: Sequence[_Sample], logprob_NV: Tensor, end: int, sampling: Sampling) -> None:
    """Draw one more token for each row that has not finished."""
    live = [place for place, row in enumerate(rows) if not row.finished]
    logprob_NV = logprob_NV[live].double()
    logprob_NV = logprob_NV.masked_fill(logprob_NV.isnan(), -math.inf)
    if bool((logprob_NV.amax(dim=1) == -math.inf).any()):
        raise ValueError(
            f"the decoder leaves no token possible after {len(rows[live[0]].tokens)} tokens: "
            "all log-probabilities are -inf or not a number"
        )
    uniform_N1 = logprob_NV.new_tensor([[rows[place].generator.random()] for place in live])
    token_N1 = _draw(logprob_NV, uniform_N1, sampling)
    token_scores = logprob_NV.gather(1, token_N1).flatten().tolist()
    for place, token, token_score in zip(live, token_N1.flatten().tolist(), token_scores, strict=True):
        rows[place].token_scores.append(token_score)
        rows[place].finished = token == end
        if token != end:
            rows[place].tokens.append(token)


def _draw(logprob_NV: Tensor, uniform_N1: Tensor, sampling: Sampling) -> Tensor:
    """Return a token of each row (N1): the first whose cumulative probability exceeds a random share.

    Tokens are ordered by their probability, then by their id. The likeliest are nearly always enough, so
    they alone are ordered at first; whether more are changes nothing.

    Args:
        logprob_NV: Log-probabilities in nats, one of a row at least above minus infinity.
        uniform_N1: Drawn from [0, 1).
        sampling: How tokens are drawn.
    """
    num_tokens = min(sampling.top_k or logprob_NV.size(1), logprob_NV.size(1))
    if num_tokens <= _FIRST_CANDIDATES or sampling.top_k:
        return _draw_among(logprob_NV, uniform_N1, sampling, num_tokens, None)[0]
    top_N1 = logprob_NV.amax(dim=1, keepdim=True)
    total_N1 = ((logprob_NV - top_N1) / sampling.temperature).exp().sum(dim=1, keepdim=True)
    token_N1, open_N = _draw_among(logprob_NV, uniform_N1, sampling, _FIRST_CANDIDATES, total_N1)
    if bool(open_N.any()):
        token_N1[open_N] = _draw_among(logprob_NV[open_N], uniform_N1[open_N], sampling, num_tokens, None)[0]
    return token_N1


def _draw_among(
    logprob_NV: Tensor, uniform_N1: Tensor, sampling: Sampling, count: int, total_N1: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Draw among so many of the likeliest tokens of each row.

    Args:
        logprob_NV: Log-probabilities in nats.
        uniform_N1: Drawn from [0, 1).
        sampling: How tokens are drawn.
        count: Tokens to draw among.
        total_N1: The weight of all tokens, or None where these are all.

    Returns:
        A token of each row (N1), and where these were not enough (N), so that it means nothing.
    """
    logprob_NC, token_NC = largest(logprob_NV, count)
    weight_NC = ((logprob_NC - logprob_NC[:, :1]) / sampling.temperature).exp()
    reached_NC = weight_NC.cumsum(dim=1)
    all_N1 = reached_NC[:, -1:] if total_N1 is None else total_N1
    needed_N1 = all_N1 * (sampling.top_p if sampling.top_p < 1.0 else uniform_N1)
    open_N = (reached_NC[:, -1:] <= needed_N1).flatten()
    if sampling.top_p < 1.0:
        last_N1 = (reached_NC < needed_N1).sum(dim=1, keepdim=True).clamp(max=count - 1)
        all_N1 = reached_NC.gather(1, last_N1)
    place_N1 = (reached_NC <= uniform_N1 * all_N1).sum(dim=1, keepdim=True).clamp(max=count - 1)
    return token_NC.gather(1, place_N1), open_N


def _hypothesis(row: _Sample, alpha: float) -> Hypothesis:
    total = math.fsum(row.token_scores)
    score = total / length_penalty(len(row.token_scores), alpha)
    return Hypothesis(tuple(row.tokens), tuple(row.token_scores), total, score, row.finished)
