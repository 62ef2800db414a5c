"""``dragoman config``."""

import json
from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.config import config_from_json, explain, json_schema, read_config


def test_show_prints_a_file_that_reads_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What ``config show`` prints, given to ``--config``, is the same configuration."""
    main(["config", "show", "--recipe", "tiny", "--set", "train.patience=3"])
    file = tmp_path / "kept.toml"
    file.write_text(capsys.readouterr().out, encoding="utf-8")

    assert read_config(recipe=None, file=file, settings=[]) == read_config(
        recipe="tiny", file=None, settings=["train.patience=3"]
    )


def test_show_json_is_the_stored_form(capsys: pytest.CaptureFixture[str]) -> None:
    """``config show --json`` is the form in which a configuration is stored with a model."""
    main(["config", "show", "--recipe", "big", "--json"])
    config = config_from_json(capsys.readouterr().out, "standard output")

    assert config == read_config(recipe="big", file=None, settings=[])


@pytest.mark.parametrize("name", [None, "search", "train.max_steps", "batch_tokens"])
def test_explain_prints_name_default_and_rule(name: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    """``config explain`` prints each key with its default, its meaning and its rule."""
    code = main(["config", "explain", *([name] if name else [])])
    entries = capsys.readouterr().out.split("\n\n")[:-1]

    assert code == 0
    for entry, help_ in zip(entries, explain(name), strict=True):
        first, *meaning, rule = entry.split("\n")

        assert first == f"{help_.name} = {help_.default}"
        assert " ".join(line.strip() for line in meaning) == help_.help
        assert rule.strip() == f"Must be {help_.type}."


def test_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    """``config schema`` prints the JSON Schema and nothing else."""
    main(["config", "schema"])

    assert json.loads(capsys.readouterr().out) == json_schema()
