"""A run that was stopped, in whatever way, ends as if it had not been."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from dragoman.errors import CheckpointError, ConfigError, CorpusError, DivergedError, UsageError
from dragoman.run import Reporter, session, validation
from dragoman.run.session import Session
from dragoman.train.step import StopRequestedError
from tiny_runs import SETTINGS, Recorder, remains, stop_after, tiny_run, write_corpus

pytestmark = pytest.mark.untraced  # whole runs; what they consist of is watched in tests of its own

VARIANTS = {
    "plain": (),
    "bpe-dropout": ("data.bpe_dropout=0.2",),
    "accumulation": ("train.micro_batch_tokens=300",),
    "readable": ("train.fast=false", "train.select_by=loss"),
    "by chrF, one average": ("train.select_by=chrf", "train.average_checkpoints=1"),
    "moving average": ("train.moving_average=0.9", "train.average_of=best"),
    "bfloat16": ("train.precision=bfloat16",),
    "R-Drop": ("train.r_drop=2.0", "train.micro_batch_tokens=600"),
}


@pytest.fixture(scope="module")
def undisturbed(
    corpus: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., dict[str, bytes]]:
    """What a run without interruption leaves; each variant runs once."""
    known: dict[tuple[str, ...], dict[str, bytes]] = {}

    def of(*settings: str) -> dict[str, bytes]:
        if settings not in known:
            out = tmp_path_factory.mktemp("whole") / "model"
            tiny_run(corpus, out, *settings)
            known[settings] = remains(out)
        return known[settings]

    return of


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


@pytest.mark.parametrize("stop", [1, 3, 4, 11])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_stopped_run_goes_on_exactly(
    corpus: list[Path], tmp_path: Path, undisturbed: Callable[..., Any], variant: str, stop: int
) -> None:
    """S34, S35: weights, moments, scores and metrics are byte for byte those of a run without a stop.

    The stops are at the first step, within an epoch, at a validation, and before the last step.
    """
    settings = VARIANTS[variant]
    stopped = tiny_run(corpus, tmp_path / "model", *settings, stop=stop_after(stop))
    recorder = Recorder()
    ended = tiny_run(corpus, tmp_path / "model", resume=True, reporter=recorder)

    assert (stopped.reason, stopped.progress.step) == ("interrupted", stop)
    assert (ended.reason, recorder.steps) == ("max_steps", list(range(stop + 1, 13)))
    assert_same(remains(tmp_path / "model"), undisturbed(*settings))


@pytest.mark.parametrize("question", [1, 3, 9])
def test_a_run_may_stop_within_a_step(
    corpus: list[Path], tmp_path: Path, undisturbed: Callable[..., Any], question: int
) -> None:
    """A step that was given up between its two micro-batches, the first one or one after a validation too."""
    asked = iter(range(1, 1_000))
    settings = ("train.micro_batch_tokens=600",)
    stopped = tiny_run(corpus, tmp_path / "model", *settings, stop=lambda: next(asked) >= question)
    tiny_run(corpus, tmp_path / "model", resume=True)

    assert (stopped.reason, stopped.progress.step) == ("interrupted", question // 2)
    assert_same(remains(tmp_path / "model"), undisturbed(*settings))


def test_a_run_may_stop_after_every_step(
    corpus: list[Path], tmp_path: Path, undisturbed: Callable[..., Any]
) -> None:
    """Twelve sessions of one step each come to the same end."""
    reasons = [tiny_run(corpus, tmp_path / "model", stop=stop_after(1)).reason]
    while reasons[-1] == "interrupted":
        reasons.append(tiny_run(corpus, tmp_path / "model", resume=True, stop=stop_after(1)).reason)

    assert reasons == ["interrupted"] * 11 + ["max_steps"]
    assert_same(remains(tmp_path / "model"), undisturbed())


class StopWhileBusy(Recorder):
    """Wishes to stop while a long task is at work after a step, like the encoding of the next epoch."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step

    def busy(self) -> None:
        if self.steps[-1:] == [self.step]:
            raise StopRequestedError


def test_a_wish_to_stop_does_not_wait_for_the_pairs_of_an_epoch(
    corpus: list[Path], tmp_path: Path, undisturbed: Callable[..., Any]
) -> None:
    """With BPE-dropout each epoch is encoded first: a stop gives that up, saves, and the end is the same."""
    settings = (*VARIANTS["bpe-dropout"], "train.max_steps=40", "train.validation_interval_steps=40")
    epochs = [record["epoch"] for record in read_metrics_bytes(undisturbed(*settings))]
    last_of_first_epoch = epochs.index(1)
    reporter = StopWhileBusy(last_of_first_epoch)
    stopped = tiny_run(corpus, tmp_path / "model", *settings, reporter=reporter)
    tiny_run(corpus, tmp_path / "model", resume=True)

    assert (stopped.reason, stopped.progress.step) == ("interrupted", last_of_first_epoch)
    assert_same(remains(tmp_path / "model"), undisturbed(*settings))


def read_metrics_bytes(left: dict[str, bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in left["metrics.jsonl"].splitlines()]


class Killed(BaseException):
    """The process is gone."""


class KillAt(Reporter):
    """Ends the process, as it seems to the run, once a step is made."""

    def __init__(self, step: int) -> None:
        self.step = step

    def stepped(self, progress: Any, result: Any, rate: float) -> None:
        if progress.step == self.step:
            raise Killed


@pytest.mark.parametrize("step", [1, 6, 12])
def test_a_killed_run_goes_on_from_its_last_checkpoint(
    corpus: list[Path], tmp_path: Path, undisturbed: Callable[..., Any], step: int
) -> None:
    """S37: what was not saved is made again, and metrics of those steps are not there twice."""
    with pytest.raises(Killed):
        tiny_run(corpus, tmp_path / "model", reporter=KillAt(step))
    with (tmp_path / "model" / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 99, "cut o')  # the line that was being written
    tiny_run(corpus, tmp_path / "model", resume=True)

    assert_same(remains(tmp_path / "model"), undisturbed())


def test_patience_and_best_score_are_carried_over(
    corpus: list[Path], tmp_path: Path, undisturbed: Callable[..., Any]
) -> None:
    """S35: early stopping counts validations across a stop, and ends the run at the same step."""
    settings = (
        "train.patience=2",
        "train.max_steps=40",
        "train.validation_interval_steps=2",
        "train.select_by=loss",
        "train.peak_rate=0.5",
    )
    expected = undisturbed(*settings)
    last = json.loads(expected["metrics.jsonl"].splitlines()[-1])["step"]
    for stop in (last - 3, last - 1):
        out = tmp_path / str(stop)
        tiny_run(corpus, out, *settings, stop=stop_after(stop))
        outcome = tiny_run(corpus, out, resume=True)

        assert (outcome.reason, outcome.progress.step) == ("patience", last)
        assert_same(remains(out), expected)


def test_the_same_seed_gives_the_same_run(
    corpus: list[Path], tmp_path: Path, undisturbed: Callable[..., Any]
) -> None:
    """S40: one seed gives equal bytes, another seed other weights, and the seed is stored."""
    tiny_run(corpus, tmp_path / "same")
    tiny_run(corpus, tmp_path / "other", "train.seed=2")
    other = remains(tmp_path / "other")

    assert_same(remains(tmp_path / "same"), undisturbed())
    assert other["model.safetensors"] != undisturbed()["model.safetensors"]
    assert other["metrics.jsonl"] != undisturbed()["metrics.jsonl"]
    assert json.loads(other["config.json"])["train"]["seed"] == 2


def test_micro_batches_change_rounding_alone(corpus: list[Path], undisturbed: Callable[..., Any]) -> None:
    """A run whose steps are cut has the same number of steps in an epoch or more, never fewer pairs."""
    for variant in ("plain", "accumulation"):
        records = [json.loads(line) for line in undisturbed(*VARIANTS[variant])["metrics.jsonl"].splitlines()]
        of_first_epoch = [record for record in records if record.get("epoch") == 0 and "loss" in record]

        assert 1 < len(of_first_epoch) < 12


def test_a_moving_average_changes_what_is_kept_and_not_the_training(
    corpus: list[Path], tmp_path: Path
) -> None:
    """Losses and parameters are those of a run without it; the model of the checkpoint is another."""
    tiny_run(corpus, tmp_path / "plain", "train.max_steps=4")
    tiny_run(corpus, tmp_path / "averaged", "train.max_steps=4", "train.moving_average=0.9")
    plain, averaged = (
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("plain", "averaged")
    )
    checkpoint = "training/checkpoints/step-00000004"
    parameters = load_file(tmp_path / "plain" / checkpoint / "model.safetensors")
    moments = load_file(tmp_path / "averaged" / checkpoint / "optimizer.safetensors")
    kept = load_file(tmp_path / "averaged" / checkpoint / "model.safetensors")

    assert averaged[:4] == plain[:4]
    assert averaged[4] != plain[4]
    assert all(torch.equal(moments[f"parameter.{name}"], tensor) for name, tensor in parameters.items())
    assert not any(torch.equal(kept[name], tensor) for name, tensor in parameters.items())


@pytest.mark.parametrize(
    ("loss_of_mean", "always", "chosen"),
    [
        (1.0, "false", "the average of the best 2 checkpoints"),
        (3.0, "false", "step 8, the best by development loss"),
        (3.0, "true", "the average of the best 2 checkpoints"),
    ],
)
def test_the_better_of_mean_and_best_is_kept(
    corpus: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    loss_of_mean: float,
    always: str,
    chosen: str,
) -> None:
    """The checkpoints of the greatest scores are averaged; the mean is kept if it is no worse, or always."""
    losses, averaged = iter([2.5, 2.0, 2.2, loss_of_mean, 2.0]), []
    monkeypatch.setattr(Session, "validate", lambda _: {"loss": next(losses)})
    mean = session.average
    monkeypatch.setattr(session, "average", lambda parts: mean(averaged.append(one) or one for one in parts))
    settings = ("train.average_of=best", "train.average_checkpoints=2", "train.select_by=loss")
    outcome = tiny_run(corpus, tmp_path / "model", *settings, f"train.average_always={always}")
    kept = load_file(tmp_path / "model" / "model.safetensors")
    best = load_file(tmp_path / "model/training/checkpoints/step-00000008/model.safetensors")
    expected = mean(averaged) if "average" in chosen else best

    assert outcome.chosen == chosen
    assert len(averaged) == 2
    assert all(torch.equal(kept[name], tensor) for name, tensor in expected.items())


@pytest.mark.parametrize("limit", [4, 2])
def test_steps_already_done_are_not_done_again(corpus: list[Path], tmp_path: Path, limit: int) -> None:
    """S36: a run that stands at its limit or beyond says so and ends, with its model as it was."""
    tiny_run(corpus, tmp_path / "model", "train.max_steps=4")
    before, recorder = remains(tmp_path / "model"), Recorder()
    outcome = tiny_run(corpus, tmp_path / "model", f"train.max_steps={limit}", resume=True, reporter=recorder)
    after = remains(tmp_path / "model")

    assert outcome.reason == "nothing_to_do"
    assert f"nothing to do: at step 4, limit {limit}" in recorder.notices
    assert recorder.steps == []
    assert after["model.safetensors"] == before["model.safetensors"]
    assert after["metrics.jsonl"] == before["metrics.jsonl"]


def test_a_limit_below_an_unvalidated_step_ends_with_a_model(corpus: list[Path], tmp_path: Path) -> None:
    """S36: stopped before its first validation and resumed with a lower limit, a run still ends well."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(3))
    outcome = tiny_run(corpus, tmp_path / "model", "train.max_steps=2", resume=True)

    assert outcome.reason == "nothing_to_do"
    assert (tmp_path / "model" / "model.safetensors").exists()


def test_a_run_may_be_made_longer(
    corpus: list[Path], tmp_path: Path, undisturbed: Callable[..., Any]
) -> None:
    """Ended at 8 steps and resumed with a limit of 12, a run gives the weights of 12 steps.

    That is so under the paper's rate; a cool-down depends on where the run was to end.
    """
    settings = ("train.cooldown_share=0.0",)
    tiny_run(corpus, tmp_path / "model", *settings, "train.max_steps=8")
    tiny_run(corpus, tmp_path / "model", "train.max_steps=12", resume=True)
    found = remains(tmp_path / "model")

    for name in ("model.safetensors", "metrics.jsonl"):
        assert found[name] == undisturbed(*settings)[name]


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        ("model.d_ff=64", "model.d_ff"),
        ("model.norm=pre", "model.norm"),
        ("data.max_length=100", "data.max_length"),
        ("train.seed=7", "train.seed"),
        ("train.batch_tokens=900", "train.batch_tokens"),
    ],
)
def test_a_resumed_run_keeps_its_keys(corpus: list[Path], tmp_path: Path, setting: str, key: str) -> None:
    """A key that a checkpoint depends on cannot change, and the message names it."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1))
    before = remains(tmp_path / "model")
    with pytest.raises(ConfigError, match=rf"a resumed run cannot change {key}"):
        tiny_run(corpus, tmp_path / "model", setting, resume=True)

    assert_same(remains(tmp_path / "model"), before)


def test_a_resumed_run_names_the_keys_that_change(corpus: list[Path], tmp_path: Path) -> None:
    """What may change is said where it does; the same values once more are no change."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1))
    recorder = Recorder()
    settings = ("train.label_smoothing=0.2", "train.max_steps=12")
    tiny_run(corpus, tmp_path / "model", *settings, resume=True, reporter=recorder, stop=stop_after(1))

    assert "keys that change from here on: train.label_smoothing=0.2" in recorder.notices


@pytest.mark.parametrize("options", [{"recipe": "base"}, {"config_file": Path("other.toml")}])
def test_a_resumed_run_keeps_its_recipe(
    corpus: list[Path],
    tmp_path: Path,
    undisturbed: Callable[..., dict[str, bytes]],
    options: dict[str, Any],
) -> None:
    """The same command with --resume goes on; its recipe and file play no part, and the run says so."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1))
    recorder = Recorder()
    tiny_run(corpus, tmp_path / "model", resume=True, reporter=recorder, **options)

    assert_same(remains(tmp_path / "model"), undisturbed())
    assert any("recipe, configuration file and --from play no part" in notice for notice in recorder.notices)


def test_a_resumed_run_keeps_its_corpus(corpus: list[Path], tmp_path: Path) -> None:
    """Another text, even by one letter, is refused with both names."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1))
    others = [tmp_path / "other.en", tmp_path / "other.xx"]
    for path, other in zip(corpus, others, strict=True):
        other.write_bytes(path.read_bytes().replace(b"river", b"rivex", 1))
    with pytest.raises(
        CorpusError, match=r"other\.en.*not the corpus that the run in .* began with .*corpus\.en"
    ):
        tiny_run(others, tmp_path / "model", resume=True)


def test_a_resumed_run_keeps_its_development_pairs(corpus: list[Path], tmp_path: Path) -> None:
    """Scores on other development pairs cannot be compared with the best so far, so they are refused."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    dev, other = (write_corpus(folder, 8, seed) for seed, folder in enumerate(folders, start=5))
    tiny_run(corpus, tmp_path / "model", dev=dev, stop=stop_after(5))
    with pytest.raises(CorpusError, match="development"):
        tiny_run(corpus, tmp_path / "model", dev=other, resume=True)


def test_a_damaged_checkpoint_is_named(corpus: list[Path], tmp_path: Path) -> None:
    """A run does not go on from weights that have changed on the disk."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1))
    (path,) = (tmp_path / "model" / "training" / "checkpoints").glob("step-*/model.safetensors")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"model\.safetensors: the file is damaged"):
        tiny_run(corpus, tmp_path / "model", resume=True)


def test_a_run_whose_development_loss_is_no_number_can_be_resumed(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a validation ends the run with a plain error; its checkpoints are still there."""
    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        patch.setattr(validation, "dev_loss", lambda *_: math.inf)
        with pytest.raises(DivergedError, match="the development loss is inf") as fault:
            tiny_run(corpus, out)
    outcome = tiny_run(corpus, out, "train.peak_rate=0.001", resume=True)

    assert "--resume" in (fault.value.hint or "")
    assert outcome.reason == "max_steps"


def test_resuming_nothing_begins_anew(corpus: list[Path], tmp_path: Path) -> None:
    """--resume on a new folder is a new run, so one command can be repeated until it is through."""
    outcome = tiny_run(corpus, tmp_path / "model", *SETTINGS, resume=True, stop=stop_after(1))

    assert outcome.progress.step == 1


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_of_others_is_never_touched(corpus: list[Path], tmp_path: Path, resume: bool) -> None:
    """A folder that holds something else is refused and stays as it was, resumed or not."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="the folder is not empty"):
        tiny_run(corpus, tmp_path, resume=resume)

    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_finished_run_is_never_overwritten(corpus: list[Path], tmp_path: Path) -> None:
    """A second training into the folder of a first is refused, with the way to go on."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1))
    with pytest.raises(UsageError, match="holds a training already") as fault:
        tiny_run(corpus, tmp_path / "model")

    assert "--resume" in (fault.value.hint or "")


def test_a_file_is_no_model_folder(corpus: list[Path], tmp_path: Path) -> None:
    """A destination that is a file is refused."""
    (tmp_path / "model").write_text("mine")
    with pytest.raises(UsageError, match="this is a file"):
        tiny_run(corpus, tmp_path / "model")
