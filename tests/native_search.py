"""The engine's search over a table in place of a model, to be compared with the search in Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dragoman.config import SearchConfig
from dragoman.engine.channel import unpacked
from dragoman.engine.library import TableFunction, library
from dragoman.search import Hypothesis
from search_tables import END, START, Table


def rounded(table: Table) -> Table:
    """Return a table whose numbers are those of float32, which the engine computes with."""
    return lambda sentence, history: np.float32(table(sentence, history)).astype(float).tolist()


def run_native(
    table: Table, size: int, limits: Sequence[int], config: SearchConfig
) -> list[list[Hypothesis]]:
    def row(sentence: int, history: Any, length: int, logprob: Any) -> int:
        for token, value in enumerate(table(sentence, tuple(history[0:length]))):
            logprob[token] = value
        return 0

    limit = np.array(limits, np.intc)
    numbers = np.array([config.beam_size, config.n_best, END], np.intc)
    results = library().dragoman_search(
        TableFunction(row),
        size,
        START,
        limit.ctypes.data,
        len(limits),
        numbers.ctypes.data,
        config.length_penalty,
    )
    assert results
    return [hypotheses for _, hypotheses in unpacked(results)]
