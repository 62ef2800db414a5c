"""The table of the training benchmark."""

import os
import statistics
from dataclasses import dataclass
from typing import Any

from dragoman.model.arithmetic import forward_flops
from peers.batches import Pairs
from peers.rival_dragoman import configuration
from peers.rivals import ENTRIES
from peers.sizes import Size


@dataclass(frozen=True)
class Measured:
    """What all runs gave."""

    size: Size
    batches: list[Pairs]
    ceilings: list[dict[str, float]]
    reports: dict[str, list[dict[str, Any]]]

    def speeds(self, name: str) -> list[float]:
        """Return a rival's target pieces a second in each run."""
        return [report["target_tokens"] / report["seconds"] for report in self.reports[name]]

    def gflops(self, name: str) -> float:
        """Return the median of 10⁹ floating-point operations a second of its matrix products."""
        config = configuration(self.size).model
        flops = sum(3 * forward_flops(config, *batch.shape) for batch in self.batches)
        seconds: float = statistics.median(report["seconds"] for report in self.reports[name])
        return flops / seconds / 1e9


def spoken_load() -> str:
    """Return the machine's load averages."""
    return ", ".join(f"{load:.1f}" for load in os.getloadavg())


def print_table(measured: Measured) -> None:
    """Print a line for each rival, then how dragoman's best stands to the best of the others."""
    size, batches = measured.size, measured.batches
    ceiling = statistics.median(one["median"] for one in measured.ceilings)
    best = max(one["best"] for one in measured.ceilings)
    tokens = sum(batch.num_target_tokens for batch in batches)
    padded = sum(batch.shape[0] * batch.shape[2] for batch in batches)
    print(
        f"\n{size.name}: {size.num_layers}+{size.num_layers} layers, d_model {size.d_model}, "
        f"{size.vocabulary_size:,} pieces, {size.batch_tokens:,} positions a batch; {len(batches)} steps of "
        f"{tokens / len(batches):,.0f} target pieces ({1 - tokens / padded:.1%} padding), "
        f"{len(measured.ceilings)} runs"
    )
    print(f"bfloat16 products of 2,048 × 2,048: {ceiling:.0f} GFLOP/s (best {best:.0f})")
    ours = [name for name in measured.reports if name.startswith("dragoman")]
    own = max((statistics.median(measured.speeds(name)) for name in ours), default=None)
    for name in sorted(measured.reports, key=lambda name: -statistics.median(measured.speeds(name))):
        print(_line(measured, name, ceiling, own))
    theirs = [statistics.median(measured.speeds(name)) for name in measured.reports if name not in ours]
    if own is not None and theirs:
        print(f"best of dragoman / best of the others: {own / max(theirs):.2f}")


def _line(measured: Measured, name: str, ceiling: float, own: float | None) -> str:
    speeds, first = measured.speeds(name), measured.reports[name][0]
    median, gflops = statistics.median(speeds), measured.gflops(name)
    learned = f"loss {first['first_loss']:.2f} → {first['last_loss']:.2f}"
    ratio = "" if own is None else f"{own / median:5.2f} ×"
    return (
        f"{ENTRIES[name].title + ' ' + first['version']:<46} {median:>6,.0f} target pieces/s "
        f"({min(speeds):,.0f} to {max(speeds):,.0f})  {gflops:4.0f} GFLOP/s {gflops / ceiling:4.0%}  "
        f"{ratio}  {first['parameters'] / 1e6:.2f} M  {learned}"
    )
