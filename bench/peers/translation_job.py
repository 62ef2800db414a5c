"""What the translators are asked to do, and how their time is taken; needs nothing that is installed.

A folder holds ``config.json`` and ``model.safetensors`` of the model, ``sources.json`` with the ids of each
source, its end included, ``job.json``, and ``shortlist.safetensors`` where there is one.
"""

import argparse
import importlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

END, UNKNOWN = 0, 1

Translate = Callable[[list[list[int]]], list[list[int]]]


@dataclass(frozen=True)
class Job:
    """How to translate."""

    beam_size: int
    batch_size: int
    """Sources at once; 1 translates one after the other, each in a call of its own."""
    length_penalty: float
    fixed_length: int | None
    """Every output has so many pieces and no end, since the weights are random; or None."""
    extra_length: int
    threads: int
    precision: str
    shortlist: bool
    """Only what ``shortlist.safetensors`` has for the pieces of a source may come."""


def timed(translate: Translate, sources: list[list[int]], job: Job) -> dict[str, Any]:
    """Translate twice, and return the seconds of the second time and the outputs."""

    def all_of_them() -> list[list[int]]:
        if job.batch_size == 1:
            return [translate([source])[0] for source in sources]
        return translate(sources)

    all_of_them()
    started = time.perf_counter()
    outputs = all_of_them()
    return {"seconds": time.perf_counter() - started, "outputs": outputs, "memory_mib": most_memory()}


def most_memory() -> float:
    """Return the most memory that this process has held, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").split("\n")
    [line] = [line for line in lines if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1_024


def main() -> None:
    """Run one translator: ``python -m peers.translation_job NAME FOLDER --report FILE``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args()
    job = Job(**json.loads((options.folder / "job.json").read_text(encoding="utf-8")))
    sources = json.loads((options.folder / "sources.json").read_text(encoding="utf-8"))
    version, translate = importlib.import_module(f"peers.translator_{options.name}").make(options.folder, job)
    report = {"version": version, **timed(translate, sources, job)}
    options.report.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
