"""Lines in windows."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from dragoman.errors import CorpusError
from dragoman.run.windows import check_input, live_windows, windows

WAIT_SECONDS = 10.0


def test_windows_of_a_file_are_always_the_same(tmp_path: Path) -> None:
    """A file is cut into windows of the size that is asked for, with the rest at the end."""
    file = tmp_path / "lines"
    file.write_text("".join(f"{number}\n" for number in range(10)), encoding="utf-8")

    assert list(windows(file, 4)) == [list("0123"), list("4567"), list("89")]
    assert check_input(file) == 10


def test_lines_that_are_there_are_taken_at_once() -> None:
    """Lines that come without a pause stand in one window, up to its size."""
    assert list(live_windows(iter("abcdefg"), 3)) == [list("abc"), list("def"), list("g")]


def test_a_line_is_not_held_back_for_the_next() -> None:
    """When no more lines come, those that are there are handed over."""
    answered = Event()

    def lines() -> Iterator[str]:
        yield "first"
        assert answered.wait(WAIT_SECONDS)
        yield "second"

    found = live_windows(lines(), 100)
    first = next(found)
    answered.set()

    assert (first, list(found)) == (["first"], [["second"]])


def test_no_lines_are_no_windows() -> None:
    """An input without lines ends at once."""
    assert list(live_windows(iter([]), 3)) == []


def test_an_error_comes_after_the_lines_before_it() -> None:
    """What was read before an error is handed over, then the error is raised."""

    def lines() -> Iterator[str]:
        yield "good"
        raise CorpusError("line 2 is bad")

    found = live_windows(lines(), 3)

    assert next(found) == ["good"]
    with pytest.raises(CorpusError, match="line 2 is bad"):
        next(found)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    """A pipe is not read before it is translated, since it can be read only once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    counted = check_input(pipe)
    writer = Thread(target=pipe.write_text, args=("a\nb\n",))
    writer.start()
    lines = [line for window in windows(pipe, 3) for line in window]
    writer.join()

    assert (counted, lines) == (None, ["a", "b"])


@pytest.mark.parametrize("name", ["", "missing"])
def test_what_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    """A folder and a file that is not there are refused with their names."""
    with pytest.raises(CorpusError, match=str(tmp_path / name)):
        check_input(tmp_path / name)
