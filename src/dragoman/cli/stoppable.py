"""Progress of a training that a signal can stop."""

from rich.console import Console

from dragoman.cli.progress import TerminalReporter
from dragoman.cli.stop import StopSignals
from dragoman.storage.progress import Progress


class StoppableReporter(TerminalReporter):
    """Shows a run, and lets signals wait for the end of a step while the loop goes on.

    Args:
        signals: Told when the loop begins and ends; where they are quiet, nothing is shown.
        samples: Whether to show translated sentences at each validation.
    """

    def __init__(self, signals: StopSignals, *, samples: bool = True) -> None:
        super().__init__(Console(quiet=True) if signals.quiet else None, samples=samples)
        self._signals = signals

    def training_started(self, progress: Progress, num_steps: int) -> None:
        """From here somebody asks for a wish to stop after each step."""
        self._signals.graceful = True
        super().training_started(progress, num_steps)

    def training_ended(self, reason: str) -> None:
        """From here nobody asks any more."""
        self._signals.graceful = False
        super().training_ended(reason)
