"""Words in, trees out.

Letters of shapes: B sentences, S source positions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Event

import torch

from dragoman.bundle import Bundle
from dragoman.config import SearchConfig
from dragoman.data import by_length, pad
from dragoman.engine import Engine, is_there, read_engine
from dragoman.engine_decoder import EngineDecoder
from dragoman.errors import BundleError, CorpusError, UsageError
from dragoman.model import CachedDecoder
from dragoman.model_files import Outline
from dragoman.model_search import Stoppable, choose_device, finite_outputs, side_by_side
from dragoman.parsing import LEAST_EXTRA, SymbolIds, TreeDecoder, WordReader, leaves_of
from dragoman.search import Decoder, Hypothesis, search
from dragoman.stream import in_windows
from dragoman.text.ids import END
from dragoman.translator import WINDOW
from dragoman.trees import Tree, fault_of, source_of, tree_of

TOO_LONG_HINT = "cut the sentence, or train a model with model.positions=interleaved"
"""What helps where a sentence has more pieces than the model has positions."""


@dataclass(frozen=True)
class ParsedTree:
    """One way to parse a sentence."""

    tree: Tree | None
    """The tree over the words; None where the output is none, which only a free search writes."""

    fault: str | None
    """Why the output is no tree, or None."""

    score: float
    """Log-probability in nats, divided by the length penalty."""

    symbols: tuple[str, ...]
    """The output: brackets, and a tag or ``XX`` for each word."""

    symbol_scores: tuple[float, ...]
    """Log-probability of each symbol in nats, the end of the sentence included."""


@dataclass(frozen=True)
class Parse:
    """A sentence and its trees."""

    words: tuple[str, ...]
    """What was given."""

    alternatives: tuple[ParsedTree, ...]
    """Best first; none for a sentence without words."""

    @property
    def tree(self) -> Tree | None:
        """The best tree."""
        return self.alternatives[0].tree if self.alternatives else None


class Parser:
    """Parses with one model; made by ``load``, or from a bundle that is in memory.

    Source: Vaswani et al. (2017), §6.3.

    Args:
        bundle: The model.
        constrained: Whether search is held to trees over the words of the sentence; else an output may be no
            tree.
        before_batch: Called before each batch of sentences; what it raises ends the parsing.
        engine: The same model in native code, which computes in its place.

    Raises:
        UsageError: The model was trained to translate.
        BundleError: Its tokenizer has no symbols of trees.
    """

    def __init__(
        self,
        bundle: Bundle,
        *,
        constrained: bool = True,
        before_batch: Callable[[], None] = lambda: None,
        engine: Engine | None = None,
    ) -> None:
        data = bundle.config.data
        if data.task != "parsing" or data.longest_run is None:
            raise UsageError(
                "this model was trained to translate; it writes text and no trees",
                hint="train one that parses: dragoman train TREES --task parsing --out DIR",
            )
        self.bundle = bundle
        self._constrained = constrained
        self._before_batch = before_batch
        self._model = bundle.model
        self._engine = engine
        # native sessions compute on one thread, so each thread has one of its own
        self._num_threads = torch.get_num_threads() if engine else 1
        self._tokenizer = bundle.tokenizer
        self._leaves = leaves_of(bundle.tokenizer) if data.reads_words else None
        try:
            self._symbols = SymbolIds.of(bundle.tokenizer.symbols, longest_run=data.longest_run, end=END)
        except ValueError as fault:
            raise BundleError(
                f"the tokenizer of this model has no symbols to write trees with: {fault}",
                hint="copy config.json and tokenizer.model from the same model folder",
            ) from fault

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "auto", constrained: bool = True) -> "Parser":
        """Read a model folder.

        Args:
            folder: What ``dragoman train --task parsing`` has written.
            device: ``auto`` (a GPU where there is one), ``cpu``, ``cuda`` or ``cuda:1``.
            constrained: As in the constructor.

        Raises:
            BundleError: The folder does not hold a whole model.
            UsageError: There is no such device, or the model was trained to translate.
        """
        place = choose_device(device)
        bundle = Bundle.load(Path(folder), place)
        if place.type != "cpu" or not is_there():
            return cls(bundle, constrained=constrained)
        engine = read_engine(Outline.read(Path(folder)), "float32", workers=1)
        return cls(bundle, constrained=constrained, engine=engine)

    @property
    def config(self) -> SearchConfig:
        """The model's own search settings, which ``parse`` uses unless it is given others."""
        return self.bundle.config.search

    @property
    def keeps_tags(self) -> bool:
        """Whether the model predicts part-of-speech tags; else every tag of its trees is ``XX``."""
        return self.bundle.config.data.keep_tags

    def parse(self, sentences: Sequence[Sequence[str]], config: SearchConfig | None = None) -> list[Parse]:
        """Return the trees of each sentence, in order.

        Args:
            sentences: The words of each sentence. One without words has no tree.
            config: Settings of the search; left out, the model's own.

        Raises:
            CorpusError: A sentence has more pieces than the learned positions of the model.
            ValueError: A word is empty.
        """
        return list(self.parse_stream(sentences, config))

    def parse_stream(
        self, sentences: Iterable[Sequence[str]], config: SearchConfig | None = None
    ) -> Iterator[Parse]:
        """Yield the trees of each sentence as soon as it and those near it are done, in order."""
        for window in in_windows(sentences, WINDOW):
            yield from self.parse_window(window, config or self.config)

    def parse_window(self, sentences: Sequence[Sequence[str]], config: SearchConfig) -> list[Parse]:
        """Return the trees of sentences that are sorted by length together."""
        if not all(all(words) for words in sentences):
            raise ValueError("a word is empty; a leaf of a tree has a word")
        given = [i for i, words in enumerate(sentences) if words]
        sources = self._tokenizer.encode_all([source_of(sentences[i]) for i in given])
        if objection := self._objection(max(map(len, sources), default=0)):
            raise CorpusError(f"a sentence of {objection}", hint=TOO_LONG_HINT)
        parses = [Parse(tuple(words), ()) for words in sentences]

        def search_one(chosen: Sequence[int], ended: Event) -> Iterator[tuple[int, list[Hypothesis]]]:
            self._before_batch()
            num_words = [len(sentences[given[i]]) for i in chosen]
            found = self._search([sources[i] for i in chosen], num_words, config, ended)
            return zip((given[i] for i in chosen), found, strict=True)

        # threads share the positions that are computed at once, and so the memory
        batches = by_length([len(ids) + 1 for ids in sources], config.batch_tokens // self._num_threads)
        for place, hypotheses in chain.from_iterable(side_by_side(search_one, batches, self._num_threads)):
            words = tuple(sentences[place])
            best = hypotheses[: config.n_best]
            parses[place] = Parse(words, tuple(self._tree(one, words) for one in best))
        return parses

    def objection(self, words: Sequence[str]) -> str | None:
        """Return why a sentence is too long for the learned positions of the model, or None."""
        if self._most_positions is None:
            return None
        return self._objection(len(self._tokenizer.encode(source_of(words))))

    @torch.inference_mode()
    def _search(
        self, sources: list[list[int]], num_words: list[int], config: SearchConfig, ended: Event
    ) -> list[list[Hypothesis]]:
        model, device = self._model, self._model.output_weight_VD.device
        words_B = torch.tensor(num_words, device=device)
        limit_B = torch.tensor([len(ids) + 1 + config.extra_length for ids in sources], device=device)
        if self._most_positions is not None:
            limit_B = limit_B.clamp(max=self._most_positions)
        limit_B = limit_B.maximum(words_B + LEAST_EXTRA)
        decoder: Decoder = Stoppable(self._decoder(sources, config.beam_size, int(limit_B.max())), ended)
        if self._leaves is not None:
            source_BS = pad(sources, end=END, padding=model.source_padding).to(device)
            decoder = WordReader(decoder, source_BS, self._leaves.to(device), config.beam_size)
        if self._constrained:
            decoder = TreeDecoder(decoder, self._symbols, words_B, limit_B, config.beam_size)
        with finite_outputs():
            return search(decoder, start=model.padding, end=END, limit_B=limit_B, config=config)

    def _decoder(self, sources: list[list[int]], beam_size: int, num_steps: int) -> Decoder:
        if self._engine is not None:
            return EngineDecoder(self._engine, [[*ids, END] for ids in sources], beam_size, num_steps)
        model = self._model
        source_BS = pad(sources, end=END, padding=model.source_padding).to(model.output_weight_VD.device)
        return CachedDecoder(model, model.encode(source_BS), beam_size, self._tokenizer.impossible)

    @property
    def _most_positions(self) -> int | None:
        """Positions that the model has; sinusoids have no limit."""
        config = self.bundle.config.model
        return config.max_positions if config.positions in ("learned", "table") else None

    def _objection(self, num_pieces: int) -> str | None:
        limit = self._most_positions
        if limit is None or num_pieces + LEAST_EXTRA <= limit:
            return None
        return (
            f"{num_pieces:,} pieces; the model has learned {limit:,} positions, "
            f"{LEAST_EXTRA} of which brackets need"
        )

    def _tree(self, hypothesis: Hypothesis, words: tuple[str, ...]) -> ParsedTree:
        symbols = tuple(self._tokenizer.pieces(hypothesis.tokens))
        fault = fault_of(symbols, len(words))
        return ParsedTree(
            tree_of(symbols, words) if fault is None else None,
            None if fault is None else f"{_place(fault.step, len(symbols))}: {fault.reason}",
            hypothesis.score,
            symbols,
            hypothesis.token_scores,
        )


def _place(step: int, num_symbols: int) -> str:
    """Return where the fault of an output is."""
    if step == num_symbols:
        return f"after {num_symbols:,} symbols"
    return f"symbol {step + 1:,} of {num_symbols:,}"
