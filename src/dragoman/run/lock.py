"""The lock on the folder of a run: two trainings never write into one folder.

The system holds the lock for the process, so that of a dead process is none, whatever its file says. The
file tells who holds it, and goes away with the lock.
"""

import errno
import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Self

from dragoman.errors import CheckpointError, UsageError

LOCK = "lock"
"""Name of the file, in ``training``."""

_CANNOT_LOCK = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}
"""What a file system without locks answers, as some network ones do."""

_ATTEMPTS = 100


class FolderLock:
    """While it is entered, no other process can enter one of the same folder.

    Args:
        out: The folder of a run. It and its ``training`` are made if they do not exist, and taken away
            again at the end if nothing was put into them.
        notice: Is told where the file system has no locks; the run goes on without one.

    Raises:
        UsageError: On entering: another process holds the lock; it is named.
        CheckpointError: On entering: the folder cannot be written.
    """

    def __init__(self, out: Path, notice: Callable[[str], None] = lambda _: None) -> None:
        self._out = out
        self._path = out / "training" / LOCK
        self._notice = notice
        self._made: list[Path] = []
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        try:
            self._take()
        except OSError as error:
            self._leave()
            raise CheckpointError(
                f"{self._path}: cannot lock the folder: {error.strerror}",
                hint="name a folder that can be written as --out, and make room on its disk",
            ) from error
        except UsageError:
            self._leave()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def _take(self) -> None:
        """Lock the file of that name; one that its holder is just taking away is not taken for it."""
        for attempt in count():
            try:
                self._make_folders()
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            except (FileNotFoundError, FileExistsError):  # where mkdir found a folder, and then none
                if attempt == _ATTEMPTS:
                    raise
                continue  # another one has just taken its folders away
            try:
                self._lock(descriptor)
                if not _is_named(descriptor, self._path):
                    os.close(descriptor)
                    continue
            except (OSError, UsageError):
                os.close(descriptor)
                raise
            self._descriptor = descriptor
            about = {"pid": os.getpid(), "host": socket.gethostname(), "since": _now()}
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps(about).encode() + b"\n")
            return

    def _lock(self, descriptor: int) -> None:
        try:
            _lock(descriptor)
        except BlockingIOError:
            raise self._refusal() from None
        except OSError as error:
            if error.errno not in _CANNOT_LOCK:
                raise
            self._notice(
                f"{self._path}: this file system has no locks ({error.strerror}); "
                "see to it that no second training uses the folder"
            )

    def _refusal(self) -> UsageError:
        try:
            about = json.loads(self._path.read_bytes())
            pid, host, since = int(about["pid"]), str(about["host"]), str(about["since"])
        except (OSError, ValueError, KeyError, TypeError):
            who, hint = "another process", "wait until it has ended, or name a new folder"
        else:
            who = f"process {pid} on host {host} since {since}"
            hint = f"wait until it has ended, or stop it with 'kill {pid}' and go on with --resume"
        return UsageError(f"--out {self._out}: the folder is being trained by {who}", hint=hint)

    def _make_folders(self) -> None:
        self._made = [folder for folder in (self._path.parent, self._out) if not folder.exists()]
        self._path.parent.mkdir(parents=True, exist_ok=True)

    def _leave(self) -> None:
        """Take the file away while it is still locked, then the lock, then folders that stayed empty."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            if sys.platform == "win32":  # there, a file that is open cannot be taken away
                os.close(descriptor)
            try:
                with suppress(OSError):
                    self._path.unlink()
            finally:
                if sys.platform != "win32":
                    os.close(descriptor)
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _is_named(descriptor: int, path: Path) -> bool:
    """Tell whether the open file is the one that has this name now."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    _PLACE = 2**20
    """The byte that is locked: beyond the text, which others must be able to read."""

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(error.errno, error.strerror) from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        """Lock an open file for this process, or raise BlockingIOError at once where another has it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
