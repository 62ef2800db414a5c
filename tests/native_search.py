"""The engine's search over a table in place of a model, tested as the search in Python is."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from dragoman.config import SearchConfig
from dragoman.engine import is_there
from dragoman.engine.channel import unpacked
from dragoman.engine.library import TableFunction, library
from dragoman.search import Hypothesis
from search_tables import END, START, Table, run

Search = Callable[[Table, Sequence[int], Sequence[int], SearchConfig], list[list[Hypothesis]]]


def rounded(table: Table) -> Table:
    """Return a table whose numbers are those of float32, which the engine computes with."""
    return lambda sentence, history: np.float32(table(sentence, history)).astype(float).tolist()


def run_native(
    table: Table, sentences: Sequence[int], limits: Sequence[int], config: SearchConfig
) -> list[list[Hypothesis]]:
    """Search as ``search_tables.run`` does, natively."""

    def row(job: int, history: Any, length: int, logprob: Any) -> int:
        for token, value in enumerate(table(sentences[job], tuple(history[0:length]))):
            logprob[token] = value
        return 0

    limit = np.array(limits, np.intc)
    numbers = np.array([config.beam_size, config.n_best, END], np.intc)
    results = library().dragoman_search(
        TableFunction(row),
        len(table(sentences[0], (START,))) if sentences else 1,
        START,
        limit.ctypes.data,
        len(limits),
        numbers.ctypes.data,
        config.length_penalty,
    )
    assert results
    return [hypotheses for _, hypotheses in unpacked(results)]


both_searches = pytest.mark.parametrize(
    "search_table",
    [
        pytest.param(run, id="python"),
        pytest.param(
            run_native,
            id="native",
            marks=pytest.mark.skipif(not is_there(), reason="the native engine is not built here"),
        ),
    ],
)
"""Runs a test with each search; tables must be rounded, so that both see the same numbers."""
