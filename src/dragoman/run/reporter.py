"""What a run tells while it goes on; a door draws it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dragoman.storage.progress import Progress
from dragoman.train.step import StepResult

SCORE_NAMES = {
    "bleu": "BLEU",
    "chrf": "chrF2",
    "f1": "F1",
    "exact_match": "exact match",
    "tagging_accuracy": "tags",
}
"""Development scores that are not shown by their keys."""


def in_words(scores: Mapping[str, float]) -> str:
    """Return development scores for a reader, as in "loss 1.63, BLEU 41.75"."""
    return ", ".join(f"{SCORE_NAMES.get(name, name)} {value:.2f}" for name, value in scores.items())


class Sample(NamedTuple):
    """A development sentence, its reference and its translation, or its tree, at this moment."""

    source: str
    reference: str
    hypothesis: str
    kind: str = "translation"
    """What the hypothesis is called."""


@dataclass(frozen=True)
class Plan:
    """What a run is going to do, known before its first step."""

    num_parameters: int
    vocabulary_size: int
    num_training_pairs: int
    unit: str
    """What one of the pairs is called: a pair, or a tree."""
    num_steps: int
    """Of the whole run."""
    num_steps_done: int
    """Steps that the run which goes on has made already."""
    steps_per_epoch: int
    padding_share: float
    """Share of all positions of an epoch that are padding."""
    num_validations: int
    """Those that are left."""
    max_minutes: float | None
    """Time after which the run ends before all steps are made, or None."""
    micro_batch_tokens: int
    device: str
    """Device, its threads or name, and why it is this one."""
    precision: str
    optimizer_bytes: int
    """Memory of parameters, gradients and Adam's two moments, in bytes."""
    step_flops: float
    """Floating-point operations of an average step."""


@dataclass(frozen=True)
class Probe:
    """What some real steps of a throw-away model have measured."""

    num_steps: int
    """Steps that were timed; 0 where a micro-batch of the longest pairs does not fit into memory."""
    seconds_per_step: float = 0.0
    """Of an average step, its optimizer update included."""
    target_tokens_per_second: float = 0.0
    """Target pieces a second, padding not counted."""
    seconds_per_validation: float = 0.0
    """Loss over the development pairs and translating those that are translated; 0.0 without any."""
    processor_share: float = 1.0
    """Processor seconds of this process for each second of the timed steps; far below 1 on a processor that
    is busy with other work."""
    peak_bytes: int | None = None
    """Greatest memory: on a GPU that of all tensors, on the processor that of the whole process, Python and
    PyTorch included; None where the system does not tell."""
    num_cuts: int = 0
    """Times that a micro-batch was halved because memory did not suffice."""
    sustained_flops: float = 0.0
    """Float32 operations a second that the device sustains, by which the paper counts its cost (§6.1)."""


class Reporter:
    """Hears everything and shows nothing; doors override what they want to show."""

    def notice(self, text: str) -> None:
        """Something was left out, lowered or chosen, and the user should know."""

    def stage(self, text: str) -> None:
        """A part of the work begins."""

    def planned(self, plan: Plan) -> None:
        """All is ready for the first step."""

    def probed(self, plan: Plan, probe: Probe) -> None:
        """A dry run has measured some steps of what is planned."""

    def training_started(self, progress: Progress, num_steps: int) -> None:
        """The loop begins; from here a wish to stop waits for a micro-batch at most."""

    def stepped(self, progress: Progress, result: StepResult, rate: float) -> None:
        """One update was made."""

    def busy(self) -> None:
        """A part of a long task begins: a batch of a validation, or some pairs of an epoch.

        Raising StopRequestedError gives the task up, saves and ends the run.
        """

    def validated(
        self, progress: Progress, scores: Mapping[str, float], samples: Sequence[Sample], *, is_best: bool
    ) -> None:
        """The model was validated and saved."""

    def training_ended(self, reason: str) -> None:
        """The loop is over."""
