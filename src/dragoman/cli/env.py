"""``dragoman env``: what a report of a problem, or of a speed, should name."""

import functools
import json
import time
from collections.abc import Callable
from dataclasses import asdict

import click

from dragoman.cli.options import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show the versions of dragoman and what it stands on, the processor, and the GPUs.

    The gain of bfloat16 is measured: how many times faster than float32 the processor multiplies matrices.
    """
    from dragoman.engine import engine_name
    from dragoman.run.environment import read_environment

    environment = asdict(read_environment()) | {"bfloat16_gain": _bfloat16_gain(), "engine": engine_name()}
    if as_json:
        click.echo(json.dumps(environment, indent=2, ensure_ascii=False))
        return
    environment.update(environment.pop("packages"))
    environment["bfloat16_gain"] = f"{environment['bfloat16_gain']:.1f} x float32"
    environment["gpus"] = ", ".join(environment["gpus"]) or "none"
    for name, value in environment.items():
        click.echo(f"{name.replace('_', ' '):<16} {value}")


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
