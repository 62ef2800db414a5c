"""How a process joins the others that train with it.

``torchrun`` and ``dragoman train --ranks`` start one process a rank and tell each of them its place through
the environment: RANK, LOCAL_RANK, WORLD_SIZE, and where to meet.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
from torch import distributed

from dragoman.errors import RanksError, UsageError
from dragoman.train.ranks import Ranks
from dragoman.translator import choose_device

MEETING_FILE = "DRAGOMAN_MEETING_FILE"
"""Variable that names a file through which the ranks of one machine find each other, without a port."""

_PATIENCE = timedelta(days=2)
"""How long a rank waits for another: the first one validates and writes while all others wait. A rank that
has died is noticed at once."""


@contextmanager
def joined(device: str) -> Iterator[tuple[Ranks, torch.device]]:
    """Join the other ranks, if there are any, and leave them at the end.

    On one machine the ranks meet on the loopback interface, so that nobody else can reach them.

    Args:
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N``; several ranks take one GPU each.

    Raises:
        UsageError: The device cannot be had.
        RanksError: The ranks cannot meet, or one of them is lost.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield Ranks(), choose_device(device)
        return
    ranks, local = Ranks(int(os.environ["RANK"]), size), int(os.environ.get("LOCAL_RANK", "0"))
    own_device = _own_device(device, local)
    if os.environ.get("LOCAL_WORLD_SIZE") == str(size):
        loopback = "lo0" if sys.platform == "darwin" else "lo"
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)
        os.environ.setdefault("NCCL_SOCKET_IFNAME", loopback)
    meeting_file = os.environ.get(MEETING_FILE)
    try:
        distributed.init_process_group(
            "cpu:gloo,cuda:nccl" if own_device.type == "cuda" else "gloo",
            init_method="env://" if meeting_file is None else f"file://{meeting_file}",
            rank=ranks.rank,
            world_size=size,
            timeout=_PATIENCE,
        )
        yield ranks, own_device
    except RuntimeError as error:
        if not _is_loss(error):
            raise
        raise RanksError(
            f"rank {ranks.rank} of {size} has lost another one, whose message says why",
            hint="mend what it names, then go on with --resume",
        ) from error
    distributed.destroy_process_group()


def _own_device(device: str, local: int) -> torch.device:
    """Return the device of this rank: of several GPUs the one with its number on this machine."""
    chosen = choose_device(device)
    if chosen.type != "cuda":
        return chosen
    if chosen.index is not None or local >= torch.cuda.device_count():
        raise UsageError(
            f"--device {device}: rank {local} of this machine has no GPU of its own; "
            f"there are {torch.cuda.device_count()}",
            hint="start as many ranks as there are GPUs, with --device cuda",
        )
    own = torch.device("cuda", local)
    torch.cuda.set_device(own)
    return own


def _is_loss(error: RuntimeError) -> bool:
    """Whether an error is that of a connection between ranks."""
    return isinstance(error, distributed.DistError) or "gloo" in str(error).lower()
