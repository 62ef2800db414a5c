"""No value outside a key's range is taken, and each is told with the key and its range."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from dragoman.config import KeyHelp, explain, json_schema, read_config
from dragoman.errors import ConfigError

KEYS = {help_.name: help_ for help_ in explain()}
RULES = json_schema()["$defs"]
LARGEST = "must be at most 2,147,483,647"
FEW = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def rule_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a key's values, without the word none."""
    section, _, key = name.partition(".")
    rule: dict[str, Any] = RULES[f"{section.title()}Config"]["properties"][key]
    return dict(rule["anyOf"][0]) if "anyOf" in rule else rule


def below(rule: dict[str, Any]) -> some.SearchStrategy[float]:
    """Return numbers under the least that is allowed."""
    if rule["type"] == "integer":
        return some.integers(-(2**63), rule["minimum"] - 1)
    least, excluded = rule.get("minimum", rule.get("exclusiveMinimum")), "exclusiveMinimum" in rule
    return some.floats(max_value=least, exclude_max=not excluded, allow_nan=False)


def above(rule: dict[str, Any]) -> some.SearchStrategy[float]:
    """Return numbers over the greatest that is allowed; infinity where nothing finite is."""
    if rule["type"] == "integer":
        return some.integers(rule["maximum"] + 1, 2**63)
    most = rule.get("maximum", rule.get("exclusiveMaximum"))
    if most is None:
        return some.just(math.inf)
    return some.floats(min_value=most, exclude_min="maximum" in rule, allow_nan=False)


def outside(name: str) -> some.SearchStrategy[object]:
    """Return values that a key must not take."""
    rule = rule_of(name)
    words = some.text("abcdefgh", min_size=1, max_size=8).filter(
        lambda word: word not in rule.get("enum", [])
    )
    if "enum" in rule:
        return words | some.integers() | some.booleans()
    if rule["type"] == "boolean":
        return some.integers() | words.filter(lambda word: word not in ("true", "false"))
    if rule["type"] == "number":
        return below(rule) | above(rule) | some.just(math.nan) | some.booleans() | words
    unfit = (
        some.integers(0, 10**6).map(lambda number: number * rule["multipleOf"] + 1)
        if "multipleOf" in rule
        else None
    )
    wrong = below(rule) | above(rule) | some.floats(allow_nan=False).map(float) | some.booleans() | words
    return wrong if unfit is None else wrong | unfit


def toml(value: object) -> str:
    """Return a value as a file has it."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


def problem_of(error: ConfigError, help_: KeyHelp) -> str:
    """Return what is said of the key, which must be the only problem."""
    first, problem, *others = error.message.split("\n")

    assert (first, others) == ("the configuration has 1 problem", [])
    assert help_.name in problem
    return problem


@pytest.mark.parametrize("name", KEYS)
@given(data=some.data())
@FEW
def test_a_setting_out_of_range_is_one_message(name: str, data: some.DataObject) -> None:
    """Whatever a setting may not be is refused with exit code 2, its key and what it must be."""
    value = data.draw(outside(name))
    with pytest.raises(ConfigError) as caught:
        read_config(recipe=None, file=None, settings=[f"{name}={toml(value)}"])
    problem = problem_of(caught.value, KEYS[name])

    assert f"must be {KEYS[name].type}" in problem or LARGEST in problem
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", KEYS)
@given(data=some.data())
@FEW
def test_a_key_out_of_range_is_told_at_its_line(name: str, data: some.DataObject, tmp_path: Path) -> None:
    """In a file as well, with the number of the line."""
    section, _, key = name.partition(".")
    file = tmp_path / "run.toml"
    file.write_text(f"# a run\n[{section}]\n{key} = {toml(data.draw(outside(name)))}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(recipe=None, file=file, settings=[])
    problem = problem_of(caught.value, KEYS[name])

    assert f"{file}:3" in problem
    assert f"must be {KEYS[name].type}" in problem or LARGEST in problem


@pytest.mark.parametrize("name", KEYS)
def test_no_number_is_without_a_range(name: str) -> None:
    """Every number has a least value, and every whole number a greatest."""
    rule = rule_of(name)

    if rule.get("type") in ("integer", "number"):
        assert "minimum" in rule or "exclusiveMinimum" in rule
    if rule.get("type") == "integer":
        assert "maximum" in rule


def test_all_keys_out_of_range_are_told_at_once() -> None:
    """A value that is wrong for every key gives one message with as many problems as there are keys."""
    with pytest.raises(ConfigError) as caught:
        read_config(recipe=None, file=None, settings=[f"{name}=[]" for name in KEYS])
    lines = caught.value.message.split("\n")

    assert lines[0] == f"the configuration has {len(KEYS)} problems"
    assert [f"  --set {name}=[]: must be {help_.type}" for name, help_ in KEYS.items()] == lines[1:]
