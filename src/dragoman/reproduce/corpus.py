"""The texts that a piece is repeated on: those that were given, or generated ones."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.errors import UsageError
from dragoman.reproduce.request import Request
from dragoman.reproduce.texts import Texts
from dragoman.run.demo_corpus import NUM_GENERATED, generated_pairs
from dragoman.storage.durable import replace_durably
from dragoman.text import Pair

_NUM_TINY = 400
"""Pairs of a rehearsal."""


def given_or_generated(request: Request) -> Texts:
    """Return the texts of a request; where none were given, the paper's or generated ones, in its folder.

    Raises:
        UsageError: Development pairs are missing.
        MissingDependencyError: The full scale obtains its corpus through a package that is not installed.
        CorpusError: A download has failed.
    """
    if request.corpus:
        if not request.dev:
            raise UsageError(
                "--corpus needs --dev: rows are compared on the same development pairs",
                hint="name development pairs by --dev, in the same form",
            )
        names = " and ".join(path.name for path in request.corpus)
        return Texts(train=request.corpus, dev=request.dev, tests=test_sets(request), about=names)
    if request.scale == "full":
        from dragoman.reproduce.wmt14 import obtain

        return obtain(request.out / "corpus", request.target, request.told)
    number = _NUM_TINY if request.scale == "tiny" else NUM_GENERATED
    folder = request.out / "corpus"
    files = {
        part: [folder / f"{part}.{side}" for side in ("src", "tgt")] for part in ("train", "dev", "test")
    }
    if not all(path.exists() for paths in files.values() for path in paths):
        request.told(f"generating {number:,} pairs of everyday sentences")
        pairs = generated_pairs(number)
        half = len(pairs.held_out) // 2
        _write(files["train"], pairs.train)
        _write(files["dev"], pairs.held_out[:half])
        _write(files["test"], pairs.held_out[half:])
    return Texts(
        train=files["train"],
        dev=files["dev"],
        tests=[files["test"]],
        about=f"{number:,} generated pairs of everyday sentences",
    )


def test_sets(request: Request) -> Sequence[Sequence[Path]]:
    """Return the files of each test set that a request names, in the form of its development pairs.

    Raises:
        UsageError: A file is missing.
    """
    size = len(request.dev)
    if len(request.test) % size:
        raise UsageError(
            f"--test names {len(request.test)} files, and --dev {size}: they are in the same form",
            hint="name both files of each test set, or one of pairs",
        )
    return [request.test[start : start + size] for start in range(0, len(request.test), size)]


def _write(paths: Sequence[Path], pairs: Sequence[Pair]) -> None:
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    for side, path in enumerate(paths):
        replace_durably(path, "".join(f"{pair[side]}\n" for pair in pairs).encode())
