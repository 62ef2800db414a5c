"""Lines of a text file: cut at line feeds and nowhere else, read one at a time.

``str.splitlines`` also cuts at U+0085, U+2028, form feeds and lone carriage returns, which shifts
every later pair of a corpus. Here a line ends at LF; a CR just before it belongs to the line end.
"""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from dragoman.errors import CorpusError

STANDARD_INPUT = "-"
"""The name that stands for standard input wherever a file is read once."""

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


def read_lines(path: Path | str) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file without their ends.

    A line ends at LF or CR LF. A last line without LF counts; nothing follows a final LF. A
    byte-order mark at the start is dropped. Files compressed by gzip are told by their first bytes,
    whatever their name. One line at a time is held in memory.

    Args:
        path: The file, or ``-`` for standard input.

    Raises:
        CorpusError: The file is missing, a folder, not readable, a Git LFS pointer, broken gzip or
            not UTF-8; the message names the file and, where there is one, the line.
    """
    name = display_name(path)
    number = 0
    try:
        with _opened(path) as stream:
            for number, raw in enumerate(stream, start=1):
                yield _line(raw, name, number)
    except _BROKEN_GZIP as error:
        raise CorpusError(
            f"{name} is broken {f'after line {number:,}' if number else 'at its beginning'}: "
            f"not a whole gzip file ({error})",
            hint=f"test it with 'gzip --test {name}' and fetch it again",
        ) from None
    except OSError as error:
        _raise_unreadable(name, error)


def display_name(path: Path | str) -> str:
    """Return the name by which messages call this file."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def lfs_pointer_size(head: bytes) -> int | None:
    """Return the size in bytes that a Git LFS pointer promises, or None where there is no pointer.

    Args:
        head: The first bytes of a file; a whole pointer is under 200 bytes.
    """
    if not head.startswith(_LFS_POINTER):
        return None
    sizes = [line[5:] for line in head[:1024].split(b"\n") if line.startswith(b"size ")]
    return int(sizes[0]) if sizes and sizes[0].isdigit() else 0


def lfs_pointer_message(name: str, num_bytes: int, promised: int) -> tuple[str, str]:
    """Return message and hint for a file that is a Git LFS pointer.

    Args:
        name: The file, as messages call it.
        num_bytes: Its size on disk.
        promised: The size the pointer gives for the real file, in bytes.
    """
    message = (
        f"{name} is a Git LFS pointer of {num_bytes:,} bytes, "
        f"not the file itself ({promised:,} bytes expected)"
    )
    return message, "fetch the file with 'git lfs pull'"


@contextmanager
def _opened(path: Path | str) -> Iterator[BinaryIO]:
    """Open a file, decompressed where it is gzip, and refuse Git LFS pointers."""
    if str(path) == STANDARD_INPUT:
        yield _decompressed(_standard_input())
        return
    with Path(path).open("rb") as stream:
        head = stream.peek(1024)
        promised = lfs_pointer_size(head)
        if promised is not None:
            message, hint = lfs_pointer_message(str(path), len(head), promised)
            raise CorpusError(message, hint=hint)
        yield _decompressed(stream)


def _standard_input() -> BufferedReader:
    """Return standard input with a buffer of its own, where it is a file of the system.

    A thread may wait for a line while the program ends. If it held the buffer of ``sys.stdin``, which Python
    closes at the end, Python would abort.

    Raises:
        CorpusError: Standard input is closed.
    """
    if sys.stdin is None:
        raise CorpusError("standard input is closed", hint="name a file, or send text by a pipe")
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except io.UnsupportedOperation:
        return cast(BufferedReader, sys.stdin.buffer)


def _decompressed(stream: BufferedReader) -> BinaryIO:
    if stream.peek(2).startswith(_GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=stream, mode="rb"))
    return stream


def _line(raw: bytes, name: str, number: int) -> str:
    if number == 1:
        if raw.startswith(_UTF_16_MARKS):
            raise CorpusError(
                f"{name}, line 1: starts with the byte-order mark of UTF-16; text must be UTF-8",
                hint=f"convert it with 'iconv -f UTF-16 -t UTF-8{_operand(name)}'",
            )
        raw = raw.removeprefix(_BYTE_ORDER_MARK)
    if raw.endswith(b"\n"):
        raw = raw[:-2] if raw.endswith(b"\r\n") else raw[:-1]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{name}, line {number:,}: byte {error.start + 1:,} of the line is 0x{raw[error.start]:02X}, "
            f"which is not valid UTF-8 ({error.reason})",
            hint="convert the file, as with "
            f"'iconv -f ISO-8859-1 -t UTF-8{_operand(name)}', or mend the line",
        ) from None


def _operand(name: str) -> str:
    """Return the file as a word to type after a command, which reads standard input without one."""
    return "" if name == display_name(STANDARD_INPUT) else f" {name}"


def _raise_unreadable(name: str, error: OSError) -> NoReturn:
    reason = error.strerror or str(error)
    if isinstance(error, FileNotFoundError):
        raise CorpusError(
            f"{name}: no such file", hint="check the path, or list its folder with 'ls'"
        ) from None
    if isinstance(error, IsADirectoryError):
        raise CorpusError(f"{name} is a folder, not a text file", hint="name a file inside it") from None
    if isinstance(error, PermissionError):
        raise CorpusError(
            f"{name} may not be read: {reason.lower()}", hint=f"look at its rights with 'ls -l {name}'"
        ) from None
    raise CorpusError(f"{name} cannot be read: {reason}") from None
