"""Help for keys, and the schema."""

from dataclasses import asdict

import pytest

from dragoman.config import Config, explain, json_schema
from dragoman.errors import ConfigError


def test_every_key_is_explained() -> None:
    """Every key of every section has a default, a rule and a help text."""
    names = [f"{section}.{key}" for section, values in asdict(Config()).items() for key in values]
    helps = explain()

    assert [help_.name for help_ in helps] == names
    assert all(help_.type and help_.default and help_.help.endswith(".") for help_ in helps)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("train.max_steps", ["train.max_steps"]),
        ("max_steps", ["train.max_steps"]),
        ("batch_tokens", ["train.batch_tokens", "search.batch_tokens"]),
    ],
)
def test_key_is_found_with_and_without_section(name: str, found: list[str]) -> None:
    """A key is found by its full name, and by its own name in every section that has it."""
    assert [help_.name for help_ in explain(name)] == found


@pytest.mark.parametrize("name", ["max_stepz", "train.max_stepz", "model.max_steps"])
def test_unknown_key_gets_a_suggestion(name: str) -> None:
    """A key that does not exist is answered with the one that was probably meant."""
    with pytest.raises(ConfigError, match=r"did you mean (train\.)?max_steps\?"):
        explain(name)


def test_schema_has_every_key_and_its_help() -> None:
    """The JSON Schema describes every key and forbids all others."""
    schema = json_schema()
    sections = {name: schema["$defs"][f"{name.title()}Config"] for name in asdict(Config())}

    assert {name: list(section["properties"]) for name, section in sections.items()} == {
        name: list(values) for name, values in asdict(Config()).items()
    }
    assert all(
        rule["description"] for section in sections.values() for rule in section["properties"].values()
    )
    assert not any(section["additionalProperties"] for section in sections.values())
