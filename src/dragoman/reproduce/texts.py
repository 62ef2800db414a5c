"""Which texts a piece is repeated on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from dragoman.storage.durable import checksum_of


@dataclass(frozen=True, kw_only=True)
class Texts:
    """Pairs to train on, to choose by, and to score."""

    train: Sequence[Path]
    dev: Sequence[Path]
    tests: Sequence[Sequence[Path]]
    """Sets of pairs, each in the same form as the others."""
    about: str
    """What they are, in words."""
    is_paper: bool = False
    """Whether they are the paper's own."""

    def checksums(self) -> tuple[tuple[str, str], ...]:
        """Return the name and the SHA-256 of each file."""
        files = chain(self.train, self.dev, *self.tests)
        return tuple((path.name, checksum_of(path)) for path in files)

    def test_names(self) -> Sequence[str]:
        """Return what each test set is called: its file, with the folder where several are called alike."""
        stems = [files[0].stem for files in self.tests]
        return [
            stem if stems.count(stem) == 1 else f"{files[0].parent.name}/{stem}"
            for stem, files in zip(stems, self.tests, strict=True)
        ]
