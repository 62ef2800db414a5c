"""Lines end at LF, and every fault of a file is said with its place."""

import gzip
import io
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from dragoman.errors import CorpusError
from dragoman.text import read_lines


def written(tmp_path: Path, content: bytes, name: str = "corpus.en") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"one", ["one"]),
        (b"one\n", ["one"]),
        (b"one\n\n\n", ["one", "", ""]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"one\rstill one\ntwo\r", ["one\rstill one", "two\r"]),
        (b"one\r\r\n", ["one\r"]),
        ("a\u2028b\u0085c\x0bd\x0ce\x1cf\n".encode(), ["a\u2028b\u0085c\x0bd\x0ce\x1cf"]),
        (b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n", ["one", "\ufefftwo"]),
        (b"nul\0inside\n", ["nul\0inside"]),
    ],
)
def test_a_line_ends_at_lf_or_cr_lf_and_nowhere_else(
    tmp_path: Path, content: bytes, lines: list[str]
) -> None:
    """Only LF, with an optional CR before it, ends a line; a byte-order mark counts at the start only."""
    assert list(read_lines(written(tmp_path, content))) == lines


def test_gzip_is_told_by_its_bytes(tmp_path: Path) -> None:
    """A compressed file reads like the plain one, under any name."""
    content = b"\xef\xbb\xbfone\r\ntwo"
    plain = written(tmp_path, content)
    packed = written(tmp_path, gzip.compress(content), "packed.de")

    assert list(read_lines(packed)) == list(read_lines(str(plain))) == ["one", "two"]


@pytest.mark.parametrize("content", [b"one\ntwo\n", gzip.compress(b"one\ntwo\n", mtime=0)])
def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """The name "-" reads standard input, compressed or not."""
    buffer = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer))

    assert list(read_lines("-")) == ["one", "two"]


def test_closed_standard_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a process was given no standard input, the message says so."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CorpusError, match="standard input is closed"):
        next(read_lines("-"))


def test_bad_utf_8_names_file_line_and_byte(tmp_path: Path) -> None:
    """A byte that is not UTF-8 is reported with its file, line and place, after the good lines."""
    path = written(tmp_path, b"good\nno\xe9l\n")
    lines = read_lines(path)
    first = next(lines)
    with pytest.raises(CorpusError) as fault:
        next(lines)

    assert first == "good"
    assert f"{path}, line 2: byte 3 of the line is 0xE9" in fault.value.message
    assert "iconv" in str(fault.value.hint)


LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab12\nsize 12345678\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (LFS_POINTER, ["Git LFS pointer", "12,345,678 bytes expected"]),
        ("one\ntwo\n".encode("utf-16"), ["line 1", "UTF-16"]),
        (gzip.compress(os.urandom(9_000).hex().encode())[:5_000], ["not a whole gzip file"]),
        (b"\x1f\x8b\x08" + b"\0" * 50, ["not a whole gzip file"]),
        (b"\x1f\x8bthis is no gzip file at all", ["not a whole gzip file"]),
    ],
    ids=["lfs", "utf-16", "cut", "zeros", "magic"],
)
def test_a_file_of_another_kind_is_named(tmp_path: Path, content: bytes, words: list[str]) -> None:
    """Whatever is no UTF-8 text ends in one message with the file and what it is."""
    path = written(tmp_path, content)
    with pytest.raises(CorpusError) as fault:
        list(read_lines(path))

    assert all(word in fault.value.message for word in [str(path), *words])
    assert fault.value.hint


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    """A path without a text file behind it is reported as what it is."""
    with pytest.raises(CorpusError, match=r"absent\.en: no such file"):
        list(read_lines(tmp_path / "absent.en"))
    with pytest.raises(CorpusError, match="is a folder, not a text file"):
        list(read_lines(tmp_path))
    with pytest.raises(CorpusError, match="cannot be read"):
        list(read_lines(written(tmp_path, b"one\n") / "inside"))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_rights_is_named(tmp_path: Path) -> None:
    """A file that may not be read is reported with its name."""
    path = written(tmp_path, b"one\n")
    path.chmod(0)
    with pytest.raises(CorpusError) as fault:
        list(read_lines(path))

    assert f"{path} may not be read" in fault.value.message


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Reading twenty megabytes needs less than one."""
    path = written(tmp_path, gzip.compress(b"the same line again" * 50 + b"\n", 1) * 20_000)
    tracemalloc.start()
    num_lines = sum(1 for _ in read_lines(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert num_lines == 20_000
    assert peak < 2**20
