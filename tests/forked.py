"""The command line in processes forked from one that has imported everything: a start costs no time."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class Forked:
    """A command in a process group of its own, to be waited for and killed like a ``subprocess.Popen``.

    Args:
        words: The command line after ``dragoman``.
        log: Takes what the command writes to standard output and standard error.
    """

    def __init__(self, words: Sequence[str], log: Path) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["dragoman.cli.train", "dragoman.run"])
        self._log = log
        self._process = context.Process(target=_run, args=(words, log))
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None

        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end and return what was written, or raise ``subprocess.TimeoutExpired``."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            assert timeout is not None

            raise subprocess.TimeoutExpired("dragoman", timeout)
        return "", self._log.read_text(encoding="utf-8")


def _run(words: Sequence[str], log: Path) -> None:
    os.setsid()

    from dragoman.cli import main

    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(descriptor, number)
    sys.exit(main(words))
