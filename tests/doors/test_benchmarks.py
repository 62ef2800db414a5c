"""The benchmarks run, at least with the rivals that need nothing but torch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.full
def test_training_is_measured_against_torch(root: Path, tmp_path: Path) -> None:
    """One run of one step gives a speed for each way to train, and each of them learns."""
    report = tmp_path / "training.json"
    rivals = ["dragoman", "dragoman-2", "torch", "torch-2"]
    command = [sys.executable, "bench/training.py", "--runs", "1", "--steps", "1", "--threads", "1"]
    command += ["--rivals", ",".join(rivals), "--json", str(report)]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=os.environ)

    assert (result.returncode, result.stdout.count("left out")) == (0, 0), result.stdout + result.stderr
    measured = json.loads(report.read_text(encoding="utf-8"))["small"]["reports"]
    assert list(measured) == rivals
    assert all(runs[0]["last_loss"] < runs[0]["first_loss"] - 0.5 for runs in measured.values())
    assert len({runs[0]["target_tokens"] for runs in measured.values()}) == 1


def test_padding_is_measured(root: Path) -> None:
    """Batches as dragoman cuts them hold at most 6 % padding at 4,096 positions and 3 % at 1,024."""
    command = [sys.executable, "bench/padding.py"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=os.environ)

    shares = [line.rpartition(" ")[2] for line in result.stdout.splitlines() if "dragoman" in line]
    assert [float(share.rstrip("%")) <= most for share, most in zip(shares, (6, 3), strict=True)] == [
        True
    ] * 2


def test_translation_is_measured(root: Path, tmp_path: Path) -> None:
    """A speed of the engine and of the model in torch."""
    report = tmp_path / "translation.json"
    command = [sys.executable, "bench/translation.py", "--runs", "1", "--sentences", "20", "--threads", "1"]
    command += ["--rivals", "int8,pytorch", "--work", "greedy", "--json", str(report)]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=os.environ)

    assert (result.returncode, result.stdout.count("left out")) == (0, 0), result.stdout + result.stderr
    measured = json.loads(report.read_text(encoding="utf-8"))
    assert list(measured) == ["small greedy"]
    assert all(run["speed"] > 0 for work in measured.values() for [run] in work.values())
