"""What is asked for when a piece of the paper is repeated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from dragoman.errors import CorpusError
from dragoman.model_files import WEIGHTS
from dragoman.run import Reporter
from dragoman.storage.durable import checksum_of

Scale = Literal["tiny", "laptop", "small", "full"]

SCALES: tuple[Scale, ...] = get_args(Scale)
"""A rehearsal whose numbers mean nothing; two cores; one GPU for some hours; the paper's own setting."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A piece that is to be repeated."""

    what: str
    """The name of the piece."""
    out: Path
    """Its folder."""
    scale: Scale = "laptop"
    corpus: Sequence[Path] = ()
    """Training pairs or trees, as for ``dragoman train``; left out, what the piece says."""
    dev: Sequence[Path] = ()
    test: Sequence[Path] = ()
    target: Literal["de", "fr"] = "de"
    """The language into which the full scale translates from English."""
    silver: Sequence[Path] = ()
    """Trees that a machine has made, for the semi-supervised setting of Table 4."""
    model: Path | None = None
    """A model that is there already, for the figures."""
    seeds: int = 1
    """Trainings of each model, with seeds from 1."""
    jobs: int = 1
    """Trainings at the same time."""
    settings: Sequence[str] = ()
    """Single keys over those of the piece, as ``train.max_steps=500``."""
    told: Callable[[str], None] = lambda _: None
    """Hears what is being done."""
    reporter: Reporter = field(default_factory=Reporter)
    """Hears how each training goes, unless several go on at a time."""
    stop_requested: Callable[[], bool] = lambda: False
    """Asked again and again in a training; True saves and ends all."""

    def asked(self) -> dict[str, Any]:
        """Return all that the result depends on, as plain values.

        Raises:
            CorpusError: A file cannot be read.
        """
        parts = {name: getattr(self, name) for name in ("corpus", "dev", "test", "silver")}
        return {
            "what": self.what,
            "scale": self.scale,
            **{name: [str(path) for path in paths] for name, paths in parts.items()},
            "checksums": [_checksum(path) for paths in parts.values() for path in paths],
            "target": self.target,
            "model": None if self.model is None else [str(self.model), _checksum(self.model / WEIGHTS)],
            "seeds": self.seeds,
            "settings": list(self.settings),
        }


def _checksum(path: Path) -> str:
    try:
        return checksum_of(path)
    except OSError as error:
        raise CorpusError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}", hint="check the path"
        ) from error
