"""A decoder that writes trees over the words of a sentence, made of one that may write anything.

Shapes: B sentences, W beam size, N = B·W rows, V vocabulary; besides, G labels and P places of a stack.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from dragoman.parsing.symbol_ids import SymbolIds
from dragoman.search import Decoder

LEAST_EXTRA = 3
"""Tokens of the shortest tree besides its words: a bracket opens, it closes, the sentence ends."""


class _State(NamedTuple):
    """Where each row stands: what a pushdown automaton remembers.

    What is finished or was never possible has a state too, of which nothing is promised: search hands such
    rows on with a score of minus infinity, and whatever they read must not disturb the others.
    """

    closing_NP: Tensor
    """The ids that will close the open brackets, outermost first; from place ``depth_N`` on stale."""

    depth_N: Tensor
    """Brackets that are open."""

    run_N: Tensor
    """Brackets that opened just now, one after the other."""

    words_N: Tensor
    """Words that are still to come."""

    openings_N: Tensor
    """Brackets that may still open within the limit."""


class TreeDecoder:
    """Writes whole trees within the limit, one leaf for each word, whatever the wrapped decoder prefers.

    Brackets balance and close with their own label, none is empty, and not too many open in a row. A label
    that is only ever that of a root opens nowhere inside. The root closes after the last word, and then the
    sentence ends. What leads to no such tree has a log-probability of minus infinity. Log-probabilities are
    not normalized again: a score remains what the model itself says of these symbols, comparable with that of
    a free search.

    With o brackets and w words an output has 2·o + w + 1 tokens, its end included. So the limit says how many
    brackets may open, and nothing else has to be watched for a sentence to end in time.

    Unlike the paper, which does not say what became of outputs that were no trees.

    Source: Vaswani et al. (2017), §6.3.

    Args:
        decoder: Says how likely each next token is. Its start id is none of the symbols, or the end.
        symbols: The ids of the symbols.
        words_B: Words of each sentence.
        limit_B: Tokens an output may have, end of sentence included, as search is told.
        beam_size: Rows of each sentence.

    Raises:
        ValueError: A sentence has no words, or its limit leaves no room for a tree.
    """

    def __init__(
        self, decoder: Decoder, symbols: SymbolIds, words_B: Tensor, limit_B: Tensor, beam_size: int
    ) -> None:
        if bool((words_B < 1).any()):
            raise ValueError("a sentence has no words; there is no tree over nothing")
        if bool((limit_B < words_B + LEAST_EXTRA).any()):
            short = int((limit_B - words_B).min())
            raise ValueError(f"a limit is {short} above its words; it must be {LEAST_EXTRA} or more")
        self._decoder = decoder
        self._longest_run = symbols.longest_run
        self._end = symbols.end
        self._leaves, self._opening_G, self._closing_G, roots, inner = (
            torch.tensor(ids, dtype=torch.long, device=words_B.device)
            for ids in (symbols.leaves, symbols.openings, symbols.closings, symbols.roots, symbols.inner)
        )
        self._root_G, self._inner_G = _among(self._opening_G, roots), _among(self._opening_G, inner)
        openings_B = (limit_B - words_B - 1) // 2
        deepest = int(torch.minimum(openings_B, words_B * symbols.longest_run).max())
        words_N, openings_N = (part.long().repeat_interleave(beam_size) for part in (words_B, openings_B))
        zero_N = torch.zeros_like(words_N)
        # One place is spare, so that reading may always write above the last open bracket.
        closing_NP = torch.zeros(len(words_N), deepest + 1, dtype=torch.long, device=words_B.device)
        self._state = _State(closing_NP, zero_N, zero_N, words_N, openings_N)

    def step(self, token_N: Tensor) -> Tensor:
        """Read one more token in each row and return the log-probabilities of what a tree can go on with.

        Returns:
            The wrapped decoder's log-probabilities (NV), in nats; -inf for what leads to no tree.
        """
        self._state = self._read(token_N)
        logprob_NV = self._decoder.step(token_N)
        return logprob_NV.masked_fill(~self._possible(logprob_NV), -math.inf)

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows, in this order."""
        self._state = _State(*(part[row_N] for part in self._state))
        self._decoder.reorder(row_N)

    def _read(self, token_N: Tensor) -> _State:
        """Return where the rows stand after one more token; the start id and the end change nothing."""
        closing_NP, depth_N, run_N, words_N, openings_N = self._state
        opened_NG = token_N[:, None] == self._opening_G
        opens_N = opened_NG.any(dim=1)
        closing_N = (opened_NG * self._closing_G).sum(dim=1)  # 0 where none opens, which is written and stale
        place_N = depth_N.clamp(0, closing_NP.size(1) - 1)
        return _State(
            closing_NP.scatter(1, place_N[:, None], closing_N[:, None]),
            depth_N + opens_N.long() - _among(token_N, self._closing_G).long(),
            torch.where(opens_N, run_N + 1, 0),
            words_N - _among(token_N, self._leaves).long(),
            openings_N - opens_N.long(),
        )

    def _possible(self, logprob_NV: Tensor) -> Tensor:
        """Tell which tokens (NV) lead on to a tree."""
        # Something is always left: inside the root a leaf while words remain, then the closing, as the last
        # token was a leaf or a closing; outside a root at first, for which the limit has room, then the end.
        closing_NP, depth_N, run_N, words_N, openings_N = self._state
        inside_N, before_last_word_N = depth_N > 0, words_N > 0
        opens_N = before_last_word_N & (openings_N > 0) & (run_N < self._longest_run)
        closes_N = inside_N & (run_N == 0) & ((depth_N > 1) | ~before_last_word_N)
        top_N1 = closing_NP.gather(1, (depth_N[:, None] - 1).clamp(0, closing_NP.size(1) - 1))
        possible_NV = torch.zeros_like(logprob_NV, dtype=torch.bool)
        possible_NV.scatter_(1, top_N1, closes_N[:, None])
        allowed_NG = torch.where(inside_N[:, None], self._inner_G, self._root_G)
        possible_NV[:, self._opening_G] = opens_N[:, None] & allowed_NG
        possible_NV[:, self._leaves] = (inside_N & before_last_word_N)[:, None]
        possible_NV[:, self._end] = ~inside_N & ~before_last_word_N
        return possible_NV


def _among(token_N: Tensor, ids: Tensor) -> Tensor:
    """Tell which tokens (N) are among some ids."""
    return (token_N[:, None] == ids).any(dim=1)
