"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_Function = Callable[..., Any]


class _NewFolder(click.Path):
    """A folder to write; an empty name, as an unset variable of the shell gives, is not the current one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name of the folder is empty", param, ctx)
        return super().convert(value, param, ctx)


NEW_FOLDER = _NewFolder(path_type=Path)
"""Type of ``--out``."""


def configuration_options(function: _Function) -> _Function:
    """Add ``--recipe``, ``--config`` and ``--set``, passed on as recipe, config_file and settings."""
    for option in (
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="SECTION.KEY=VALUE",
            help="Set one key; may be repeated, and wins over recipe and file.",
        ),
        click.option(
            "--config",
            "config_file",
            type=click.Path(path_type=Path),
            help="A TOML file with keys; wins over the recipe.",
        ),
        click.option(
            "--recipe",
            metavar="NAME",
            help="Settings to begin with: demo, tiny, small, base, big, parsing-small, parsing, or auto "
            "where there is a corpus.",
        ),
    ):
        function = option(function)
    return function


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for other programs.")
"""The option ``--json``, passed on as as_json."""


def search_options(function: _Function) -> _Function:
    """Add ``--beam-size``, ``--length-penalty`` and ``--batch-tokens``; None means the model's own."""
    for option in (
        click.option("--batch-tokens", type=int, help="Source positions searched at once."),
        click.option("--length-penalty", type=float, metavar="ALPHA", help="Above 0 favors longer outputs."),
        click.option("--beam-size", type=int, help="Hypotheses kept for each sentence; 1 is greedy."),
    ):
        function = option(function)
    return function


def device_options(function: _Function) -> _Function:
    """Add ``--device`` and ``--threads``."""
    for option in (
        click.option("--threads", type=click.IntRange(1, 1_024), help="Processor threads to compute with."),
        click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N."),
    ):
        function = option(function)
    return function


def precision_option(function: _Function) -> _Function:
    """Add ``--precision``."""
    option = click.option(
        "--precision",
        type=click.Choice(["auto", "float32", "bfloat16", "int8"]),
        default="auto",
        show_default=True,
        help="bfloat16 and int8 are faster on a processor and nearly as good; auto is float32.",
    )
    return option(function)


def tell_without_engine(device: str) -> None:
    """Say so if a processor translates without the native engine, and how to get it.

    PyTorch, which translates then, keeps what it frees, which is a tenth faster.
    """
    from dragoman.searchers import without_engine

    if notice := without_engine(device):
        from dragoman.run.allocator import keep_freed_memory

        keep_freed_memory()
        click.echo(f"notice: {notice}", err=True)


def use_threads(threads: int | None) -> None:
    """Let torch compute with this many threads; None leaves its own choice."""
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def warn(text: str) -> None:
    """Write a warning to standard error."""
    click.echo(f"warning: {text}", err=True)
