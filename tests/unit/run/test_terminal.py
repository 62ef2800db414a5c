"""What the terminal shows of a run."""

import io
import re

import pytest
from rich.console import Console

from dragoman.cli import progress as shown
from dragoman.cli.progress import TerminalReporter
from dragoman.storage.progress import Progress
from dragoman.train.step import StepResult


def test_a_line_tells_speed_and_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first step on they are of the time since the run went on, whenever its seconds are counted."""
    now = [1_000.0]
    monkeypatch.setattr(shown.time, "monotonic", lambda: now[0])
    written = io.StringIO()
    reporter = TerminalReporter(Console(file=written, width=200))
    reporter.training_started(Progress(step=5, num_target_tokens=900, seconds=70.0), 11)
    now[0] += 30.0
    reporter.stepped(
        Progress(step=6, num_target_tokens=1_500, seconds=70.0), StepResult(2.0, 1.5, 1.0, 600), 1e-3
    )
    line = written.getvalue().splitlines()[-1]

    assert re.fullmatch(r"step 6 of 11  loss 1\.500  rate 1\.00e-03  20 tokens/s  .* left", line), line
    assert "2.5 minutes left" in line
