"""The versions and the machine: what a result, a speed or a problem depends on."""

import os
import platform
from dataclasses import dataclass
from importlib import metadata

import torch

from dragoman import __version__

_PACKAGES = ("numpy", "safetensors", "sentencepiece", "sacrebleu", "pydantic", "click", "rich")


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The versions and the machine."""

    dragoman: str
    python: str
    torch: str
    packages: dict[str, str]
    system: str
    processors: int
    """Processors that this process may use."""
    threads: int
    """Threads that torch computes with."""
    cpu_capability: str
    """Widest vector instructions that torch uses, such as AVX2 or AVX512."""
    gpus: tuple[str, ...]


def read_environment() -> Environment:
    """Return the versions and the machine."""
    return Environment(
        dragoman=__version__,
        python=platform.python_version(),
        torch=torch.__version__,
        packages={name: metadata.version(name) for name in _PACKAGES},
        system=platform.platform(),
        processors=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        threads=torch.get_num_threads(),
        cpu_capability=torch.backends.cpu.get_cpu_capability(),
        gpus=tuple(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())),
    )
