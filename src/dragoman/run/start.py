"""A model that a training begins with: what it brings, and what must stay as it is."""

from dataclasses import asdict

from dragoman.bundle import Bundle
from dragoman.config import Config
from dragoman.config.keys import toml_value
from dragoman.errors import ConfigError

_FREE = ("dropout",)
"""Keys of the section model that change neither weights nor what they compute."""

_DATA_KEYS = ("task", "keep_tags", "reads_words")
"""Keys of the section data on which the meaning of the weights depends."""

_DATA_HABITS = ("tokenized", "longest_run")
"""Keys of the section data that a model brings, but that may change."""


def settings_brought(config: Config) -> tuple[str, ...]:
    """Return as ``--set`` would have it what a model brings along: its shape, its task, its search."""
    sections = asdict(config)
    keys = {
        "model": sections["model"].keys(),
        "data": (*_DATA_KEYS, *_DATA_HABITS),
        "train": ("label_smoothing",),
        "search": sections["search"].keys(),
    }
    return tuple(
        f"{section}.{key}={toml_value(sections[section][key])}" for section in keys for key in keys[section]
    )


def check_same_model(config: Config, start: Bundle | None) -> None:
    """Refuse keys by which the weights of a model to begin with would not fit, or mean something else.

    Raises:
        ConfigError: With every such key, its value and that of the model.
    """
    if start is None:
        return
    wanted, there = asdict(config), asdict(start.config)
    differing = [
        f"{section}.{key}={value} (the model has {there[section][key]})"
        for section in ("model", "data")
        for key, value in wanted[section].items()
        if value != there[section][key] and (key not in _FREE if section == "model" else key in _DATA_KEYS)
    ]
    if differing:
        raise ConfigError(
            f"the weights of --from do not fit {', '.join(differing)}",
            hint="leave these keys out, or train a new model without --from",
        )
