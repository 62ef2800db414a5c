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
    temporary = target.with_name(f".{target.name}.tmp") if path.is_file() or not path.exists() else target
    try:
        temporary.write_bytes(content)
        if temporary != target:
            temporary.replace(target)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"--output {path}: cannot be written: {reason}", hint="name another file") from None


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that takes its name only when the block ends without an error.

    What bore the name stays as it was until then. A device or a pipe is written to directly.

    Raises:
        UsageError: The file cannot be written.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        file = temporary.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"--output {path}: cannot be written: {reason}", hint="name another file") from None
    try:
        with file:
            yield file
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
