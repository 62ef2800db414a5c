"""Several ranks of one command on this machine."""

import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from dragoman.errors import RanksError, UsageError

LAUNCHER = "DRAGOMAN_LAUNCHER"
"""Variable with the process that has started a rank: when it is gone, the rank saves and ends."""

_GRACE_SECONDS = 20.0
"""For the other ranks to end by themselves once one has died."""

_AT_ONCE_SECONDS = 3.0
"""For all ranks to end once a second signal has come."""

_POLL_SECONDS = 0.1

Processes = Sequence["subprocess.Popen[bytes]"]


def launch(num_ranks: int, arguments: Sequence[str]) -> int:
    """Run the same command once a rank, and return the exit code of the whole.

    Signals that ask to stop reach every rank once. When one rank fails, the others end with it. Only rank 0
    is heard while it runs; what the first rank to fail has said is shown in the end, since most
    others only say that they have lost it.

    Args:
        num_ranks: Processes to start.
        arguments: Of ``dragoman``, as they were given.
    """
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder, _heard_signals() as heard:
        processes: list[subprocess.Popen[bytes]] = []
        try:
            processes.extend(_start(rank, num_ranks, Path(folder), arguments) for rank in range(num_ranks))
            failed = _wait(processes, heard)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        return _conclude(processes, failed, heard, Path(folder))


@contextmanager
def _heard_signals() -> Iterator[list[int]]:
    """Yield a list to which each signal that asks to stop is added."""
    heard: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: heard.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    yield heard
    for number, handler in before.items():
        signal.signal(number, handler)


def _start(rank: int, num_ranks: int, folder: Path, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start one rank, which learns its place from its environment."""
    own = {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(num_ranks),
        "LOCAL_WORLD_SIZE": str(num_ranks),
        "DRAGOMAN_MEETING_FILE": str(folder / "meeting"),
        LAUNCHER: str(os.getpid()),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(max(1, _num_cores() // num_ranks))),
    }
    with _said(folder, rank).open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "dragoman", *arguments],
            env=os.environ | own,
            start_new_session=True,  # signals of the terminal come from here alone
            stdin=subprocess.DEVNULL,
            stdout=said if rank else None,
            stderr=said if rank else None,
        )


def _wait(processes: Processes, heard: Sequence[int]) -> list[int]:
    """Wait for all ranks and pass signals on; return the ranks that have failed, in that order.

    Some time after one has failed, or after a second signal, the others are not waited for any longer.
    """
    failed: list[int] = []
    deadline, num_passed_on = math.inf, 0
    while True:
        running = [process for process in processes if process.poll() is None]
        failed += [
            rank for rank in range(len(processes)) if processes[rank].returncode and rank not in failed
        ]
        if failed:
            deadline = min(deadline, time.monotonic() + _GRACE_SECONDS)
        if not running or time.monotonic() > deadline:
            return failed
        for number in heard[num_passed_on:]:
            num_passed_on += 1
            for process in running:
                process.send_signal(number)
        if num_passed_on > 1:
            deadline = min(deadline, time.monotonic() + _AT_ONCE_SECONDS)
        time.sleep(_POLL_SECONDS)


def _conclude(processes: Processes, failed: Sequence[int], heard: Sequence[int], folder: Path) -> int:
    """Tell what has happened, unless rank 0 has told it, and return the exit code.

    Args:
        processes: All ranks, ended.
        failed: Those that have ended with a failure by themselves, in that order.
        heard: Signals that asked to stop.
        folder: With what each rank but the first has said.
    """
    code_of = [process.returncode for process in processes]
    stopped = {code for number in heard for code in (-number, 128 + number)}
    expected = {RanksError.exit_code, *stopped} if heard else {RanksError.exit_code}
    alone = [rank for rank in failed if code_of[rank] not in expected]
    if not alone:
        code = 128 + heard[0] if heard else RanksError.exit_code
        return code if any(code_of) else 0
    # a fault of the command line is found by every rank, and rank 0 has told it
    rank = 0 if code_of[0] == UsageError.exit_code else alone[0]
    click.echo(_said(folder, rank).read_bytes(), err=True, nl=False)
    if code_of[rank] > 0:
        return code_of[rank]
    name = signal.Signals(-code_of[rank]).name
    click.echo(f"error: rank {rank} was ended by {name}, and all ranks with it", err=True)
    click.echo("hint: go on with --resume; if memory was short, with fewer --ranks", err=True)
    return RanksError.exit_code


def _said(folder: Path, rank: int) -> Path:
    """Return the file with what a rank has said; of rank 0, which is heard at once, it stays empty."""
    return folder / f"rank-{rank}.txt"


def _num_cores() -> int:
    """Return the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
