"""What was lost or left out before a run goes on is named; nothing begins anew in silence."""

import shutil
from pathlib import Path

import pytest

from dragoman.errors import CheckpointError, CorpusError, DivergedError, UsageError
from dragoman.run.training import read_metrics
from tiny_runs import Plans, Recorder, stop_after, tiny_run, write_corpus

pytestmark = pytest.mark.untraced  # whole runs; what they consist of is watched in tests of its own


@pytest.mark.parametrize(("stop", "told"), [(5, "up to step 4 before"), (99, "up to step 8 before")])
def test_checkpoints_that_are_gone_are_missed(
    corpus: list[Path], tmp_path: Path, stop: int, told: str
) -> None:
    """A run whose checkpoints were deleted does not train from its beginning again, finished or not."""
    out, recorder = tmp_path / "model", Recorder()
    tiny_run(corpus, out, stop=stop_after(stop))
    before = (out / "metrics.jsonl").read_bytes()
    shutil.rmtree(out / "training" / "checkpoints")
    with pytest.raises(CheckpointError, match=told):
        tiny_run(corpus, out, resume=True, reporter=recorder)

    assert recorder.steps == []
    assert (out / "metrics.jsonl").read_bytes() == before


def test_a_run_without_a_checkpoint_yet_begins_anew(corpus: list[Path], tmp_path: Path) -> None:
    """One that was killed before its first checkpoint is no loss: it is made again."""
    out, recorder = tmp_path / "model", Recorder()
    tiny_run(corpus, out, stop=stop_after(3))
    shutil.rmtree(out / "training" / "checkpoints")
    tiny_run(corpus, out, resume=True, reporter=recorder)

    assert recorder.steps[0] == 1


@pytest.mark.parametrize("resume", [False, True])
def test_a_configuration_that_is_gone_is_missed(corpus: list[Path], tmp_path: Path, resume: bool) -> None:
    """Such a folder is not called one of somebody else."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1))
    (tmp_path / "model/training/config.toml").unlink()
    with pytest.raises(UsageError, match=r"configuration training/config\.toml is gone"):
        tiny_run(corpus, tmp_path / "model", resume=resume)


@pytest.mark.parametrize("option", ["dev", "test"])
def test_forgotten_files_are_named(corpus: list[Path], tmp_path: Path, option: str) -> None:
    """Without --dev or --test other pairs would be split off: the reason is told, and the files."""
    (tmp_path / "other").mkdir()
    other = write_corpus(tmp_path / "other", 8, 5)
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1), **{option: other})
    with pytest.raises(CorpusError, match=rf"began with --{option} .*other/corpus\.en and"):
        tiny_run(corpus, tmp_path / "model", resume=True)


def test_files_that_were_not_named_before_are_told(corpus: list[Path], tmp_path: Path) -> None:
    """The other way round as well."""
    (tmp_path / "other").mkdir()
    tiny_run(corpus, tmp_path / "model", stop=stop_after(1))
    with pytest.raises(CorpusError, match="began without --dev"):
        tiny_run(corpus, tmp_path / "model", resume=True, dev=write_corpus(tmp_path / "other", 8, 5))


def test_a_disk_that_was_too_full_leaves_the_folder_free(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its hint says can be typed: the same command with fewer checkpoints."""
    usage = shutil.disk_usage(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=2**17))
        with pytest.raises(CheckpointError):
            tiny_run(corpus, tmp_path / "model")
    outcome = tiny_run(corpus, tmp_path / "model", "train.average_checkpoints=1")

    assert outcome.reason == "max_steps"


def test_a_dry_run_of_a_run_plans_what_is_left(corpus: list[Path], tmp_path: Path) -> None:
    """It tells where the run stands, and counts the steps and validations that are to come."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(5))
    plans = Plans()
    tiny_run(corpus, tmp_path / "model", resume=True, dry_run=True, reporter=plans)
    (plan,) = plans.seen

    assert (plan.num_steps, plan.num_steps_done, plan.num_validations) == (12, 5, 2)
    assert "the run stands at step 5 of 12" in plans.notices


def test_a_rate_that_is_far_too_high_is_no_success(corpus: list[Path], tmp_path: Path) -> None:
    """It goes back to the first weights three times and ends with an error that names the rate."""
    settings = ("train.peak_rate=90", "train.max_steps=150", "train.validation_interval_steps=50")
    recorder = Recorder()
    with pytest.raises(DivergedError, match=r"9\.0e\+01 at its height") as fault:
        tiny_run(corpus, tmp_path / "model", *settings, reporter=recorder)

    assert "--set train.peak_rate=1.0e-03" in str(fault.value.hint)
    assert max(recorder.steps) < 50
    assert {record["step"] for record in read_metrics(tmp_path / "model") if "setback" in record} == {0}
