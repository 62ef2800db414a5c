"""The folder of a run: what must be there to go on, and that it is the same run."""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from dragoman.bundle import TOKENIZER
from dragoman.config import Config, config_to_toml, read_config
from dragoman.errors import CheckpointError, ConfigError, CorpusError, UsageError
from dragoman.run.corpora import NumberedPair, TrainingText
from dragoman.text import Tokenizer
from dragoman.train.checkpoint import replace_durably

_FIXED_SECTIONS = ("model", "data")
_FIXED_TRAIN_KEYS = ("seed", "batch_tokens", "micro_batch_tokens")


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
        raise UsageError(f"--out {out}: the folder is not empty", hint="name a new folder")


def _is_new(out: Path) -> bool:
    """Tell whether a folder is empty, or was left by a run that ended before it was one."""
    names = {path.name for path in out.iterdir()}
    inner = out / "training"
    return not names or (
        names == {"training"}
        and {path.name for path in inner.iterdir()} <= {"corpus.json", "corpus.json.tmp"}
    )


def stored_config(out: Path) -> Path | None:
    """Return the configuration file of the run that a folder holds, or None if it holds none."""
    path = out / "training" / "config.toml"
    return path if path.exists() else None


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
    """Return the tokenizer of the run that a folder holds, or None if it holds none."""
    path = out / TOKENIZER
    return Tokenizer.load(path) if path.exists() else None


def create(
    out: Path,
    text: TrainingText,
    config: Config,
    tokenizer: Tokenizer,
    languages: tuple[str | None, str | None],
) -> None:
    """Write what a run needs to go on; the configuration makes the folder a run.

    Whatever comes after it is made again when the run goes on.

    Raises:
        CheckpointError: The folder cannot be written.
    """
    try:
        (out / "training").mkdir(parents=True, exist_ok=True)
        about = json.dumps(
            {"corpus": text.corpus.names, "digest": text.digest, "dev": _digest_of(text.dev)}, indent=1
        )
        replace_durably(out / "training" / "corpus.json", about.encode())
        replace_durably(out / "training" / "config.toml", config_to_toml(config).encode())
        replace_durably(out / TOKENIZER, tokenizer.to_bytes())
        if text.dev_is_split:
            _write_pairs(out / "held-out", "dev", text.dev, languages)
        if text.test_is_split:
            _write_pairs(out / "held-out", "test", text.test, languages)
    except OSError as error:
        raise CheckpointError(f"{out}: cannot write the training folder: {error.strerror}") from error


def check_same_corpus(out: Path, text: TrainingText, config: Config, stored: Path) -> None:
    """Refuse to go on with another corpus or another model.

    Raises:
        CorpusError: The corpus is not the one that the run began with.
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
    try:
        about = json.loads((out / "training" / "corpus.json").read_text(encoding="utf-8"))
        digest, names = about["digest"], about["corpus"]
        dev = about.get("dev", _digest_of(text.dev))
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckpointError(f"{out / 'training' / 'corpus.json'} cannot be read") from None
    if digest != text.digest:
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


def remove(out: Path) -> None:
    """Take away what ``create`` has made, when a new run has turned out to be impossible."""
    for folder in (out / "training", out / "held-out"):
        shutil.rmtree(folder, ignore_errors=True)
    (out / TOKENIZER).unlink(missing_ok=True)
    if not any(out.iterdir()):
        out.rmdir()


def _digest_of(pairs: Sequence[NumberedPair]) -> str:
    return hashlib.sha256(repr([pair for _, pair in pairs]).encode()).hexdigest()


def test_files(out: Path) -> tuple[Path, Path] | None:
    """Return source and target file of the test pairs that were split off, if they were."""
    found = sorted((out / "held-out").glob("test.*")) if (out / "held-out").is_dir() else []
    if len(found) != 2:
        return None
    order = json.loads((out / "held-out" / "order.json").read_text(encoding="utf-8"))
    return out / "held-out" / f"test.{order[0]}", out / "held-out" / f"test.{order[1]}"


def _write_pairs(
    folder: Path, name: str, pairs: Sequence[NumberedPair], languages: tuple[str | None, str | None]
) -> None:
    """Write pairs as two line-aligned files."""
    folder.mkdir(exist_ok=True)
    source, target = suffixes(languages)
    for suffix, texts in (
        (source, [pair.source for _, pair in pairs]),
        (target, [pair.target for _, pair in pairs]),
    ):
        content = "".join(f"{text}\n" for text in texts)
        replace_durably(folder / f"{name}.{suffix}", content.encode())
    replace_durably(folder / "order.json", json.dumps([source, target]).encode())


def suffixes(languages: tuple[str | None, str | None]) -> tuple[str, str]:
    """Return the endings of the two files of pairs."""
    source, target = languages
    if source is None or target is None or source == target:
        return "source", "target"
    return source, target
