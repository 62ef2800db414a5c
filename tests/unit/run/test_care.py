"""A run that diverges, or that finds too little memory, helps itself and says so."""

import copy
import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from diverging import poison
from dragoman.config import Config, TrainConfig
from dragoman.errors import ConfigError, DivergedError, OutOfMemoryError
from dragoman.model.arithmetic import count_parameters
from dragoman.run import Outcome, training
from dragoman.run.place import Place
from dragoman.run.session import Session
from dragoman.storage.progress import Progress
from dragoman.train import health, loop
from dragoman.train.health import MAX_SETBACKS, MAX_SKIPPED_IN_ROW
from dragoman.train.parallel import Parallel
from dragoman.train.ranks import Ranks
from dragoman.train.step import StepResult
from tiny_runs import Recorder, remains, stop_after, tiny_run


def records(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def test_an_update_that_is_not_finite_is_skipped(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One foul update changes nothing: it is counted, written down and told, and the run goes on."""
    train_step, calls = loop.train_step, iter(range(1, 1_000))

    def foul(model: Any, *rest: Any) -> StepResult:
        result = train_step(model, *rest)
        return result._replace(is_skipped=True) if next(calls) == 3 else result

    monkeypatch.setattr(loop, "train_step", foul)
    recorder = Recorder()
    outcome = tiny_run(corpus, tmp_path / "model", reporter=recorder)
    skipped = [record["step"] for record in records(tmp_path / "model") if record.get("skipped")]

    assert (outcome.reason, skipped) == ("max_steps", [3])
    assert outcome.progress.health.num_skipped == 1
    assert any("step 3" in text and "skipped (1 so far)" in text for text in recorder.notices)


@pytest.mark.parametrize(("from_step", "expected"), [(2, [0, 0]), (7, [4, 4]), (11, [8, 4])])
def test_a_diverged_run_goes_back_with_half_the_rate(
    corpus: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    from_step: int,
    expected: list[int],
) -> None:
    """It goes back to the last good checkpoint, or to the first weights, and ends well; the log says so.

    The second time it goes to an older one, where there is one: the parameters of the first may be ruined.
    """
    poison(monkeypatch, from_step=from_step, num_setbacks=2)
    recorder = Recorder()
    outcome = tiny_run(corpus, tmp_path / "model", "train.max_steps=16", reporter=recorder)
    setbacks = [record for record in records(tmp_path / "model") if "setback" in record]
    told = [text for text in recorder.notices if "back to step" in text]

    assert outcome.reason == "max_steps"
    assert outcome.progress.health.num_setbacks == 2
    assert [record["rate_factor"] for record in setbacks][-1] == 0.25
    assert all(f"back to step {step}," in text for step, text in zip(expected, told, strict=True))
    assert [record["step"] for record in records(tmp_path / "model") if "loss" in record] == list(
        range(1, 17)
    )


def test_a_setback_outlives_a_stop(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is stopped after a setback ends as the one that was left alone, byte for byte."""
    poison(monkeypatch, from_step=7, num_setbacks=1)
    tiny_run(corpus, tmp_path / "whole")
    tiny_run(corpus, tmp_path / "parts", stop=stop_after(7))
    tiny_run(corpus, tmp_path / "parts", resume=True)

    assert remains(tmp_path / "parts") == remains(tmp_path / "whole")


def test_a_run_that_cannot_be_helped_ends_clearly(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three setbacks the run ends with one message, and its checkpoint is still there."""
    poison(monkeypatch, from_step=7, num_setbacks=100)
    recorder = Recorder()
    with pytest.raises(DivergedError, match=f"{MAX_SKIPPED_IN_ROW} updates in a row.*going back 3 times"):
        tiny_run(corpus, tmp_path / "model", reporter=recorder)

    assert sum("back to step 4" in text for text in recorder.notices) == MAX_SETBACKS
    assert (tmp_path / "model/training/checkpoints/step-00000004/model.safetensors").exists()


def limit_memory(monkeypatch: pytest.MonkeyPatch, most_pairs: int) -> list[int]:
    """Let no micro-batch of more pairs fit; return a list that gets the sizes of those that did not."""
    compute, failed = Parallel.loss, []

    def limited(self: Parallel, batch: Any) -> Any:
        if len(batch.source_BS) > most_pairs:
            failed.append(len(batch.source_BS))
            raise torch.OutOfMemoryError("out of memory")
        return compute(self, batch)

    monkeypatch.setattr(Parallel, "loss", limited)
    return failed


def test_a_lack_of_memory_is_remembered(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first batch that did not fit, all are cut beforehand, which is told and changes nothing."""
    whole = tiny_run(corpus, tmp_path / "whole", "model.dropout=0.0")
    failed, recorder = limit_memory(monkeypatch, 30), Recorder()
    cut_up = tiny_run(corpus, tmp_path / "cut", "model.dropout=0.0", reporter=recorder)

    assert [text for text in recorder.notices if "memory did not suffice" in text]
    assert len(failed) <= 3
    assert cut_up.progress.num_cuts == len(failed)
    assert cut_up.dev_scores["loss"] == pytest.approx(whole.dev_scores["loss"], rel=1e-5)


def test_a_lack_of_memory_outlives_a_stop(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With dropout too, a run that is stopped after batches were cut ends as the one left alone."""
    failed = limit_memory(monkeypatch, 30)
    tiny_run(corpus, tmp_path / "whole")
    tiny_run(corpus, tmp_path / "parts", stop=stop_after(5))
    num_failed = len(failed)
    tiny_run(corpus, tmp_path / "parts", resume=True)

    assert remains(tmp_path / "parts") == remains(tmp_path / "whole")
    assert len(failed) == num_failed > 0


def test_a_single_pair_that_does_not_fit_ends_the_run(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut down to pairs, and still without room, the run ends with the length and the key that helps."""
    limit_memory(monkeypatch, 0)
    with pytest.raises(OutOfMemoryError, match=r"a micro-batch of 1 pairs of up to \d+ pieces") as fault:
        tiny_run(corpus, tmp_path / "model")

    assert "data.max_length" in (fault.value.hint or "")


def test_a_run_that_learns_nothing_is_told(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the loss is no better than guessing by frequency, the run says so once and goes on."""
    monkeypatch.setattr(health, "_FEWEST_STEPS", 10)
    recorder = Recorder()
    outcome = tiny_run(corpus, tmp_path / "model", "train.peak_rate=1e-6", reporter=recorder)

    assert outcome.reason == "max_steps"
    assert sum(text.startswith("nothing is learned: after 10 steps") for text in recorder.notices) == 1


@pytest.mark.parametrize(
    ("sharded", "num_ranks", "fits"), [(True, 8, True), (False, 8, False), (True, 1, False)]
)
def test_shards_need_less_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sharded: bool, num_ranks: int, fits: bool
) -> None:
    """A model whose sixteen bytes a parameter do not fit is refused, unless several ranks share it."""
    config = Config(train=TrainConfig(sharded=sharded))
    monkeypatch.setattr(training, "total_memory", lambda _: 9 * count_parameters(config.model))
    place = Place(Ranks(0, num_ranks), torch.device("cpu"), tmp_path, lambda: False)
    refused = nullcontext() if fits else pytest.raises(ConfigError, match="Adam's moments")
    with refused:
        training._check_can_train(config, place)


class TwoRanks(Ranks):
    """The first of two ranks, whose other one has the same fate."""

    def __init__(self) -> None:
        super().__init__(0, 2)

    def sum(self, *values: float) -> list[float]:
        """Count both."""
        return [2 * value for value in values]


@pytest.mark.parametrize(("most_pairs", "expected"), [(1_000, 0), (10, 1), (5, 2)])
def test_several_ranks_try_the_largest_batch_beforehand(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_pairs: int, expected: int
) -> None:
    """Before the first step they agree how often micro-batches are halved; nothing is left of the trial."""
    compute, found = Parallel.loss, []

    def limited(self: Parallel, batch: Any) -> Any:
        if len(batch.source_BS) > most_pairs:
            raise torch.OutOfMemoryError("out of memory")
        return compute(self, batch)

    class Tries(Recorder):
        def training_started(self, progress: Progress, num_steps: int) -> None:
            monkeypatch.setattr(Parallel, "loss", limited)
            run = replace(session.loop, parallel=parallel)
            found.append(loop._cuts_that_fit(run, next(loop._steps(run, progress)), 0))
            monkeypatch.setattr(Parallel, "loss", compute)

    recorder = Tries()
    go = Session.go

    def remember(self: Session) -> Outcome:
        nonlocal session, parallel
        session, parallel = self, copy.copy(self.loop.parallel)
        parallel.ranks = TwoRanks()
        return go(self)

    session: Session
    parallel: Parallel
    monkeypatch.setattr(Session, "go", remember)
    tiny_run(corpus, tmp_path / "model", reporter=recorder)

    assert found == [expected]
    assert all(parameter.grad is None for parameter in parallel.model.parameters())
    assert any("so that they fit into memory" in text for text in recorder.notices) == (expected > 0)


@pytest.mark.parametrize("num_ranks", [2, 3])
@pytest.mark.parametrize("num_cuts", [0, 1, 3])
def test_ranks_have_equally_many_micro_batches(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_ranks: int, num_cuts: int
) -> None:
    """However often they are halved, no rank waits for a micro-batch of another, and no pair is lost."""
    seen: list[Any] = []
    go = Session.go
    monkeypatch.setattr(Session, "go", lambda self: seen.append(self.loop) or go(self))
    tiny_run(corpus, tmp_path / "model", "train.micro_batch_tokens=300", stop=stop_after(1))
    step = next(loop._steps(seen[0], Progress()))
    shares = []
    for rank in range(num_ranks):
        parallel = copy.copy(seen[0].parallel)
        parallel.ranks = Ranks(rank, num_ranks)
        run = replace(seen[0], parallel=parallel)
        shares.append(loop._batches(run, next(loop._steps(run, Progress())), num_cuts))

    assert len({len(share) for share in shares}) == 1
    assert sum(batch.num_target_tokens for share in shares for batch in share) == step.num_target_tokens
