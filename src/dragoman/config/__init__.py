"""Configuration: sections, their reader, the recipes."""

from dragoman.config.sections import Config, DataConfig, ModelConfig, SearchConfig, TrainConfig

__all__ = ["Config", "DataConfig", "ModelConfig", "SearchConfig", "TrainConfig"]
