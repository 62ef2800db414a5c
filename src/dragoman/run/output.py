"""Files that are whole or are not there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from dragoman.errors import UsageError


def check_output(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse an output that cannot be, before any work.

    Args:
        path: The file to write.
        inputs: Files that are read, of which it must be none.

    Raises:
        UsageError: It is an input or a folder, or its folder does not exist.
    """
    if path.is_dir():
        raise UsageError(f"--output {path}: this is a folder", hint="name a file inside it")
    if not path.parent.is_dir():
        raise UsageError(
            f"--output {path}: there is no folder {path.parent}",
            hint=f"make it with 'mkdir -p {path.parent}'",
        )
    if path.is_file() and any(one.exists() and path.samefile(one) for one in inputs):
        raise UsageError(
            f"--output {path}: this file is read as input and would be lost", hint="name another file"
        )


def write_bytes(path: Path, content: bytes) -> None:
    """Write a binary file that takes its name only when it is whole; a device is written to directly.

    Raises:
        UsageError: The file cannot be written.
    """
    target = path.resolve()
    is_device = path.exists() and not path.is_file()
    temporary = path if is_device else target.with_name(f".{target.name}.tmp")
    with _said(path):
        temporary.write_bytes(content)
        if not is_device:
            temporary.replace(target)


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that takes its name only when the block ends without an error.

    What bore the name stays as it was until then. A device or a pipe is written to directly.

    Raises:
        UsageError: The file cannot be written.
    """
    target = path.resolve()
    is_device = path.exists() and not path.is_file()  # what a pipe is resolved to cannot be opened
    temporary = path if is_device else target.with_name(f".{target.name}.tmp")
    with _said(path):
        file = temporary.open("w", encoding="utf-8", newline="\n")
    try:
        with file:
            yield file
        if not is_device:
            with _said(path):
                temporary.replace(target)
    finally:
        if not is_device:
            temporary.unlink(missing_ok=True)


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Turn what the disk answers into a message."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"--output {path}: cannot be written: {reason}", hint="name another file") from None
