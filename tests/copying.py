"""A model that copies short lines, and the filter that translates with it in this process."""

import io
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from dragoman.cli import main
from dragoman.config import SearchConfig
from dragoman.hypothesis import Hypothesis
from dragoman.run import TrainOptions, train

SYLLABLES = ["ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du", "ga", "ge", "gi", "go", "gu"]
SETTINGS = [
    *("model.vocabulary_size=304", "model.num_encoder_layers=1", "model.num_decoder_layers=1"),
    *("model.d_model=32", "model.d_ff=64", "model.num_heads=4", "model.d_k=8", "model.d_v=8"),
    *("model.dropout=0.0", "train.label_smoothing=0.0", "data.max_length=64", "data.dev_pairs=20"),
    *("data.test_pairs=20", "train.max_steps=250", "train.warmup_steps=60", "train.cooldown_share=0.24"),
    *("train.peak_rate=0.01", "train.batch_tokens=800", "train.micro_batch_tokens=800"),
    *("train.validation_interval_steps=250", "train.average_checkpoints=1"),
]


def train_copier(folder: Path) -> Path:
    """Train a model to copy one to six syllables, in seconds, and return its folder."""
    chance = random.Random(1)
    lines = [" ".join(chance.choices(SYLLABLES, k=chance.randint(1, 6))) for _ in range(1_200)]
    files = [folder / "lines.in", folder / "lines.out"]
    for file in files:
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    train(files, folder / "model", TrainOptions(recipe="tiny", settings=SETTINGS, device="cpu"))
    return folder / "model"


class CopySearcher:
    """Finds each source itself, the last one first, in place of a model."""

    def search_each(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        config: SearchConfig,
        *,
        before_batch: Callable[[], None],
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """Yield the place of each source, and the source without its end."""
        for place in reversed(range(len(sources))):
            before_batch()
            tokens = tuple(sources[place][:-1])
            yield place, [Hypothesis(tokens, (0.0,) * (len(tokens) + 1), 0.0, 0.0, finished=True)]


class Ended(NamedTuple):
    """What a command has come to."""

    code: int
    lines: list[str]
    """Lines of standard output; each ended by LF."""
    said: str
    """Standard error."""


class Translate:
    """Runs ``dragoman translate`` in this process with one model."""

    command = "translate"

    def __init__(
        self, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.model = model
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *words: object, text: str | bytes = "") -> Ended:
        content = text.encode() if isinstance(text, str) else text
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
        code = main([self.command, str(self.model), *map(str, words)])
        written = self._capsys.readouterr()
        *lines, after = written.out.split("\n")
        assert after == ""
        return Ended(code, lines, written.err)
