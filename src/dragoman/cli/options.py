"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_Function = Callable[..., Any]


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
            help="Settings to begin with: tiny, small, base, big, or auto where there is a corpus.",
        ),
    ):
        function = option(function)
    return function


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for other programs.")
"""The option ``--json``, passed on as as_json."""
