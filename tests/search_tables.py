"""Small tables that search can be judged by, and judges that share no code with it.

A table tells the log-probabilities of the next token for a sentence and the whole history of an output.
"""

import itertools
import math
import random
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.search import Hypothesis, search

START, END = 0, 1
Table = Callable[[int, tuple[int, ...]], list[float]]
Found = tuple[tuple[int, ...], float, bool]
"""Tokens without the end, score, whether it has ended."""


def log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


def first_order(rows: dict[int, dict[int, float]], size: int) -> Table:
    """A table whose next token depends on the last token only; what is not listed is impossible."""

    def table(sentence: int, history: tuple[int, ...]) -> list[float]:
        return [log(rows.get(history[-1], {}).get(token, 0.0)) for token in range(size)]

    return table


def random_table(seed: int, size: int, *, memory: int = 100, ties: bool = False, holes: bool = True) -> Table:
    """A table of random rows, each a function of the sentence and the last ``memory`` tokens."""

    def table(sentence: int, history: tuple[int, ...]) -> list[float]:
        draw = random.Random(f"{seed} {sentence} {history[-memory:]}")
        weights = [float(draw.choice((1, 1, 2))) if ties else draw.expovariate(1.0) for _ in range(size)]
        weights[START] = 0.0
        if holes:
            weights[draw.randrange(size)] = 0.0
        total = sum(weights) or 1.0
        return [log(weight / total) for weight in weights]

    return table


class TableDecoder:
    """Reads rows of a table; like a decoder with a cache it knows its rows' histories by reorder alone."""

    def __init__(self, table: Table, sentences: Sequence[int], beam_size: int) -> None:
        self.table = table
        self.beam_size = beam_size
        self.rows: list[tuple[int, tuple[int, ...]]] = [
            (sentence, ()) for sentence in sentences for _ in range(beam_size)
        ]
        self.rows_at_step: list[int] = []

    def step(self, token_N: Tensor) -> Tensor:
        self.rows = [
            (sentence, (*history, token))
            for (sentence, history), token in zip(self.rows, token_N.tolist(), strict=True)
        ]
        self.rows_at_step.append(len(self.rows))
        return torch.tensor([self.table(*row) for row in self.rows], dtype=torch.float64)

    def reorder(self, row_N: Tensor) -> None:
        sentence_NW = (row_N // self.beam_size).view(-1, self.beam_size)
        assert bool((sentence_NW == sentence_NW[:, :1]).all()), "rows of a sentence stay together"
        assert sentence_NW[:, 0].tolist() == sorted(set(sentence_NW[:, 0].tolist())), "sentences keep order"
        self.rows = [self.rows[row] for row in row_N.tolist()]


def run(
    table: Table, sentences: Sequence[int], limits: Sequence[int], config: SearchConfig
) -> list[list[Hypothesis]]:
    decoder = TableDecoder(table, sentences, config.beam_size)
    return search(decoder, start=START, end=END, limit_B=torch.tensor(limits), config=config)


def score(total: float, length: int, alpha: float) -> float:
    return total / ((5 + length) / 6) ** alpha


def token_scores(table: Table, sentence: int, found: Hypothesis) -> list[float]:
    """Score the tokens of a hypothesis one by one, each from its whole history."""
    tokens = (START, *found.tokens, END) if found.finished else (START, *found.tokens)
    return [table(sentence, tokens[:place])[tokens[place]] for place in range(1, len(tokens))]


def exhaustive(table: Table, size: int, limit: int, alpha: float) -> list[Found]:
    """Score every output within the limit, best first: finished ones, or cut ones if none can finish."""
    finished, cut = [], []
    words = [token for token in range(size) if token not in (START, END)]
    for length in range(limit + 1):
        for tokens in itertools.product(words, repeat=length):
            history = (START, *tokens)
            total = sum(table(0, history[:place])[history[place]] for place in range(1, length + 1))
            ended = total + table(0, history)[END]
            if length < limit and ended > -math.inf:
                finished.append((tokens, score(ended, length + 1, alpha), True))
            if length == limit and total > -math.inf:
                cut.append((tokens, score(total, length, alpha), False))
    return sorted(finished or cut, key=lambda found: -found[1])


def patient_beam(table: Table, sentence: int, limit: int, config: SearchConfig) -> list[Found]:
    """Search with a beam in plain Python that never stops before the limit."""
    alpha, width = config.length_penalty, config.beam_size
    live: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    finished: list[Found] = []
    for length in range(1, limit + 1):
        candidates = [
            ((*tokens, token), total + logprob)
            for tokens, total in live
            for token, logprob in enumerate(table(sentence, (START, *tokens)))
            if logprob > -math.inf
        ]
        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[: 2 * width]
        ended = [
            (tokens[:-1], score(total, length, alpha), True)
            for tokens, total in candidates
            if tokens[-1] == END
        ]
        finished = sorted(finished + ended, key=lambda found: -found[1])[:width]
        live = [candidate for candidate in candidates if candidate[0][-1] != END][:width]
    cut = [(tokens, score(total, limit, alpha), False) for tokens, total in live]
    return (finished or cut)[: config.n_best]
