"""``metrics.jsonl``: one JSON object a line for each step and each validation.

It holds nothing that differs between two runs of the same seed, so times are left out.
"""

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dragoman.errors import MissingDependencyError


class MetricsLog:
    """Appends records, and forgets those of steps that a resumed run makes again.

    Args:
        path: The file; made if it does not exist.
        tensorboard: A folder that gets the same numbers for TensorBoard, or None.

    Raises:
        MissingDependencyError: TensorBoard is asked for and not installed.
    """

    def __init__(self, path: Path, tensorboard: Path | None = None) -> None:
        self._board = None if tensorboard is None else _open_board(tensorboard)
        self._path = path
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record; it has a ``step``."""
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()
        if self._board is not None:
            kind = "validation" if "validation" in record else "training"
            for name, value in record.get("validation", record).items():
                if name not in ("step", "epoch"):
                    self._board.add_scalar(f"{kind}/{name}", value, record["step"])

    def cut_after(self, step: int) -> None:
        """Drop the records of later steps, and a last line that was cut off."""
        size = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") or json.loads(line)["step"] > step:
                    break
                size += len(line)
        self._file.truncate(size)

    def close(self) -> None:
        """Write everything through."""
        self._file.close()
        if self._board is not None:
            self._board.close()


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
