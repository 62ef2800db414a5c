"""Where and how precisely a run computes."""

import os
import sys
import time
from typing import Literal

import torch

Precision = Literal["float32", "bfloat16"]


def choose_precision(wanted: str, device: torch.device) -> tuple[Precision, str]:
    """Return the number format of the matrix products, and why.

    ``auto`` takes bfloat16 where the processor or GPU has instructions for it; without them it is slower
    than float32. Weights, moments and loss are float32 in either case.
    """
    if wanted == "bfloat16":
        return "bfloat16", "as asked"
    if wanted == "float32":
        return "float32", "as asked"
    if device.type == "cuda":
        fast = torch.cuda.get_device_capability(device) >= (8, 0)
    else:
        flags = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
        fast = bool(flags.get("avx512_bf16") or flags.get("amx_bf16"))
    what = "GPU" if device.type == "cuda" else "processor"
    if fast:
        return "bfloat16", f"this {what} has instructions for it"
    return "float32", f"this {what} has no instructions for bfloat16"


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
