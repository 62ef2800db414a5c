"""For the tests of commands: a model that copies short lines, trained once, and the filter."""

from pathlib import Path

import pytest

from copying import Translate, train_copier


@pytest.fixture(scope="session")
def copy_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that has learned to copy syllables, and its held-out pairs."""
    return train_copier(tmp_path_factory.mktemp("copy"))


@pytest.fixture
def translate(
    copy_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Translate:
    """The command on a model of its own choice; standard input is what it is told."""
    return Translate(copy_model, monkeypatch, capsys)
