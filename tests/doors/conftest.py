"""A model for the tests of commands: it copies short lines, and is trained once in seconds."""

import random
from pathlib import Path

import pytest

from dragoman.run import TrainOptions, train

SYLLABLES = ["ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du", "ga", "ge", "gi", "go", "gu"]
SETTINGS = [
    *("model.vocabulary_size=304", "model.num_encoder_layers=1", "model.num_decoder_layers=1"),
    *("model.d_model=32", "model.d_ff=64", "model.num_heads=4", "model.d_k=8", "model.d_v=8"),
    *("model.dropout=0.0", "train.label_smoothing=0.0", "data.max_length=64", "data.dev_pairs=20"),
    *("data.test_pairs=20", "train.max_steps=250", "train.warmup_steps=60", "train.cooldown_steps=60"),
    *("train.peak_rate=0.01", "train.batch_tokens=800", "train.micro_batch_tokens=800"),
    *("train.validation_interval_steps=250", "train.average_checkpoints=1"),
]


@pytest.fixture(scope="session")
def copy_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that has learned to copy one to six syllables, and its held-out pairs."""
    folder = tmp_path_factory.mktemp("copy")
    chance = random.Random(1)
    lines = [" ".join(chance.choices(SYLLABLES, k=chance.randint(1, 6))) for _ in range(1_200)]
    files = [folder / "lines.in", folder / "lines.out"]
    for file in files:
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    train(files, folder / "model", TrainOptions(recipe="tiny", settings=SETTINGS, device="cpu"))
    return folder / "model"
