"""Reading a configuration: a recipe, then a file over it, then ``--set`` over both.

Every problem is found before any is reported, each at its place: the line of a file, or the setting.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dragoman.config.keys import (
    NONE_WORD,
    SECTION_TYPES,
    all_keys,
    printable,
    suggest,
    suggest_section,
    toml_value,
)
from dragoman.config.recipes import AUTO, RECIPE_NAMES, RecipeChoice, recipe_text
from dragoman.config.sections import LARGEST, Config, Values
from dragoman.config.toml_lines import KeyPath, find_lines
from dragoman.errors import ConfigError

_LARGEST_FILE_BYTES = 2**20
_TOO_MUCH = "a number is too long or the nesting too deep"
_HINT = "see every key, its meaning and its default with 'dragoman config explain'"


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """One value that someone gave, and where.

    ``place`` begins a problem's line; ``value_shown`` tells whether the place already shows the value.
    """

    section: str
    key: str
    value: object
    place: str
    value_shown: bool = False


_Item = _Entry | str
"""What a source of values holds, in its order: values with their places, and problems."""


def read_config(
    *,
    recipe: str | RecipeChoice | None,
    file: Path | None,
    settings: Sequence[str],
    begun_with: Sequence[str] = (),
) -> Config:
    """Return the configuration that a recipe, a TOML file and ``--set`` settings give together.

    Later ones win: the paper's base model, the recipe, what ``choose_recipe`` added to it, what a model to
    begin with brings, the file, the settings in their order.

    Args:
        recipe: Name of a recipe, a choice of ``choose_recipe``, or None for the paper's base model.
        file: A TOML file with tables ``[model]``, ``[data]``, ``[train]`` and ``[search]``.
        settings: Texts ``section.key=value``; the value is TOML, and a bare word is a string.
        begun_with: Such texts, of the model that a training begins with.

    Raises:
        ConfigError: With every problem at its place.
    """
    items: list[_Item] = []
    if isinstance(recipe, RecipeChoice):
        items.extend(_read_recipe(recipe.name))
        items.extend(_read_setting(setting, source="recipe auto") for setting in recipe.settings)
    elif recipe is not None:
        items.extend(_read_recipe(recipe))
    items.extend(_read_setting(setting, source="--from") for setting in begun_with)
    if file is not None:
        items.extend(_read_file(file))
    items.extend(_read_setting(setting, source="--set") for setting in settings)
    return _build(items)


def config_to_json(config: Config) -> str:
    """Return the whole configuration as JSON, as it is stored with a model."""
    return json.dumps(asdict(config), indent=2, ensure_ascii=False) + "\n"


def config_from_json(text: str, name: str) -> Config:
    """Return the configuration that ``config_to_json`` wrote; a key that is missing has its default.

    Args:
        text: The JSON text.
        name: The file it came from, for messages.

    Raises:
        ConfigError: With every problem, naming file and key.
    """
    repeated: list[str] = []

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        keys = [key for key, _ in pairs]
        repeated.extend(sorted({key for key in keys if keys.count(key) > 1}))
        return dict(pairs)

    try:
        values = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        return _build([f"{name}:{error.lineno}  not JSON: {error.msg[:1].lower()}{error.msg[1:]}"])
    except (ValueError, RecursionError):
        return _build([f"{name}  not JSON: {_TOO_MUCH}"])
    if not isinstance(values, dict):
        return _build([f"{name}  must hold one JSON object, not {printable(values)}"])
    problems = [f"{name}  {_bare(key)}: given more than once" for key in repeated]
    return _build([*problems, *_read_values(values, name, {})])


def config_to_toml(config: Config) -> str:
    """Return the whole configuration as TOML, with a comment wherever it leaves the default."""
    parts = []
    for section, values in asdict(config).items():
        lines = [f"[{section}]"]
        for key, value in values.items():
            text, default = toml_value(value), all_keys()[f"{section}.{key}"].default
            lines.append(f"{key} = {text}" + ("" if text == default else f"  # default {default}"))
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _read_recipe(name: str) -> list[_Item]:
    if name in RECIPE_NAMES:
        return _read_toml(recipe_text(name), f"{name}.toml")
    known = ", ".join(RECIPE_NAMES)
    if name == AUTO:
        return [
            f"--recipe auto: is chosen by the size of a corpus, and there is none here; name one of {known}"
        ]
    like = difflib.get_close_matches(name, RECIPE_NAMES, n=1)
    end = f"did you mean {like[0]}?" if like else f"the recipes are {known}"
    return [f"--recipe {_bare(name)}: no such recipe; {end}"]


def _read_file(file: Path) -> list[_Item]:
    name = _bare(str(file))
    try:
        with file.open("rb") as stream:
            data = stream.read(_LARGEST_FILE_BYTES + 1)
    except FileNotFoundError:
        return [f"{name}  no such file"]
    except IsADirectoryError:
        return [f"{name}  is a folder; a configuration is one TOML file"]
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return [f"{name}  cannot be read: {reason[:1].lower()}{reason[1:]}"]
    if len(data) > _LARGEST_FILE_BYTES:
        return [f"{name}  is larger than 1 MiB; a configuration is a few lines of TOML"]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return [f"{name}:{line}  not UTF-8: byte 0x{data[error.start]:02x}"]
    return _read_toml(text, name)


def _read_toml(text: str, name: str) -> list[_Item]:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return [_syntax_problem(str(error), text, name)]
    except (ValueError, RecursionError):
        return [f"{name}  not TOML: {_TOO_MUCH}"]
    return _read_values(values, name, find_lines(text))


def _syntax_problem(message: str, text: str, name: str) -> str:
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if place is None:
        line, reason = text.count("\n") + 1, message.removesuffix(" (at end of document)")
    else:
        line, reason = int(place[1]), message[: place.start()]
    if re.match(r"Cannot (overwrite|declare)", reason):
        key = text.split("\n")[line - 1].partition("=")[0].strip(" \t\r[]")
        return f"{name}:{line}  {_bare(key)}: given more than once"
    return f"{name}:{line}  not TOML: {reason[:1].lower()}{reason[1:]}"


def _read_values(values: Values, name: str, lines: dict[KeyPath, int]) -> list[_Item]:
    def place(*path: str) -> str:
        line = f":{lines[path]}" if path in lines else ""
        return f"{name}{line}  {'.'.join(map(_bare, path))}"

    items: list[_Item] = []
    for section, table in values.items():
        if section not in SECTION_TYPES:
            items.append(f"{place(section)}: no such section{_suggest_either(section, section)}")
        elif not isinstance(table, dict):
            items.append(f"{place(section)}: must be a table of keys, not {printable(table)}")
        else:
            items.extend(
                _Entry(section=section, key=key, value=value, place=place(section, key))
                for key, value in table.items()
            )
    return items


def _read_setting(setting: str, *, source: str) -> _Item:
    place = f"{source} {_bare(setting)}"
    name, equals, text = setting.partition("=")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot:
        return f"{place}: must have the form section.key=value{suggest(None, name.strip())}"
    if section not in SECTION_TYPES:
        return f"{place}: no such section{_suggest_either(section, key)}"
    return _Entry(section=section, key=key, value=_setting_value(text), place=place, value_shown=True)


def _suggest_either(section: str, key: str) -> str:
    return suggest(None, key) or suggest_section(section)


def _setting_value(text: str) -> object:
    try:
        values = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        word = text.strip()
        return float(word) if re.fullmatch(r"[+-]?\.[0-9]+", word) else word
    return values["value"] if len(values) == 1 else text.strip()


def _build(items: Iterable[_Item]) -> Config:
    """Return the configuration of all entries, the last one of each key winning, or raise every problem."""
    problems: list[tuple[int, str]] = []
    winners: dict[str, dict[str, tuple[int, _Entry]]] = {section: {} for section in SECTION_TYPES}
    for order, item in enumerate(items):
        if isinstance(item, str):
            problems.append((order, item))
        elif f"{item.section}.{item.key}" in all_keys():
            winners[item.section][item.key] = (order, item)
        else:
            problems.append((order, f"{item.place}: no such key{suggest(item.section, item.key)}"))
    sections: dict[str, Any] = {}
    for section, entries in winners.items():
        values = {key: _plain_value(entry) for key, (_, entry) in entries.items()}
        try:
            sections[section] = SECTION_TYPES[section](**values)
        except ValidationError as error:
            problems.extend(_problems_of(error, entries))
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = [f"the configuration has {count}", *(problem for _, problem in sorted(problems))]
        raise ConfigError("\n  ".join(lines), hint=_HINT)
    return Config(**sections)


def _plain_value(entry: _Entry) -> Any:
    optional = all_keys()[f"{entry.section}.{entry.key}"].optional
    return None if optional and entry.value == NONE_WORD else entry.value


def _problems_of(error: ValidationError, entries: dict[str, tuple[int, _Entry]]) -> list[tuple[int, str]]:
    """Return pydantic's findings in the words of the rules, with the order of the entries they belong to."""
    problems = []
    for detail in error.errors(include_url=False):
        if detail["loc"]:
            order, entry = entries[str(detail["loc"][0])]
            problem = (order, _broken_rule(entry))
        else:  # a rule between keys: told at the last given key that it names
            message = str(detail["ctx"]["error"])
            order, entry = max(item for key, item in entries.items() if re.search(rf"\b{key}\b", message))
            problem = (order, f"{entry.place}: {message}")
        problems.append(problem)
    return list(dict.fromkeys(problems))


def _broken_rule(entry: _Entry) -> str:
    value, rule = entry.value, all_keys()[f"{entry.section}.{entry.key}"].type
    if isinstance(value, int) and not isinstance(value, bool) and value > LARGEST and "whole" in rule:
        return f"{entry.place}: must be at most {LARGEST:,}"
    if entry.value_shown:
        return f"{entry.place}: must be {rule}"
    kind = "the text " if isinstance(value, str) and "number" in rule else ""
    return f"{entry.place}: must be {rule}, not {kind}{printable(value)}"


def _bare(text: str) -> str:
    """Return a key or setting for a message, without quotes when nothing in it needs them."""
    shown = text if text.isprintable() else ascii(text)[1:-1]
    return shown if len(shown) <= 100 else shown[:99] + "…"
