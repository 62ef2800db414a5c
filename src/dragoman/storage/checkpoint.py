"""Checkpoints: written whole or not at all, found by checksum before use.

The folder holds one folder a checkpoint and ``checkpoints.json``, the manifest that alone says what
exists. A checkpoint is written under a temporary name, synchronized, renamed and then listed; an old one
is deleted after the new one is listed. So at every moment the manifest names whole checkpoints only. Each
checkpoint holds a manifest of its own as well, from which a damaged one is made again.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from dragoman.errors import CheckpointError, UsageError
from dragoman.storage.durable import replace_durably, sealed, sync_folder, unsealed, write_durably
from dragoman.storage.progress import Health, Progress

_MANIFEST = "checkpoints.json"


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
    """Saves checkpoints and keeps the last and the best of them.

    Args:
        folder: Made if it does not exist.
        keep_last: The last validated checkpoints that are kept, besides the very last.
        keep_best: The checkpoints with the greatest scores that are kept, at least 1.
        notice: Is told what was damaged and left out.

    Raises:
        CheckpointError: The folder cannot be written, or its manifest not be read nor made again.
    """

    def __init__(
        self,
        folder: Path,
        keep_last: int,
        notice: Callable[[str], None] = lambda _: None,
        *,
        keep_best: int = 1,
    ) -> None:
        self.folder = folder
        self._keep_last = keep_last
        self._keep_best = keep_best
        self._notice = notice
        self.entries: list[Entry] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._read_manifest()
            self._remove_unlisted()
        except OSError as error:
            raise CheckpointError(f"{folder}: cannot open the checkpoints: {error}") from error

    @property
    def last(self) -> Entry | None:
        """The checkpoint with the most steps; of one step, the one that was saved later."""
        return max(self.entries, key=lambda entry: (entry.step, not entry.validated), default=None)

    @property
    def best(self) -> Entry | None:
        """The checkpoint with the greatest score, the earliest of equals."""
        return next(iter(_by_score(self.entries)), None)

    def best_validated(self, count: int) -> list[Entry]:
        """Return the ``count`` checkpoints with the greatest scores, the best first."""
        return _by_score(self.entries)[:count]

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
            write_durably(temporary / _MANIFEST, _manifest([entry]))
            sync_folder(temporary)
            # what is saved of a validated step once more does not take its place
            kept = [old for old in self.entries if old.step != entry.step or old.validated > validated]
            if name in map(_folder_of, self.entries):
                self._list(kept)  # the same save again: the old one leaves the list before it is replaced
            shutil.rmtree(self.folder / name, ignore_errors=True)
            temporary.rename(self.folder / name)
            sync_folder(self.folder)
            self._list(self._kept([*kept, entry]))
            self._remove_unlisted()
        except (OSError, SafetensorError) as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise CheckpointError(
                f"{self.folder / name}: cannot save the checkpoint: {error}",
                hint="make room on the disk; then go on with --resume",
            ) from error
        return entry

    def load(self, entry: Entry) -> tuple[Progress, dict[str, Tensor], dict[str, Tensor]]:
        """Return progress, parameters and optimizer state of a checkpoint whose checksums are right.

        Raises:
            CheckpointError: A file is missing or is not what was written.
            UsageError: Another version of dragoman has written it.
        """
        state = json.loads(self._read(entry, "progress.json"))
        try:
            progress = Progress(**state | {"health": Health(**state["health"])})
        except (TypeError, KeyError) as error:
            raise UsageError(
                f"{self.folder / _folder_of(entry)}: another version of dragoman has written it: {error}",
                hint="go on with the version that began the run, or train into a new folder",
            ) from error
        parameters = safetensors.torch.load(self._read(entry, "model.safetensors"))
        optimizer = safetensors.torch.load(self._read(entry, "optimizer.safetensors"))
        return progress, parameters, optimizer

    def load_parameters(self, entry: Entry) -> dict[str, Tensor]:
        """Return the parameters alone."""
        return safetensors.torch.load(self._read(entry, "model.safetensors"))

    def drop(self, entry: Entry) -> None:
        """Take a checkpoint that cannot be used from the list and delete it."""
        try:
            self._list([other for other in self.entries if other.step != entry.step])
            self._remove_unlisted()
        except OSError as error:
            raise CheckpointError(f"{self.folder}: cannot drop a checkpoint: {error}") from error

    def drop_damaged(self) -> None:
        """Drop the checkpoints whose parameters are not what was saved, with a notice of each.

        Raises:
            CheckpointError: There are checkpoints, and none of them is whole.
        """
        for entry in list(self.entries):
            try:
                self._read(entry, "model.safetensors")
            except CheckpointError as error:
                if len(self.entries) == 1:
                    raise
                self._notice(f"{error.message}; going on without this checkpoint")
                self.drop(entry)

    def _read(self, entry: Entry, name: str) -> bytes:
        path = self.folder / _folder_of(entry) / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CheckpointError(
                f"{path}: cannot read the checkpoint: {error.strerror}",
                hint="restore the file from a backup, or train into a new folder",
            ) from error
        if hashlib.sha256(content).hexdigest() != entry.checksums.get(name):
            raise CheckpointError(
                f"{path}: the file is damaged: its checksum is not the one it was saved with",
                hint="restore the file from a backup, or train into a new folder",
            )
        return content

    def _kept(self, entries: list[Entry]) -> list[Entry]:
        validated = sorted((entry for entry in entries if entry.validated), key=_step)
        wanted = {entry.step for entry in validated[-self._keep_last :]} | {max(map(_step, entries))}
        best = _by_score(entries)[: self._keep_best]
        return [entry for entry in entries if entry.step in wanted or entry in best]

    def _list(self, entries: list[Entry]) -> None:
        replace_durably(self.folder / _MANIFEST, _manifest(entries))
        self.entries = sorted(entries, key=_step)

    def _read_manifest(self) -> None:
        """Read the manifest, or make it again from those of the checkpoints."""
        path = self.folder / _MANIFEST
        try:
            self.entries = _entries(path)
            return
        except FileNotFoundError:
            reason = "the file is missing"
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = str(error)
        found: dict[int, Entry] = {}
        for folder in sorted(self.folder.glob("step-*"), reverse=True):  # the validated one of a step last
            try:
                (entry,) = _entries(folder / _MANIFEST)
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if _folder_of(entry) == folder.name:
                found[entry.step] = entry
        if found:
            self._notice(
                f"{path}: the list of checkpoints cannot be read: {reason}; made again from the "
                f"{len(found)} that are there"
            )
            self._list(list(found.values()))
        elif path.exists():
            raise CheckpointError(
                f"{path}: the list of checkpoints cannot be read: {reason}",
                hint="train into a new folder, or restore the file from a backup",
            )

    def _remove_unlisted(self) -> None:
        """Delete what an interrupted save or delete has left."""
        listed = {_folder_of(entry) for entry in self.entries}
        for path in self.folder.iterdir():
            if path.name.removeprefix(".").startswith("step-") and path.name not in listed:
                shutil.rmtree(path, ignore_errors=True)


def _step(entry: Entry) -> int:
    return entry.step


def _by_score(entries: list[Entry]) -> list[Entry]:
    """Return the checkpoints that have a score, the greatest first, of equals the earliest."""
    scored = [(-entry.score, entry.step, entry) for entry in entries if entry.score is not None]
    return [entry for _, _, entry in sorted(scored, key=lambda item: item[:2])]


def _folder_name(step: int, validated: bool) -> str:
    """Return the name of a checkpoint's folder; of one step, both kinds can lie side by side."""
    return f"step-{step:08d}{'' if validated else '-interrupted'}"


def _folder_of(entry: Entry) -> str:
    return _folder_name(entry.step, entry.validated)


def _manifest(entries: list[Entry]) -> bytes:
    listed = [asdict(replace(entry, checksums=dict(entry.checksums))) for entry in sorted(entries, key=_step)]
    return sealed({"version": 1, "checkpoints": listed})


def _entries(path: Path) -> list[Entry]:
    return [Entry(**item) for item in unsealed(path.read_bytes())["checkpoints"]]


def _packed(tensors: Mapping[str, Tensor]) -> bytes:
    return safetensors.torch.save({name: tensor.contiguous() for name, tensor in tensors.items()})
