"""The pairs of a demo, generated or chosen from a user's files, and the folder that keeps them.

The folder holds ``corpus/`` with train and test as two line-aligned files each, ``model/``, and
``demo.json``, which says what the demo learns from; it comes last and makes the folder a demo's.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from dragoman.errors import CheckpointError, CorpusError, UsageError
from dragoman.run.held_out import suffixes
from dragoman.run.reporter import Reporter
from dragoman.storage.durable import replace_durably
from dragoman.text import Corpus, Pair, check_corpus, languages_of, split_held_out, usable_pairs
from dragoman.text.everyday import everyday_pairs

NUM_GENERATED = 30_000
"""Training pairs that the grammar generates."""

_NUM_HELD_OUT = 500
_FEWEST_GENERATED = 20
"""So that one pair can be held out, a twentieth."""
_MOST_PAIRS = 200_000
"""Minutes of training see no more; the grammar yields so many distinct ones."""
_SEED = 1
_NOTE = "demo.json"
_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class DemoNote:
    """What a demo learns from; stored in its folder."""

    files: tuple[str, ...]
    """The user's files; none if the corpus is generated."""

    num_generated: int
    """Training pairs that were generated."""

    settings: tuple[str, ...]
    """Keys that were set over the recipe."""

    suffixes: tuple[str, str]
    """Ends of the names of source and target files in ``corpus/``."""

    def paths(self, out: Path, part: str) -> tuple[Path, Path]:
        """Return source and target file of ``train`` or ``test``."""
        source, target = self.suffixes
        return out / "corpus" / f"{part}.{source}", out / "corpus" / f"{part}.{target}"


class DemoPairs(NamedTuple):
    """The pairs to learn from, and those that training never sees."""

    train: Sequence[Pair]
    held_out: Sequence[Pair]


def generated_pairs(num_pairs: int) -> DemoPairs:
    """Return pairs of the everyday grammar; 500 are held out, or a twentieth of a smaller corpus.

    Raises:
        UsageError: They are too few to hold one out, or too many.
    """
    if not _FEWEST_GENERATED <= num_pairs <= _MOST_PAIRS:
        raise UsageError(
            f"--pairs {num_pairs}: must be from {_FEWEST_GENERATED} to {_MOST_PAIRS}",
            hint=f"the usual number is {NUM_GENERATED}",
        )
    num_held_out = min(_NUM_HELD_OUT, num_pairs // _FEWEST_GENERATED)
    corpus = everyday_pairs(num_pairs, num_held_out, _SEED)
    return DemoPairs(corpus.train, corpus.held_out)


def chosen_pairs(corpus: Corpus, reporter: Reporter) -> DemoPairs:
    """Return the pairs of a user's files; of a large corpus so many as minutes of training can use.

    Raises:
        CorpusError: A file cannot be used, or no pair can be held out.
    """
    report = check_corpus(corpus)
    num_usable = report.num_pairs - report.num_empty
    stride = -(-num_usable // _MOST_PAIRS)
    if report.num_empty:
        reporter.notice(f"left out {report.num_empty:,} of {report.num_pairs:,} pairs with a blank side")
    if stride > 1:
        reporter.notice(f"a demo has time for few pairs: it takes one in {stride} of {num_usable:,}")
    taken = dict(islice(usable_pairs(corpus), 0, None, stride))
    held_out = split_held_out(taken.items(), 0, _NUM_HELD_OUT, _SEED)
    train = [pair for line, pair in taken.items() if line not in held_out.test | held_out.dropped]
    if not held_out.test or not train:
        raise CorpusError(
            f"{corpus.names}: no pair can be held out of {num_usable:,}; a demo judges the model on pairs "
            "that share no text with those it learns from",
            hint="give at least 100 pairs of different texts",
        )
    if held_out.dropped:
        reporter.notice(f"left out {len(held_out.dropped):,} pairs that share a text with a held-out pair")
    return DemoPairs(train, [taken[line] for line in sorted(held_out.test)])


def create_folder(out: Path, pairs: DemoPairs, note: DemoNote) -> None:
    """Write the pairs, and then the note.

    Raises:
        CheckpointError: The folder cannot be written.
    """
    try:
        (out / "corpus").mkdir(parents=True, exist_ok=True)
        for part, chosen in pairs._asdict().items():
            source_path, target_path = note.paths(out, "train" if part == "train" else "test")
            replace_durably(source_path, "".join(f"{pair.source}\n" for pair in chosen).encode())
            replace_durably(target_path, "".join(f"{pair.target}\n" for pair in chosen).encode())
        content = json.dumps({"format": _FORMAT, **asdict(note)}, indent=1, ensure_ascii=False)
        replace_durably(out / _NOTE, content.encode())
    except OSError as error:
        raise CheckpointError(f"{out}: cannot write the demo's folder: {error.strerror}") from error


def read_note(out: Path) -> DemoNote | None:
    """Return the note of the demo that a folder holds, or None if the folder is free.

    Raises:
        UsageError: The path is a file, or a folder that holds something else.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: this is a file; a demo is a folder", hint="name a new folder")
    if not out.is_dir() or not any(out.iterdir()):
        return None
    try:
        about = json.loads((out / _NOTE).read_text(encoding="utf-8"))
        if about["format"] != _FORMAT:
            raise ValueError
        return DemoNote(
            files=tuple(map(str, about["files"])),
            num_generated=int(about["num_generated"]),
            settings=tuple(map(str, about["settings"])),
            suffixes=(str(about["suffixes"][0]), str(about["suffixes"][1])),
        )
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        raise UsageError(
            f"--out {out}: the folder is not empty and holds no demo", hint="name a new folder"
        ) from None


def new_note(corpus: Corpus | None, num_generated: int, settings: Sequence[str]) -> DemoNote:
    """Return the note of a demo on a user's corpus, or on so many generated pairs."""
    if corpus is None:
        return DemoNote(
            files=(), num_generated=num_generated, settings=tuple(settings), suffixes=("en", "de")
        )
    files = (corpus.source,) if corpus.target is None else (corpus.source, corpus.target)
    return DemoNote(
        files=tuple(map(str, files)),
        num_generated=0,
        settings=tuple(settings),
        suffixes=suffixes(languages_of(corpus)),
    )
