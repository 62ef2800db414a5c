"""Lines in windows: what is translated together.

A file gives the same windows in every run. Of a pipe or a terminal, the lines that are there are taken at
once, so that a program that writes one line and waits gets its answer.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import NamedTuple

from dragoman.stream import in_windows
from dragoman.text import STANDARD_INPUT, read_lines

_NEXT_LINE_SECONDS = 0.005
"""How long the next line may be in coming, if others wait for their translation."""

_WINDOW_SECONDS = 0.05
"""How long the first line of a window waits at most for others."""

_WINDOWS_AHEAD = 8


class _End(NamedTuple):
    """After the last line: the error that ended the reading, if one did."""

    error: Exception | None


def check_input(path: Path | str) -> int | None:
    """Return the number of lines of a file after each was read, or None of what can be read only once.

    Raises:
        CorpusError: The file cannot be read, or a line of it is not UTF-8.
    """
    return None if _is_live(path) else sum(1 for _ in read_lines(path))


def windows(path: Path | str, size: int) -> Iterator[list[str]]:
    """Yield all lines in order, in lists of at most ``size``; none is empty.

    Raises:
        CorpusError: Where a line cannot be read; those before it were yielded.
    """
    lines = read_lines(path)
    if _is_live(path):
        yield from live_windows(lines, size)
        return
    yield from in_windows(lines, size)


def _is_live(path: Path | str) -> bool:
    """Tell whether lines come from a pipe or a terminal, at its own pace."""
    if str(path) == STANDARD_INPUT:
        return True
    path = Path(path)
    return path.exists() and not path.is_file() and not path.is_dir()


def live_windows(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    """Yield the lines that have come, as soon as no more follow at once.

    A thread reads ahead by some windows. It is a daemon: while it waits for a line, nothing can wake it, and
    the program may end nevertheless.
    """
    arrived: Queue[str | _End] = Queue(maxsize=_WINDOWS_AHEAD * size)

    def read() -> None:
        error: Exception | None = None
        try:
            for line in lines:
                arrived.put(line)
        except Exception as raised:
            error = raised  # raised again where the lines are used
        arrived.put(_End(error))

    Thread(target=read, name="dragoman-lines", daemon=True).start()
    while True:
        window, end = _gather(arrived, size)
        if window:
            yield window
        if end is not None:
            if end.error is not None:
                raise end.error
            return


def _gather(arrived: "Queue[str | _End]", size: int) -> tuple[list[str], _End | None]:
    """Wait for a line, then take those that follow at once."""
    window: list[str] = []
    item = arrived.get()
    latest = time.monotonic() + _WINDOW_SECONDS
    while not isinstance(item, _End):
        window.append(item)
        wait = min(_NEXT_LINE_SECONDS, latest - time.monotonic())
        if len(window) == size:
            return window, None
        try:
            item = arrived.get(timeout=wait) if wait > 0 else arrived.get_nowait()
        except Empty:
            return window, None
    return window, item
