"""Whatever the disk does, a run ends with one message and can go on, and damage is found before use."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch

from disk_faults import Crash, Faults, disk_full, input_output
from dragoman.errors import CheckpointError, DragomanError
from dragoman.run import folder as run_folder
from dragoman.run.preflight import check_fits
from dragoman.run.training import read_metrics
from dragoman.storage.checkpoint import CheckpointKeeper
from tiny_runs import Recorder, remains, stop_after, tiny_run

pytestmark = pytest.mark.untraced  # whole runs; what they consist of is watched in tests of its own

SETTINGS = (
    "train.max_steps=3",
    "train.validation_interval_steps=1",
    "train.validation_sentences=0",
    "train.average_checkpoints=2",
    "train.micro_batch_tokens=600",
    "data.bpe_dropout=0.1",
    "data.test_pairs=0",
)
"""A run that touches the disk in every way: it averages, cuts its steps, and encodes each epoch anew."""


@pytest.fixture(autouse=True)
def unsynchronized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for the disk is slow, and no machine loses its memory here."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture(scope="module")
def undisturbed(corpus: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run leaves that nothing disturbs."""
    out = tmp_path_factory.mktemp("whole") / "model"
    tiny_run(corpus, out, *SETTINGS)
    return remains(out)


@pytest.fixture(scope="module")
def stopped(corpus: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was stopped after its second step."""
    out = tmp_path_factory.mktemp("stopped") / "model"
    tiny_run(corpus, out, *SETTINGS, stop=stop_after(2))
    return out


def go_on(corpus: list[Path], out: Path, recorder: Recorder | None = None) -> None:
    """Resume the run that a folder holds, or begin it where there is none."""
    if run_folder.stored_config(out) is None:
        tiny_run(corpus, out, *SETTINGS, reporter=recorder)
    else:
        tiny_run(corpus, out, resume=True, reporter=recorder)


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


def assert_survives(
    corpus: list[Path],
    out: Path,
    undisturbed: dict[str, bytes],
    fail_at: int,
    kind: Callable[[], BaseException],
) -> None:
    """Fail once, look at the checkpoints, go on, and compare with a run without faults."""
    message = None
    with pytest.MonkeyPatch.context() as patch:
        faults = Faults(patch, kind, reads=False, lasting=kind is disk_full)
        faults.fail_at = fail_at
        try:
            tiny_run(corpus, out, *SETTINGS)
        except DragomanError as error:
            message = error.message
        except Crash:
            pass

    assert message is None or str(out) in message
    assert message is None or "No space left" in message or "Input/output error" in message

    checkpoints = out / "training" / "checkpoints"
    if checkpoints.exists():
        copied = shutil.copytree(checkpoints, out.with_name("copied"))
        keeper = CheckpointKeeper(copied, 2)
        for entry in keeper.entries:
            keeper.load(entry)
        shutil.rmtree(copied)
    go_on(corpus, out)

    assert_same(remains(out), undisturbed)


@pytest.fixture(scope="module")
def num_touches(corpus: list[Path], tmp_path_factory: pytest.TempPathFactory) -> int:
    """How often the run writes, synchronizes, renames, makes or removes."""
    with pytest.MonkeyPatch.context() as patch:
        faults = Faults(patch, Crash, reads=False)
        tiny_run(corpus, tmp_path_factory.mktemp("counted") / "model", *SETTINGS)
    return faults.calls


KINDS = (Crash, disk_full, input_output)


def test_a_few_faults_are_survived(
    corpus: list[Path], tmp_path: Path, undisturbed: dict[str, bytes], num_touches: int
) -> None:
    """S37: at some places of the run, from its first touch of the disk to its last, each fault in turn."""
    places = [1 + round(i * (num_touches - 1) / 11) for i in range(12)]
    for number, fail_at in enumerate(places):
        assert_survives(corpus, tmp_path / str(fail_at), undisturbed, fail_at, KINDS[number % 3])


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_is_survived(
    corpus: list[Path],
    tmp_path: Path,
    undisturbed: dict[str, bytes],
    num_touches: int,
    kind: Callable[[], BaseException],
) -> None:
    """S37: each single write, synchronization, renaming, making and removal of the run fails once."""
    for fail_at in range(1, num_touches + 1):
        assert_survives(corpus, tmp_path / str(fail_at), undisturbed, fail_at, kind)
        shutil.rmtree(tmp_path / str(fail_at))


def damage(path: Path, place: float, *, cut: bool) -> None:
    """Flip a bit of a file, or cut the file, at a share of its length."""
    content = bytearray(path.read_bytes())
    where = min(int(place * len(content)), len(content) - 1)
    content[where] ^= 4
    path.write_bytes(content[:where] if cut else content)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("place", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("name", ["training/config.toml", "training/corpus.json", "tokenizer.model"])
def test_a_changed_file_of_the_run_is_refused(
    corpus: list[Path], stopped: Path, tmp_path: Path, name: str, place: float, *, cut: bool
) -> None:
    """Configuration, corpus and tokenizer of a run are as they were, or a message names the file."""
    out = shutil.copytree(stopped, tmp_path / "model")
    damage(out / name, place, cut=cut)
    with pytest.raises(CheckpointError, match=rf"{name}: .*(checksum|cannot be read)"):
        tiny_run(corpus, out, resume=True)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(
    ("name", "notice"),
    [
        ("checkpoints/checkpoints.json", "made again from the 2 that are there"),
        ("checkpoints/step-00000002/progress.json", "going back to the one before"),
        ("checkpoints/step-00000002/optimizer.safetensors", "going back to the one before"),
        ("checkpoints/step-00000002/model.safetensors", "going back to the one before"),
        ("encoded/train.bin", None),
        ("encoded/dev.bin", None),
        ("encoded/epoch.bin", None),
    ],
)
def test_what_can_be_made_again_is(
    corpus: list[Path],
    stopped: Path,
    tmp_path: Path,
    undisturbed: dict[str, bytes],
    name: str,
    notice: str | None,
    *,
    cut: bool,
) -> None:
    """A damaged checkpoint, list or encoded corpus costs time and nothing else."""
    out = shutil.copytree(stopped, tmp_path / "model")
    damage(out / "training" / name, 0.5, cut=cut)
    recorder = Recorder()
    go_on(corpus, out, recorder)

    assert notice is None or any(notice in text for text in recorder.notices)
    assert_same(remains(out), undisturbed)


def test_a_damaged_older_checkpoint_is_left_out_of_the_average(
    corpus: list[Path], stopped: Path, tmp_path: Path
) -> None:
    """The run ends with a model all the same, and says which checkpoint was left out."""
    out = shutil.copytree(stopped, tmp_path / "model")

    class Damages(Recorder):
        def training_ended(self, reason: str) -> None:
            damage(out / "training/checkpoints/step-00000002/model.safetensors", 0.5, cut=False)

    recorder = Damages()
    outcome = tiny_run(corpus, out, resume=True, reporter=recorder)

    assert outcome.reason == "max_steps"
    assert any("step-00000002" in text and "going on without" in text for text in recorder.notices)


@pytest.mark.parametrize(
    "damage",
    [
        *(
            lambda _, bad=bad: bad + b"\n"
            for bad in (b"{", b"\xff", b"[]", b'{"step": "1"}', b"", b"[" * 100_000)
        ),
        lambda line: line.replace(b"e", b"f", 1),
        lambda line: re.sub(rb"\.(\d)", lambda found: b".%d" % (9 - int(found[1])), line, count=1),
    ],
)
def test_a_damaged_line_of_metrics_is_cut_off(
    corpus: list[Path], stopped: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    """The records from the damaged one on are dropped with a notice, and the run goes on.

    A line is damaged too where it is still JSON, with another key or another digit.
    """
    out = shutil.copytree(stopped, tmp_path / "model")
    lines = (out / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    (out / "metrics.jsonl").write_bytes(b"".join([*lines[:2], damage(lines[2]), *lines[3:]]))
    recorder, read = Recorder(), read_metrics(out)
    outcome = tiny_run(corpus, out, resume=True, reporter=recorder)
    found = (out / "metrics.jsonl").read_bytes().splitlines(keepends=True)

    assert outcome.reason == "max_steps"
    assert [record["step"] for record in read] == [
        json.loads(line)["step"] for line in (*lines[:2], *lines[3:])
    ]
    assert found[:2] == lines[:2]
    assert any("metrics.jsonl:3: the line is damaged" in notice for notice in recorder.notices)
    assert any("steps 2 to 2 have no record any more" in notice for notice in recorder.notices)


def test_a_damaged_line_of_the_history_is_cut_off(corpus: list[Path], stopped: Path, tmp_path: Path) -> None:
    """What the report tells of validations is known by its checksum as well."""
    out = shutil.copytree(stopped, tmp_path / "model")
    history = out / "training/history.jsonl"
    history.write_bytes(history.read_bytes().replace(b'"positions"', b'"pOsitions"', 1))
    recorder = Recorder()
    outcome = tiny_run(corpus, out, resume=True, reporter=recorder)

    assert outcome.reason == "max_steps"
    assert any("history.jsonl:1: the line is damaged" in notice for notice in recorder.notices)


def test_a_checkpoint_of_another_size_is_refused(corpus: list[Path], stopped: Path, tmp_path: Path) -> None:
    """Whole checkpoints of another run are named before the first step, and stay where they are."""
    out, other = shutil.copytree(stopped, tmp_path / "model"), tmp_path / "other"
    tiny_run(corpus, other, *SETTINGS, "model.d_ff=48", stop=stop_after(1))
    shutil.rmtree(out / "training" / "checkpoints")
    shutil.copytree(other / "training" / "checkpoints", out / "training" / "checkpoints")
    recorder = Recorder()
    with pytest.raises(CheckpointError, match=r"another vocabulary or size.*\[48.*\[32"):
        tiny_run(corpus, out, resume=True, reporter=recorder)

    assert recorder.steps == []
    assert (out / "training" / "checkpoints" / "step-00000001").exists()


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"a": torch.zeros(3, 2)}, r"a has shape \[3, 2\], the model of this run \[4, 2\]"),
        ({}, r"a has shape None, the model of this run \[4, 2\]"),
        ({"a": torch.zeros(4, 2), "b": torch.zeros(1)}, r"b has shape \[1\], the model of this run None"),
    ],
)
def test_tensors_of_another_model_are_named(
    tmp_path: Path, found: dict[str, torch.Tensor], message: str
) -> None:
    """Another vocabulary, size or layer is named with both shapes; what cannot be read has a checksum."""
    path = tmp_path / "training" / "checkpoints" / "step-00000001" / "model.safetensors"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x")
    check_fits(tmp_path, {"a": torch.zeros(4, 2)})
    path.write_bytes(safetensors.torch.save(found))
    with pytest.raises(CheckpointError, match=rf"another vocabulary or size: {message}"):
        check_fits(tmp_path, {"a": torch.zeros(4, 2)})


def test_a_disk_without_room_is_found_before_the_first_step(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message tells what there is and what the checkpoints need."""
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=2**17))
    recorder = Recorder()
    with pytest.raises(CheckpointError, match=r"room for 0.1 MiB, and 4 checkpoints of .* need 0") as fault:
        tiny_run(corpus, tmp_path / "model", *SETTINGS, reporter=recorder)

    assert "train.average_checkpoints" in (fault.value.hint or "")
    assert recorder.steps == []


def test_a_second_training_is_refused(corpus: list[Path], stopped: Path, tmp_path: Path) -> None:
    """While one trains, another that begins or goes on in the same folder is refused and changes nothing."""
    refused: list[str] = []

    class Second(Recorder):
        def stepped(self, *_arguments: object) -> None:
            for resume in (False, True):
                with pytest.raises(DragomanError) as fault:
                    tiny_run(corpus, out, resume=resume)
                refused.append(fault.value.message)

    out = shutil.copytree(stopped, tmp_path / "model")
    tiny_run(corpus, out, resume=True, reporter=Second())

    assert "holds a training already" in refused[0]
    assert f"is being trained by process {os.getpid()} on host" in refused[1]


def test_a_second_beginning_is_refused(corpus: list[Path], tmp_path: Path) -> None:
    """Two trainings that begin in one new folder at the same time are one."""
    refused: list[str] = []

    class Second(Recorder):
        def stage(self, text: str) -> None:
            if text == "reading the corpus":
                with pytest.raises(DragomanError) as fault:
                    tiny_run(corpus, tmp_path / "model", *SETTINGS)
                refused.append(fault.value.message)

    tiny_run(corpus, tmp_path / "model", *SETTINGS, reporter=Second())

    assert len(refused) == 1
    assert "is being trained by" in refused[0]
    assert not (tmp_path / "model" / "training" / "lock").exists()


def test_a_longer_run_that_dies_before_its_end_is_ended_later(corpus: list[Path], tmp_path: Path) -> None:
    """A model of fewer steps that lies there is not taken for that of the run."""
    settings = (*SETTINGS, "train.cooldown_share=0.0")
    tiny_run(corpus, tmp_path / "whole", *settings)
    tiny_run(corpus, tmp_path / "model", *settings, "train.max_steps=2")

    class Dies(Recorder):
        def training_ended(self, reason: str) -> None:
            raise Crash

    with pytest.raises(Crash):
        tiny_run(corpus, tmp_path / "model", "train.max_steps=3", resume=True, reporter=Dies())
    outcome = tiny_run(corpus, tmp_path / "model", resume=True)

    assert outcome.reason == "nothing_to_do"
    assert (
        remains(tmp_path / "model")["model.safetensors"] == remains(tmp_path / "whole")["model.safetensors"]
    )


def test_a_damaged_model_is_written_again(
    corpus: list[Path], tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    """A finished run whose weights have changed on the disk makes them again from its checkpoints."""
    tiny_run(corpus, tmp_path / "model", *SETTINGS)
    damage(tmp_path / "model" / "model.safetensors", 0.9, cut=False)
    tiny_run(corpus, tmp_path / "model", resume=True)

    assert_same(remains(tmp_path / "model"), undisturbed)
