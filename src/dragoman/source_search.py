"""Sources in, hypotheses out: by one model or several, at once or step by step."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dragoman.choice import Choice
from dragoman.config import SearchConfig
from dragoman.hypothesis import Hypothesis
from dragoman.searchers import Model, Searcher
from dragoman.text.ids import END

if TYPE_CHECKING:
    from dragoman.decoder_search import DecoderSearch


class Source(NamedTuple):
    """A text, or a part of one, as it is searched for."""

    ids: list[int]
    """Its pieces, without an end."""

    key: int
    """The number of its text."""

    prefix: str
    """How its translation begins."""

    before: str
    """What is written before it, where that must be known."""


class SourceSearch:
    """Finds outputs with one model, or several that choose each piece together.

    Whoever searches holds it, so that it may be let go of meanwhile.

    Args:
        model: The first one.
        searchers: Those of all models.
    """

    def __init__(self, model: Model, searchers: Sequence[Searcher]) -> None:
        self._model = model
        self._searchers = searchers

    def search_each(
        self,
        sources: Sequence[Source],
        config: SearchConfig,
        choice: Choice,
        before_batch: Callable[[], None],
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """Yield the place of each source and its hypotheses, as soon as they are found."""
        limits = [len(source.ids) + 1 + config.extra_length for source in sources]
        if self._model.config.model.positions in ("learned", "table"):
            limits = [min(limit, self._model.config.model.max_positions) for limit in limits]
        whole = [[*source.ids, END] for source in sources]
        if choice.least_risk and choice.sampling is None:
            config = replace(config, n_best=config.beam_size)
        if choice.is_plain and len(self._searchers) == 1 and not any(source.prefix for source in sources):
            return self._searchers[0].search_each(whole, limits, config, before_batch=before_batch)
        from dragoman.decoder_search import Task

        tasks = [
            Task(ids, limit, source.key, source.prefix, source.before)
            for ids, limit, source in zip(whole, limits, sources, strict=True)
        ]
        return self._step_by_step.search_each(tasks, config, choice, before_batch)

    @cached_property
    def _step_by_step(self) -> "DecoderSearch":
        from dragoman.decoder_search import DecoderSearch

        return DecoderSearch(self._searchers, self._model.tokenizer)
