"""What a run tells while it goes on; a door draws it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dragoman.train.checkpoint import Progress
from dragoman.train.step import StepResult


class Sample(NamedTuple):
    """A development sentence, its reference and its translation at this moment."""

    source: str
    reference: str
    hypothesis: str


@dataclass(frozen=True)
class Plan:
    """What a run is going to do, known before its first step."""

    num_parameters: int
    vocabulary_size: int
    num_training_pairs: int
    num_steps: int
    steps_per_epoch: int
    padding_share: float
    """Share of all positions of an epoch that are padding."""
    device: str
    precision: str
    optimizer_bytes: int
    """Memory of parameters, gradients and Adam's two moments, in bytes."""
    step_flops: float
    """Floating-point operations of an average step."""


class Reporter:
    """Hears everything and shows nothing; doors override what they want to show."""

    def notice(self, text: str) -> None:
        """Something was left out, lowered or chosen, and the user should know."""

    def stage(self, text: str) -> None:
        """A part of the work begins."""

    def planned(self, plan: Plan) -> None:
        """All is ready for the first step."""

    def training_started(self, progress: Progress, num_steps: int) -> None:
        """The loop begins; from here a wish to stop is heard after each step."""

    def stepped(self, progress: Progress, result: StepResult, rate: float) -> None:
        """One update was made."""

    def validated(
        self, progress: Progress, scores: Mapping[str, float], samples: Sequence[Sample], *, is_best: bool
    ) -> None:
        """The model was validated and saved."""

    def training_ended(self, reason: str) -> None:
        """The loop is over."""
