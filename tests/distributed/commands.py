"""Runs of several ranks by the real command line: started, watched, and read."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tiny_runs import SETTINGS

PLACES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""Variables that tell a process its place; tests must not inherit them."""

ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in PLACES} | {
    "PYTHONPATH": os.pathsep.join(sys.path),
    "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1",
}

EXACT = (
    *SETTINGS,
    "model.dropout=0",
    "data.bpe_dropout=0.1",
    "train.moving_average=0.9",
    "train.micro_batch_tokens=600",
    "train.max_steps=120",
    "train.validation_interval_steps=60",
)
"""Settings of a run whose losses do not depend on the number of ranks: dropout is drawn by each rank."""

ENDLESS = (*EXACT, "train.max_steps=1000000", "train.validation_interval_steps=1000000")

Process = subprocess.Popen[str]


def words(corpus: Sequence[Path], out: Path, *options: str, settings: Sequence[str] = ()) -> list[str]:
    """Return a command that trains."""
    named = [word for setting in settings for word in ("--set", setting)]
    recipe = [] if "--resume" in options else ["--recipe", "tiny"]
    files = map(str, corpus)
    return [sys.executable, "-m", "dragoman", "train", *files, "--out", str(out), *recipe, *options, *named]


@contextmanager
def started(command: Sequence[str], **environment: str) -> Iterator[Process]:
    """Start a command; at the end nothing of it is left."""
    process = subprocess.Popen(
        command,
        env=ENVIRONMENT | environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        for pid in (*ranks_of(process).values(), process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        process.communicate()


def ended(
    command: Sequence[str], *, timeout_seconds: float = 60.0, **environment: str
) -> tuple[int, str, str]:
    """Run a command and return its exit code and what it has said on both streams."""
    with started(command, **environment) as process:
        stdout, stderr = process.communicate(timeout=timeout_seconds)
        return process.returncode, stdout, stderr


def ranks_of(process: Process) -> dict[int, int]:
    """Return the processes of the ranks that a launcher has started, by rank."""
    return ranks_with("DRAGOMAN_LAUNCHER", str(process.pid))


def ranks_with(name: str, value: str) -> dict[int, int]:
    """Return the processes that have a rank and this variable, by rank."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            variables = dict(
                entry.split("=", 1) for entry in (folder / "environ").read_text().split("\0") if "=" in entry
            )
            if variables.get(name) == value and "RANK" in variables:
                found[int(variables["RANK"])] = int(folder.name)
    return found


def is_running(pid: int) -> bool:
    """Tell whether a process lives and is not waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def steps(out: Path) -> list[dict[str, Any]]:
    """Return what a run has measured at each step."""
    lines = (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for line in lines if "target_tokens" in (record := json.loads(line))]


def losses(out: Path) -> list[float]:
    """Return the loss of each step."""
    return [record["loss"] for record in steps(out)]


def wait_until(fact: Callable[[], bool], *, timeout_seconds: float = 60.0) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + timeout_seconds
    while not fact():
        if time.monotonic() > deadline:
            pytest.fail("waited in vain")
        time.sleep(0.02)


def has_made_steps(out: Path, process: Process) -> Callable[[], bool]:
    """Return a question: has the run made some steps? A run that has ended instead fails the test."""

    def ask() -> bool:
        if process.poll() is not None:
            pytest.fail(f"ended with {process.returncode}: {process.communicate()[1]}")
        log = out / "metrics.jsonl"
        return log.exists() and log.read_bytes().count(b"\n") >= 5

    return ask
