"""Every command, key and error has its place in the documentation, and generated pages are up to date."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import dragoman
from dragoman.cli.entry import PROGRAM, group
from dragoman.cli.pages import commands_page, walk_commands
from dragoman.config import RECIPE_NAMES, configuration_page, explain
from dragoman.errors import DragomanError


def headings(page: Path) -> list[str]:
    """Return the second-level headings of a Markdown page."""
    lines = page.read_text(encoding="utf-8").split("\n")
    return [line.removeprefix("## ") for line in lines if line.startswith("## ")]


def subclasses(of: type[DragomanError]) -> Iterator[type[DragomanError]]:
    """Yield every class below a class of errors."""
    for below in of.__subclasses__():
        yield below
        yield from subclasses(below)


def test_configuration_page_is_up_to_date(root: Path) -> None:
    """The page of the configuration is what the code writes; see ``python -m dragoman.cli.pages``."""
    page = (root / "docs/reference/configuration.md").read_text(encoding="utf-8")

    assert page == configuration_page()


def test_commands_page_is_up_to_date(root: Path) -> None:
    """The page of the commands is what the code writes; see ``python -m dragoman.cli.pages``."""
    page = (root / "docs/reference/commands.md").read_text(encoding="utf-8")

    assert page == commands_page()


def test_every_key_has_a_page_entry_with_help(root: Path) -> None:
    """The page of the configuration has a row with a meaning for every key, under its section."""
    page = (root / "docs/reference/configuration.md").read_text(encoding="utf-8")
    parts = {part.split("\n")[0]: part for part in page.split("\n## ")}

    for help_ in explain():
        meaning = help_.help.replace("|", "\\|")

        assert meaning
        assert f"| `{help_.key}` | `{help_.default}` | {help_.type} | {meaning} |" in parts[help_.section]


def test_every_recipe_has_a_page_entry(root: Path) -> None:
    """The page of the configuration has a column for every recipe."""
    page = (root / "docs/reference/configuration.md").read_text(encoding="utf-8")

    assert f"| key | default | {' | '.join(RECIPE_NAMES)} |" in page


def test_every_command_has_a_page_entry(root: Path) -> None:
    """The page of the commands has a heading for every command and every command has a help text."""
    contexts = list(walk_commands(click.Context(group, info_name=PROGRAM)))

    assert headings(root / "docs/reference/commands.md") == [context.command_path for context in contexts]
    assert [context.command_path for context in contexts if not context.command.help] == []


def test_every_option_has_help() -> None:
    """No option of any command is without an explanation."""
    contexts = walk_commands(click.Context(group, info_name=PROGRAM))
    bare = [
        f"{context.command_path} {parameter.opts[0]}"
        for context in contexts
        for parameter in context.command.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]

    assert bare == []


def test_every_error_has_a_page_entry(root: Path) -> None:
    """The page of errors has a heading for every class of the tree, and for nothing else."""
    for module in pkgutil.walk_packages(dragoman.__path__, "dragoman."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    names = [error.__name__ for error in subclasses(DragomanError)]

    assert headings(root / "docs/reference/errors.md") == names


@pytest.mark.parametrize("error", list(subclasses(DragomanError)), ids=lambda error: error.__name__)
def test_error_page_tells_exit_code(root: Path, error: type[DragomanError]) -> None:
    """The entry of each error names the exit code that the error has."""
    page = (root / "docs/reference/errors.md").read_text(encoding="utf-8")
    entry = page.partition(f"\n## {error.__name__}\n")[2].partition("\n## ")[0]

    assert f"Exit code {error.exit_code}." in entry.replace("\n", " ")
    assert "What to do:" in entry
