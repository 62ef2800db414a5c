"""``dragoman env``: what a report of a problem, or of a speed, should name."""

import json
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
    from dragoman.run.device import bfloat16_gain
    from dragoman.run.environment import read_environment

    environment = asdict(read_environment()) | {
        "bfloat16_gain": round(bfloat16_gain(), 2),
        "engine": engine_name(),
    }
    if as_json:
        click.echo(json.dumps(environment, indent=2, ensure_ascii=False))
        return
    environment.update(environment.pop("packages"))
    environment["bfloat16_gain"] = f"{environment['bfloat16_gain']:.1f} x float32"
    environment["gpus"] = ", ".join(environment["gpus"]) or "none"
    for name, value in environment.items():
        click.echo(f"{name.replace('_', ' '):<16} {value}")
