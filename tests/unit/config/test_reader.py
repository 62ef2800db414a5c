"""The configuration's reader: what wins, and how problems are told."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.config import (
    Config,
    ModelConfig,
    SearchConfig,
    TrainConfig,
    choose_recipe,
    config_from_json,
    config_to_json,
    config_to_toml,
    read_config,
)
from dragoman.errors import ConfigError


def problems_of(*, recipe: str | None = None, file: Path | None = None, settings: Sequence[str] = ()) -> str:
    """Return the message of the error that these values must raise."""
    with pytest.raises(ConfigError) as caught:
        read_config(recipe=recipe, file=file, settings=settings)
    return caught.value.message


def write(folder: Path, text: str | bytes) -> Path:
    """Return a file named ``run.toml`` that holds the text."""
    file = folder / "run.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_nothing_given_is_the_base_model() -> None:
    """Without recipe, file and settings the configuration is the paper's base model."""
    assert read_config(recipe=None, file=None, settings=[]) == Config()


def test_settings_win_over_file_over_recipe(tmp_path: Path) -> None:
    """Each source of values wins over the ones before it, key by key."""
    file = write(tmp_path, "[model]\nd_ff = 300\nd_k = 40\n")
    model = read_config(recipe="tiny", file=file, settings=["model.d_k=48", "model.d_k=50"]).model

    assert (model.d_model, model.d_ff, model.d_k) == (128, 300, 50)


def test_file_wins_over_choice_of_recipe(tmp_path: Path) -> None:
    """What a file says is kept when the recipe is chosen by the size of the corpus."""
    file = write(tmp_path, "[train]\nmax_steps = 7\n")

    assert read_config(recipe=choose_recipe(1_000), file=file, settings=[]).train.max_steps == 7


@pytest.mark.parametrize(
    ("setting", "section", "expected"),
    [
        ("train.precision=bfloat16", "train", TrainConfig(precision="bfloat16")),
        ("train.precision = 'bfloat16' ", "train", TrainConfig(precision="bfloat16")),
        ("train.max_steps=1_000", "train", TrainConfig(max_steps=1_000)),
        ("train.fast=false", "train", TrainConfig(fast=False)),
        ("train.peak_rate=.5", "train", TrainConfig(peak_rate=0.5)),
        ("search.length_penalty=1", "search", SearchConfig(length_penalty=1.0)),
        ("model.norm=pre", "model", ModelConfig(norm="pre")),
    ],
)
def test_setting_is_toml_or_a_word(setting: str, section: str, expected: object) -> None:
    """The value of a setting is read as TOML, and a bare word as a string."""
    assert getattr(read_config(recipe=None, file=None, settings=[setting]), section) == expected


def test_none_leaves_a_key_out() -> None:
    """A key that a recipe sets can be left out again with the word none."""
    assert read_config(recipe="tiny", file=None, settings=["train.peak_rate=none"]).train.peak_rate is None


def test_all_problems_are_told_at_their_places(tmp_path: Path) -> None:
    """One error tells every problem, with the line of the file or the setting."""
    file = write(tmp_path, "[model]\n\nd_modle = 512\n[search]\nbeam_size = 0\n")
    message = problems_of(file=file, settings=["train.precision=fp16", "train.seed=1"])

    assert message == (
        "the configuration has 3 problems\n"
        f"  {file}:3  model.d_modle: no such key; did you mean d_model?\n"
        f"  {file}:5  search.beam_size: must be a whole number of at least 1 and at most 1000, not 0\n"
        "  --set train.precision=fp16: must be one of auto, float32, bfloat16"
    )


def test_hint_names_the_command_that_explains() -> None:
    """Every problem of the configuration points at the explanation of its keys."""
    with pytest.raises(ConfigError) as caught:
        read_config(recipe=None, file=None, settings=["model.x=1"])

    assert caught.value.hint == ("see every key, its meaning and its default with 'dragoman config explain'")


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("d_model=4", "must have the form section.key=value; did you mean model.d_model?"),
        ("train.max_steps", "must have the form section.key=value; did you mean train.max_steps?"),
        ("", "must have the form section.key=value"),
        ("tran.seed=4", "no such section; did you mean train.seed?"),
        ("wrong.wrong=4", "no such section; the sections are model, data, train, search"),
        ("model.max_steps=4", "no such key; did you mean train.max_steps?"),
        ("model.d_model=3", "must be a whole number that is a multiple of 2, at least 2"),
        ("model.d_k=64.0", "must be a whole number of at least 1"),
        ("model.d_k=true", "must be a whole number of at least 1"),
        ("model.d_k='64'", "must be a whole number of at least 1"),
        ("model.d_k=", "must be a whole number of at least 1"),
        ("model.d_k=1\nd_v=2", "must be a whole number of at least 1"),
        ("model.d_k=9999999999", "must be at most 2,147,483,647"),
        ("model.d_k=0x" + "f" * 40, "must be at most 2,147,483,647"),
        ("model.dropout=1", "must be a number of at least 0 and below 1"),
        ("model.dropout=nan", "must be a number of at least 0 and below 1"),
        ("train.peak_rate=inf", "must be a number above 0 and at most 100, or none"),
        ("train.fast=1", "must be true or false"),
        ("search.length_penalty=-11", "must be a number of at least -10 and at most 10"),
        ("search.n_best=9", "n_best (9) is greater than beam_size (4)"),
        (
            "model.source_vocabulary_size=99",
            'source_vocabulary_size needs embeddings = "target" or "separate"',
        ),
    ],
)
def test_broken_setting_is_told_in_plain_words(setting: str, problem: str) -> None:
    """A setting that breaks a rule is repeated with the rule."""
    shown = setting.replace("\n", "\\n")

    assert problems_of(settings=[setting]) == f"the configuration has 1 problem\n  --set {shown}: {problem}"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("[model]\nd_k = = 3", 2, "not TOML: invalid value"),
        ("[model]\nd_k = 3\nd_k = 4\n", 3, "d_k: given more than once"),
        ("[model]\n[train]\n[model]\n", 3, "model: given more than once"),
        ("d_k = 3", 1, "d_k: no such section; did you mean model.d_k?"),
        ("[[model]]\nd_k = 3", 1, "model: must be a table of keys, not a list"),
        ("model.d_k = 3\nmodel.num_head = 3", 2, "model.num_head: no such key; did you mean num_heads?"),
        ("model = {d_k = 3,\td_vv = 3}", 1, "model.d_vv: no such key; did you mean d_v?"),
        ('[model]\nnorm = """\nd_k = 3\n"""\nd_k = \'x\'', 2, "model.norm: must be one of post, pre"),
        (
            "[model]\r\n\r\nd_k = [\r\n1]\r\n",
            3,
            "model.d_k: must be a whole number of at least 1, not a list",
        ),
        ('[model]\n"d\\nk" = 3', 2, "model.d\\nk: no such key"),
        (b"[model]\nnorm = '\xff'", 2, "not UTF-8: byte 0xff"),
    ],
)
def test_broken_file_is_told_with_its_line(
    tmp_path: Path, text: str | bytes, line: int, problem: str
) -> None:
    """A file that breaks a rule is named with the line that breaks it."""
    file = write(tmp_path, text)

    assert f"\n  {file}:{line}  {problem}" in problems_of(file=file)


@pytest.mark.parametrize("text", ["a = " + "9" * 5_000, "a = " + "[" * 5_000 + "]" * 5_000])
def test_monstrous_values_are_told(tmp_path: Path, text: str) -> None:
    """Numbers and nestings beyond the parser's limits are a problem of the file."""
    file = write(tmp_path, text)

    assert f"{file}  not TOML: a number is too long or the nesting too deep" in problems_of(file=file)


def test_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    """A file that begins with a byte-order mark is read like one without."""
    file = write(tmp_path, b"\xef\xbb\xbf[model]\nd_k = 3")

    assert read_config(recipe=None, file=file, settings=[]).model.d_k == 3


def test_unreadable_files_are_told(tmp_path: Path) -> None:
    """A missing file, a folder and a file without end are each told in a sentence."""
    large = write(tmp_path, b"# \n" * 2**19)
    messages = [problems_of(file=file) for file in (tmp_path / "none.toml", tmp_path, large)]

    assert [message.split("  ")[-1] for message in messages] == [
        "no such file",
        "is a folder; a configuration is one TOML file",
        "is larger than 1 MiB; a configuration is a few lines of TOML",
    ]


@pytest.mark.parametrize(
    ("recipe", "end"),
    [
        ("tinny", "no such recipe; did you mean tiny?"),
        ("zzz", "no such recipe; the recipes are demo, tiny, small, base, big, parsing-small, parsing"),
        (
            "auto",
            "is chosen by the size of a corpus, and there is none here; "
            "name one of demo, tiny, small, base, big, parsing-small, parsing",
        ),
    ],
)
def test_unknown_recipe_is_told_with_the_others(recipe: str, end: str) -> None:
    """A recipe that does not exist is reported together with all other problems."""
    message = problems_of(recipe=recipe, settings=["model.x=1"])

    assert message.split("\n  ")[1:] == [f"--recipe {recipe}: {end}", "--set model.x=1: no such key"]


def odd_config() -> Config:
    """Return a configuration that leaves the defaults in values of every kind."""
    return replace(
        Config(),
        model=ModelConfig(embeddings="separate", source_vocabulary_size=99, attention_bias=True),
        train=TrainConfig(peak_rate=1 / 3, adam_epsilon=5e-324, max_grad_norm=1e300),
    )


def test_json_round_trip() -> None:
    """A configuration written as JSON is read back equal, to the last digit."""
    assert config_from_json(config_to_json(odd_config()), "config.json") == odd_config()


def test_toml_round_trip(tmp_path: Path) -> None:
    """A configuration shown as TOML is read back equal, to the last digit."""
    file = write(tmp_path, config_to_toml(odd_config()))

    assert read_config(recipe=None, file=file, settings=[]) == odd_config()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"model": {"d_k": 0}}', "config.json  model.d_k: must be a whole number of at least 1, not 0"),
        ('{"model": {"d_k": NaN}}', "config.json  model.d_k: must be a whole number of at least 1, not nan"),
        (
            '{"model": {"dropout": 1e999}}',
            "model.dropout: must be a number of at least 0 and below 1, not inf",
        ),
        ('{"model": {"d_k": 3, "d_k": 4}}', "config.json  d_k: given more than once"),
        ('{"modle": {}}', "config.json  modle: no such section; did you mean model?"),
        ('{"model": {"norm": "\\ud800"}}', "not '\\ud800'"),
        ("[]", "config.json  must hold one JSON object, not a list"),
        ('{\n"model": }', "config.json:2  not JSON: expecting value"),
        ('{"a":' * 100_000, "config.json  not JSON: a number is too long or the nesting too deep"),
    ],
)
def test_broken_json_is_told_with_file_and_key(text: str, problem: str) -> None:
    """A stored configuration that breaks a rule is told with its file and key, in printable words."""
    with pytest.raises(ConfigError, match=re.escape(problem)) as caught:
        config_from_json(text, "config.json")

    assert caught.value.message.replace("\n", "").isprintable()
