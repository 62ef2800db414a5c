"""Text in, text out; what is between finds outputs as ids, in torch or in native code."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dragoman.choice import PLAIN, Choice
from dragoman.config import SearchConfig
from dragoman.engine import Engine
from dragoman.errors import UsageError
from dragoman.hypothesis import Hypothesis
from dragoman.searchers import (
    Model,
    Searcher,
    bundle_of,
    check_joins,
    in_order,
    load_searcher,
    searcher_of,
)
from dragoman.source_search import Source, SourceSearch
from dragoman.stream import in_windows, refuse_one_text, with_prefixes
from dragoman.text.parts import Part, cut_text

if TYPE_CHECKING:
    from dragoman.model_search import Attention

WINDOW = 1_024
"""Sentences that are translated together."""


@dataclass(frozen=True)
class Alternative:
    """One way to translate a text."""

    text: str
    """The translation."""

    score: float
    """Log-probability in nats, divided by the length penalty; of several parts, their mean."""

    pieces: tuple[str, ...]
    """The pieces it was written in."""

    piece_scores: tuple[float, ...]
    """Log-probability of each piece in nats, ends of sentences included."""

    finished: bool
    """False if the output was cut at its length limit."""


@dataclass(frozen=True)
class Translation:
    """A text and its translations."""

    source: str
    """What was given."""

    alternatives: tuple[Alternative, ...]
    """Best first; at least one, and of a blank text a single empty one."""

    num_source_pieces: int
    """Pieces of the source, end of sentence included."""

    num_parts: int
    """Parts in which the source was translated: 1, unless it was longer than the model can read."""

    @property
    def text(self) -> str:
        """The best translation."""
        return self.alternatives[0].text

    @property
    def score(self) -> float:
        """Its score."""
        return self.alternatives[0].score


_EMPTY = Alternative("", 0.0, (), (), finished=True)


class Text(NamedTuple):
    """What is translated."""

    source: str
    """One sentence, or more."""

    prefix: str = ""
    """How its translation begins."""


class _Job:
    """A text while it is translated.

    Args:
        text: What is translated.
        parts: Those that the model reads at once.
    """

    def __init__(self, text: Text, parts: list[Part]) -> None:
        self.text = text
        if parts and text.prefix:
            parts[0] = parts[0]._replace(gap="")  # a translation begins with its prefix to the letter
        self.parts = parts
        self.found: list[list[Alternative]] = [[] for _ in parts]

    def written_before(self, number: int) -> str:
        """Return the best translation of the parts before one, and the white space between."""
        if number == 0:
            return ""
        written = zip(self.parts, self.found[:number], strict=False)
        return "".join(part.around(own[0].text) for part, own in written) + self.parts[number].gap


def _waves(jobs: Sequence[_Job], *, in_turn: bool) -> Iterator[list[tuple[int, int]]]:
    """Yield the parts that are translated together, as the places of text and part.

    Args:
        jobs: The texts.
        in_turn: Whether each part of a text waits for the one before it.
    """
    all_parts = [(i, number) for i, job in enumerate(jobs) for number in range(len(job.parts))]
    if not in_turn:
        yield all_parts
        return
    for turn in range(max((len(job.parts) for job in jobs), default=0)):
        yield [(i, number) for i, number in all_parts if number == turn]


class Translator:
    """Translates with one model; made by ``load``, or of parts.

    Args:
        bundle: The model.
        searcher: Finds outputs with its weights; left out, the model of a ``Bundle`` does, in torch.
        others: Models that join it, so that all choose each piece together: an ensemble.
        before_batch: Called before each batch of sentences; what it raises ends the translation.

    Raises:
        UsageError: The model writes trees.
    """

    def __init__(
        self,
        bundle: Model,
        searcher: Searcher | None = None,
        *,
        others: Sequence[Searcher] = (),
        before_batch: Callable[[], None] = lambda: None,
    ) -> None:
        if bundle.config.data.task != "translation":
            raise UsageError(
                "this model was trained to parse; it writes trees and no text",
                hint="use 'dragoman parse', or dragoman.Parser",
            )
        self.bundle = bundle
        self._has_engine = isinstance(searcher, Engine)
        self._search: SourceSearch | None = SourceSearch(bundle, [searcher or searcher_of(bundle), *others])
        self._before_batch = before_batch
        self._tokenizer = bundle.tokenizer

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        device: str = "auto",
        precision: str = "auto",
        threads: int | None = None,
        others: Sequence[Path | str] = (),
    ) -> "Translator":
        """Read a model folder.

        Args:
            folder: What ``dragoman train`` has written.
            others: Further folders, of models that translate together with it as an ensemble.
            device: ``auto`` (a GPU where there is one), ``cpu``, ``cuda`` or ``cuda:1``.
            precision: ``float32``, or on a processor ``bfloat16`` or ``int8``, which are faster and nearly as
                good. ``auto`` is float32.
            threads: Of the processor; left out, all that there are.

        Raises:
            BundleError: The folder does not hold a whole model.
            UsageError: There is no such device, it lacks the precision, or the tokenizers differ.
        """
        load = partial(load_searcher, device=device, precision=precision, threads=threads)
        bundle, searcher = load(Path(folder))
        joined = []
        for path in map(Path, others):
            other, other_searcher = load(path)
            check_joins(other, path, bundle, Path(folder))
            joined.append(other_searcher)
        return cls(bundle, searcher, others=joined)

    def close(self) -> None:
        """Let go of the engines, whose memory is free once no thread searches with them any more.

        The texts that another thread, or a stream, translates together are still finished; what asks for
        more raises ValueError.
        """
        self._search = None

    def __enter__(self) -> "Translator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def config(self) -> SearchConfig:
        """The model's own search settings, which ``translate`` uses unless it is given others.

        A shortlist is left out where it is not the native engine that searches, since nothing else has one.
        """
        own = self.bundle.config.search
        return own if self._has_engine else replace(own, shortlist=False)

    @property
    def max_source_length(self) -> int:
        """Pieces of a source that the model reads at once, end of sentence included."""
        limit = self.bundle.config.data.max_length
        if self.bundle.config.model.positions in ("learned", "table"):
            limit = min(limit, self.bundle.config.model.max_positions)
        return limit

    def translate(
        self,
        texts: Sequence[str],
        config: SearchConfig | None = None,
        *,
        choice: Choice = PLAIN,
        prefixes: Sequence[str] = (),
    ) -> list[Translation]:
        """Return the translation of each text, in order.

        Args:
            texts: One sentence each. A blank one stays empty. One that is longer than the model reads at
                once is translated in parts.
            config: Settings of the search; left out, the model's own.
            choice: What else is asked of outputs.
            prefixes: How the translation of each text begins; none, or one for each text.

        Raises:
            UsageError: A prefix leaves no room within the length limit, or holds a forbidden phrase.
            ValueError: There are fewer prefixes than texts, or more; or the translator was closed.
        """
        refuse_one_text(texts=texts, prefixes=prefixes)
        if prefixes and len(prefixes) != len(texts):
            raise ValueError(f"{len(prefixes)} prefixes of {len(texts)} texts; each has one, or none has")
        return list(self.translate_stream(texts, config, choice=choice, prefixes=prefixes or None))

    def translate_stream(
        self,
        texts: Iterable[str],
        config: SearchConfig | None = None,
        *,
        choice: Choice = PLAIN,
        prefixes: Iterable[str] | None = None,
        window: int = WINDOW,
    ) -> Iterator[Translation]:
        """Yield the translation of each text as soon as it and those before it are done, in order.

        Texts are read a window at a time: after so many, or the last, they are translated together, and no
        more are read until all of them were yielded. Closing the iterator ends the search.

        Args:
            texts: As for ``translate``; they may never end.
            config: Settings of the search; left out, the model's own.
            choice: What else is asked of outputs.
            prefixes: How the translation of each text begins, one for each text, read with it.
            window: Texts that are read before the first of them is translated. 1 where a text may wait for
                the translation of the one before it; a large one is faster.

        Raises:
            UsageError: A prefix leaves no room within the length limit, or holds a forbidden phrase.
            ValueError: There are fewer prefixes than texts, or more; those before were translated.
        """
        refuse_one_text(texts=texts, prefixes=prefixes)
        if window < 1:
            raise ValueError(f"window is {window}; it must be 1 or more")
        given = starmap(Text, with_prefixes(texts, prefixes))
        return self._stream(in_windows(given, window), config or self.config, choice)

    def _stream(
        self, windows: Iterable[list[Text]], config: SearchConfig, choice: Choice
    ) -> Iterator[Translation]:
        first = 0
        for window in windows:
            yield from in_order(self.translate_each(window, config, choice, first=first))
            first += len(window)

    def translate_each(
        self, texts: Sequence[Text], config: SearchConfig, choice: Choice = PLAIN, *, first: int = 0
    ) -> Iterator[tuple[int, Translation]]:
        """Yield the place of each text and its translation as soon as it is done, in any order.

        Args:
            texts: As for ``translate``; held in memory together.
            config: Settings of the search.
            choice: What else is asked of outputs.
            first: Texts that came before; what is drawn for a text depends on its number.

        Raises:
            UsageError: A prefix leaves no room within the length limit, or holds a forbidden phrase.
            ValueError: The translator was closed.
        """
        search = self._search  # held, since close() may put None in its place
        if search is None:
            raise ValueError("this translator was closed; load the model again")
        jobs = [_Job(text, self._parts(text.source)) for text in texts]
        yield from (
            (i, Translation(job.text.source, (_EMPTY,), 0, 1)) for i, job in enumerate(jobs) if not job.parts
        )
        for wave in _waves(jobs, in_turn=bool(choice.forbidden)):
            sources = [
                Source(
                    jobs[i].parts[number].ids,
                    first + i,
                    jobs[i].text.prefix if number == 0 else "",
                    jobs[i].written_before(number) if choice.forbidden else "",
                )
                for i, number in wave
            ]
            for place, hypotheses in search.search_each(sources, config, choice, self._before_batch):
                i, number = wave[place]
                found = [self._alternative(one) for one in hypotheses]
                jobs[i].found[number] = self._ordered(found, choice)
                if all(jobs[i].found):
                    yield i, self._assemble(jobs[i], config, choice)

    def attention(self, source: str, translation: Alternative | str) -> "Attention":
        """Return what happens in the model while it reads a source and writes a translation.

        Args:
            source: Short enough to be read at once.
            translation: One of the model, or any text.
        """
        from dragoman.model_search import attention

        written = (
            self._tokenizer.pieces(self._tokenizer.encode(translation))
            if isinstance(translation, str)
            else translation.pieces
        )
        return attention(bundle_of(self.bundle), source, written)

    def _parts(self, text: str) -> list[Part]:
        """Return the pieces of a text, cut where they are more than the model reads at once."""
        return cut_text(text, self._tokenizer, self.max_source_length - 1)

    def _assemble(self, job: _Job, config: SearchConfig, choice: Choice) -> Translation:
        """Return a translation from what was found for its parts, at least one."""
        num_pieces = sum(len(part.ids) for part in job.parts) + 1
        if len(job.parts) == 1:
            drawn = choice.sampling is not None and not choice.least_risk
            kept = job.found[0] if drawn else job.found[0][: config.n_best]
            placed = (replace(one, text=job.parts[0].around(one.text)) for one in kept)
            return Translation(job.text.source, tuple(placed), num_pieces, 1)
        bests = [own[0] for own in job.found]
        joined = Alternative(
            "".join(part.around(best.text) for part, best in zip(job.parts, bests, strict=True)),
            sum(best.score for best in bests) / len(bests),
            tuple(piece for best in bests for piece in best.pieces),
            tuple(score for best in bests for score in best.piece_scores),
            all(best.finished for best in bests),
        )
        return Translation(job.text.source, (joined,), num_pieces, len(job.parts))

    def _ordered(self, found: list[Alternative], choice: Choice) -> list[Alternative]:
        """Return what was found as it is, or that of the least risk first and equal texts once."""
        if not choice.least_risk or len(found) == 1:
            return found
        from dragoman.risk import by_expected_utility

        likeliest = max(math.fsum(one.piece_scores) for one in found)
        weights = [
            1.0 if choice.sampling else math.exp(math.fsum(one.piece_scores) - likeliest) for one in found
        ]
        ordered = by_expected_utility([one.text for one in found], weights)
        return list({found[place].text: found[place] for place in reversed(ordered)}.values())[::-1]

    def _alternative(self, hypothesis: Hypothesis) -> Alternative:
        return Alternative(
            self._tokenizer.decode(hypothesis.tokens),
            hypothesis.score,
            tuple(self._tokenizer.pieces(hypothesis.tokens)),
            hypothesis.token_scores,
            hypothesis.finished,
        )
