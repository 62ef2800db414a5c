"""Files that are whole or are not there."""

import os
import socket as socket_module
from contextlib import closing
from pathlib import Path
from typing import TextIO

import pytest

from dragoman.errors import UsageError
from dragoman.run.output import check_output, whole_file, write_bytes


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    """Until the end of the block the old content stands under the name."""
    path = tmp_path / "out"
    path.write_text("old", encoding="utf-8")
    with whole_file(path) as file:
        file.write("new\r\n")
        before = path.read_text(encoding="utf-8")

    assert (before, path.read_bytes()) == ("old", b"new\r\n")
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    """A block that fails leaves neither the file nor a part of it."""

    def fail(file: TextIO) -> None:
        file.write("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "out") as file:
        fail(file)

    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """Where the name is a link, the file that it leads to is replaced."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    with whole_file(link) as file:
        file.write("new")

    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_a_device_is_written_to() -> None:
    """What is no file, as the system's sink, is not replaced."""
    with whole_file(Path(os.devnull)) as file:
        file.write("nothing")

    assert not Path(os.devnull).is_file()


def test_no_input_may_be_the_output(tmp_path: Path) -> None:
    """An input under any name, a folder, and a place that does not exist are refused."""
    file, same = tmp_path / "file", tmp_path / "same"
    file.write_text("text", encoding="utf-8")
    os.link(file, same)

    with pytest.raises(UsageError, match="read as input"):
        check_output(same, [tmp_path / "missing", file])
    with pytest.raises(UsageError, match="this is a folder"):
        check_output(tmp_path, [file])
    with pytest.raises(UsageError, match="there is no folder"):
        check_output(tmp_path / "missing" / "file", [file])


def test_what_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    """A device that cannot be opened, and a name that cannot be taken in the end."""
    socket, taken = tmp_path / "socket", tmp_path / "out"
    with closing(socket_module.socket(socket_module.AF_UNIX)) as listening:
        listening.bind(str(socket))
        with pytest.raises(UsageError, match="cannot be written"), whole_file(socket):
            pytest.fail("it was opened")
    with pytest.raises(UsageError, match="cannot be written"), whole_file(taken):
        taken.mkdir()

    assert not (tmp_path / ".out.tmp").exists()


def test_a_pipe_is_written_to() -> None:
    """As the shell names one, which cannot be opened by the name that its link leads to."""
    reading, writing = os.pipe()
    path = Path(f"/dev/fd/{writing}")
    if not path.exists():
        pytest.skip("this system has no names for open files")
    with whole_file(path) as file:
        file.write("text ")
    write_bytes(path, b"bytes")
    os.close(writing)
    with os.fdopen(reading, "rb") as read:
        assert read.read() == b"text bytes"
