"""Groups of commands that answer at once and suggest what was meant."""

import difflib
import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click


class LazyCommand(NamedTuple):
    """Where a command is found when it is needed; its module holds it as ``command``."""

    module: str
    short_help: str


class SuggestingGroup(click.Group):
    """A group that answers an unknown command with the most similar one, and no command with its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as usual; without any argument write the help to standard error and exit with code 2."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names.

        Raises:
            click.UsageError: If there is none, with the most similar name.
        """
        name = str(args[0])
        names = self.list_commands(ctx)
        if name not in names and not name.startswith("-") and not ctx.resilient_parsing:
            like = difflib.get_close_matches(name, names, n=1)
            end = f"did you mean {like[0]}?" if like else f"the commands are {', '.join(names)}"
            raise click.UsageError(f"no such command: {name}; {end}", ctx=ctx)
        return super().resolve_command(ctx, args)


class LazyGroup(SuggestingGroup):
    """A group that imports the module of a command only to run it or to show its own help.

    Args:
        lazy_commands: The commands by name, in the order of the help.
        attributes: What ``click.Group`` takes.
    """

    def __init__(self, lazy_commands: Mapping[str, LazyCommand], **attributes: Any) -> None:
        super().__init__(**attributes)
        self.lazy_commands = lazy_commands

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands without importing any."""
        return list(self.lazy_commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command and give it the short help of the table, so that there is only one."""
        if cmd_name not in self.lazy_commands:
            return None
        lazy = self.lazy_commands[cmd_name]
        command = importlib.import_module(lazy.module).command
        if not isinstance(command, click.Command):
            raise AssertionError(f"{lazy.module}.command is no click command")
        command.short_help = lazy.short_help
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the table of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.short_help) for name, lazy in self.lazy_commands.items()])
