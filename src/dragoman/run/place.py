"""Where a rank trains, and the loop that every rank has; rank 0 puts its own observer into it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from dragoman.bundle import read_tensors
from dragoman.config import Config
from dragoman.data import EncodedCorpus
from dragoman.data.frequency import unigram_entropy
from dragoman.model import Transformer
from dragoman.run import folder as run_folder
from dragoman.run.allocator import give_back_freed_memory, keep_freed_memory
from dragoman.storage.progress import Progress
from dragoman.train.loop import make_optimizer
from dragoman.train.parallel import Parallel
from dragoman.train.ranks import Ranks
from dragoman.train.run import TrainingRun
from dragoman.train.step import StepResult

_STEPS_BETWEEN = 50
"""Steps after which free memory is given back, whose pages cost a fifth of a second to take again."""


@dataclass(frozen=True)
class Place:
    """Where a run computes and writes."""

    ranks: Ranks
    device: torch.device
    out: Path
    stop_requested: Callable[[], bool]


def make_loop(
    config: Config, place: Place, corpus: EncodedCorpus, corpus_of_epoch: Callable[[int], EncodedCorpus]
) -> TrainingRun:
    """Return what a rank trains; rank 0 puts its validation, its keeper and its observer in."""
    path = run_folder.first_weights(place.out)

    def first_weights() -> Transformer:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.train.seed)
            model = Transformer(config.model)
        if path is not None:
            model.load_state_dict(read_tensors(path))
        return model

    if config.train.fast and place.device.type == "cpu":
        keep_freed_memory()
    model = first_weights().to(place.device)
    model.use_fast_forms(config.train.fast)
    parallel = Parallel(model, config.train, place.ranks)
    return TrainingRun(
        parallel=parallel,
        optimizer=make_optimizer(parallel.model, config.train),
        config=config.train,
        corpus_of_epoch=corpus_of_epoch,
        first_weights=first_weights,
        entropy=unigram_entropy(corpus),
        validate=dict,
        keeper=None,
        observer=Silent(),
        stop_requested=place.stop_requested,
    )


class Silent:
    """Hears everything and says nothing."""

    def stepped(self, progress: Progress, result: StepResult, rate: float) -> None:
        """Say nothing."""
        del result, rate
        give_back_now_and_then(progress)

    def validated(self, progress: Progress, scores: Mapping[str, float], *, is_best: bool) -> None:
        """Say nothing."""

    def went_back(self, progress: Progress, reason: str) -> None:
        """Say nothing."""

    def notice(self, text: str) -> None:
        """Say nothing."""


def give_back_now_and_then(progress: Progress) -> None:
    """Let no more memory gather than that of some steps."""
    if progress.step % _STEPS_BETWEEN == 0:
        give_back_freed_memory()


def encoded_folder(out: Path) -> Path:
    """Return the folder of the encoded pairs."""
    return out / "training" / "encoded"
