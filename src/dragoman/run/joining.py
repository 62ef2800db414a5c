"""How a process joins the others that train with it.

``torchrun`` and ``dragoman train --ranks`` start one process a rank and tell each of them its place through
the environment: RANK, LOCAL_RANK, WORLD_SIZE, and where to meet.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import NamedTuple

import torch
from torch import distributed

from dragoman.errors import RanksError, UsageError
from dragoman.model_search import choose_device
from dragoman.train.ranks import Ranks

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
    place = _place()
    if place.size == 1:
        yield Ranks(), choose_device(device)
        return
    own_device = _own_device(device, place)
    if place.local_size == place.size:
        loopback = "lo0" if sys.platform == "darwin" else "lo"
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)
        os.environ.setdefault("NCCL_SOCKET_IFNAME", loopback)
    try:
        _meet(place, own_device)
        yield Ranks(place.rank, place.size), own_device
    except RuntimeError as error:
        if not _is_loss(error):
            raise
        raise RanksError(
            f"another one of the {place.size} ranks was lost; its message says why",
            hint="mend what it names, then go on with --resume",
        ) from error
    distributed.destroy_process_group()


class _Place(NamedTuple):
    """Where this process stands among all."""

    rank: int
    size: int
    local_rank: int
    """Among the ranks of this machine."""
    local_size: int


def _place() -> _Place:
    """Read the place of this process from its environment; a process without one is alone.

    Raises:
        UsageError: The variables make no sense.
    """
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    given = {name: os.environ[name] for name in names if name in os.environ}
    if not given.keys() & {"RANK", "WORLD_SIZE"}:
        return _Place(0, 1, 0, 1)
    try:
        rank, size = int(given["RANK"]), int(given["WORLD_SIZE"])
        local_rank, local_size = int(given.get("LOCAL_RANK", 0)), int(given.get("LOCAL_WORLD_SIZE", 0))
    except (KeyError, ValueError):
        is_whole = False
    else:
        is_whole = 0 <= rank < size and local_rank >= 0
    if not is_whole:
        told = ", ".join(f"{name}={value}" for name, value in given.items())
        raise UsageError(
            f"the environment says {told}; the place of a process among several is RANK, counted from 0, "
            "and WORLD_SIZE, the number of all",
            hint="unset these variables, or let torchrun or --ranks set them",
        )
    return _Place(rank, size, local_rank, local_size)


def _meet(place: _Place, device: torch.device) -> None:
    """Find the other ranks: through a file on one machine, else by address and port."""
    meeting_file = os.environ.get(MEETING_FILE)
    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo",
        store=None if meeting_file is None else distributed.FileStore(meeting_file, place.size),  # type: ignore[attr-defined]
        rank=place.rank,
        world_size=place.size,
        timeout=_PATIENCE,
    )


def _own_device(device: str, place: _Place) -> torch.device:
    """Return the device of this rank: of several GPUs the one with its number on this machine."""
    chosen = choose_device(device)
    if chosen.type != "cuda":
        return chosen
    num_ranks, num_devices = max(place.local_size, place.local_rank + 1), torch.cuda.device_count()
    if chosen.index is not None or num_ranks > num_devices:
        raise UsageError(
            f"--device {device}: each of the {num_ranks} ranks of this machine needs a GPU of its own; "
            f"there are {num_devices}",
            hint="start as many ranks as there are GPUs, with --device cuda",
        )
    own = torch.device("cuda", place.local_rank)
    torch.cuda.set_device(own)
    return own


def _is_loss(error: RuntimeError) -> bool:
    """Whether an error is that of a connection between ranks."""
    return isinstance(error, distributed.DistError) or "gloo" in str(error).lower()
