"""Every key with its meaning: for the command line, and as a page of the documentation."""

import tomllib

from dragoman.config.keys import SECTION_TYPES, KeyHelp, all_keys, suggest
from dragoman.config.recipes import RECIPE_NAMES, recipe_text
from dragoman.errors import ConfigError

_INTRODUCTION = """\
# Configuration

<!-- Written by 'python -m dragoman.cli.pages docs/reference' from the code; change it there. -->

No configuration is needed: `dragoman train` picks a recipe by the size of the corpus and says why. Whoever
wants to choose gives a file, single settings, or both:

    dragoman train train.en train.de --out model --config run.toml --set train.max_steps=500

Values come from the defaults, which are the paper's base model, then from the recipe, then from the file,
then from each `--set`; the last one wins. A file is TOML with a table for each section:

    [train]
    max_steps = 500
    peak_rate = "none"

The value of `--set` is written as in TOML, except that a word needs no quotes. A key that may be left out is
left out with `none`. Every problem is reported at once, with its line:

    error: the configuration has 2 problems
      run.toml:3  model.d_modle: no such key; did you mean d_model?
      --set train.precision=fp16: must be one of auto, float32, bfloat16
    hint: see every key, its meaning and its default with 'dragoman config explain'

`dragoman config show` prints the values that a recipe, a file and settings give together, `dragoman config
explain KEY` this page's entry for a key, and `dragoman config schema` a JSON Schema for editors.
"""


def explain(name: str | None = None) -> list[KeyHelp]:
    """Return the help of every key, of a section, or of one key.

    Args:
        name: None for all, a section ("train"), a key with its section ("train.max_steps"), or a key alone,
            which is looked for in every section.

    Raises:
        ConfigError: If there is no such section or key.
    """
    keys = list(all_keys().values())
    if name is None:
        return keys
    found = [help_ for help_ in keys if name in (help_.section, help_.name, help_.key)]
    if not found:
        section, _, key = name.rpartition(".")
        sections = ", ".join(SECTION_TYPES)
        raise ConfigError(
            f"no key or section is named {name!r}{suggest(section, key)}",
            hint=f"see all of them with 'dragoman config explain'; the sections are {sections}",
        )
    return found


def configuration_page() -> str:
    """Return the reference page of every key and of the recipes, in Markdown."""
    parts = [_INTRODUCTION]
    for section, section_type in SECTION_TYPES.items():
        rows = [
            f"| `{help_.key}` | `{help_.default}` | {help_.type} | {_cell(help_.help)} |"
            for help_ in explain(section)
        ]
        table = ["| key | default | must be | meaning |", "|---|---|---|---|", *rows]
        parts.append(f"## {section}\n\n{section_type.__doc__}\n\n" + "\n".join(table) + "\n")
    parts.append(_recipes_part())
    return "\n".join(parts)


def _recipes_part() -> str:
    """Return one table with a column for each recipe and a row for each key that some recipe sets."""
    recipes = {name: tomllib.loads(recipe_text(name)) for name in RECIPE_NAMES}
    lines = [
        "## Recipes",
        "",
        "What each recipe sets; an empty cell keeps the default. With `--recipe auto`, which is the default,",
        "`dragoman train` also adapts vocabulary, dropout and steps to the number of pairs, and of a parser",
        "the steps to the number of trees.",
        "",
        "| key | default | " + " | ".join(RECIPE_NAMES) + " |",
        "|---" * (len(RECIPE_NAMES) + 2) + "|",
    ]
    for help_ in explain():
        values = [recipes[name].get(help_.section, {}).get(help_.key, "") for name in RECIPE_NAMES]
        if any(value != "" for value in values):
            lines.append(f"| `{help_.name}` | {help_.default} | " + " | ".join(map(str, values)) + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Return text for a cell of a Markdown table, where a bar would end it."""
    return text.replace("|", "\\|")
