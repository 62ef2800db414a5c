"""Configuration: sections, their reader, the recipes."""

from dragoman.config.explain import configuration_page, explain
from dragoman.config.keys import KeyHelp, json_schema
from dragoman.config.reader import config_from_json, config_to_json, config_to_toml, read_config
from dragoman.config.recipes import (
    AUTO,
    RECIPE_NAMES,
    RecipeChoice,
    choose_adaptation,
    choose_parsing_recipe,
    choose_recipe,
)
from dragoman.config.sections import Config, DataConfig, ModelConfig, SearchConfig, TrainConfig

__all__ = [
    "AUTO",
    "RECIPE_NAMES",
    "Config",
    "DataConfig",
    "KeyHelp",
    "ModelConfig",
    "RecipeChoice",
    "SearchConfig",
    "TrainConfig",
    "choose_adaptation",
    "choose_parsing_recipe",
    "choose_recipe",
    "config_from_json",
    "config_to_json",
    "config_to_toml",
    "configuration_page",
    "explain",
    "json_schema",
    "read_config",
]
