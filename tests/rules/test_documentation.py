"""The documentation has its parts and shows the commands at work."""

from pathlib import Path

import click
import pytest

from dragoman.cli.entry import PROGRAM, group
from dragoman.cli.pages import walk_commands

PARTS = ("tutorial", "how-to", "reference", "explanation", "decisions", "results")
GENERATED = {"commands.md", "configuration.md"}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_pages(root: Path, part: str) -> None:
    """Each part of the documentation has a first page, and a page for it to lead to."""
    pages = {page.name for page in (root / "docs" / part).glob("*.md")}

    assert "index.md" in pages
    assert pages > {"index.md"}


def test_every_command_is_shown_in_use(root: Path) -> None:
    """A page that people wrote, or the first page of the repository, shows each command at work."""
    pages = [
        page for part in PARTS for page in (root / "docs" / part).glob("*.md") if page.name not in GENERATED
    ]
    text = "\n".join(page.read_text(encoding="utf-8") for page in [*pages, root / "README.md"])
    contexts = walk_commands(click.Context(group, info_name=PROGRAM))
    typed = [context.command_path for context in contexts if not isinstance(context.command, click.Group)]

    assert [command for command in typed if command not in text] == []
