"""Hypotheses: as tensors while they are searched, as plain values when they are handed out.

Shapes: B sentences, W beam size, L tokens so far (start id included), N = B·W rows.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, overload

import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.hypothesis import Hypothesis
from dragoman.search.protocol import Decoder


@overload
def length_penalty(length: int, alpha: float) -> float: ...
@overload
def length_penalty(length: Tensor, alpha: float) -> Tensor: ...
def length_penalty(length: int | Tensor, alpha: float) -> float | Tensor:
    """Return what a log-probability is divided by, so that long outputs are not always the worse ones.

    lp(Y) = ((5 + |Y|) / 6)^α

    Source: Wu et al. (2016), Eq. 14, used in Vaswani et al. (2017), §6.1.

    Args:
        length: |Y|, in tokens, end of sentence included.
        alpha: 0 compares plain log-probabilities; below 0, short outputs are preferred even more.
    """
    if isinstance(length, Tensor):
        return ((5.0 + length.double()) / 6.0) ** alpha
    return float(((5.0 + length) / 6.0) ** alpha)


class Beam(NamedTuple):
    """The hypotheses of some sentences, best first; a score of -inf marks an empty place."""

    token_BWL: Tensor
    """Ids; the start id is at place 0. After a finished hypothesis come more end tokens."""

    token_score_BWL: Tensor
    """Log-probability of each token, in nats; 0 at the start id and after the end."""

    score_BW: Tensor
    """What hypotheses are ordered by: log-probability, once finished divided by the length penalty."""

    def append(self, token_BW: Tensor, token_score_BW: Tensor) -> "Beam":
        """Lengthen each hypothesis by a token; scores are left as they are."""
        return Beam(
            torch.cat((self.token_BWL, token_BW[:, :, None]), dim=2),
            torch.cat((self.token_score_BWL, token_score_BW[:, :, None]), dim=2),
            self.score_BW,
        )

    def join(self, other: "Beam") -> "Beam":
        """Put the hypotheses of another beam, as long as these, behind these."""
        return Beam(*(torch.cat(pair, dim=1) for pair in zip(self, other, strict=True)))

    def take(self, place_BW: Tensor) -> "Beam":
        """Return the hypotheses at these places of each sentence."""
        place_BWL = place_BW[:, :, None].expand(-1, -1, self.token_BWL.size(2))
        return Beam(
            self.token_BWL.gather(1, place_BWL),
            self.token_score_BWL.gather(1, place_BWL),
            self.score_BW.gather(1, place_BW),
        )

    def best(self, count: int) -> tuple["Beam", Tensor]:
        """Return the best hypotheses and their places (BW); of equals, the earlier one is better."""
        place_BW = self.score_BW.sort(dim=1, descending=True, stable=True).indices[:, :count]
        return self.take(place_BW), place_BW

    def of_sentences(self, chosen_B: Tensor) -> "Beam":
        """Return the sentences where ``chosen_B`` is True."""
        return Beam(*(part[chosen_B] for part in self))


class Progress(NamedTuple):
    """Where the sentences stand that are still searched."""

    growing: Beam
    """Hypotheses that may go on; scores are log-probabilities."""

    finished: Beam
    """The best hypotheses that have ended; scores are divided by the length penalty."""

    limit_B: Tensor
    """Tokens an output may have, end of sentence included."""

    length: int
    """Tokens read so far, start id not counted."""


Advance = Callable[[Progress], tuple[Progress, Tensor, Tensor]]
"""Searches on until a sentence is settled; returns progress, next rows (N) and what is settled (B)."""


def first_progress(start: int, limit_B: Tensor, beam_size: int) -> Progress:
    """Return the place where every search begins: the start id alone, once in each sentence.

    Raises:
        ValueError: A limit leaves no room for the end token.
    """
    if bool((limit_B < 1).any()):
        raise ValueError(
            f"limit_B is {int(limit_B.min())} for a sentence; it counts the end token, so at least 1"
        )
    shape = (limit_B.numel(), beam_size, 1)
    token_BWL = torch.full(shape, start, dtype=torch.long, device=limit_B.device)
    token_score_BWL = torch.zeros(shape, dtype=torch.float64, device=limit_B.device)
    empty_BW = torch.full_like(token_score_BWL[:, :, 0], -math.inf)
    score_BW = empty_BW.clone()
    score_BW[:, 0] = 0.0
    growing = Beam(token_BWL, token_score_BWL, score_BW)
    return Progress(growing, growing._replace(score_BW=empty_BW), limit_B, length=0)


def settle(
    advance: Advance, decoder: Decoder, progress: Progress, *, end: int, config: SearchConfig
) -> list[list[Hypothesis]]:
    """Search until all sentences are settled; those that are leave the batch at once.

    Returns:
        For each sentence its hypotheses, best first.
    """
    results: dict[int, list[Hypothesis]] = {}
    waiting = list(range(progress.limit_B.numel()))
    while waiting:
        progress, row_N, settled_B = advance(progress)
        found = _hypotheses(progress, settled_B, end, config)
        settled = settled_B.tolist()
        leaving = [sentence for sentence, leaves in zip(waiting, settled, strict=True) if leaves]
        results.update(zip(leaving, found, strict=True))
        waiting = [sentence for sentence in waiting if sentence not in results]
        if waiting:
            decoder.reorder(row_N.view(len(settled), -1)[~settled_B].flatten())
            progress = Progress(
                progress.growing.of_sentences(~settled_B),
                progress.finished.of_sentences(~settled_B),
                progress.limit_B[~settled_B],
                progress.length,
            )
    return [results[sentence] for sentence in sorted(results)]


def _hypotheses(
    progress: Progress, settled_B: Tensor, end: int, config: SearchConfig
) -> list[list[Hypothesis]]:
    """Return the finished hypotheses of each settled sentence, or the cut ones where none has finished."""
    finished = progress.finished.of_sentences(settled_B)
    growing = progress.growing.of_sentences(settled_B)
    cut = growing._replace(score_BW=growing.score_BW / length_penalty(progress.length, config.length_penalty))
    found = []
    for finished_rows, cut_rows in zip(
        _rows(finished, config.n_best), _rows(cut, config.n_best), strict=True
    ):
        some = [hypothesis_of(*row, end=end) for row in finished_rows] or [
            hypothesis_of(*row, end=None) for row in cut_rows
        ]
        if not some:
            raise ValueError(
                f"the decoder leaves no token possible after {progress.length - 1} tokens: "
                "all log-probabilities are -inf or not a number"
            )
        found.append(some)
    return found


_Row = tuple[list[int], list[float], float]


def _rows(beam: Beam, count: int) -> list[list[_Row]]:
    """Return ids, token scores and score of the first places of each sentence, empty ones left out."""
    columns = (part[:, :count].tolist() for part in beam)
    return [
        [row for row in zip(*sentence, strict=True) if row[2] > -math.inf]
        for sentence in zip(*columns, strict=True)
    ]


def hypothesis_of(tokens: list[int], token_scores: list[float], score: float, end: int | None) -> Hypothesis:
    """Make a hypothesis of a row that stops at ``end``, or that was cut if ``end`` is None."""
    if end is None:
        scores = tuple(token_scores[1:])
        return Hypothesis(tuple(tokens[1:]), scores, math.fsum(scores), score, finished=False)
    length = tokens.index(end, 1)
    scores = tuple(token_scores[1 : length + 1])
    return Hypothesis(tuple(tokens[1:length]), scores, math.fsum(scores), score, finished=True)
