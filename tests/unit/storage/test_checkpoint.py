"""Checkpoints are whole or not there."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from disk_faults import Crash, Faults, disk_full, input_output
from dragoman.errors import CheckpointError, UsageError
from dragoman.storage.checkpoint import CheckpointKeeper
from dragoman.storage.progress import Progress


@pytest.fixture(autouse=True)
def unsynchronized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for the disk is slow, and no machine loses its memory here."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def save(keeper: CheckpointKeeper, step: int, score: float | None = None, *, validated: bool = True) -> None:
    parameters = {"x": torch.full((3,), float(step))}
    keeper.save(
        Progress(step=step), parameters, {"y": torch.ones(2) * step}, score=score, validated=validated
    )


def steps(keeper: CheckpointKeeper) -> list[int]:
    return [entry.step for entry in keeper.entries]


def assert_all_load(keeper: CheckpointKeeper) -> None:
    """Every listed checkpoint is whole and holds what its step saved."""
    for entry in keeper.entries:
        progress, parameters, optimizer = keeper.load(entry)

        assert (progress.step, parameters["x"].tolist()) == (entry.step, [float(entry.step)] * 3)
        assert optimizer["y"].tolist() == [float(entry.step)] * 2


def test_the_best_and_the_last_are_kept(shared: Path, tmp_path: Path) -> None:
    """S38: after each save the best and the last exist and load, and nothing else has to."""
    case = json.loads((shared / "cases" / "S38-best-is-kept" / "case.json").read_text())
    keeper = CheckpointKeeper(tmp_path, case["keep_last"])
    kept = zip(case["validation_loss_per_save"], case["after_save_must_exist"], strict=True)
    for number, (loss, [*expected]) in enumerate(kept, start=1):
        save(keeper, number, score=-loss)
        reopened = CheckpointKeeper(tmp_path, case["keep_last"])
        best = min(range(number), key=lambda i: case["validation_loss_per_save"][i]) + 1

        assert [str(step) for step in steps(reopened)] == expected
        assert (reopened.best.step, reopened.last.step) == (best, number)
        assert_all_load(reopened)


def test_the_last_few_validated_ones_are_kept(tmp_path: Path) -> None:
    """Besides best and last, so many validated checkpoints stay as will be averaged."""
    keeper = CheckpointKeeper(tmp_path, 3)
    for step, score in enumerate([1.0, 9.0, 2.0, 3.0, 4.0, 5.0], start=1):
        save(keeper, step, score)
    save(keeper, 7, validated=False)

    assert steps(keeper) == [2, 4, 5, 6, 7]
    assert [entry.step for entry in keeper.last_validated(3)] == [4, 5, 6]
    assert len(list(tmp_path.glob("step-*"))) == 5


def test_as_many_of_the_best_are_kept_as_will_be_averaged(tmp_path: Path) -> None:
    """With the last stay those with the greatest scores, whichever they are, the best of them first."""
    keeper = CheckpointKeeper(tmp_path, 1, keep_best=3)
    for step, score in enumerate([3.0, 9.0, 1.0, 7.0, 8.0, 2.0], start=1):
        save(keeper, step, score)

    assert steps(keeper) == [2, 4, 5, 6]
    assert [entry.step for entry in keeper.best_validated(3)] == [2, 5, 4]


def test_of_equal_scores_the_first_is_best(tmp_path: Path) -> None:
    """A score that is only reached again does not replace the checkpoint that reached it first."""
    keeper = CheckpointKeeper(tmp_path, 1)
    for step in (1, 2, 3):
        save(keeper, step, 5.0)

    assert keeper.best.step == 1


def test_an_interruption_never_replaces_the_best(tmp_path: Path) -> None:
    """A checkpoint without a score is last, and not best."""
    keeper = CheckpointKeeper(tmp_path, 1)
    save(keeper, 1, 5.0)
    save(keeper, 2, validated=False)

    assert (keeper.best.step, keeper.last.step) == (1, 2)


def test_negative_scores_are_compared_as_numbers(tmp_path: Path) -> None:
    """Losses, whose scores are below zero, and a score of exactly zero have their right order."""
    keeper = CheckpointKeeper(tmp_path, 9)
    for step, score in ((1, -2.0), (2, 0.0), (3, -1.0)):
        save(keeper, step, score)

    assert keeper.best.step == 2


def test_the_same_step_may_be_saved_again(tmp_path: Path) -> None:
    """The newer save takes the place of the older one."""
    keeper = CheckpointKeeper(tmp_path, 2)
    save(keeper, 1, validated=False)
    save(keeper, 1, 3.0)

    assert [(entry.step, entry.validated, entry.score) for entry in keeper.entries] == [(1, True, 3.0)]
    assert_all_load(CheckpointKeeper(tmp_path, 2))


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors", "progress.json"])
def test_a_flipped_byte_is_found(tmp_path: Path, file: str) -> None:
    """A file that is not what was written is refused by its checksum, with its name."""
    keeper = CheckpointKeeper(tmp_path, 2)
    save(keeper, 1, 3.0)
    path = tmp_path / "step-00000001" / file
    whole = path.read_bytes()
    for place in range(0, len(whole), 11):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(CheckpointError, match=f"{file}: the file is damaged"):
            keeper.load(keeper.entries[0])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A checkpoint from which a file was taken is refused with the file's name."""
    keeper = CheckpointKeeper(tmp_path, 2)
    save(keeper, 1, 3.0)
    (tmp_path / "step-00000001" / "optimizer.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"optimizer\.safetensors: cannot read"):
        keeper.load(keeper.entries[0])


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"checkpoints": [{"step": 1}]}', '{"checkpoints": 3}']
)
def test_a_damaged_list_is_refused_and_nothing_deleted(tmp_path: Path, content: str) -> None:
    """Where the list cannot be read nor made again, no checkpoint is thrown away."""
    save(CheckpointKeeper(tmp_path, 2), 1, 3.0)
    (tmp_path / "step-00000001" / "checkpoints.json").unlink()
    (tmp_path / "checkpoints.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"checkpoints\.json: the list of checkpoints cannot be read"):
        CheckpointKeeper(tmp_path, 2)

    assert (tmp_path / "step-00000001" / "model.safetensors").exists()


def saved_twice(folder: Path) -> CheckpointKeeper:
    """A folder with a validated checkpoint and, of the same step, one that was taken over by it."""
    keeper = CheckpointKeeper(folder, 2)
    save(keeper, 1, 3.0)
    save(keeper, 2, validated=False)
    save(keeper, 2, 4.0)
    save(keeper, 3, validated=False)
    return keeper


@pytest.mark.untraced
def test_any_changed_byte_of_the_list_is_found(tmp_path: Path) -> None:
    """A byte of the list that has changed or is gone alters nothing: it is made again, and that said."""
    expected = saved_twice(tmp_path).entries
    path = tmp_path / "checkpoints.json"
    whole = path.read_bytes()
    damaged = [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in range(0, len(whole), 19)]
    for content in [*damaged, *(whole[:size] for size in range(0, len(whole), 97))]:
        path.write_bytes(content)
        notices: list[str] = []
        keeper = CheckpointKeeper(tmp_path, 2, notices.append)

        assert keeper.entries == expected
        assert ["made again from the 3 that are there" in notice for notice in notices] == [True]
        assert path.read_bytes() == whole


def test_a_lost_list_is_made_again(tmp_path: Path) -> None:
    """Without the list, the checkpoints tell themselves what they are; one that cannot is left out."""
    saved_twice(tmp_path)
    (tmp_path / "checkpoints.json").unlink()
    (tmp_path / "step-00000002" / "checkpoints.json").write_bytes(b"{")
    (tmp_path / "step-00000001").rename(tmp_path / "step-00000007")
    notices: list[str] = []
    keeper = CheckpointKeeper(tmp_path, 2, notices.append)

    assert steps(keeper) == [3]
    assert ["the file is missing" in notice for notice in notices] == [True]
    assert_all_load(keeper)


def test_damaged_parameters_are_left_out(tmp_path: Path) -> None:
    """Checkpoints whose parameters have changed leave the list with a notice; the last one is an error."""
    notices: list[str] = []
    keeper = CheckpointKeeper(tmp_path, 3, notices.append)
    for step in (1, 2, 3):
        save(keeper, step, 1.0)
    for step in (1, 3):
        (tmp_path / f"step-0000000{step}" / "model.safetensors").write_bytes(b"x")
    keeper.drop_damaged()

    assert steps(keeper) == steps(CheckpointKeeper(tmp_path, 3)) == [2]
    assert ["damaged" in notice and "going on without" in notice for notice in notices] == [True, True]

    (tmp_path / "step-00000002" / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"step-00000002.*cannot read the checkpoint"):
        keeper.drop_damaged()

    assert steps(keeper) == [2]


@pytest.mark.parametrize("call", ["mkdir", "iterdir"])
def test_a_folder_that_fails_is_a_plain_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """An input or output error of the folder itself names it."""

    def failing(*_arguments: object, **_named: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, call, failing)
    with pytest.raises(CheckpointError, match=r"cannot open the checkpoints.*Input/output error"):
        CheckpointKeeper(tmp_path / "checkpoints", 2)


def test_leftovers_are_removed(tmp_path: Path) -> None:
    """What an interrupted save or delete has left goes away when the folder is opened next."""
    save(CheckpointKeeper(tmp_path, 2), 1, 3.0)
    for name in (".step-00000002.tmp", "step-00000003"):
        shutil.copytree(tmp_path / "step-00000001", tmp_path / name)
    (tmp_path / "checkpoints.json.tmp").write_text("{")
    keeper = CheckpointKeeper(tmp_path, 2)
    save(keeper, 4, 4.0)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoints.json",
        "step-00000001",
        "step-00000004",
    ]
    assert_all_load(keeper)


def test_a_checkpoint_can_be_dropped(tmp_path: Path) -> None:
    """One that cannot be used leaves the list and the disk."""
    keeper = CheckpointKeeper(tmp_path, 2)
    save(keeper, 1, 3.0)
    save(keeper, 2, 4.0)
    keeper.drop(keeper.last)

    assert steps(CheckpointKeeper(tmp_path, 2)) == [1]
    assert not (tmp_path / "step-00000002").exists()


SAVES = [(1, 1.0, True), (2, 3.0, True), (3, None, False), (3, 2.0, True), (4, 1.0, True), (5, 4.0, True)]


def saves(folder: Path, keep_last: int) -> int:
    """Save again and again until something fails; return how many saves were made."""
    keeper = CheckpointKeeper(folder, keep_last)
    for number, (step, score, validated) in enumerate(SAVES):
        try:
            save(keeper, step, score, validated=validated)
        except (Crash, CheckpointError):
            return number
    return len(SAVES)


@pytest.mark.untraced
@pytest.mark.parametrize("keep_last", [1, 3])
@pytest.mark.parametrize("kind", [Crash, disk_full, input_output])
def test_every_listed_checkpoint_loads_whatever_fails(
    tmp_path: Path, keep_last: int, kind: Callable[[], BaseException]
) -> None:
    """Wherever the process dies or the disk fails, no save that was made is lost and none is half there."""
    last_of_saves = [0, 1, 2, 3, 3, 4, 5]
    with pytest.MonkeyPatch.context() as patch:
        total = count_calls(tmp_path / "whole", keep_last, patch)
    for fail_at in range(1, total + 1):
        folder = tmp_path / str(fail_at)
        with pytest.MonkeyPatch.context() as patch:
            faults = Faults(patch, kind)
            faults.fail_at = fail_at
            try:
                made = saves(folder, keep_last)
            except (Crash, CheckpointError):
                made = 0
        keeper = CheckpointKeeper(folder, keep_last)
        newest = 0 if keeper.last is None else keeper.last.step

        assert newest >= last_of_saves[made], (
            f"call {fail_at}: {made} saves were made, the newest is {newest}"
        )
        assert_all_load(keeper)
        assert len(list(folder.glob("*step-*"))) == len(keeper.entries)


def count_calls(folder: Path, keep_last: int, patch: pytest.MonkeyPatch) -> int:
    faults = Faults(patch, Crash)
    saves(folder, keep_last)
    return faults.calls


def test_a_full_disk_is_a_plain_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the checkpoint and the reason; what was there before is still there."""
    keeper = CheckpointKeeper(tmp_path, 1)
    save(keeper, 1, 1.0)

    def full(_descriptor: int) -> None:
        raise disk_full()

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match=r"step-00000002: cannot save the checkpoint.*No space left"):
        save(keeper, 2, 2.0)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoints.json", "step-00000001"]
    assert_all_load(CheckpointKeeper(tmp_path, 1))


def test_a_checkpoint_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    """What is whole but holds other fields is told from what is damaged."""
    keeper = CheckpointKeeper(tmp_path, 1)
    save(keeper, 1)
    path = tmp_path / "step-00000001" / "progress.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"num_dreams": 3}))
    checksums = {**keeper.last.checksums, "progress.json": hashlib.sha256(path.read_bytes()).hexdigest()}

    with pytest.raises(UsageError, match=r"another version of dragoman.*num_dreams"):
        keeper.load(replace(keeper.last, checksums=checksums))
