"""The repository speaks of the project alone."""

import re
import subprocess
from pathlib import Path

import pytest

HOMES = ("home", "root", "tmp", "work", "Users", "mnt")
MACHINE_PATH = re.compile(rf"(?<![\w.~$}}/:>-])/({'|'.join(HOMES)})/[\w.-]+")
DIARY = re.compile(r"\b(this|last|next|previous|earlier) session\b", re.IGNORECASE)
LARGEST_BYTES = 1_000_000


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    """Every file that git tracks and that is still here."""
    folder = Path(__file__).resolve().parents[2]
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z"], cwd=folder, capture_output=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is not a git checkout")
    paths = (folder / name for name in listing.decode().split("\0") if name)
    return [path for path in paths if path.is_file()]


def lines_with(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    """Say where the pattern is found in text files."""
    found = []
    for path in paths:
        for number, line in enumerate(
            path.read_bytes().decode("utf-8", errors="replace").split("\n"), start=1
        ):
            if pattern.search(line):
                found.append(f"{path.name}:{number}: {line.strip()[:100]}")
    return found


def test_no_file_names_a_place_on_one_computer(tracked: list[Path]) -> None:
    """Paths in the repository are relative, so that they are true everywhere."""
    assert lines_with(MACHINE_PATH, tracked) == []


def test_no_file_is_a_diary(tracked: list[Path]) -> None:
    """Files say how things are, not when and by whom they were worked on."""
    assert lines_with(DIARY, tracked) == []


def test_no_file_is_unfinished(tracked: list[Path]) -> None:
    """What is left to do is not left in the code."""
    markers = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")

    assert lines_with(markers, [path for path in tracked if path.suffix in {".py", ".md", ".toml"}]) == []


def test_no_file_is_large(tracked: list[Path]) -> None:
    """The repository holds text that people read; data and models are made or fetched."""
    assert [path.name for path in tracked if path.stat().st_size > LARGEST_BYTES] == []


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("read /" + "home/ann/corpus.en", True),
        ("open('/" + "tmp/x')", True),
        ("#!/usr/bin/env bash", False),
        ("docs/work/page.md", False),
        ("https://example.org/" + "home/page", False),
    ],
)
def test_a_machine_path_is_recognized(line: str, is_found: bool) -> None:
    """Absolute paths of a person's files are found; relative ones, addresses and programs are not."""
    assert bool(MACHINE_PATH.search(line)) == is_found
