"""The folder of a run: what must be there to go on, and that it is the same run."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.config import Config, config_to_toml, read_config
from dragoman.errors import CheckpointError, ConfigError, CorpusError, UsageError
from dragoman.model_files import CONFIG, TOKENIZER, WEIGHTS
from dragoman.run.corpora import TrainingText
from dragoman.run.held_out import Languages, write_held_out
from dragoman.run.lock import LOCK, FolderLock
from dragoman.storage.durable import checksum_of, replace_durably, sealed, unsealed
from dragoman.text import NumberedPair, Tokenizer

_SEAL = "# The SHA-256 of what follows; change keys of a resumed run with --set: "
FINISHED = "finished.json"
FIRST_WEIGHTS = "first.safetensors"
"""The weights that a run begins with, in its folder ``training``, where they are those of another model."""

_FIXED_SECTIONS = ("model", "data")
_FIXED_TRAIN_KEYS = ("seed", "batch_tokens", "micro_batch_tokens", "moving_average")


def check_is_free(out: Path) -> None:
    """Refuse a folder that holds something, so that nothing is ever overwritten.

    Raises:
        UsageError: The folder is a file, or is not empty.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: this is a file; a model is a folder", hint="name a new folder")
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        what = "cannot be written" if nearest.is_dir() else "is a file"
        raise UsageError(f"--out {out}: {nearest} {what}", hint="name a folder that can be made")
    if out.is_dir() and not _is_new(out):
        if (out / "training" / "config.toml").exists():
            raise UsageError(
                f"--out {out}: the folder holds a training already",
                hint="go on with it by --resume, or name a new folder",
            )
        if (out / "training" / "corpus.json").exists():
            raise UsageError(
                f"--out {out}: the folder holds a training whose configuration training/config.toml is gone",
                hint="restore the file from a backup, or name a new folder",
            )
        raise UsageError(f"--out {out}: the folder is not empty", hint="name a new folder")


@dataclass(frozen=True, kw_only=True)
class Brought:
    """What a run begins with besides its text."""

    tokenizer: Tokenizer
    languages: Languages
    weights: bytes | None = None
    """Of another model, as the content of a safetensors file; left out, they are drawn at random."""


@contextmanager
def claimed(out: Path, *, resume: bool, writes: bool, notice: Callable[[str], None]) -> Iterator[Path | None]:
    """Check a folder and keep other trainings out of it while this is entered.

    Args:
        out: The folder of the run.
        resume: Whether a run that it holds is to go on.
        writes: False checks alone and locks nothing, for a dry run.
        notice: Is told where the file system has no locks.

    Yields:
        The stored configuration of the run that goes on, or None where one begins.

    Raises:
        UsageError: The folder is not free, or another process trains in it.
        CheckpointError: It cannot be written, or its configuration has changed.
    """
    stored = stored_config(out) if resume else None
    if stored is None:
        check_is_free(out)
    if not writes:
        yield stored
        return
    with FolderLock(out, notice):
        stored = stored_config(out) if resume else None  # another training may have ended since
        if stored is None:
            check_is_free(out)
            _remove_leftovers(out)
        yield stored


def _is_new(out: Path) -> bool:
    """Tell whether a folder is empty, or was left by a run that ended before it was one."""
    names = {path.name for path in out.iterdir()}
    inner = out / "training"
    return not names or (
        names <= {"training", *_with_temporary(TOKENIZER)}
        and inner.is_dir()
        and {path.name for path in inner.iterdir()}
        <= {LOCK, *_with_temporary("corpus.json"), *_with_temporary(FIRST_WEIGHTS), "config.toml.tmp"}
    )


def _remove_leftovers(out: Path) -> None:
    """Take away what a run has left that ended before it was one: it may have had another vocabulary."""
    inner = ("corpus.json", "config.toml.tmp", *_with_temporary(FIRST_WEIGHTS))
    for name in (*_with_temporary(TOKENIZER), *(f"training/{name}" for name in inner)):
        try:
            (out / name).unlink(missing_ok=True)
        except OSError as error:
            raise CheckpointError(f"{out / name}: cannot remove the file: {error.strerror}") from error


def _with_temporary(name: str) -> tuple[str, str]:
    return name, f"{name}.tmp"


def stored_config(out: Path) -> Path | None:
    """Return the configuration file of the run that a folder holds, or None if it holds none.

    Raises:
        CheckpointError: The file is not what was written.
    """
    path = out / "training" / "config.toml"
    if not path.exists():
        return None
    try:
        first, _, rest = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise CheckpointError(f"{path}: cannot read the configuration: {error.strerror}") from error
    if first != _seal(rest):
        raise CheckpointError(
            f"{path}: the file is damaged or was edited: its checksum is not the one it was saved with",
            hint="restore the file from a backup, or train into a new folder; --set changes keys of a run",
        )
    return path


def _seal(content: bytes) -> bytes:
    """Return the line by which a configuration begins; a checksum in a file of its own could be cut off."""
    return (_SEAL + hashlib.sha256(content).hexdigest()).encode()


def resumed_config(stored: Path, settings: Sequence[str]) -> Config:
    """Return the configuration of a run that goes on.

    Its vocabulary stays, also where a larger one is asked for once more that the corpus could not carry.
    """
    before = read_config(recipe=None, file=stored, settings=())
    config = read_config(recipe=None, file=stored, settings=settings)
    if config.model.vocabulary_size <= before.model.vocabulary_size:
        return config
    model = replace(config.model, vocabulary_size=before.model.vocabulary_size)
    return replace(config, model=model)


def stored_tokenizer(out: Path) -> Tokenizer | None:
    """Return the tokenizer of the run that a folder holds, or None if it holds none.

    Raises:
        CheckpointError: It is missing, or not the one that the run began with.
    """
    if stored_config(out) is None:
        return None
    path = _unchanged(out / TOKENIZER, _about(out).get("tokenizer"), "the tokenizer")
    return Tokenizer.load(path)


def first_weights(out: Path) -> Path | None:
    """Return the file of the weights that a run begins with, or None where they are drawn at random.

    Raises:
        CheckpointError: The file is missing, or not the one that the run began with.
    """
    wanted = first_weights_checksum(out)
    if wanted is None:
        return None
    return _unchanged(out / "training" / FIRST_WEIGHTS, wanted, "the first weights")


def first_weights_checksum(out: Path) -> str | None:
    """Return the SHA-256 of the weights that the run in a folder began with, if they were another model's."""
    return None if stored_config(out) is None else _about(out).get("first_weights")


def stored_languages(out: Path) -> Languages | None:
    """Return source and target language of the run that a folder holds, or None where it does not say."""
    found = None if stored_config(out) is None else _about(out).get("languages")
    return None if found is None else (found[0], found[1])


def _unchanged(path: Path, checksum: str | None, what: str) -> Path:
    """Return the path of a file that is as the run began with it, or raise CheckpointError."""
    hint = "restore the file from a backup, or train into a new folder"
    try:
        found = checksum_of(path)
    except OSError as error:
        raise CheckpointError(
            f"{path}: cannot read {what} of the run: {error.strerror}", hint=hint
        ) from error
    if found != checksum:
        raise CheckpointError(
            f"{path}: the file is damaged, or {what} of another run: "
            "its checksum is not the one it was saved with",
            hint=hint,
        )
    return path


def create(out: Path, text: TrainingText, config: Config, brought: Brought) -> None:
    """Write what a run needs to go on; the configuration makes the folder a run.

    Whatever comes after it is made again when the run goes on.

    Raises:
        CheckpointError: The folder cannot be written.
    """
    about = {
        "corpus": text.corpus.names,
        "digest": text.digest,
        "dev": _digest_of(text.dev),
        **text.named_files,
        "tokenizer": hashlib.sha256(brought.tokenizer.to_bytes()).hexdigest(),
        "languages": brought.languages,
    }
    if brought.weights is not None:
        about["first_weights"] = hashlib.sha256(brought.weights).hexdigest()
    elif (before := first_weights_checksum(out)) is not None:
        about["first_weights"] = before
    toml = config_to_toml(config).encode()
    try:
        (out / "training").mkdir(parents=True, exist_ok=True)
        replace_durably(out / "training" / "corpus.json", sealed(about))
        if brought.weights is not None:
            replace_durably(out / "training" / FIRST_WEIGHTS, brought.weights)
        replace_durably(out / TOKENIZER, brought.tokenizer.to_bytes())
        replace_durably(out / "training" / "config.toml", _seal(toml) + b"\n" + toml)
        (out / "training" / "encoded").mkdir(exist_ok=True)
        for left in (out / "training" / "encoded").glob("*.tmp"):
            left.unlink()
        write_held_out(out / "held-out", text, config.data.task, brought.languages)
    except OSError as error:
        raise CheckpointError(
            f"{error.filename or out}: cannot write the training folder: {error.strerror}",
            hint="make room on the disk; then go on with --resume",
        ) from error


def check_same_keys(config: Config, stored: Path) -> None:
    """Refuse to go on with another model, or with other data.

    Raises:
        ConfigError: A key has changed that a run cannot change.
    """
    before = read_config(recipe=None, file=stored, settings=())
    changed = [
        f"{section}.{key}"
        for section in (*_FIXED_SECTIONS, "train")
        for key, value in asdict(getattr(config, section)).items()
        if value != asdict(getattr(before, section))[key]
        and (section in _FIXED_SECTIONS or key in _FIXED_TRAIN_KEYS)
    ]
    if changed:
        raise ConfigError(
            f"a resumed run cannot change {', '.join(changed)}",
            hint="leave these keys out, or train into a new folder",
        )


def check_same_corpus(out: Path, text: TrainingText) -> None:
    """Refuse to go on with another corpus.

    Raises:
        CorpusError: The corpus is not the one that the run began with.
    """
    about = _about(out)
    digest, names, dev = about["digest"], about["corpus"], about["dev"]
    if digest != text.digest:
        for option, files in text.named_files.items():
            if bool(about.get(option, files)) != bool(files):
                began = f"with {option} {about[option]}" if about[option] else f"without {option}"
                raise CorpusError(
                    f"the run in {out} began {began}, so its training pairs are others",
                    hint=f"name the same files as {option} again" if about[option] else f"leave {option} out",
                )
        what = "their content has changed since" if names == text.corpus.names else names
        raise CorpusError(
            f"{text.corpus.names}: not the corpus that the run in {out} began with ({what})",
            hint="name the same files with the same content, or train into a new folder",
        )
    if dev != _digest_of(text.dev):
        raise CorpusError(
            f"the development pairs are not those that the run in {out} began with; "
            "scores on others cannot be compared with its best",
            hint="name the same files with the same content as --dev, or train into a new folder",
        )


def _about(out: Path) -> dict[str, Any]:
    """Return checksums of corpus, development pairs and tokenizer, names of the corpus, languages."""
    path = out / "training" / "corpus.json"
    try:
        return unsealed(path.read_bytes())
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{path}: cannot be read: {error}",
            hint="restore the file from a backup, or train into a new folder",
        ) from error


def note_finished(out: Path, step: int) -> None:
    """Note that the model in a folder is that of a run which ended at ``step``.

    Raises:
        CheckpointError: The folder cannot be written.
    """
    try:
        for name in (CONFIG, TOKENIZER, WEIGHTS):
            with (out / name).open("rb+") as file:
                os.fsync(file.fileno())
        content = sealed({"step": step, "checksums": _checksums_of_model(out)})
        replace_durably(out / "training" / FINISHED, content)
    except OSError as error:
        raise CheckpointError(f"{out}: cannot write the model: {error.strerror}") from error


def is_finished(out: Path, step: int) -> bool:
    """Tell whether a folder holds the whole model of a run which ended at ``step``."""
    try:
        about = unsealed((out / "training" / FINISHED).read_bytes())
        is_whole = about == {"step": step, "checksums": _checksums_of_model(out)}
        return is_whole and (out / CONFIG).exists()
    except (OSError, ValueError):
        return False


def _checksums_of_model(out: Path) -> dict[str, str]:
    return {name: checksum_of(out / name) for name in (TOKENIZER, WEIGHTS)}


def last_step(out: Path) -> int:
    """Return the step of the newest checkpoint in a folder, or 0 where there is none."""
    folders = (out / "training" / "checkpoints").glob("step-*")
    return max((int(path.name.split("-")[1]) for path in folders), default=0)


def remove(out: Path) -> None:
    """Take away what ``create`` has made, when a new run has turned out to be impossible."""
    shutil.rmtree(out / "held-out", ignore_errors=True)
    with suppress(OSError):
        (out / TOKENIZER).unlink(missing_ok=True)
        for path in (out / "training").iterdir():
            if path.name != LOCK:  # it goes away with the process that holds it
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (out / "training").rmdir()
        out.rmdir()


def _digest_of(pairs: Sequence[NumberedPair]) -> str:
    return hashlib.sha256(repr([pair for _, pair in pairs]).encode()).hexdigest()
