"""``dragoman env``: what a report of a problem, or of a speed, should name."""

import functools
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata

import click

from dragoman import __version__
from dragoman.cli.options import json_option

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
    bfloat16_gain: float
    """Time of a product of two 512 x 512 matrices in float32, divided by its time in bfloat16."""
    gpus: tuple[str, ...]


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show the versions of dragoman and what it stands on, the processor, and the GPUs.

    The gain of bfloat16 is measured: how many times faster than float32 the processor multiplies matrices.
    """
    environment = asdict(read_environment())
    if as_json:
        click.echo(json.dumps(environment, indent=2, ensure_ascii=False))
        return
    environment.update(environment.pop("packages"))
    environment["bfloat16_gain"] = f"{environment['bfloat16_gain']:.1f} x float32"
    environment["gpus"] = ", ".join(environment["gpus"]) or "none"
    for name, value in environment.items():
        click.echo(f"{name.replace('_', ' '):<16} {value}")


def read_environment() -> Environment:
    """Return the versions and the machine; takes a moment to measure the gain of bfloat16."""
    import torch

    return Environment(
        dragoman=__version__,
        python=platform.python_version(),
        torch=torch.__version__,
        packages={name: metadata.version(name) for name in _PACKAGES},
        system=platform.platform(),
        processors=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        threads=torch.get_num_threads(),
        cpu_capability=torch.backends.cpu.get_cpu_capability(),
        bfloat16_gain=_bfloat16_gain(),
        gpus=tuple(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())),
    )


def _bfloat16_gain() -> float:
    import torch

    seconds = {}
    for precision in (torch.float32, torch.bfloat16):
        matrix = torch.ones(512, 512, dtype=precision)
        seconds[precision] = _shortest_seconds(functools.partial(torch.matmul, matrix, matrix))
    return round(seconds[torch.float32] / seconds[torch.bfloat16], 2)


def _shortest_seconds(action: Callable[[], object], *, repetitions: int = 8) -> float:
    """Return the shortest of several times: the others were disturbed."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)
