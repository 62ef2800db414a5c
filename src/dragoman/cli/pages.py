"""The reference pages that are written from the code: ``python -m dragoman.cli.pages docs/reference``."""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from dragoman.cli.entry import PROGRAM, group
from dragoman.config import configuration_page

_INTRODUCTION = """\
# Commands

<!-- Written by 'python -m dragoman.cli.pages docs/reference' from the code; change it there. -->

Results go to standard output, progress and complaints to standard error. Every command explains itself with
`--help`. A complaint is one line that begins with `error:`, and often one with a `hint:`;
[errors](errors.md) lists them all.

| exit code | meaning |
|---|---|
| 0 | done; also when the reader of a pipe leaves early |
| 1 | text, data, or a model that cannot be used |
| 2 | a command or a configuration that breaks a rule |
| 3 | one of several ranks was lost |
| 130 | interrupted by the keyboard |
| 143 | ended by SIGTERM |
"""


def commands_page() -> str:
    """Return the reference page of every command, in Markdown."""
    root = click.Context(group, info_name=PROGRAM)
    return "\n".join([_INTRODUCTION, *(_command_part(context) for context in walk_commands(root))])


def walk_commands(context: click.Context) -> Iterator[click.Context]:
    """Yield a context for every command below that of ``context``, groups before their commands."""
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is None:
                raise AssertionError(f"{context.command_path} lists {name} and does not have it")
            child = click.Context(command, info_name=name, parent=context)
            yield child
            yield from walk_commands(child)


def write_pages(folder: Path) -> None:
    """Write every generated page into a folder."""
    (folder / "commands.md").write_text(commands_page(), encoding="utf-8")
    (folder / "configuration.md").write_text(configuration_page(), encoding="utf-8")


def _command_part(context: click.Context) -> str:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"## {context.command_path}", _help_as_markdown(command.help or ""), f"    {usage}"]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context))]
    if records:
        rows = [f"| `{names}` | {text} |".replace("\n", " ") for names, text in map(_escape_bars, records)]
        parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _help_as_markdown(text: str) -> str:
    """Return a command's help with click's unwrapped paragraphs (marked by a backspace) as code."""
    paragraphs = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            paragraphs.append("\n".join(f"    {line}" for line in paragraph.split("\n")[1:]))
        else:
            paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


def _escape_bars(record: tuple[str, str]) -> tuple[str, str]:
    names, text = record
    return names.replace("|", "\\|"), text.replace("|", "\\|")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
