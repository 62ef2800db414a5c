"""The list of rivals, and how one of them is run in a process, or several, of its own."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.environment import PYTHON, ROOT, PeerError, last_words

TIMEOUT_SECONDS = 1_200
KEEP_MEMORY = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4294967296:glibc.malloc.top_pad=268435456"


@dataclass(frozen=True)
class Entry:
    """One line of the table."""

    title: str
    module: str
    """The file ``rival_*.py``."""
    num_ranks: int = 1
    """Processes that share the threads and each batch."""

    @property
    def is_peer(self) -> bool:
        """Whether it runs in the peers' environment; the others need nothing but dragoman's own."""
        return self.module not in ("dragoman", "torch")


ENTRIES = {
    "dragoman": Entry("dragoman", "dragoman"),
    "dragoman-2": Entry("dragoman, 2 ranks", "dragoman", num_ranks=2),
    "eole": Entry("eole (norm first)", "eole"),
    "joeynmt": Entry("Joey NMT", "joeynmt"),
    "fairseq": Entry("fairseq", "fairseq"),
    "marian": Entry("Hugging Face Marian", "marian"),
    "torch": Entry("torch.nn.Transformer", "torch"),
    "torch-2": Entry("torch.nn.Transformer, DDP, 2 ranks", "torch", num_ranks=2),
}


def run_entry(entry: Entry, arguments: list[str], num_threads: int, *, keep_memory: bool) -> dict[str, Any]:
    """Run ``peers.measure`` for a rival and return its report.

    Args:
        entry: The rival.
        arguments: Size and batches, and whether it is to show that it learns.
        num_threads: Of all its processes together.
        keep_memory: Tell its allocator to keep memory.

    Raises:
        PeerError: It failed or took too long.
    """
    environment = make_environment(max(1, num_threads // entry.num_ranks), keep_memory=keep_memory)
    command = ["peers.measure", entry.module, *arguments]
    return run_module(command, environment, is_peer=entry.is_peer, num_ranks=entry.num_ranks)


def run_module(
    command: list[str], environment: dict[str, str], *, is_peer: bool, num_ranks: int = 1
) -> dict[str, Any]:
    """Run a module with ``--report FILE`` and return what it wrote there."""
    python = str(PYTHON) if is_peer else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        _run_ranks([python, "-m", *command, "--report", str(report)], environment, num_ranks, folder)
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


def make_environment(num_threads: int, *, keep_memory: bool = False) -> dict[str, str]:
    """Return the variables of a process that is measured."""
    environment = dict(os.environ)
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "bench"), str(ROOT / "src")]),
        "OMP_NUM_THREADS": str(num_threads),
        "MKL_NUM_THREADS": str(num_threads),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    return environment | ({"GLIBC_TUNABLES": KEEP_MEMORY} if keep_memory else {})


def _run_ranks(command: list[str], environment: dict[str, str], num_ranks: int, folder: str) -> None:
    """Run a command in a folder as ``num_ranks`` processes that find each other as torchrun's do.

    Raises:
        PeerError: One of them failed; its last words are the message.
    """
    address = {"WORLD_SIZE": str(num_ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
    logs = [Path(folder) / f"rank{rank}" for rank in range(num_ranks)]
    processes = []
    for rank, log in enumerate(logs):
        ranked = environment | {"TMPDIR": folder}
        if num_ranks > 1:
            ranked |= address | {"RANK": str(rank)}
        with log.open("wb") as output:
            processes.append(subprocess.Popen(command, env=ranked, stdout=output, stderr=output, cwd=folder))
    try:
        codes = [process.wait(TIMEOUT_SECONDS) for process in processes]
    except subprocess.TimeoutExpired as error:
        raise PeerError(f"did not end within {TIMEOUT_SECONDS} seconds") from error
    finally:
        for process in processes:
            process.kill()
    for code, log in zip(codes, logs, strict=True):
        if code != 0:
            raise PeerError(last_words(log.read_text(errors="replace")) or f"ended with {code}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port
