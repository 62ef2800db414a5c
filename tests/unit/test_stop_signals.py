"""Wishes to stop, heard in the middle of what libraries do."""

import signal

import click
import pytest

from dragoman.cli.stop import StopSignals
from dragoman.errors import BundleError


def read(*, stopped: bool) -> None:
    """Read a file that a stop makes look damaged, or that is."""
    with StopSignals():
        try:
            if stopped:
                signal.raise_signal(signal.SIGTERM)
        finally:
            raise BundleError("model.safetensors is not a whole file")


def test_a_stop_that_a_library_takes_for_a_fault_is_a_stop() -> None:
    """The command ends as one that was stopped, and says nothing of a damaged file."""
    with pytest.raises(click.exceptions.Exit) as end:
        read(stopped=True)

    assert end.value.exit_code == 143


def test_a_fault_without_a_stop_stays_a_fault() -> None:
    """Nothing else is hidden."""
    with pytest.raises(BundleError):
        read(stopped=False)
