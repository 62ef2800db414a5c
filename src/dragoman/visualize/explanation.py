"""What an explanation of one sentence holds, and what can be read off it; no torch.

Letters of shapes: N layers, H heads, Q queries, M memory positions, T target positions, S source positions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dragoman.errors import UsageError
from dragoman.visualize.cells import visible

_BYTES = re.compile("(?:<0x[0-9A-F]{2}>)+")

Weights = npt.NDArray[np.float32]

Kind = Literal["encoder", "decoder", "cross"]

NAMES: dict[Kind, str] = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}
"""What the three uses of attention are called (Vaswani et al., 2017, §3.2.3)."""


class Candidate(NamedTuple):
    """A piece that could come next."""

    piece: str
    probability: float


class BeamNode(NamedTuple):
    """A piece that search has kept for a step."""

    piece: str
    parent: int
    """Index of the piece before it; -1 at the first step."""
    log_probability: float
    """Of this piece alone, in nats."""
    rank: int | None
    """The place of the output that ends here, from 1; None where search went on or gave up."""


@dataclass(frozen=True)
class Explanation:
    """One sentence, its output, and how the model came to it."""

    source: str
    output: str
    source_pieces: tuple[str, ...]
    """Pieces of the source, its end last."""
    target_pieces: tuple[str, ...]
    """Pieces of the output, its end last."""
    encoder: Weights
    """Source positions over source positions (NHSS)."""
    decoder: Weights
    """Target positions over the pieces before them (NHTT): the first column is the start."""
    cross: Weights
    """Target positions over source positions (NHTS)."""
    candidates: tuple[tuple[Candidate, ...], ...]
    """For each target piece the likeliest pieces in its place, best first, the written one among them."""
    beam: tuple[BeamNode, ...] = ()
    """What search has kept, each piece behind its parent; none where the output was given."""

    def weights(self, kind: Kind) -> Weights:
        """Return the weights of one use of attention (NHQM)."""
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]

    def rows(self, kind: Kind) -> tuple[str, ...]:
        """Return the pieces that look."""
        return self.source_pieces if kind == "encoder" else self.target_pieces

    def columns(self, kind: Kind) -> tuple[str, ...]:
        """Return the pieces that are looked at; the decoder sees its start and the pieces before."""
        return ("<s>", *self.target_pieces[:-1]) if kind == "decoder" else self.source_pieces

    def pieces_of(self, word: str, kind: Kind) -> list[int]:
        """Return the positions, among those that look, of the pieces of every occurrence of a word.

        Raises:
            UsageError: The word does not occur.
        """
        pieces = self.rows(kind)
        words = words_in(pieces)
        found = [position for position, number in enumerate(words_of(pieces)) if words[number] == word]
        if not found:
            raise UsageError(
                f"the word {word!r} is not in the {'source' if kind == 'encoder' else 'output'}",
                hint=f"its words are {' '.join(words[:-1])}",
            )
        return found


class Reach(NamedTuple):
    """How far one head looks from a word."""

    kind: Kind
    layer: int
    """From 1."""
    head: int
    """From 1."""
    distance: float
    """Mean distance of what the word's pieces look at, in pieces, weighted by attention."""
    target: str
    """The piece that is looked at most."""
    weight: float
    """How much, from 0 to 1."""


def far_reaching(explanation: Explanation, word: str, *, kind: Kind = "encoder") -> list[Reach]:
    """Return all heads of self-attention, those whose attention from a word spans farthest first.

    The distance of a head is the mean of Σ_m a(q, m) · |q - m| over the pieces q of the word; the end of the
    sentence, at which heads look that have nothing to look at, counts as no distance. Of a word that occurs
    more than once all occurrences count.

    Source: Vaswani et al. (2017), Figure 3, shows such heads for the word "making".

    Raises:
        UsageError: The word does not occur, or the attention is not within one sentence.
    """
    if kind == "cross":
        raise UsageError(
            "a distance is measured within one sentence, and cross-attention joins two",
            hint="choose the encoder's or the decoder's self-attention",
        )
    queries = explanation.pieces_of(word, kind)
    weight_NHQM = explanation.weights(kind)[:, :, queries]
    place_M = np.arange(weight_NHQM.shape[-1]) - (kind == "decoder")  # its memory begins with the start
    distance_QM = np.abs(np.asarray(queries)[:, None] - place_M[None])
    if kind == "encoder":
        distance_QM[:, -1] = 0  # heads with nothing to look at look at the end
    mean_NH = (weight_NHQM * distance_QM).sum(axis=-1).mean(axis=-1)
    columns = explanation.columns(kind)
    found = []
    for layer, head in np.ndindex(mean_NH.shape):
        mean_M = weight_NHQM[layer, head].mean(axis=0)
        best = int((mean_M * (distance_QM.max(axis=0) > 0)).argmax())
        distance, weight = float(mean_NH[layer, head]), float(mean_M[best])
        found.append(Reach(kind, layer + 1, head + 1, distance, columns[best], weight))
    return sorted(found, key=lambda reach: -reach.distance)


def words_in(pieces: Sequence[str]) -> list[str]:
    """Return the words that pieces spell, the end of the sentence last."""
    texts = [""] * (words_of(pieces)[-1] + 1)
    for piece, number in zip(pieces, words_of(pieces), strict=True):
        texts[number] += piece
    return [shown(text) for text in texts]


def shown(pieces: str) -> str:
    """Return pieces for a reader: bytes as characters, and a sign where there is nothing to be seen."""
    if not pieces:
        return "∅"
    text = _BYTES.sub(_spelled, pieces).replace("▁", " ").strip()
    return visible(text) if text else "␣"


def words_of(pieces: Sequence[str]) -> list[int]:
    """Return for each piece the number of its word, from 0; a piece with U+2581 begins a new one.

    The end of a sentence is a word by itself.
    """
    numbers: list[int] = []
    for position, piece in enumerate(pieces):
        begins = position > 0 and (piece.startswith("▁") or piece == "</s>")
        numbers.append(numbers[-1] + begins if numbers else 0)
    return numbers


def _spelled(found: re.Match[str]) -> str:
    """Return the characters of bytes, or the bytes as they are named where they are none that can be seen."""
    text = bytes.fromhex(found[0].replace("<0x", "").replace(">", "")).decode("utf-8", "replace")
    return text if text.isprintable() and "�" not in text else found[0]


def align_words(explanation: Explanation, layer: int) -> list[tuple[int, int]]:
    """Return which source word each target word comes from, by cross-attention: pairs of indices from 0.

    The weights of all heads of a layer are averaged, and summed over the pieces of a source word and
    averaged over those of a target word; each target word is joined to the source word of most weight. A
    target word that looks most at the end of the source is joined to none.

    Args:
        explanation: Of the pair.
        layer: The decoder layer, from 1.
    """
    weight_TS = explanation.cross[layer - 1].mean(axis=0)
    source_words, target_words = words_of(explanation.source_pieces), words_of(explanation.target_pieces)
    word_TV = np.zeros((len(target_words), source_words[-1] + 1), np.float32)
    np.add.at(word_TV.T, source_words, weight_TS.T)
    pairs = []
    for number in range(target_words[-1]):  # the last word is the end
        rows = [position for position, word in enumerate(target_words) if word == number]
        best = int(word_TV[rows].mean(axis=0).argmax())
        if best < source_words[-1]:
            pairs.append((best, number))
    return pairs
