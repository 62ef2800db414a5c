"""What is known of every key: its rule in words, its default, its help."""

import difflib
import functools
import json
from dataclasses import MISSING, dataclass, fields
from typing import Any

from pydantic import TypeAdapter

from dragoman.config.sections import LARGEST, Config, DataConfig, ModelConfig, SearchConfig, TrainConfig

SECTION_TYPES: dict[str, type[ModelConfig | DataConfig | TrainConfig | SearchConfig]] = {
    "model": ModelConfig,
    "data": DataConfig,
    "train": TrainConfig,
    "search": SearchConfig,
}
"""The class of each section, in the order in which they are shown."""

NONE_WORD = "none"
"""How a key is left out in TOML, which has no null."""


@dataclass(frozen=True, kw_only=True)
class KeyHelp:
    """One key, as ``dragoman config explain`` shows it."""

    section: str
    """Table of the key: model, data, train or search."""

    key: str
    """Its name within the section."""

    type: str
    """The values it takes, in words that follow "must be"."""

    default: str
    """Its default as TOML writes it; ``"none"`` where it is left out."""

    help: str
    """What it means, in one line."""

    optional: bool
    """Whether it may be left out with ``"none"``."""

    @property
    def name(self) -> str:
        """The name that ``--set`` takes, as in ``train.max_steps``."""
        return f"{self.section}.{self.key}"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the whole configuration, for editors and other programs."""
    schema = TypeAdapter(Config).json_schema()
    for section in schema["$defs"].values():
        for rule in section["properties"].values():
            if "anyOf" in rule:
                rule["anyOf"].insert(-1, {"const": NONE_WORD})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "dragoman"}


@functools.cache
def all_keys() -> dict[str, KeyHelp]:
    """Return every key by its full name, in the order of the sections."""
    definitions = json_schema()["$defs"]
    return {
        help_.name: help_
        for section, section_type in SECTION_TYPES.items()
        for help_ in _section_keys(section, section_type, definitions[section_type.__name__]["properties"])
    }


def _section_keys(section: str, section_type: type[Any], rules: dict[str, Any]) -> list[KeyHelp]:
    keys = []
    for field in fields(section_type):
        rule = rules[field.name]
        if field.default is MISSING:
            raise AssertionError(f"{section}.{field.name} has no default")
        keys.append(
            KeyHelp(
                section=section,
                key=field.name,
                type=_rule_in_words(rule),
                default=toml_value(field.default),
                help=" ".join(rule.get("description", "").split()),
                optional="anyOf" in rule,
            )
        )
    return keys


def _rule_in_words(rule: dict[str, Any]) -> str:
    if "anyOf" in rule:
        return f"{_rule_in_words(rule['anyOf'][0])}, or {NONE_WORD}"
    if "enum" in rule:
        return "one of " + ", ".join(rule["enum"])
    if rule["type"] == "boolean":
        return "true or false"
    words = "a whole number" if rule["type"] == "integer" else "a number"
    if "multipleOf" in rule:
        words += f" that is a multiple of {rule['multipleOf']}"
    return words + _range_in_words(rule)


def _range_in_words(rule: dict[str, Any]) -> str:
    parts = []
    if "minimum" in rule:
        parts.append(f"at least {rule['minimum']:g}")
    if "exclusiveMinimum" in rule:
        parts.append(f"above {rule['exclusiveMinimum']:g}")
    if rule.get("maximum", LARGEST) != LARGEST:
        parts.append(f"at most {rule['maximum']:g}")
    if "exclusiveMaximum" in rule:
        parts.append(f"below {rule['exclusiveMaximum']:g}")
    return (", " if "multipleOf" in rule else " of " if "minimum" in rule else " ") + " and ".join(parts)


def toml_value(value: object) -> str:
    """Return a key's value as TOML writes it, ``None`` as ``"none"``."""
    if value is None:
        return json.dumps(NONE_WORD)
    if isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def suggest(section: str | None, key: str) -> str:
    """Return "; did you mean ...?" for a key that does not exist, or "" when none is like it.

    A key of the same section is named alone, one of another section with its section.
    """
    close = difflib.get_close_matches
    if section in SECTION_TYPES and (same := close(key, _keys_of(section), n=1)):
        return f"; did you mean {same[0]}?"
    by_key = {help_.key: help_.name for help_ in all_keys().values()}
    if elsewhere := close(key, by_key, n=1, cutoff=0.75):
        return f"; did you mean {by_key[elsewhere[0]]}?"
    return ""


def suggest_section(section: str) -> str:
    """Return "; did you mean ...?" for a section that does not exist, or the list of those that do."""
    if like := difflib.get_close_matches(section, SECTION_TYPES, n=1):
        return f"; did you mean {like[0]}?"
    return f"; the sections are {', '.join(SECTION_TYPES)}"


def _keys_of(section: str | None) -> list[str]:
    return [help_.key for help_ in all_keys().values() if help_.section == section]


def printable(value: object, *, longest: int = 60) -> str:
    """Return a value for a message: on one line, without control characters, and not long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    if isinstance(value, str):
        value = repr(value) if value.isprintable() else ascii(value)
    text = str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"
