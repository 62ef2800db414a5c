"""Two trainings never write into one folder."""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.errors import CheckpointError, UsageError
from dragoman.run.lock import FolderLock

HOLD = """
import sys, time
from pathlib import Path
from dragoman.run.lock import FolderLock
with FolderLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of ``tmp_path / "model"``."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "model")],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_until_the_first_is_dead(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    """The message names process, host and time; killed, the holder leaves its file and the folder is free."""
    file = tmp_path / "model" / "training" / "lock"
    with pytest.raises(UsageError, match=rf"trained by process {holder.pid} on host \S+ since 20") as fault:
        FolderLock(tmp_path / "model").__enter__()
    holder.kill()
    holder.wait()
    left = file.read_text(encoding="utf-8")
    with FolderLock(tmp_path / "model"):
        now = file.read_text(encoding="utf-8")

    assert f"kill {holder.pid}" in (fault.value.hint or "")
    assert str(holder.pid) in left
    assert str(os.getpid()) in now


def test_one_process_has_one_lock(tmp_path: Path) -> None:
    """A second training of the same process is refused too; after the first it is not."""
    with FolderLock(tmp_path), pytest.raises(UsageError, match=f"process {os.getpid()} "):
        FolderLock(tmp_path).__enter__()
    with FolderLock(tmp_path):
        pass


def test_nothing_is_left(tmp_path: Path) -> None:
    """Where nothing was written, the folders that the lock made go away with it, whatever happened."""
    with pytest.raises(ZeroDivisionError), FolderLock(tmp_path / "model"):
        raise ZeroDivisionError

    assert list(tmp_path.iterdir()) == []


def test_what_was_written_stays(tmp_path: Path) -> None:
    """Only the lock goes away, and a folder that was there before stays even if it is empty."""
    (tmp_path / "empty").mkdir()
    with FolderLock(tmp_path / "empty"):
        pass
    with FolderLock(tmp_path / "model"):
        (tmp_path / "model" / "training" / "config.toml").touch()
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))

    assert left == ["empty", "model", "model/training", "model/training/config.toml"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff"])
def test_a_holder_may_be_unknown(tmp_path: Path, content: bytes) -> None:
    """Refused is refused, whatever the file says."""
    with FolderLock(tmp_path):
        (tmp_path / "training" / "lock").write_bytes(content)
        with pytest.raises(UsageError, match="is being trained by another process"):
            FolderLock(tmp_path).__enter__()


@pytest.mark.untraced
def test_many_at_once_are_one_at_a_time(tmp_path: Path) -> None:
    """Of many that come and go, never two are inside together, though the file is made again each time."""
    inside, most, entered = [0], [0], [0]

    def come_and_go() -> None:
        for _ in range(100):
            try:
                with FolderLock(tmp_path):
                    inside[0] += 1
                    entered[0] += 1
                    most[0] = max(most[0], inside[0])
                    inside[0] -= 1
            except UsageError:
                pass

    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == [1]
    assert entered[0] > 0


def test_a_file_system_without_locks_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on and says that nothing keeps a second one out."""
    notices: list[str] = []

    def unsupported(_descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("dragoman.run.lock._lock", unsupported)
    with FolderLock(tmp_path, notices.append):
        pass

    assert ["this file system has no locks (No locks available)" in notice for notice in notices] == [True]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["mkdir", "open", "write"])
def test_a_folder_that_cannot_be_written_is_a_plain_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """The message names the file and the reason, and nothing is left."""

    def failing(*_arguments: object, **_named: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        with pytest.raises(CheckpointError, match=rf"lock: cannot lock the folder: {os.strerror(number)}"):
            FolderLock(tmp_path / "model").__enter__()

    assert list(tmp_path.iterdir()) == []
