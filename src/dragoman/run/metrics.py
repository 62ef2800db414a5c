"""``metrics.jsonl``: one JSON object a line for each step and each validation.

It holds nothing that differs between two runs of the same seed, so times are left out.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class MetricsLog:
    """Appends records, and forgets those of steps that a resumed run makes again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record."""
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def cut_after(self, step: int) -> None:
        """Drop the records of later steps, and a last line that was cut off."""
        kept = []
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") or json.loads(line)["step"] > step:
                    break
                kept.append(line)
        size = sum(map(len, kept))
        self._file.truncate(size)
