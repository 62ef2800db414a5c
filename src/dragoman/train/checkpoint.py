"""Checkpoints: written whole or not at all, found by checksum before use.

The folder holds one folder a checkpoint and ``checkpoints.json``, the manifest that alone says what
exists. A checkpoint is written under a temporary name, synchronized, renamed and then listed; an old one
is deleted after the new one is listed. So at every moment the manifest names whole checkpoints only.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from dragoman.errors import CheckpointError

_MANIFEST = "checkpoints.json"


@dataclass(frozen=True)
class Progress:
    """How far a run has come; all that is needed, besides tensors, to go on exactly."""

    step: int = 0
    """Updates made."""

    epoch: int = 0
    """The current epoch, counted from 0."""

    step_in_epoch: int = 0
    """Updates made of the current epoch."""

    num_target_tokens: int = 0
    """Target pieces seen."""

    num_source_tokens: int = 0
    """Source pieces seen."""

    flops: float = 0.0
    """Floating-point operations executed, padding and backward passes included."""

    seconds: float = 0.0
    """Time trained, validations included."""

    best_score: float | None = None
    """The best development score so far, greater is better."""

    best_step: int | None = None
    """Where it was reached."""

    num_worse: int = 0
    """Validations since then."""


@dataclass(frozen=True)
class Entry:
    """A listed checkpoint."""

    step: int
    """Updates made when it was saved."""

    validated: bool
    """Whether it was saved by a validation, and not by an interruption."""

    score: float | None
    """Development score, greater is better."""

    checksums: Mapping[str, str]
    """SHA-256 of every file."""


class CheckpointKeeper:
    """Saves checkpoints and keeps the last, the best and a few before.

    Args:
        folder: Made if it does not exist.
        keep_last: Validated checkpoints that are kept, besides the last and the best.
    """

    def __init__(self, folder: Path, keep_last: int) -> None:
        self.folder = folder
        self._keep_last = keep_last
        folder.mkdir(parents=True, exist_ok=True)
        self.entries = self._read_manifest()
        self._remove_unlisted()

    @property
    def last(self) -> Entry | None:
        """The checkpoint with the most steps."""
        return max(self.entries, key=lambda entry: entry.step, default=None)

    @property
    def best(self) -> Entry | None:
        """The checkpoint with the greatest score, the earliest of equals."""
        scored = [entry for entry in self.entries if entry.score is not None]
        return max(scored, key=lambda entry: (entry.score or 0.0, -entry.step), default=None)

    def last_validated(self, count: int) -> list[Entry]:
        """Return the last ``count`` checkpoints that were saved by a validation, oldest first."""
        return sorted((entry for entry in self.entries if entry.validated), key=_step)[-count:]

    def save(
        self,
        progress: Progress,
        parameters: Mapping[str, Tensor],
        optimizer: Mapping[str, Tensor],
        *,
        score: float | None = None,
        validated: bool = True,
    ) -> Entry:
        """Write a checkpoint and list it, then delete those that are no longer kept.

        Raises:
            CheckpointError: The disk is full or fails; what was listed before is still there.
        """
        name = _folder_name(progress.step, validated)
        temporary = self.folder / f".{name}.tmp"
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir()
            state = json.dumps(asdict(progress), indent=1).encode()
            checksums = {
                "model.safetensors": write_durably(temporary / "model.safetensors", _packed(parameters)),
                "optimizer.safetensors": write_durably(
                    temporary / "optimizer.safetensors", _packed(optimizer)
                ),
                "progress.json": write_durably(temporary / "progress.json", state),
            }
            entry = Entry(progress.step, validated, score, checksums)
            kept = [old for old in self.entries if old.step != entry.step]
            if name in map(_folder_of, self.entries):
                self._list(kept)  # the same save again: the old one leaves the list before it is replaced
            shutil.rmtree(self.folder / name, ignore_errors=True)
            temporary.rename(self.folder / name)
            sync_folder(self.folder)
            self._list([*kept, entry])
            self._list(self._kept())
        except (OSError, SafetensorError) as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise CheckpointError(
                f"{self.folder / name}: cannot save the checkpoint: {error}",
                hint="make room on the disk; then go on with --resume",
            ) from error
        self._remove_unlisted()
        return entry

    def load(self, entry: Entry) -> tuple[Progress, dict[str, Tensor], dict[str, Tensor]]:
        """Return progress, parameters and optimizer state of a checkpoint whose checksums are right.

        Raises:
            CheckpointError: A file is missing or is not what was written.
        """
        progress = json.loads(self._read(entry, "progress.json"))
        parameters = safetensors.torch.load(self._read(entry, "model.safetensors"))
        optimizer = safetensors.torch.load(self._read(entry, "optimizer.safetensors"))
        return Progress(**progress), parameters, optimizer

    def load_parameters(self, entry: Entry) -> dict[str, Tensor]:
        """Return the parameters alone."""
        return safetensors.torch.load(self._read(entry, "model.safetensors"))

    def drop(self, entry: Entry) -> None:
        """Take a checkpoint that cannot be used from the list and delete it."""
        self._list([other for other in self.entries if other.step != entry.step])
        self._remove_unlisted()

    def _read(self, entry: Entry, name: str) -> bytes:
        path = self.folder / _folder_of(entry) / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CheckpointError(f"{path}: cannot read the checkpoint: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != entry.checksums.get(name):
            raise CheckpointError(
                f"{path}: the file is damaged: its checksum is not the one it was saved with",
                hint="restore the file from a backup, or train into a new folder",
            )
        return content

    def _kept(self) -> list[Entry]:
        wanted = {entry.step for entry in self.last_validated(self._keep_last)}
        wanted |= {entry.step for entry in (self.last, self.best) if entry is not None}
        return [entry for entry in self.entries if entry.step in wanted]

    def _list(self, entries: list[Entry]) -> None:
        entries = sorted(entries, key=_step)
        listed = [asdict(replace(entry, checksums=dict(entry.checksums))) for entry in entries]
        content = json.dumps({"version": 1, "checkpoints": listed}, indent=1).encode()
        replace_durably(self.folder / _MANIFEST, content)
        self.entries = entries

    def _read_manifest(self) -> list[Entry]:
        path = self.folder / _MANIFEST
        if not path.exists():
            return []
        try:
            listed: list[dict[str, Any]] = json.loads(path.read_bytes())["checkpoints"]
            return [Entry(**item) for item in listed]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{path}: the list of checkpoints cannot be read: {error}",
                hint="train into a new folder, or restore the file from a backup",
            ) from error

    def _remove_unlisted(self) -> None:
        """Delete what an interrupted save or delete has left."""
        listed = {_folder_of(entry) for entry in self.entries}
        for path in self.folder.iterdir():
            if path.name.removeprefix(".").startswith("step-") and path.name not in listed:
                shutil.rmtree(path, ignore_errors=True)


def _step(entry: Entry) -> int:
    return entry.step


def _folder_name(step: int, validated: bool) -> str:
    """Return the name of a checkpoint's folder; of one step, both kinds can lie side by side."""
    return f"step-{step:08d}{'' if validated else '-interrupted'}"


def _folder_of(entry: Entry) -> str:
    return _folder_name(entry.step, entry.validated)


def _packed(tensors: Mapping[str, Tensor]) -> bytes:
    return safetensors.torch.save({name: tensor.contiguous() for name, tensor in tensors.items()})


def write_durably(path: Path, content: bytes) -> str:
    """Write a new file through to the disk and return its SHA-256."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(content).hexdigest()


def replace_durably(path: Path, content: bytes) -> None:
    """Put a file in the place of an older one, so that at every moment one of both is whole."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    write_durably(temporary, content)
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder through to the disk, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
