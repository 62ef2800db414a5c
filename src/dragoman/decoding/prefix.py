"""Completion: outputs that start with a given text.

Shapes: B sentences, W beam size, N = B·W rows, V vocabulary.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import torch
from torch import Tensor

from dragoman.search import Decoder
from dragoman.text import Tokenizer


@dataclass(frozen=True)
class Prefix:
    """The text that an output starts with; made by ``of``."""

    head: tuple[int, ...]
    """The tokens of all words but the last."""

    tail: bytes
    """The last word as its space and what follows, in UTF-8; a piece may write it and more."""

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer) -> "Prefix":
        """Return the prefix that a text is; no text is a prefix that changes nothing.

        Raises:
            ValueError: The text holds a lone surrogate, which UTF-8 cannot spell.
        """
        spelled = f" {text}".encode() if text else b""
        head = tokenizer.encode(text[: max(text.rfind(" "), 0)])
        # A text whose only space is its first has no head, and both its spaces are in the tail.
        return cls(tuple(head), spelled[sum(len(tokenizer.spellings[token]) for token in head) :])

    @property
    def num_tokens(self) -> int:
        """Tokens that the prefix takes at most, end of sentence not included.

        Within a limit of one more, an output cannot be cut before the prefix is whole.
        """
        return len(self.head) + len(self.tail)


class PieceTable:
    """Finds the pieces that agree with bytes; made once for a tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.spellings = tokenizer.spellings
        pieces = sorted((spelled, token) for token, spelled in enumerate(self.spellings) if spelled)
        self._spelled = [spelled for spelled, _ in pieces]
        self._tokens = [token for _, token in pieces]

    def agreeing(self, rest: bytes) -> list[int]:
        """Return the tokens that begin with ``rest``, or that ``rest`` begins with.

        There is always one, as every byte has a piece.
        """
        found = []
        for length in range(1, len(rest)):
            first, after = (side(self._spelled, rest[:length]) for side in (bisect_left, bisect_right))
            found += self._tokens[first:after]
        first = bisect_left(self._spelled, rest)
        longer = takewhile(
            lambda place: self._spelled[place].startswith(rest), range(first, len(self._tokens))
        )
        return found + [self._tokens[place] for place in longer]


class PrefixDecoder:
    """Writes outputs that start with a text, each sentence its own, then whatever the wrapped decoder likes.

    All words of the text but the last are written in the tokenizer's own pieces. The last word, with the
    space before it, is written in any pieces that agree with its bytes, and the last of them may go on: after
    "Der Hu" may come "Der Hund" in the piece that a model knows it by. Before the text is whole, the end is
    impossible.

    What is impossible has a log-probability of minus infinity; the others are not normalized again. So a
    score remains what the model itself says of the output. Every byte has a piece, so something is always
    possible, unless the wrapped decoder forbids those pieces.

    Args:
        decoder: Says how likely each next token is.
        prefixes_B: What the output of each sentence starts with.
        beam_size: Rows of each sentence.
        table: The pieces of the vocabulary.
    """

    def __init__(
        self, decoder: Decoder, prefixes_B: Sequence[Prefix], beam_size: int, table: PieceTable
    ) -> None:
        self._decoder = decoder
        self._table = table
        self._rows = [(prefix, 0) for prefix in prefixes_B for _ in range(beam_size)]
        self._begun = False
        self._agreeing: dict[bytes, Tensor] = {}

    def step(self, token_N: Tensor) -> Tensor:
        """Read one more token in each row and return the log-probabilities of what the prefixes allow.

        Returns:
            The wrapped decoder's log-probabilities (NV), in nats; -inf for what is impossible.
        """
        logprob_NV = self._decoder.step(token_N)
        if self._begun and any(place < prefix.num_tokens for prefix, place in self._rows):
            self._read(token_N.tolist())
        self._begun = True
        bound = [row for row, (prefix, place) in enumerate(self._rows) if place < prefix.num_tokens]
        if not bound:
            return logprob_NV
        tokens = [self._possible(*self._rows[row]) for row in bound]
        possible_NV = torch.ones_like(logprob_NV, dtype=torch.bool)
        possible_NV[bound] = False
        row = torch.tensor(bound).repeat_interleave(torch.tensor([len(some) for some in tokens]))
        possible_NV[row.to(logprob_NV.device), torch.cat(tokens).to(logprob_NV.device)] = True
        return logprob_NV.masked_fill(~possible_NV, -math.inf)

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows, in this order."""
        self._rows = [self._rows[row] for row in row_N.tolist()]
        self._decoder.reorder(row_N)

    def _read(self, tokens: Sequence[int]) -> None:
        """Move each row on: by a token of its head, then by the bytes of its tail."""
        self._rows = [
            (prefix, place + (1 if place < len(prefix.head) else len(self._table.spellings[token])))
            for (prefix, place), token in zip(self._rows, tokens, strict=True)
        ]

    def _possible(self, prefix: Prefix, place: int) -> Tensor:
        """Return the tokens that may follow at a place of the prefix."""
        if place < len(prefix.head):
            return torch.tensor(prefix.head[place : place + 1])
        rest = prefix.tail[place - len(prefix.head) :]
        if rest not in self._agreeing:
            self._agreeing[rest] = torch.tensor(self._table.agreeing(rest))
        return self._agreeing[rest]
