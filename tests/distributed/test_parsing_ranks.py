"""Training to parse on several ranks, by the real command line."""

from pathlib import Path

import pytest

from distributed.commands import EXACT, ended, losses, words
from grammar_trees import write_treebank
from tiny_runs import tiny_run

SETTINGS = (
    *EXACT,
    "data.task=parsing",
    "data.reads_words=true",
    "train.max_steps=30",
    "train.validation_interval_steps=15",
    "search.extra_length=10",
)


def test_two_ranks_learn_the_same_parser(tmp_path: Path) -> None:
    """With BPE-dropout and words read, two ranks have the losses of one process to 1e-5, and its files."""
    treebank = write_treebank(tmp_path / "trees.mrg")
    alone, together = tmp_path / "alone", tmp_path / "together"
    tiny_run([treebank], alone, *SETTINGS)
    settings = [setting for setting in SETTINGS if not setting.startswith("data.task")]
    code, stdout, said = ended(
        words([treebank], together, "--ranks", "2", "--task", "parsing", settings=settings)
    )

    assert code == 0, said
    assert f"dragoman parse {together}" in stdout
    assert len(losses(together)) == 30
    assert losses(together) == pytest.approx(losses(alone), rel=1e-5)
    assert {str(path.relative_to(together)) for path in together.rglob("*")} == {
        str(path.relative_to(alone)) for path in alone.rglob("*")
    }
