"""``dragoman config``: explain the keys, show the values, print the schema."""

import json
import textwrap
from pathlib import Path

import click

from dragoman.cli.groups import SuggestingGroup
from dragoman.cli.options import configuration_options, json_option


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Explain the keys of the configuration, show their values, print their schema.

    No configuration is needed: 'dragoman train' chooses by the size of the corpus.
    """


@command.command("explain")
@click.argument("key", required=False)
def explain_command(key: str | None) -> None:
    """Explain every key, the keys of a section, or one key.

    KEY is a section such as train, a key such as train.max_steps, or a key alone such as max_steps.
    """
    from dragoman.config import explain

    for help_ in explain(key):
        meaning = textwrap.fill(help_.help, 96, initial_indent="    ", subsequent_indent="    ")
        click.echo(f"{help_.name} = {help_.default}\n{meaning}\n    Must be {help_.type}.\n")


@command.command("show")
@configuration_options
@json_option
def show_command(
    recipe: str | None, config_file: Path | None, settings: tuple[str, ...], as_json: bool
) -> None:
    """Show the value of every key.

    A recipe, a file and settings give them together; the last one wins. The TOML that is printed can be kept
    and given to --config.
    """
    from dragoman.config import config_to_json, config_to_toml, read_config

    config = read_config(recipe=recipe, file=config_file, settings=settings)
    click.echo(config_to_json(config) if as_json else config_to_toml(config), nl=False)


@command.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of all keys.

    Editors check and complete TOML files by it.
    """
    from dragoman.config import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
