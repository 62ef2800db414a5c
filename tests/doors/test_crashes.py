"""``dragoman train`` killed, stopped and out of room, by the real command line."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from dragoman.storage.durable import unsealed
from forked import Forked
from tiny_runs import SETTINGS, remains, write_corpus

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}

EVERY_STEP = (
    *SETTINGS,
    "train.validation_interval_steps=1",
    "train.validation_sentences=0",
    "train.micro_batch_tokens=600",
    "data.bpe_dropout=0.1",
    "data.test_pairs=0",
)
"""Every step is saved, and the last three are averaged; steps are cut and epochs encoded anew."""


@pytest.fixture
def corpus(root: Path, tmp_path: Path) -> list[Path]:
    """The 600 pairs of the reference data, or others where it is absent."""
    mini = root.parent / "shared" / "cases" / "mini"
    return [mini / "train.src", mini / "train.tgt"] if mini.is_dir() else write_corpus(tmp_path, 600)


def words(corpus: list[Path], out: Path, *settings: str) -> list[str]:
    named = [word for setting in settings for word in ("--set", setting)]
    return ["train", *map(str, corpus), "--out", str(out), "--resume", *named]


def start(corpus: list[Path], out: Path, *settings: str) -> subprocess.Popen[str]:
    """Begin the run, or go on with it, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "dragoman", *words(corpus, out, *settings)],
        env=ENVIRONMENT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def listed(out: Path) -> list[int]:
    """Return the steps of the listed checkpoints, each of which has the checksums that it was saved with."""
    manifest = out / "training" / "checkpoints" / "checkpoints.json"
    entries = unsealed(manifest.read_bytes())["checkpoints"] if manifest.exists() else []
    for entry in entries:
        folder = manifest.parent / f"step-{entry['step']:08d}{'' if entry['validated'] else '-interrupted'}"
        found = {
            name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in entry["checksums"]
        }

        assert found == entry["checksums"]

    return [entry["step"] for entry in entries]


def recorded(out: Path) -> int:
    """Return the last step that has a whole record."""
    path = out / "metrics.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return max((json.loads(line)["step"] for line in lines), default=0)


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


def kill_until_the_end(
    begin: Callable[[], subprocess.Popen[str] | Forked], out: Path, waits: Iterator[float]
) -> int:
    """Start the run again and again and kill it after each wait; return how often it was killed."""
    num_kills, newest = 0, 0
    for wait in waits:
        process = begin()
        try:
            _, errors = process.communicate(timeout=wait)
        except subprocess.TimeoutExpired:
            for kill in (os.killpg, os.kill):  # at first it is not yet in a group of its own
                with suppress(ProcessLookupError):
                    kill(process.pid, signal.SIGKILL)
            process.communicate()
            num_kills += 1
        else:
            assert (process.returncode, "Traceback" in errors) == (0, False), errors

            return num_kills
        last = max(listed(out), default=0)

        assert last >= newest
        assert last >= recorded(out) - 1

        newest = last
    done = begin()
    _, errors = done.communicate()

    assert done.returncode == 0, errors

    return num_kills


def test_a_run_that_is_killed_at_any_moment_ends_the_same(corpus: list[Path], tmp_path: Path) -> None:
    """S37: weights, metrics and checkpoints are those of a run that nobody has killed."""
    settings = (*EVERY_STEP, "train.max_steps=40")
    undisturbed = start(corpus, tmp_path / "whole", *settings)
    began = time.monotonic()
    _, errors = undisturbed.communicate()
    whole = time.monotonic() - began
    draw = random.Random(1)
    waits = iter([draw.uniform(0.4, 0.7) * whole for _ in range(3)])
    out = tmp_path / "model"
    num_kills = kill_until_the_end(lambda: start(corpus, out, *settings), out, waits)

    assert undisturbed.returncode == 0, errors
    assert num_kills > 0
    assert_same(remains(out), remains(tmp_path / "whole"))


@pytest.mark.parametrize(
    ("number", "max_steps", "longest"), [(10, 30, 1.0), pytest.param(200, 600, 4.0, marks=pytest.mark.full)]
)
def test_runs_that_are_killed_often_end_the_same(
    corpus: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    max_steps: int,
    longest: float,
) -> None:
    """S37: killed 10 or 200 times some seconds after their start, runs end with the same bytes each time."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    settings = (*EVERY_STEP, f"train.max_steps={max_steps}")

    def begin(out: Path) -> Forked:
        return Forked(words(corpus, out, *settings), tmp_path / "log")

    whole = tmp_path / "whole"
    kill_until_the_end(partial(begin, whole), whole, iter([]))
    draw, num_kills = random.Random(2), 0
    while num_kills < number:
        out = tmp_path / f"from-{num_kills}"
        waits = iter([draw.uniform(0.1, longest) for _ in range(number - num_kills)])
        num_kills += kill_until_the_end(partial(begin, out), out, waits)

        assert_same(remains(out), remains(whole))


@pytest.mark.full
def test_sigterm_at_any_moment(corpus: list[Path], tmp_path: Path) -> None:
    """Stopped at twenty random moments, a run is gone within 30 seconds and ends with the same bytes."""
    settings = (*EVERY_STEP, "train.max_steps=400")
    undisturbed = start(corpus, tmp_path / "whole", *settings)
    undisturbed.communicate()
    draw = random.Random(3)
    for _ in range(20):
        process = start(corpus, tmp_path / "model", *settings)
        time.sleep(draw.uniform(1.0, 12.0))
        process.terminate()
        _, errors = process.communicate(timeout=30)

        assert process.returncode in (0, 143, -signal.SIGTERM), errors
        assert "Traceback" not in errors
        assert max(listed(tmp_path / "model"), default=0) == recorded(tmp_path / "model")

    process = start(corpus, tmp_path / "model", *settings)
    process.communicate()

    assert_same(remains(tmp_path / "model"), remains(tmp_path / "whole"))


def wait_for(process: subprocess.Popen[str], out: Path, *, validating: bool) -> None:
    """Wait until the run holds its folder, or until it has made its first step and validates."""
    for _ in range(1_200):
        if (recorded(out) >= 1) if validating else (out / "training" / "lock").exists():
            return
        assert process.poll() is None

        time.sleep(0.05)
    raise AssertionError("the run does not begin")


def test_sigterm_does_not_wait_for_a_validation(corpus: list[Path], tmp_path: Path) -> None:
    """In the middle of a validation of minutes, a run saves and is gone at once."""
    out = tmp_path / "model"
    settings = (
        *(setting for setting in EVERY_STEP if not setting.startswith("train.validation_sentences")),
        *("train.max_steps=1", "search.beam_size=12", "search.extra_length=400", "search.batch_tokens=64"),
    )
    process = start([*corpus], out, *settings, "train.validation_sentences=1000", "data.dev_pairs=30")
    wait_for(process, out, validating=True)
    began = time.monotonic()
    process.terminate()
    _, errors = process.communicate()
    seconds = time.monotonic() - began
    records = (out / "metrics.jsonl").read_text(encoding="utf-8")

    assert process.returncode == 143, errors
    assert seconds < 30
    assert "saved at step 1; go on with" in errors
    assert "validation" not in records
    assert listed(out) == [1]


def test_sigterm_before_the_loop_leaves_what_can_go_on(corpus: list[Path], tmp_path: Path) -> None:
    """Stopped while it reads, a run is gone at once without a traceback, and its lock with it."""
    process = start(corpus, tmp_path / "model", *EVERY_STEP)
    wait_for(process, tmp_path / "model", validating=False)
    began = time.monotonic()
    process.terminate()
    _, errors = process.communicate()

    assert process.returncode == 143, errors
    assert time.monotonic() - began < 30
    assert "Traceback" not in errors
    assert not (tmp_path / "model" / "training" / "lock").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if not made or made.returncode:
        pytest.skip("this user cannot mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_folder_without_permission_is_refused(corpus: list[Path], small_disk: Path) -> None:
    """Where nothing can be written, one message says so before anything is read."""
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    process = start(corpus, small_disk / "model", *EVERY_STEP)
    _, errors = process.communicate()

    assert process.returncode == 2, errors
    assert f"{small_disk} cannot be written" in errors
    assert errors.count("error:") == 1
    assert "reading the corpus" not in errors


def fill(path: Path) -> None:
    """Write a file until there is no room for a single byte more."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    for size in (4_096, 1):
        with suppress(OSError):
            while True:
                os.write(descriptor, b"x" * size)
    os.close(descriptor)


@pytest.mark.parametrize("training", [False, True])
def test_a_disk_that_fills_up_is_one_message(
    corpus: list[Path], small_disk: Path, tmp_path: Path, *, training: bool
) -> None:
    """Before the first step or after it, the run ends with one message; with room again it goes on."""
    settings = (*EVERY_STEP, "train.max_steps=40")
    process = start(corpus, small_disk / "model", *settings)
    wait_for(process, small_disk / "model", validating=training)
    fill(small_disk / "other")
    _, errors = process.communicate()
    (small_disk / "other").unlink()
    again = start(corpus, small_disk / "model", *settings)
    _, later = again.communicate()

    assert process.returncode == 1, errors
    assert errors.count("error:") == 1
    assert "No space left on device" in errors or "the disk has room for " in errors
    assert "Traceback" not in errors
    assert again.returncode == 0, later
    assert (small_disk / "model" / "model.safetensors").exists()
