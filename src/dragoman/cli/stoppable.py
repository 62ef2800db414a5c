"""Progress of a training that a signal can stop."""

import click
from rich.console import Console

from dragoman.cli.progress import TerminalReporter
from dragoman.cli.stop import StopSignals
from dragoman.storage.progress import Progress
from dragoman.train.step import StopRequestedError


class StoppableReporter(TerminalReporter):
    """Shows a run, and lets signals wait for the end of a micro-batch while the loop goes on.

    Args:
        signals: Told when the loop begins and ends; where they are quiet, nothing is shown.
        samples: Whether to show translated sentences at each validation.
    """

    def __init__(self, signals: StopSignals, *, samples: bool = True) -> None:
        super().__init__(Console(quiet=True) if signals.quiet else None, samples=samples)
        self._signals = signals

    def training_started(self, progress: Progress, num_steps: int) -> None:
        """From here somebody asks for a wish to stop."""
        self._signals.graceful = True
        super().training_started(progress, num_steps)

    def busy(self) -> None:
        """A wish to stop does not wait for the end of a validation."""
        if self._signals.graceful and self._signals.requested():
            raise StopRequestedError

    def training_ended(self, reason: str) -> None:
        """From here nobody asks any more."""
        self._signals.graceful = False
        super().training_ended(reason)
        if reason not in ("interrupted", "error") and self._signals.exit_code is not None:
            raise click.exceptions.Exit(self._signals.exit_code)  # all is saved; what follows may take long
