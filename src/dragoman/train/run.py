"""What a run of training consists of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch

from dragoman.config import TrainConfig
from dragoman.data import EncodedCorpus
from dragoman.model import Transformer
from dragoman.storage.checkpoint import CheckpointKeeper
from dragoman.storage.progress import Progress
from dragoman.train.parallel import Parallel
from dragoman.train.step import StepResult

Scores = Mapping[str, float]


class Observer(Protocol):
    """Hears what happens; it changes nothing."""

    def stepped(self, progress: Progress, result: StepResult, rate: float) -> None:
        """One update was made."""

    def validated(self, progress: Progress, scores: Scores, *, is_best: bool) -> None:
        """The model was validated and is going to be saved."""

    def went_back(self, progress: Progress, reason: str) -> None:
        """The run diverged and goes on from here with half the rate."""

    def notice(self, text: str) -> None:
        """The user should know this."""


@dataclass(frozen=True)
class TrainingRun:
    """Everything a run consists of."""

    parallel: Parallel
    optimizer: torch.optim.Adam
    config: TrainConfig
    corpus_of_epoch: Callable[[int], EncodedCorpus]
    """The encoded pairs of an epoch; encoded anew each time when BPE-dropout is on. It raises
    StopRequestedError on every rank if the run is to stop meanwhile."""
    first_weights: Callable[[], Transformer]
    """Makes the model as the seed draws it."""
    entropy: float
    """Of the target pieces, in nats: the loss of guessing by frequency."""
    validate: Callable[[], Scores]
    """Development scores of the model as it stands, ``loss`` among them; asked on rank 0."""
    keeper: CheckpointKeeper | None
    """None on every rank but the first."""
    observer: Observer
    stop_requested: Callable[[], bool]
    """Asked after each step and between its micro-batches; True on any rank saves and ends the run."""

    @property
    def model(self) -> Transformer:
        """The model whose parameters are trained."""
        return self.parallel.model
