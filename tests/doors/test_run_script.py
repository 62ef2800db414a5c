"""The script ``./run`` says what it needs in plain sentences."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = ("dirname", "cat", "cksum", "rm", "mkdir", "tail", "grep", "basename")
OLD_PYTHON = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Python 3.9.2' || exit 1\n"


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A folder with the script and what it reads, without an environment."""
    for name in ("run", "pyproject.toml", "constraints.txt"):
        shutil.copy(root / name, tmp_path)
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(folder / "run"), *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_command_it_explains_itself(checkout: Path) -> None:
    """No command is no fault: usage is printed, and no environment is made."""
    result = run(checkout)

    assert (result.returncode, result.stdout[:20]) == (0, "usage: ./run COMMAND")
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("word", ["help", "-h", "--help"])
def test_a_bench_is_not_named_help(checkout: Path, word: str) -> None:
    """Asked for help, ``./run bench`` lists what there is."""
    result = run(checkout, "bench", word)

    assert (result.returncode, result.stderr[:18]) == (0, "usage: ./run bench")


def test_an_unknown_command_is_named(checkout: Path) -> None:
    """A command that is not there is an error that names it."""
    result = run(checkout, "tset")

    assert (result.returncode, result.stderr.split("\n")[-2]) == (1, "error: there is no command 'tset'")


def test_a_python_that_is_too_old_is_named(checkout: Path) -> None:
    """Where only an old Python is found, its version is said, with the version that is needed."""
    programs = checkout / "programs"
    programs.mkdir()
    for tool in TOOLS:
        (programs / tool).symlink_to(str(shutil.which(tool)))
    (programs / "python3").write_text(OLD_PYTHON, encoding="utf-8")
    (programs / "python3").chmod(0o755)
    result = run(checkout, "test", PATH=str(programs), PYTHON="")

    assert result.returncode == 1
    assert "needs Python 3.11 or newer, and this computer's PATH offers Python 3.9.2" in result.stderr


def test_an_index_out_of_reach_is_told_plainly(checkout: Path) -> None:
    """When pip fails for want of a connection, the script says so and does not take .venv for complete."""
    bin_folder = checkout / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    python = bin_folder / "python"
    refusal = "ERROR: Failed to establish a new connection"
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit 0\necho "{refusal}" >&2\nexit 1\n', encoding="utf-8")
    python.chmod(0o755)
    result = run(checkout, "test")

    assert result.returncode == 1
    assert "error: pip cannot reach its package index" in result.stderr
    assert not list((checkout / ".venv").glob("installed-*"))


def test_an_unfinished_environment_is_made_anew(checkout: Path) -> None:
    """A .venv whose making was interrupted is not used."""
    unfinished = checkout / ".venv" / "unfinished"
    unfinished.parent.mkdir()
    unfinished.touch()
    python = checkout / "python"
    python.write_text("#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho 'no venv' >&2\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    result = run(checkout, "test", PYTHON=str(python))

    assert "Making .venv" in result.stderr
    assert "cannot make a virtual environment" in result.stderr
