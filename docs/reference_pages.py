"""The pages of commands and keys, made from the code so that they cannot differ from it."""

import dataclasses
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import click

from dragoman.config import Config

_WIDTH = 96


def configuration() -> str:
    """Return the page, in Markdown, of every key: its default, its values and its meaning."""
    lines = ["# Configuration", ""]
    lines += [
        "Keys are set in a TOML file (`--config FILE`) or one by one (`--set train.max_steps=500`).",
        "",
    ]
    for section in dataclasses.fields(Config):
        kind: Any = section.type
        lines += [f"## {section.name}", "", " ".join((kind.__doc__ or "").split()), ""]
        for name, info in kind.__pydantic_fields__.items():
            default = "none" if info.default is None else f"`{_toml(info.default)}`"
            values = _values(info.annotation)
            allowed = f" One of {', '.join(f'`{_toml(value)}`' for value in values)}." if values else ""
            meaning = " ".join((info.description or "").split())
            lines += [f"`{section.name}.{name}`", f": {meaning}{allowed} Default: {default}.", ""]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _values(annotation: Any) -> tuple[Any, ...]:
    """The values of a key that has only a few; other kinds are told by its text and default."""
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def walk(
    command: click.Command, path: tuple[str, ...] = ("dragoman",)
) -> Iterator[tuple[str, click.Command]]:
    """Yield the name that is typed and the command itself, for a command and all below it."""
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from walk(child, (*path, name))


def commands(main: click.Command) -> str:
    """Return the page, in Markdown, of every command with its arguments and options."""
    lines = ["# Commands", ""]
    for name, command in walk(main):
        context = click.Context(command, info_name=name, terminal_width=_WIDTH, max_content_width=_WIDTH)
        lines += [f"## {name}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(lines)
