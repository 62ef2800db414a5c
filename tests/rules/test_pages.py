"""Every command, key and error has a page."""

import dataclasses
from pathlib import Path

import click
import pytest

from dragoman import errors
from dragoman.config import Config
from reference_pages import commands, configuration, walk


def every_command() -> list[tuple[str, click.Command]]:
    from dragoman.cli import main

    return list(walk(main))


def written_pages(root: Path) -> str:
    """The text of all pages that people wrote, and of the first page of the repository."""
    pages = [*(root / "docs").rglob("*.md"), root / "README.md"]
    ours = [page for page in pages if not {"generated", "_build"} & set(page.parts)]
    return "\n".join(page.read_text(encoding="utf-8") for page in ours)


def test_every_error_has_its_part_of_the_page(root: Path) -> None:
    """The page of errors explains each error class under its own heading."""
    page = (root / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    kinds = [kind.__name__ for kind in errors.DragomanError.__subclasses__()]

    assert [kind for kind in kinds if f"## {kind}\n" not in page] == []


def test_every_key_has_a_meaning() -> None:
    """Each key of each section has a docstring, which is its help text."""
    fields = {
        f"{section.name}.{name}": info.description
        for section in dataclasses.fields(Config)
        for name, info in section.type.__pydantic_fields__.items()
    }

    assert [key for key, meaning in fields.items() if not meaning] == []


def test_every_key_is_on_its_page() -> None:
    """The page of keys lists each key of each section."""
    page = configuration()
    keys = [
        f"{section.name}.{field.name}"
        for section in dataclasses.fields(Config)
        for field in dataclasses.fields(section.type)
    ]

    assert [key for key in keys if f"`{key}`\n" not in page] == []


def test_every_command_and_option_is_explained() -> None:
    """Each command says what it does, and each of its options has a help text."""
    silent = [name for name, command in every_command() if not command.help]
    silent += [
        f"{name} {option.name}"
        for name, command in every_command()
        for option in command.params
        if isinstance(option, click.Option) and not option.help and not option.hidden
    ]

    assert silent == []


def test_every_command_is_on_its_page() -> None:
    """The page of commands has a heading for each."""
    page = commands(every_command()[0][1])

    assert [name for name, _ in every_command() if f"## {name}\n" not in page] == []


def test_every_command_is_shown_in_use(root: Path) -> None:
    """A page that people wrote shows each command at work."""
    text = written_pages(root)
    used = [name for name, command in every_command() if not isinstance(command, click.Group)]

    assert [name for name in used if name not in text] == []


@pytest.mark.parametrize("folder", ["tutorial", "how-to", "reference", "explanation", "decisions", "results"])
def test_every_part_of_the_documentation_has_a_first_page(root: Path, folder: str) -> None:
    """The six parts of the documentation are there."""
    assert (root / "docs" / folder / "index.md").is_file()
