"""Where and how precisely a run computes."""

import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, cast

import torch

Precision = Literal["float32", "bfloat16"]

_WORTHWHILE_GAIN = 1.25
"""From here on bfloat16 is faster: what stands between the products gains nothing, and converting costs."""


def choose_precision(wanted: str, device: torch.device) -> tuple[Precision, str]:
    """Return the number format of the matrix products, and why.

    ``auto`` takes bfloat16 on a GPU that has instructions for it, and on a processor that multiplies matrices
    of it faster than of float32, which is measured: some processors have the instructions and are slower
    with them. Weights, moments and loss are float32 in either case.
    """
    if wanted in ("bfloat16", "float32"):
        return cast("Precision", wanted), "as asked"
    what = "GPU" if device.type == "cuda" else "processor"
    if not _has_bfloat16(device):
        return "float32", f"this {what} has no instructions for bfloat16"
    if device.type == "cuda":
        return "bfloat16", "this GPU has instructions for it"
    gain = bfloat16_gain()
    if gain >= _WORTHWHILE_GAIN:
        return "bfloat16", f"this processor multiplies them {gain:.1f} x as fast as in float32"
    return "float32", f"in bfloat16 this processor multiplies them only {gain:.1f} x as fast"


def _has_bfloat16(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    flags = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return bool(flags.get("avx512_bf16") or flags.get("amx_bf16"))


def bfloat16_gain() -> float:
    """Return how many times faster than in float32 the processor multiplies matrices in bfloat16.

    Measured on the threads that PyTorch has, in some hundredths of a second.
    """
    seconds = {}
    for precision in (torch.float32, torch.bfloat16):
        matrix = torch.ones(512, 512, dtype=precision)
        seconds[precision] = _shortest_seconds(functools.partial(torch.matmul, matrix, matrix))
    return seconds[torch.float32] / seconds[torch.bfloat16]


def _shortest_seconds(action: Callable[[], object], *, repetitions: int = 8) -> float:
    """Return the shortest of several times: the others were disturbed."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


@contextmanager
def same_bits(device: torch.device, *, wanted: bool) -> Iterator[None]:
    """While it is entered, a GPU adds up in the same order each time, if that is wanted; processors do.

    An operation that has no such form is named in a warning. CUBLAS_WORKSPACE_CONFIG is set where it is not,
    and counts where the process has not multiplied on a GPU before.
    """
    if not wanted or device.type == "cpu":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it matrix products differ
    before = torch.are_deterministic_algorithms_enabled()
    only_warned = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=only_warned)


def sustained_flops(device: torch.device, *, seconds: float = 0.3) -> float:
    """Return the float32 operations a second that this device sustains, measured on matrix products.

    The paper counts the cost of a training as time × devices × this number.

    Source: Vaswani et al. (2017), §6.1, footnote 5.
    """
    size = 4_096 if device.type == "cuda" else 1_024
    matrix = torch.ones(size, size, device=device)
    count, started = 0, time.perf_counter()
    while count < 2 or time.perf_counter() - started < seconds:
        float((matrix @ matrix)[0, 0])
        count += 1
    return count * 2.0 * size**3 / (time.perf_counter() - started)


def total_memory(device: torch.device) -> int | None:
    """Return the memory of a device in bytes, or None where the system does not tell."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def peak_memory(device: torch.device) -> int | None:
    """Return the greatest memory so far in bytes, or None where the system does not tell.

    On a GPU it is that of all tensors, on the processor that of the whole process.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1_024 * peak


def describe_device(device: torch.device) -> str:
    """Return a device in words, with what it has and why it may have been chosen."""
    if device.type == "cuda":
        gibibytes = (total_memory(device) or 0) / 2**30
        return f"{device} ({torch.cuda.get_device_name(device)}, {gibibytes:,.0f} GiB)"
    threads = torch.get_num_threads()
    count = "1 thread" if threads == 1 else f"{threads} threads"
    others = torch.cuda.device_count() if torch.cuda.is_available() else 0
    why = "the GPU here is left alone, as asked" if others else "PyTorch sees no GPU here"
    return f"{device} ({count}; {why})"
