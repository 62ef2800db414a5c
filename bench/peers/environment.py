"""The peers' own environment: ``.peers`` beside ``.venv``, made once, with pinned versions."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINS = Path(__file__).with_name("pins.toml")
FOLDER = ROOT / ".peers"
PYTHON = FOLDER / "venv" / "bin" / "python"


class PeerError(Exception):
    """A peer cannot be installed, imported or run; the message says why."""


def install(peer: str) -> None:
    """Install what a peer needs, unless it stands already with the same pins.

    Raises:
        PeerError: The environment cannot be made, or pip failed.
    """
    pins: dict[str, list[str]] = tomllib.loads(PINS.read_text(encoding="utf-8"))
    if not PYTHON.exists():
        _said([sys.executable, "-m", "venv", str(FOLDER / "venv")])
    for group in ("torch", "shared", peer):
        note, wanted = FOLDER / f"installed-{group}", "\n".join(pins[group])
        if note.exists() and note.read_text(encoding="utf-8") == wanted:
            continue
        print(f"Installing {group} into .peers", file=sys.stderr)
        _install_group(group, pins[group])
        note.write_text(wanted, encoding="utf-8")


def _install_group(group: str, pins: list[str]) -> None:
    pip = [str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    if group == "torch":
        _said([*pip, *pins])  # with what it needs, since a build with CUDA needs more
    elif group == "fairseq":
        os.environ["READTHEDOCS"] = "yes"  # leaves out its C++ parts, which serve scoring and reading alone
        for pin in pins:  # in turn: its build needs those before it
            _said([*pip, "--no-deps", "--no-build-isolation", pin])
    else:
        _said([*pip, "--no-deps", *pins])


def _said(command: list[str]) -> None:
    """Run a command; raise its last words if it fails."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise PeerError(last_words(result.stderr) or f"{command[0]} ended with {result.returncode}")


def last_words(text: str) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or [""])[-1][:300]
