"""Keys out of range, by the real command line: one message, exit code 2, nothing written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        (
            ["--set", "train.batch_tokens=0", "--dry-run"],
            "",
            "error: the configuration has 1 problem\n"
            "  --set train.batch_tokens=0: must be a whole number of at least 1\n",
        ),
        (
            ["--set", "model.norm=middle", "--config", "run.toml"],
            "[model]\ndropout = 1.5\n[train]\nadam_beta2 = -0.1\n",
            "error: the configuration has 3 problems\n"
            "  run.toml:2  model.dropout: must be a number of at least 0 and below 1, not 1.5\n"
            "  run.toml:4  train.adam_beta2: must be a number of at least 0 and below 1, not -0.1\n"
            "  --set model.norm=middle: must be one of post, pre\n",
        ),
    ],
)
def test_keys_out_of_range_end_before_anything_is_written(
    words: list[str], text: str, expected: str, tmp_path: Path
) -> None:
    """Every key out of range is told with its range in one message, and the folder is as it was."""
    for name in ("a.en", "a.de", "run.toml"):
        (tmp_path / name).write_text(text if name == "run.toml" else "one\ntwo\n", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    command = [sys.executable, "-m", "dragoman", "train", "a.en", "a.de", "--out", "model", *words]
    ended = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )
    hint = "hint: see every key, its meaning and its default with 'dragoman config explain'\n"

    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", expected + hint)
    assert sorted(tmp_path.iterdir()) == before
