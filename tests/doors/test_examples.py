"""The examples of the documentation are run as a reader would run them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
SCRIPTS = {".sh": ["sh", "-eu"], ".py": [sys.executable]}
TIMEOUT_SECONDS = 600


def scripts() -> list[ParameterSet]:
    """Every example; one with a comment line '# full' takes minutes and is run by './run test --full'."""
    found = []
    for path in sorted(EXAMPLES.glob("*")):
        if path.suffix in SCRIPTS:
            is_full = "# full" in path.read_text(encoding="utf-8").split("\n")
            found.append(pytest.param(path, id=path.name, marks=[pytest.mark.full] if is_full else []))
    return found


@pytest.fixture
def reader(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder with the examples' data files, and an environment in which ``dragoman`` is this package."""
    desk, programs = tmp_path / "desk", tmp_path / "programs"
    desk.mkdir()
    programs.mkdir()
    for path in EXAMPLES.glob("*"):
        if path.is_file() and path.suffix not in SCRIPTS:
            shutil.copy(path, desk)
    command = programs / "dragoman"
    start = "import sys; from dragoman.cli import main; sys.argv[0] = 'dragoman'; sys.exit(main())"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{start}" "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return desk, os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize("script", scripts())
def test_an_example_runs(script: Path, reader: tuple[Path, dict[str, str]]) -> None:
    """Each script ends without an error in a folder of its own."""
    desk, environment = reader
    command = [*SCRIPTS[script.suffix], str(script)]
    result = subprocess.run(
        command,
        cwd=desk,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )

    assert result.returncode == 0, f"{script.name} said:\n{result.stdout}\n{result.stderr}"
