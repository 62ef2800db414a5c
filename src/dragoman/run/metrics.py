"""``metrics.jsonl``: one JSON object a line for each step and each validation.

It holds nothing that differs between two runs of the same seed, so times are left out. Each line ends with a
checksum of what is before it, ``crc32``, by which a damaged one is known.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dragoman.errors import CheckpointError, MissingDependencyError

_CHECKSUM = b', "crc32": '


class MetricsLog:
    """Appends records, and forgets those of steps that a resumed run makes again.

    Args:
        path: The file; made if it does not exist.
        tensorboard: A folder that gets the same numbers for TensorBoard, or None.

    Raises:
        MissingDependencyError: TensorBoard is asked for and not installed.
        CheckpointError: The file cannot be opened or written; so does every method.
    """

    def __init__(self, path: Path, tensorboard: Path | None = None) -> None:
        self._board = None if tensorboard is None else _open_board(tensorboard)
        self._path = path
        with self._said():
            self._file = path.open("ab", buffering=0)

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record; it has a ``step``.

        That of a validation is written through to the disk, so that no checkpoint is newer than its record.
        """
        with self._said():
            line = memoryview(_line(record))
            while line:  # a disk that is nearly full takes a part
                line = line[self._file.write(line) :]
            if "validation" in record:
                os.fsync(self._file.fileno())
        if self._board is not None:
            kind = "validation" if "validation" in record else "training"
            for name, value in record.get("validation", record).items():
                if name not in ("step", "epoch"):
                    self._board.add_scalar(f"{kind}/{name}", value, record["step"])

    def last_saved_step(self) -> int:
        """Return the last step that certainly was saved, or 0: its validation has a record and a later one.

        A checkpoint is written after the record of its validation and before the next step.
        """
        saved, validated = 0, 0
        with self._said(), self._path.open("rb") as file:
            for line in file:
                record = _record(line)
                if record is None:
                    break
                saved = validated
                validated = record["step"] if "validation" in record else validated
        return saved

    def cut_after(self, step: int, notice: Callable[[str], None]) -> int:
        """Drop the records of later steps, and what follows a line that is damaged or was cut off.

        Args:
            step: Where the run goes on.
            notice: Is told of a damaged line.

        Returns:
            The step of the last record that is left, or 0.
        """
        size, number, last = 0, 0, 0
        with self._said():
            with self._path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    record = _record(line)
                    if record is None and line.endswith(b"\n"):
                        notice(
                            f"{self._path}:{number}: the line is damaged; it and those after it are dropped"
                        )
                    if record is None or record["step"] > step:
                        break
                    size, last = size + len(line), record["step"]
            self._file.truncate(size)
        return last

    def close(self) -> None:
        """Write everything through."""
        with self._said():
            self._file.close()
        if self._board is not None:
            self._board.close()

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Turn what the disk answers into a message."""
        try:
            yield
        except OSError as error:
            raise CheckpointError(
                f"{self._path}: cannot write: {error.strerror}",
                hint="make room on the disk; then go on with --resume",
            ) from error


def whole_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a log; lines that are damaged, or not yet whole, are left out."""
    with path.open("rb") as file:
        yield from filter(None, map(_record, file))


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record)[:-1].encode()
    return text + _checksum(text)


def _record(line: bytes) -> dict[str, Any] | None:
    """Return what a line holds, or None if it is not as it was written."""
    text = line.rpartition(_CHECKSUM)[0]
    if not text or line != text + _checksum(text):
        return None
    record: dict[str, Any] = json.loads(text + b"}")
    return record


def _checksum(text: bytes) -> bytes:
    return b"%s%d}\n" % (_CHECKSUM, zlib.crc32(text))


def check_tensorboard() -> None:
    """Refuse to go on without TensorBoard.

    Raises:
        MissingDependencyError: It is not installed.
    """
    if find_spec("tensorboard") is None:
        raise MissingDependencyError(
            "train.tensorboard needs the package tensorboard, which is not installed",
            hint="pip install 'dragoman[tensorboard]', or --set train.tensorboard=false",
        )


def _open_board(folder: Path) -> Any:
    check_tensorboard()
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder))
