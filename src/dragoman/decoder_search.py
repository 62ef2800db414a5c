"""Outputs that plain search does not find: drawn, diverse, completed, without some words, of several models.

Letters of shapes: B sentences.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import torch

from dragoman.choice import Choice
from dragoman.config import SearchConfig
from dragoman.data import by_length
from dragoman.decoding import (
    Draws,
    EnsembleDecoder,
    Forbidden,
    ForbiddingDecoder,
    PieceTable,
    Prefix,
    PrefixDecoder,
    sample,
    search_diversely,
)
from dragoman.engine import Engine
from dragoman.engine_decoder import EngineDecoder
from dragoman.errors import UsageError
from dragoman.hypothesis import Hypothesis
from dragoman.model_search import ModelSearch
from dragoman.search import Decoder, search
from dragoman.text import Tokenizer
from dragoman.text.ids import END

_MOST_ROWS = 512
"""Hypotheses that are computed at once."""


class Task(NamedTuple):
    """A source, and what is asked for it."""

    source: Sequence[int]
    """Its ids, the end included."""

    limit: int
    """Ids that its output may have, the end included."""

    key: int
    """What is drawn for it depends on this number."""

    prefix: str
    """What the text of its output starts with."""

    before: str
    """What stands before its output, so that a forbidden phrase may not go on there."""


class DecoderSearch:
    """Finds outputs by asking decoders step by step; of several models it takes the mean of what they say.

    Args:
        searchers: The models, of one vocabulary: each an ``Engine`` or a ``ModelSearch``.
        tokenizer: The one of all.
    """

    def __init__(self, searchers: Sequence[object], tokenizer: Tokenizer) -> None:
        self._searchers = [one for one in searchers if isinstance(one, Engine | ModelSearch)]
        if len(self._searchers) < len(searchers):
            raise TypeError("only an Engine and a ModelSearch can be asked step by step")
        self._tokenizer = tokenizer
        self._known: dict[tuple[str, ...], Forbidden] = {}

    def search_each(
        self, tasks: Sequence[Task], config: SearchConfig, choice: Choice, before_batch: Callable[[], None]
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """Yield the place of each task and its outputs, as soon as they are found.

        Args:
            tasks: The sources.
            config: Settings of the search.
            choice: What else is asked.
            before_batch: Called before each batch; what it raises ends the search.

        Raises:
            UsageError: A prefix leaves no room within its limit, nothing is left that may be written, or a
                shortlist is asked for.
        """
        if config.shortlist:
            raise UsageError(
                "a shortlist is for plain search with one model, and more is asked for here",
                hint="leave --shortlist out, or add --no-shortlist where the model has the key",
            )
        if choice.diversity and (config.n_best < 2 or config.beam_size % config.n_best):
            raise ValueError(
                f"n_best is {config.n_best} and beam_size {config.beam_size}: no 2 or more groups of one size"
            )
        for task in tasks:
            self._check_prefix(task, choice)
        forbidden = self._forbidden(choice.forbidden) if choice.forbidden else None
        rows = choice.sampling.count if choice.sampling else config.beam_size
        most = max(1, _MOST_ROWS // rows)
        for batch in by_length([len(task.source) for task in tasks], config.batch_tokens):
            for chosen in (batch[first : first + most] for first in range(0, len(batch), most)):
                before_batch()
                try:
                    found = self._search([tasks[place] for place in chosen], config, choice, forbidden)
                except ValueError as error:
                    raise UsageError(
                        f"nothing may be written: {error}",
                        hint="forbid less, or leave the prefix out",
                    ) from error
                yield from zip(chosen, found, strict=True)

    def _check_prefix(self, task: Task, choice: Choice) -> None:
        if not task.prefix:
            return
        num_tokens = Prefix.of(task.prefix, self._tokenizer).num_tokens
        if num_tokens >= task.limit:
            raise UsageError(
                f"the prefix of text {task.key + 1:,} may take {num_tokens:,} pieces; its translation has "
                f"{task.limit:,} at most, the end included",
                hint="shorten the prefix, or raise search.extra_length",
            )
        for phrase in choice.forbidden:
            if re.search(rf"(?<!\w){re.escape(phrase)}(?=\W)", task.prefix):
                raise UsageError(
                    f"the prefix of text {task.key + 1:,} holds {phrase!r}, which is forbidden",
                    hint="forbid less, or leave the prefix out",
                )

    def _forbidden(self, phrases: tuple[str, ...]) -> Forbidden:
        """Return phrases with all that was found out about them; only the last ones are remembered."""
        known = self._known  # another thread may put others in its place
        if phrases not in known:
            known = self._known = {phrases: Forbidden.of(phrases, self._tokenizer)}
        return known[phrases]

    @torch.inference_mode()
    def _search(
        self, tasks: Sequence[Task], config: SearchConfig, choice: Choice, forbidden: Forbidden | None
    ) -> list[list[Hypothesis]]:
        rows = choice.sampling.count if choice.sampling else config.beam_size
        limit_B = torch.tensor([task.limit for task in tasks], device=self._device)
        decoder = self._decoder(tasks, rows)
        if any(task.prefix for task in tasks):
            prefixes = [Prefix.of(task.prefix, self._tokenizer) for task in tasks]
            decoder = PrefixDecoder(decoder, prefixes, rows, self._table)
        if forbidden is not None:
            before_B = [task.before for task in tasks]
            decoder = ForbiddingDecoder(decoder, forbidden, limit_B, rows, before_B)
        start = self._tokenizer.padding
        if choice.sampling is not None:
            draws = Draws(choice.sampling, [task.key for task in tasks])
            return sample(decoder, start=start, end=END, limit_B=limit_B, config=config, draws=draws)
        if choice.diversity:
            return search_diversely(
                decoder, start=start, end=END, limit_B=limit_B, config=config, diversity=choice.diversity
            )
        return search(decoder, start=start, end=END, limit_B=limit_B, config=config)

    def _decoder(self, tasks: Sequence[Task], rows: int) -> Decoder:
        sources, num_steps = [task.source for task in tasks], max(task.limit for task in tasks)
        decoders = [
            EngineDecoder(one, sources, rows, num_steps)
            if isinstance(one, Engine)
            else one.decoder(sources, rows)
            for one in self._searchers
        ]
        return decoders[0] if len(decoders) == 1 else EnsembleDecoder(decoders)

    @cached_property
    def _table(self) -> PieceTable:
        return PieceTable(self._tokenizer)

    @property
    def _device(self) -> torch.device:
        first = self._searchers[0]
        return torch.device("cpu") if isinstance(first, Engine) else first.device
