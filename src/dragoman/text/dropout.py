"""BPE-dropout: byte-pair encoding that leaves merges out at random.

sentencepiece has it as well, but its random numbers differ from process to process whatever the seed.
Here the merges of all words of many texts are done at once, a round at a time, by numpy.
"""

from collections.abc import Sequence

import numpy as np
import sentencepiece
from numpy.typing import NDArray

_LONGEST_RUN = 64
"""Longer words are cut into runs of so many characters, which bounds the rounds."""

_TEXTS_AT_ONCE = 2_048
_NO_MERGE = np.iinfo(np.int64).max

Ids = NDArray[np.int64]


class MergeTable:
    """Which two pieces side by side make a third, and which merge comes first."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        self._num_pieces = int(processor.get_piece_size())
        token_of = {
            processor.id_to_piece(token): token
            for token in range(self._num_pieces)
            if not (processor.is_control(token) or processor.is_unknown(token) or processor.is_byte(token))
        }
        self._byte_tokens = [processor.piece_to_id(f"<0x{byte:02X}>") for byte in range(256)]
        self._token_of_scalar = np.full(0x110000, -1, dtype=np.int64)
        merges = []
        for piece, token in token_of.items():
            if len(piece) == 1:
                self._token_of_scalar[ord(piece)] = token
            for cut in range(1, len(piece)):
                left, right = token_of.get(piece[:cut]), token_of.get(piece[cut:])
                if left is not None and right is not None:
                    merges.append((left * self._num_pieces + right, token, -processor.get_score(token)))
        self._space = token_of.get("▁", -1)
        self._token_of_scalar[ord(" ")] = self._space
        self._token_of_scalar[ord("▁")] = -1  # a literal one is spelled in bytes
        merges.sort()
        # One row more, which no pair meets, so that a search past the end finds a row.
        self._pair = np.array([merge[0] for merge in merges] + [_NO_MERGE], dtype=np.int64)
        self._merged = np.array([merge[1] for merge in merges] + [0], dtype=np.int64)
        self._rank = np.array([merge[2] for merge in merges] + [0], dtype=np.int64)

    def encode(self, texts: Sequence[str], dropout: float, seed: int) -> list[list[int]]:
        """Return the tokens of each text, merges left out with probability ``dropout``.

        Args:
            texts: Texts as the tokenizer's ``encode`` takes them.
            dropout: Probability that a possible merge is left out in a round.
            seed: Start of the random choice, 0 or more.
        """
        generator = np.random.default_rng(seed)
        tokens: list[list[int]] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            tokens += self._encode(texts[start : start + _TEXTS_AT_ONCE], dropout, generator)
        return tokens

    def _encode(
        self, texts: Sequence[str], dropout: float, generator: np.random.Generator
    ) -> list[list[int]]:
        symbol, text_of = self._symbols([f" {text}" if text else "" for text in texts])
        run = _runs(symbol, text_of, self._space)
        symbol, text_of = self._merge(symbol, text_of, run, dropout, generator)
        cuts = np.searchsorted(text_of, np.arange(1, len(texts)))
        return [part.tolist() for part in np.split(symbol, cuts)] if len(texts) else []

    def _symbols(self, texts: Sequence[str]) -> tuple[Ids, Ids]:
        """Return one token a character, or a character's bytes where it has none, and each one's text."""
        scalars = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
        text_of = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
        symbol = self._token_of_scalar[scalars]
        spelled = np.flatnonzero(symbol < 0)
        if not len(spelled):
            return symbol, text_of
        bytes_of = [[self._byte_tokens[byte] for byte in chr(scalars[i]).encode()] for i in spelled]
        width = np.ones(len(symbol), dtype=np.int64)
        width[spelled] = [len(tokens) for tokens in bytes_of]
        start = np.cumsum(width) - width
        symbol, text_of = np.repeat(symbol, width), np.repeat(text_of, width)
        for place, tokens in zip(start[spelled].tolist(), bytes_of, strict=True):
            symbol[place : place + len(tokens)] = tokens
        return symbol, text_of

    def _merge(
        self, symbol: Ids, text_of: Ids, run: Ids, dropout: float, generator: np.random.Generator
    ) -> tuple[Ids, Ids]:
        """Do one merge in each run, then again, until each run has had a round without one.

        Args:
            symbol: Tokens, one a character.
            text_of: The text of each.
            run: The run of each; merges stay within a run.
            dropout: Probability that a possible merge is left out in a round.
            generator: Where the random numbers come from.

        Returns:
            The tokens left, and the text of each.
        """
        place = np.arange(len(symbol))  # symbols still in runs that may merge
        alive = np.ones(len(symbol), dtype=bool)
        while len(place) > 1:
            here = symbol[place]
            row = np.searchsorted(self._pair, here[:-1] * self._num_pieces + here[1:])
            fits = self._pair[row] == here[:-1] * self._num_pieces + here[1:]
            fits &= run[place[:-1]] == run[place[1:]]
            if dropout:
                fits &= generator.random(len(fits)) >= dropout
            order = np.full(len(place), _NO_MERGE)
            order[:-1][fits] = (self._rank[row] * len(place) + np.arange(len(row)))[fits]
            starts = np.flatnonzero(np.diff(run[place], prepend=-1))
            first = np.minimum.reduceat(order, starts)
            goes_on = first != _NO_MERGE
            left = first[goes_on] % len(place)
            symbol[place[left]] = self._merged[row[left]]
            alive[place[left + 1]] = False
            lengths = np.diff(starts, append=len(place))
            place = place[np.repeat(goes_on, lengths)]
            place = place[alive[place]]
        return symbol[alive], text_of[alive]


def _runs(symbol: Ids, text_of: Ids, space: int) -> Ids:
    """Number the runs of symbols that can merge with each other: the words, where they are not too long."""
    if not len(symbol):
        return symbol
    begins = (symbol == space) | (np.diff(text_of, prepend=-1) != 0)
    begins[0] = True
    word_start = np.maximum.accumulate(np.where(begins, np.arange(len(symbol)), 0))
    begins |= (np.arange(len(symbol)) - word_start) % _LONGEST_RUN == 0
    return np.cumsum(begins)
