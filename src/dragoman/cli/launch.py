"""Several ranks of one command on this machine."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

LAUNCHER = "DRAGOMAN_LAUNCHER"
"""Variable with the process that has started a rank: when it is gone, the rank saves and ends."""

_GRACE_SECONDS = 20.0
"""For the other ranks to end by themselves once one has died."""

_POLL_SECONDS = 0.1


def launch(num_ranks: int, arguments: Sequence[str]) -> int:
    """Run the same command once a rank, and return the exit code of the whole.

    Signals that ask to stop reach every rank once. When one rank fails, the others end with it.

    Args:
        num_ranks: Processes to start.
        arguments: Of ``dragoman``, as they were given.
    """
    threads = max(1, _num_cores() // num_ranks)
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        processes: list[subprocess.Popen[bytes]] = []
        heard: list[int] = []
        before = {
            number: signal.signal(number, lambda number, _: heard.append(number))
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            for rank in range(num_ranks):
                own = {
                    "RANK": str(rank),
                    "LOCAL_RANK": str(rank),
                    "WORLD_SIZE": str(num_ranks),
                    "LOCAL_WORLD_SIZE": str(num_ranks),
                    "DRAGOMAN_MEETING_FILE": str(Path(folder) / "meeting"),
                    LAUNCHER: str(os.getpid()),
                    "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(threads)),
                }
                processes.append(
                    subprocess.Popen(
                        [sys.executable, "-m", "dragoman", *arguments],
                        env=os.environ | own,
                        start_new_session=True,
                    )
                )
            return _wait(processes, heard)
        finally:
            for process in processes:
                process.kill()
                process.wait()
            for number, handler in before.items():
                signal.signal(number, handler)


def _wait(processes: Sequence["subprocess.Popen[bytes]"], heard: list[int]) -> int:
    """Wait for all ranks, pass signals on, and give up on the others some time after one has failed."""
    deadline, failed = None, None
    while any(process.poll() is None for process in processes):
        while heard:
            number = heard.pop(0)
            for process in processes:
                process.send_signal(number)
        if failed is None:
            failed = next((rank for rank, process in enumerate(processes) if process.returncode), None)
            deadline = None if failed is None else time.monotonic() + _GRACE_SECONDS
        if deadline is not None and time.monotonic() > deadline:
            break
        time.sleep(_POLL_SECONDS)
    if failed is None:
        failed = next((rank for rank, process in enumerate(processes) if process.returncode), 0)
    code = processes[failed].returncode
    if code < 0:
        name = signal.Signals(-code).name
        click.echo(f"error: rank {failed} was ended by {name}; all ranks end with it", err=True)
        click.echo("hint: go on with the same command and --resume", err=True)
        return 1
    return code


def _num_cores() -> int:
    """Return the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
