"""Diverse beam search: groups of hypotheses that keep out of each other's way.

Shapes: B sentences, W hypotheses of a group, L tokens so far, N rows (sentences times all hypotheses),
V vocabulary, C candidates of a group.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.hypothesis import Hypothesis
from dragoman.search import Decoder, length_penalty
from dragoman.search.hypotheses import Beam, first_progress, hypothesis_of
from dragoman.selection import largest


class _Group(NamedTuple):
    """The hypotheses of a group in each sentence."""

    growing: Beam
    """Hypotheses that may go on, best first; scores are log-probabilities."""

    best: Beam
    """The best hypothesis that has ended; its score is divided by the length penalty."""

    settled_B: Tensor
    """Where nothing better than the best can come."""

    def of_sentences(self, chosen_B: Tensor) -> "_Group":
        """Return the sentences where ``chosen_B`` is True."""
        growing, best = self.growing.of_sentences(chosen_B), self.best.of_sentences(chosen_B)
        return _Group(growing, best, self.settled_B[chosen_B])


class _Step(NamedTuple):
    """What is the same for all groups in a step."""

    length: int
    """Tokens read so far, start id not counted."""

    limit_B: Tensor
    """Tokens an output may have, end of sentence included."""

    end: int
    """Id that ends a hypothesis."""

    alpha: float
    """Of the length penalty."""


def search_diversely(
    decoder: Decoder, *, start: int, end: int, limit_B: Tensor, config: SearchConfig, diversity: float
) -> list[list[Hypothesis]]:
    """Return the best output of each of ``config.n_best`` groups, best first, equal ones once.

    Each group is a beam of ``config.beam_size / config.n_best`` hypotheses. In a step the groups choose one
    after the other. A token that earlier groups have just chosen has ``diversity`` taken off its
    log-probability, once for each of the hypotheses that it is among the best extensions of. This counts
    for the choice alone: scores are the decoder's own. So the first group finds what ``search`` finds with a
    beam of its size. A group that is settled chooses no more.

    Where none of a group has ended within the limit its best is returned, cut; it comes after all that ended.

    Source: Vijayakumar et al. (2018), Algorithm 1, with Hamming diversity; λ is ``diversity``.

    Args:
        decoder: Is asked for the next tokens; it has ``config.beam_size`` rows a sentence.
        start: Id that each row reads first.
        end: Id that ends a hypothesis.
        limit_B: Tokens an output may have, end of sentence included; on the decoder's device.
        config: Beam size, length penalty and number of groups.
        diversity: λ, in nats.

    Raises:
        ValueError: The groups cannot be of one size, ``diversity`` is negative or not finite, a limit is
            below 1, or the decoder leaves a sentence no possible token.
    """
    if config.beam_size % config.n_best:
        raise ValueError(f"beam_size is {config.beam_size}; it must be a multiple of n_best, {config.n_best}")
    if not 0.0 <= diversity < math.inf:
        raise ValueError(f"diversity is {diversity}; it must be 0 or more, and finite")
    beam = first_progress(start, limit_B, config.beam_size // config.n_best)
    nothing = beam.finished.best(1)[0]
    groups = [_Group(beam.growing, nothing, torch.zeros_like(limit_B, dtype=torch.bool))] * config.n_best
    step = _Step(0, limit_B, end, config.length_penalty)
    results: dict[int, list[Hypothesis]] = {}
    waiting = list(range(limit_B.numel()))
    while waiting:
        step = step._replace(length=step.length + 1)
        last = torch.cat([group.growing.token_BWL[:, :, -1] for group in groups], dim=1)
        groups, row_N = _choose_in_turn(groups, decoder.step(last.flatten()), step, diversity)
        settled = torch.stack([group.settled_B for group in groups]).all(dim=0)
        for place in settled.nonzero().flatten().tolist():
            results[waiting[place]] = _results(groups, place, step)
        waiting = [sentence for sentence in waiting if sentence not in results]
        groups = [group.of_sentences(~settled) for group in groups]
        step = step._replace(limit_B=step.limit_B[~settled])
        if waiting:
            decoder.reorder(row_N.view(len(settled), -1)[~settled].flatten())
    return [results[sentence] for sentence in sorted(results)]


def _choose_in_turn(
    groups: list[_Group], logprob_NV: Tensor, step: _Step, diversity: float
) -> tuple[list[_Group], Tensor]:
    """Lengthen the hypotheses of all groups, the first group first.

    Returns:
        The groups, and the decoder's rows (N) that they extend.
    """
    num_sentences, group_size = groups[0].growing.score_BW.shape
    logprobs = logprob_NV.double().view(num_sentences, len(groups), group_size, logprob_NV.size(1))
    taken_BV = torch.zeros_like(logprobs[:, 0, 0])
    lengthened, parents = [], []
    for number, group in enumerate(groups):
        longer, parent_BW, token_BW, counts_BW = _choose(group, logprobs[:, number], taken_BV, step)
        taken_BV.scatter_add_(1, token_BW, diversity * counts_BW.double())
        lengthened.append(longer)
        parents.append(parent_BW + number * group_size)
    rows = torch.cat(parents, dim=1)
    first_row_B = torch.arange(num_sentences, device=rows.device) * rows.size(1)
    return lengthened, (first_row_B[:, None] + rows).flatten()


def _choose(
    group: _Group, logprob_BWV: Tensor, taken_BV: Tensor, step: _Step
) -> tuple[_Group, Tensor, Tensor, Tensor]:
    """Lengthen the hypotheses of one group, as beam search does, or greedily where there is one.

    Args:
        group: Where it stands.
        logprob_BWV: What the decoder says of its next tokens.
        taken_BV: What is taken off for the choice.
        step: What is the same for all groups.

    Returns:
        The group; which hypotheses go on (BW); the tokens of the best extensions (BW), ended or not; and
        whether they count (BW), as there is such an extension and the group was not settled.
    """
    group_size, num_tokens = logprob_BWV.shape[1:]
    score_BWV = group.growing.score_BW[:, :, None] + logprob_BWV
    score_BWV = score_BWV.masked_fill(score_BWV.isnan(), -math.inf)
    num_candidates = 2 * group_size if group_size > 1 else 1  # as many may end as go on; greedy has one
    value_BC, place_BC = largest((score_BWV - taken_BV[:, None]).flatten(1), num_candidates)
    parent_BC, token_BC = place_BC // num_tokens, place_BC % num_tokens
    score_BC = score_BWV.flatten(1).gather(1, place_BC).masked_fill(value_BC == -math.inf, -math.inf)
    candidates = group.growing.take(parent_BC).append(token_BC, logprob_BWV.flatten(1).gather(1, place_BC))
    ended_BC = token_BC == step.end

    kept = group.best.append(torch.full_like(token_BC[:, :1], step.end), torch.zeros_like(score_BC[:, :1]))
    ends_BC = ended_BC & ~group.settled_B[:, None]
    final_BC = (score_BC / length_penalty(step.length, step.alpha)).masked_fill(~ends_BC, -math.inf)
    best = kept.join(candidates._replace(score_BW=final_BC)).best(1)[0]

    order_BC = value_BC.masked_fill(ended_BC, -math.inf).sort(dim=1, descending=True, stable=True).indices
    candidates = candidates._replace(score_BW=score_BC.masked_fill(ended_BC, -math.inf))
    growing, place_BW = candidates.take(order_BC[:, :group_size]).best(group_size)
    parent_BW = parent_BC.gather(1, order_BC).gather(1, place_BW)

    counts_BC = (value_BC > -math.inf) & ~group.settled_B[:, None]
    settled_B = group.settled_B | _settled(growing, best, step)
    token_BW, counts_BW = token_BC[:, :group_size], counts_BC[:, :group_size]
    return _Group(growing, best, settled_B), parent_BW, token_BW, counts_BW


def _settled(growing: Beam, best: Beam, step: _Step) -> Tensor:
    """Tell where a group (B) is at its limit or can no longer end with a better hypothesis.

    A log-probability only falls; the penalty that divides it is at best the largest still ahead.
    """
    next_penalty = length_penalty(step.length + 1, step.alpha)
    penalty_B = length_penalty(step.limit_B, step.alpha).clamp(min=next_penalty)
    return (step.limit_B <= step.length) | (growing.score_BW[:, 0] / penalty_B <= best.score_BW[:, 0])


def _results(groups: list[_Group], sentence: int, step: _Step) -> list[Hypothesis]:
    """Return the best of each group for a sentence that all have settled."""
    found: dict[tuple[int, ...], Hypothesis] = {}
    penalty = length_penalty(step.length, step.alpha)
    for growing, best, _ in groups:
        cut = growing._replace(score_BW=growing.score_BW / penalty)
        for beam, end in ((best, step.end), (cut, None)):
            tokens, token_scores, score = (part[sentence, 0] for part in beam)
            if score > -math.inf:
                hypothesis = hypothesis_of(tokens.tolist(), token_scores.tolist(), float(score), end=end)
                found.setdefault(hypothesis.tokens, hypothesis)
                break
    if not found:
        raise ValueError(
            f"the decoder leaves no token possible after {step.length - 1} tokens: "
            "all log-probabilities are -inf or not a number"
        )
    return sorted(found.values(), key=lambda one: (not one.finished, -one.score))
