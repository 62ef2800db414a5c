"""How a model came to an output: its attention, its other choices, and what its search has kept."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dragoman.bundle import Bundle
from dragoman.errors import CorpusError, UsageError
from dragoman.model_search import ModelSearch
from dragoman.search import Decoder
from dragoman.text import NumberedPair
from dragoman.translator import Alternative, Translator
from dragoman.visualize.explanation import BeamNode, Candidate, Explanation, Weights, align_words

NUM_CANDIDATES = 5
"""Pieces that are shown for each place of an output."""


class Explainer:
    """Explains what one model does.

    Args:
        bundle: A model that translates.

    Raises:
        UsageError: The model was trained to parse.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._recorder: _Recorder | None = None
        self._translator = Translator(bundle, ModelSearch(bundle, wrap=self._recorded))

    @property
    def about(self) -> str:
        """What the model is, in words."""
        model, bundle = self._bundle.config.model, self._bundle
        languages = f"{bundle.source_language or 'source'} to {bundle.target_language or 'target'}"
        return (
            f"A Transformer from {languages}: {model.num_encoder_layers} + {model.num_decoder_layers} "
            f"layers, d_model {model.d_model}, {model.num_heads} heads, {model.vocabulary_size:,} pieces."
        )

    def explain(self, source: str, output: str | None = None) -> Explanation:
        """Return how the model translates a source, or how it would have come to a given output.

        Args:
            source: One sentence.
            output: A translation to be explained; left out, the model's own.

        Raises:
            CorpusError: Source or output is blank, or longer than the model reads at once.
        """
        self._check("source", source)
        if output is not None:
            self._check("output", output)
            return self._explained(source, output)
        translator = self._translator
        config = replace(translator.config, n_best=translator.config.beam_size)
        [translation] = translator.translate([source], config)
        best, *_ = translation.alternatives
        beam = self._beam(translation.alternatives) if self._recorder else ()
        return replace(self._explained(source, best), beam=beam)

    def align(self, pairs: Iterable[NumberedPair], layer: int | None = None) -> Iterator[str]:
        """Yield the word alignment of each pair in Pharaoh's format.

        ``0-0 1-2`` says that the first source word belongs to the first target word, and the second to the
        third. Words are what spaces part. A pair of which a side is blank, or longer than the model reads at
        once, has an empty line.

        Args:
            pairs: Line numbers and pairs.
            layer: The decoder layer, from 1; left out, the one before the last, or the only one.

        Raises:
            UsageError: There is no such layer.
        """
        num_layers = self._bundle.config.model.num_decoder_layers
        layer = max(1, num_layers - 1) if layer is None else layer
        if not 1 <= layer <= num_layers:
            raise UsageError(
                f"--layer {layer}: the decoder of this model has {num_layers} layers",
                hint=f"name a layer from 1 to {num_layers}",
            )
        for _, pair in pairs:
            if any(not text.strip() or self._objection(text) for text in pair):
                yield ""
                continue
            explanation = self._explained(pair.source, pair.target, num_candidates=0)
            yield " ".join(f"{i}-{j}" for i, j in align_words(explanation, layer))

    def _check(self, what: str, text: str) -> None:
        if not text.strip():
            raise CorpusError(f"the {what} is blank", hint="give a sentence")
        if objection := self._objection(text):
            raise CorpusError(f"the {what} has {objection}", hint="give a single sentence")

    def _objection(self, text: str) -> str | None:
        """Return why a text is too long, or None."""
        length, limit = len(self._bundle.tokenizer.encode(text)) + 1, self._translator.max_source_length
        return None if length <= limit else f"{length:,} pieces; the model reads {limit:,} at once"

    @torch.inference_mode()
    def _explained(
        self, source: str, output: Alternative | str, *, num_candidates: int = NUM_CANDIDATES
    ) -> Explanation:
        attention = self._translator.attention(source, output)
        return Explanation(
            source=source,
            output=output if isinstance(output, str) else output.text,
            source_pieces=attention.source_pieces,
            target_pieces=attention.target_pieces,
            encoder=_layers(attention.weights.encoder),
            decoder=_layers(attention.weights.decoder),
            cross=_layers(attention.weights.cross),
            candidates=tuple(
                self._candidates(logprob_V, piece, num_candidates)
                for logprob_V, piece in zip(attention.logprob_TV, attention.target_pieces, strict=True)
            ),
        )

    def _candidates(self, logprob_V: Tensor, written: str, number: int) -> tuple[Candidate, ...]:
        """Return the likeliest pieces, and the written one if it is not among them."""
        best = logprob_V.topk(number).indices.tolist()
        [token] = self._bundle.tokenizer.tokens([written])
        tokens = best if token in best or not number else [*best[:-1], token]
        pieces = self._bundle.tokenizer.pieces(tokens)
        return tuple(map(Candidate, pieces, logprob_V[tokens].exp().tolist()))

    def _recorded(self, decoder: Decoder) -> Decoder:
        self._recorder = _Recorder(decoder)
        return self._recorder

    def _beam(self, outputs: Sequence[Alternative]) -> tuple[BeamNode, ...]:
        """Return what search has kept, with the places of its outputs."""
        assert self._recorder is not None
        nodes = self._recorder.nodes
        tokenizer = self._bundle.tokenizer
        beam = [
            BeamNode(piece, node.parent, node.log_probability, None)
            for piece, node in zip(tokenizer.pieces(node.token for node in nodes), nodes, strict=True)
        ]
        place = {(node.parent, node.token): index for index, node in enumerate(nodes)}
        for rank, output in enumerate(outputs, start=1):
            parent = -1
            for token, score in zip(tokenizer.tokens(output.pieces), output.piece_scores, strict=False):
                if (parent, token) not in place:  # search never read its last piece
                    place[parent, token] = len(beam)
                    beam.append(BeamNode(tokenizer.pieces([token])[0], parent, score, None))
                parent = place[parent, token]
            if output.finished:
                beam.append(BeamNode("</s>", parent, output.piece_scores[-1], rank))
            elif parent >= 0:
                beam[parent] = beam[parent]._replace(rank=rank)
        return tuple(beam)


class _Node(NamedTuple):
    """A token that search has read."""

    token: int
    parent: int
    log_probability: float


class _Recorder:
    """A decoder that remembers which tokens it was told to read, after which others.

    It is for the search of a single sentence.

    Attributes:
        nodes: The tokens, each behind its parent.
    """

    def __init__(self, decoder: Decoder) -> None:
        self.nodes: list[_Node] = []
        self._decoder = decoder
        self._places: list[int] = []
        self._logprob_NV: Tensor | None = None
        self._known: dict[tuple[int, int], int] = {}

    def step(self, token_N: Tensor) -> Tensor:
        """Read one more token in each row and return the log-probabilities of the next one (NV)."""
        if self._logprob_NV is None:
            self._places = [-1] * len(token_N)  # the start id is no piece
        else:
            logprob_N = self._logprob_NV.gather(1, token_N[:, None])[:, 0]
            read = zip(token_N.tolist(), self._places, logprob_N.tolist(), strict=True)
            self._places = [self._place(*row) for row in read]
        self._logprob_NV = self._decoder.step(token_N)
        return self._logprob_NV

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows, in this order."""
        self._places = [self._places[row] for row in row_N.tolist()]
        if self._logprob_NV is not None:
            self._logprob_NV = self._logprob_NV[row_N]
        self._decoder.reorder(row_N)

    def _place(self, token: int, parent: int, log_probability: float) -> int:
        """Return the index of a token after its parent; an empty row has an impossible token and stays."""
        if log_probability == -math.inf:
            return parent
        if (parent, token) not in self._known:
            self._known[parent, token] = len(self.nodes)
            self.nodes.append(_Node(token, parent, log_probability))
        return self._known[parent, token]


def _layers(weights: Sequence[Tensor]) -> Weights:
    """Return the weights of all layers of one sentence as one array."""
    found: Weights = np.stack([layer[0].float().cpu().numpy() for layer in weights])
    return found
