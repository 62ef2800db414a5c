"""How fast a whole program trains, from the times at which its steps ended."""

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path

NUM_SKIPPED = 10
"""Steps at the start that do not count: shapes are met for the first time, memory is fetched."""


@dataclass
class Events:
    """Real target pieces trained on, by the clock."""

    seconds: float
    """Of training, after which the program is to end."""
    times: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def stepped(self, num_target_tokens: int) -> None:
        """Write down that a step has ended."""
        self.times.append(time.perf_counter())
        self.tokens.append(num_target_tokens)

    @property
    def are_over(self) -> bool:
        """Whether the time is over; it begins with the end of the first step."""
        return len(self.times) > NUM_SKIPPED + 1 and self.times[-1] - self.times[0] > self.seconds

    def report(self, version: str) -> dict[str, object]:
        """Return target pieces and the time they took."""
        return {
            "version": version,
            "target_tokens": sum(self.tokens[NUM_SKIPPED:]),
            "seconds": self.times[-1] - self.times[NUM_SKIPPED - 1],
            "steps": len(self.times) - NUM_SKIPPED,
        }


def parse() -> argparse.Namespace:
    """Return what a program is told: folder of the corpus, seconds, ranks, and the report's file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--report", type=Path, required=True)
    return parser.parse_args()
