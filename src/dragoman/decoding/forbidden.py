"""Phrases that no output contains as whole words.

Shapes: B sentences, W beam size, N = B·W rows, V vocabulary.
"""

import codecs
import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from dragoman.search import Decoder
from dragoman.text import Tokenizer

_NEVER = 1 << 30
"""More tokens than any output has."""

_REPLACEMENT = "\ufffd"
"""What bytes become that are not UTF-8."""


class _State(NamedTuple):
    """What has to be known of a text to judge how it may go on."""

    begun: bool
    """Whether a character stands; the first space is taken off a text."""

    matched: str | None
    """The longest end of the text that begins a phrase and a word; None inside a word that begins none."""

    pending: bytes
    """The first bytes of a character."""


class Forbidden:
    """Phrases that no output may contain; made by ``of``, and the better known the more it is used.

    A phrase is found in a text where neither the character before it nor the one after it is a letter, a
    digit or "_"; the beginning and the end of the text are none. So "Hund" is not found in "Hunde". Case
    counts.
    """

    def __init__(self, phrases: frozenset[str], tokenizer: Tokenizer) -> None:
        self._phrases = phrases
        self._beginnings = {phrase[:length] for phrase in phrases for length in range(1, len(phrase) + 1)}
        self._spellings = tokenizer.spellings
        self._end = tokenizer.end
        self._matches: dict[tuple[str | None, str], str | None] = {}
        self._restrictions: dict[_State, tuple[Tensor, Tensor]] = {}

    @classmethod
    def of(cls, phrases: Iterable[str], tokenizer: Tokenizer) -> "Forbidden":
        """Return phrases to be forbidden.

        Raises:
            ValueError: A phrase is empty or blank.
        """
        phrases = frozenset(phrases)
        if blank := [phrase for phrase in phrases if not phrase.strip()]:
            raise ValueError(f"phrase {blank[0]!r} is blank; a forbidden phrase needs a character")
        return cls(phrases, tokenizer)

    def first_state(self, before: str = "") -> _State:
        """Return the state of a text that has not begun, or of one that goes on behind another."""
        state = _State(begun=True, matched="", pending=b"")
        return self._read(state, before.encode())[0]._replace(begun=False)

    def read(self, state: _State, token: int) -> _State:
        """Return the state after one more token."""
        return self._read(state, self._spellings[token])[0]

    def restrictions(self, state: _State) -> tuple[Tensor, Tensor]:
        """Return the tokens that may not always follow, and how many more each needs behind it.

        A token that ends with a phrase needs another that lengthens the word. One that makes a phrase
        whole needs more than there are.
        """
        if state not in self._restrictions:
            needed = torch.tensor([self._needed_after(state, spelled) for spelled in self._spellings])
            needed[self._end] = _NEVER if self._needed(state) else 0
            token = needed.nonzero().flatten()
            self._restrictions[state] = token, needed[token]
        return self._restrictions[state]

    def _needed_after(self, state: _State, spelled: bytes) -> int:
        after, whole = self._read(state, spelled)
        return _NEVER if whole else self._needed(after)

    def _read(self, state: _State, spelled: bytes) -> tuple[_State, bool]:
        """Return the state after some bytes, and whether they made a phrase whole."""
        begun, matched, pending = state
        spelled = pending + spelled
        text, used = codecs.utf_8_decode(spelled, "replace", False)
        if text and not begun:
            begun, text = True, text.removeprefix(" ")
        whole = False
        for character in text:
            whole = whole or (self._ends_phrase(matched) and not _in_word(character))
            matched = self._match(matched, character)
        return _State(begun, matched, spelled[used:]), whole

    def _needed(self, state: _State) -> int:
        """Return how many more tokens it takes at least until the text may end."""
        if not state.pending:
            return int(self._ends_phrase(state.matched))
        ended, whole = self._read(state._replace(pending=b""), _REPLACEMENT.encode())
        if not whole and not self._ends_phrase(ended.matched):
            return 0
        if self._ends_phrase(state.matched) and state.pending not in _beginnings_in_words():
            return _NEVER
        return _num_bytes(state.pending[0]) - len(state.pending)

    def _match(self, matched: str | None, character: str) -> str | None:
        """Return what ``_State.matched`` is after one more character."""
        if (matched, character) not in self._matches:
            text = "" if matched is None else matched + character
            ends = (text[place:] for place in range(len(text)) if _begins_word(text, place))
            otherwise = None if _in_word(character) else ""
            self._matches[matched, character] = next(filter(self._beginnings.__contains__, ends), otherwise)
        return self._matches[matched, character]

    def _ends_phrase(self, matched: str | None) -> bool:
        """Tell whether the text ends with a phrase, so that only a longer word can save it."""
        return matched is not None and any(
            matched[place:] in self._phrases for place in range(len(matched)) if _begins_word(matched, place)
        )


class ForbiddingDecoder:
    """Writes no forbidden phrase, whatever the wrapped decoder prefers.

    No output contains a phrase as a whole word, finished or cut at the limit. Neither does one whose bytes
    are no UTF-8: what they become, U+FFFD, is no part of a word.

    A token is impossible, with a log-probability of minus infinity, if it makes a phrase whole, or if too few
    tokens are left behind it to lengthen the word. The others are not normalized again, so a score remains
    what the model itself says of the output. As long as a letter or digit can be added that makes no other
    phrase, and the wrapped decoder forbids no piece of a byte, something is always possible.

    Args:
        decoder: Says how likely each next token is.
        forbidden: The phrases.
        limit_B: Tokens an output may have, end of sentence included, as search is told.
        beam_size: Rows of each sentence.
        before_B: What stands before each output; left out, nothing.
    """

    def __init__(
        self,
        decoder: Decoder,
        forbidden: Forbidden,
        limit_B: Tensor,
        beam_size: int,
        before_B: Sequence[str] = (),
    ) -> None:
        self._decoder = decoder
        self._forbidden = forbidden
        self._limits: list[int] = limit_B.repeat_interleave(beam_size).tolist()
        texts = before_B or [""] * limit_B.numel()
        self._states = [forbidden.first_state(text) for text in texts for _ in range(beam_size)]
        self._length = 0

    def step(self, token_N: Tensor) -> Tensor:
        """Read one more token in each row and return the log-probabilities of what may follow.

        Returns:
            The wrapped decoder's log-probabilities (NV), in nats; -inf for what is impossible.
        """
        logprob_NV = self._decoder.step(token_N)
        if self._length > 0:
            read = zip(self._states, token_N.tolist(), strict=True)
            self._states = [self._forbidden.read(state, token) for state, token in read]
        self._length += 1
        rows, tokens = [], []
        for row, (state, limit) in enumerate(zip(self._states, self._limits, strict=True)):
            token, needed = self._forbidden.restrictions(state)
            tokens.append(token[needed > limit - self._length])
            rows.append(torch.full_like(tokens[-1], row))
        place = tuple(torch.cat(part).to(logprob_NV.device) for part in (rows, tokens))
        return logprob_NV.index_put(place, logprob_NV.new_tensor(-math.inf))

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows, in this order."""
        rows = row_N.tolist()
        self._states = [self._states[row] for row in rows]
        self._limits = [self._limits[row] for row in rows]
        self._decoder.reorder(row_N)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _begins_word(text: str, place: int) -> bool:
    """Tell whether no character of a word stands before a place."""
    return place == 0 or not _in_word(text[place - 1])


def _num_bytes(first: int) -> int:
    """Return how many bytes a character has in UTF-8 that begins with this one."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


@cache
def _beginnings_in_words() -> frozenset[bytes]:
    """Return the first bytes, one or more but not all, of each character that stands in words."""
    spelled = [chr(scalar).encode() for scalar in range(0x80, 0x110000) if chr(scalar).isalnum()]
    return frozenset(character[:length] for character in spelled for length in range(1, len(character)))
