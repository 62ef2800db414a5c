"""Ctrl-C and SIGTERM: a training saves and ends; anything before it ends at once."""

import signal
from types import FrameType
from typing import Self

import click

from dragoman.errors import DragomanError

_EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


class StopSignals:
    """While it is entered, hears the first wish to stop; the second one ends the process at once.

    Args:
        quiet: Say nothing, as ranks do that are not the first.

    Attributes:
        graceful: Whether somebody asks ``requested``. Until then a signal ends the command at once.
        exit_code: 130 after Ctrl-C, 143 after SIGTERM, None before.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.graceful = False
        self.quiet = quiet
        self.exit_code: int | None = None
        self._before: dict[signal.Signals, object] = {}
        self._ended = False

    def __enter__(self) -> Self:
        for number in _EXIT_CODES:
            self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        if self._ended and isinstance(error, DragomanError):  # a library took the end for a fault of its own
            raise click.exceptions.Exit(self.exit_code or 1) from None

    def requested(self) -> bool:
        """Tell whether a stop was wished for."""
        return self.exit_code is not None

    def _hear(self, number: int, _: FrameType | None) -> None:
        repeated, self.exit_code = self.requested(), _EXIT_CODES[signal.Signals(number)]
        if repeated or not self.graceful:
            click.echo("\nstopped", err=True)
            self._ended = True
            raise click.exceptions.Exit(self.exit_code)
        if self.quiet:
            return
        click.echo("\nstopping, and saving; once more to stop at once", err=True)
