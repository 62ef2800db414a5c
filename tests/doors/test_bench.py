"""The measurements run: on a GPU there is no time to find out that they do not."""

import json
import os
import subprocess
import sys
from pathlib import Path


def test_gpu_measurement_runs_without_a_gpu(root: Path, tmp_path: Path) -> None:
    """On a processor, with a tiny model, each form that needs no compiler is measured for both recipes."""
    report = tmp_path / "gpu.json"
    command = [sys.executable, "bench/gpu.py", "--device", "cpu", "--tiny", "--json", str(report)]
    command += ["--skip", "compiled", "--skip", "micro-batches", "--skip", "readable loss"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=os.environ)

    assert (result.returncode, result.stderr.count("Traceback")) == (0, 0), result.stderr
    assert "failed" not in result.stdout
    measured = json.loads(report.read_text(encoding="utf-8"))["results"]
    forms = ["one micro-batch", "readable forms", "no padding", "no padding, no masks"]
    assert [(one["recipe"], one["form"]) for one in measured] == [
        (recipe, form) for recipe in ("base", "big") for form in forms
    ]
    assert all(one["target_tokens_per_second"] > 0 for one in measured)


def test_gpu_measurement_ends_in_time(root: Path) -> None:
    """When its minutes are over the measurement ends and says so, whatever it is doing."""
    command = [sys.executable, "bench/gpu.py", "--device", "cpu", "--tiny", "--minutes", "0.01"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=60)

    assert (result.returncode, result.stdout.split("\n")[-2]) == (0, "stopped: 0.01 minutes are over")
