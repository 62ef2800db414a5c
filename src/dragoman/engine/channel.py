"""A native search in a thread of its own, and what it hands over while it runs."""

import ctypes
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

from dragoman.engine.library import fault, library
from dragoman.errors import EngineError
from dragoman.hypothesis import Hypothesis

FoundSource = tuple[int, list[Hypothesis]]
"""The place of a source, and its outputs, best first."""

_ASK_MILLISECONDS = 50
"""How often the caller is asked whether the search goes on."""


def results_of(call: Callable[[int], int], before_batch: Callable[[], None]) -> Iterator[FoundSource]:
    """Yield what a native search finds, as soon as it is there.

    Native code hears no signal; the thread that waits does, and what a handler or ``before_batch`` raises
    ends the search. So does closing the iterator.

    Args:
        call: Searches and puts what it finds into a channel; returns not 0 if it fails.
        before_batch: Called often, by the thread that waits.

    Raises:
        EngineError: The search has failed.
    """
    native = library()
    channel = native.dragoman_channel()
    if not channel:
        raise EngineError(f"the engine has failed: {fault()}")
    future = _threads(os.getpid()).submit(lambda: fault() if call(channel) else None)
    try:
        over = False
        while not over:
            before_batch()
            over = future.done()
            while results := native.dragoman_take(channel, 0 if over else _ASK_MILLISECONDS):
                yield from unpacked(results)
                before_batch()
        if why := future.result():
            raise EngineError(f"the engine has failed: {why}")
    finally:
        native.dragoman_stop(channel)
        wait([future])
        native.dragoman_free_channel(channel)


@cache
def _threads(_process: int) -> ThreadPoolExecutor:
    """Return the threads of a process for native calls; one that begins anew would have cold memory."""
    return ThreadPoolExecutor(64, "dragoman-engine")


def unpacked(results: int) -> list[FoundSource]:
    """Return native results as hypotheses, and free them."""
    native = library()
    try:
        jobs, counts, lengths, num_scores, tokens, token_scores, scores = _arrays(results)
    finally:
        native.dragoman_free_results(results)
    found: list[FoundSource] = []
    one = token = score = 0
    for job, count in zip(jobs, counts, strict=True):
        hypotheses = []
        for _ in range(count):
            length, num = lengths[one], num_scores[one]
            own = tuple(token_scores[score : score + num])
            written = tuple(tokens[token : token + length])
            hypotheses.append(Hypothesis(written, own, math.fsum(own), scores[one], num > length))
            one, token, score = one + 1, token + length, score + num
        found.append((job, hypotheses))
    return found


def _arrays(results: int) -> list[list[Any]]:
    pointers, sizes = (ctypes.c_void_p * 7)(), (ctypes.c_int64 * 7)()
    library().dragoman_results(results, pointers, sizes)
    kinds = [ctypes.c_int] * 5 + [ctypes.c_float, ctypes.c_double]
    return [
        list((kind * size).from_address(pointer)) if size else []
        for kind, pointer, size in zip(kinds, pointers, sizes, strict=True)
    ]
