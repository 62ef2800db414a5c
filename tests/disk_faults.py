"""A disk whose k-th touch fails: with an error, or with the end of the process."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Crash(BaseException):
    """The process ends here; nothing can catch it."""


class Faults:
    """Lets the k-th touch of the disk fail: opening, writing, synchronizing, renaming, making, removing.

    Args:
        monkeypatch: Takes the faults away again.
        kind: Makes what is raised.
        reads: Whether opening a file to read counts too.
        lasting: Whether all later touches but removals fail as well, as on a disk that is full.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        kind: Callable[[], BaseException],
        *,
        reads: bool = True,
        lasting: bool = False,
    ) -> None:
        self.calls, self.fail_at, self._kind = 0, -1, kind
        self._reads, self._lasting = reads, lasting
        for owner, name in (
            (os, "fsync"),
            (Path, "rename"),
            (Path, "replace"),
            (Path, "mkdir"),
            (Path, "unlink"),
            (shutil, "rmtree"),
        ):
            monkeypatch.setattr(owner, name, self._failing(getattr(owner, name)))
        monkeypatch.setattr(Path, "open", self._half_written(Path.open))

    def count(self, *, removes: bool = False) -> None:
        self.calls += 1
        lasts = self._lasting and not removes and 0 < self.fail_at < self.calls
        if self.calls == self.fail_at or lasts:
            raise self._kind()

    def _failing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        removes = function.__name__ in ("unlink", "rmtree")

        def call(*arguments: Any, **named: Any) -> Any:
            self.count(removes=removes)
            return function(*arguments, **named)

        return call

    def _half_written(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Let a write that fails leave half of its content in the file."""

        def call(path: Path, mode: str = "r", *arguments: Any, **named: Any) -> Any:
            writes = any(letter in mode for letter in "wxa+")
            if writes or self._reads:
                self.count()
            file = function(path, mode, *arguments, **named)
            if not writes:
                return file
            whole = file.write

            def write(content: bytes) -> int:
                try:
                    self.count()
                except BaseException:
                    whole(content[: len(content) // 2])
                    file.flush()
                    raise
                return whole(content)

            return Writing(file, write)

        return call


class Writing:
    """A file whose ``write`` is another one."""

    def __init__(self, file: Any, write: Callable[[bytes], int]) -> None:
        self._file, self.write = file, write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "Writing":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def disk_full() -> BaseException:
    return OSError(28, "No space left on device")


def input_output() -> BaseException:
    return OSError(5, "Input/output error")
