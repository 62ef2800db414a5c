"""A model that a training begins with: what it brings, and what must stay as it is."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dragoman.bundle import Bundle
from dragoman.config import Config
from dragoman.config.keys import toml_value
from dragoman.errors import ConfigError, CorpusError
from dragoman.run.corpora import TrainingText
from dragoman.run.folder import Brought

_FREE = ("dropout",)
"""Keys of the section model that change neither weights nor what they compute."""

_DATA_KEYS = ("task", "keep_tags", "reads_words")
"""Keys of the section data on which the meaning of the weights depends."""

_DATA_HABITS = ("tokenized", "max_length", "longest_run")
"""Keys of the section data that a model brings, but that may change."""


@dataclass(frozen=True)
class Start:
    """A trained model, read to be trained further."""

    folder: Path
    config: Config
    brought: Brought

    @classmethod
    def read(cls, folder: Path) -> "Start":
        """Read a model folder.

        Raises:
            ConfigError: The model is of another program, with parts that are not trained here.
            BundleError: It is missing, damaged, or its parts do not fit each other.
        """
        bundle = Bundle.load(folder)
        model = bundle.config.model
        if model.source_vocabulary_size is not None or model.positions == "table":
            raise ConfigError(
                f"--from {folder}: the model is of another program and has a vocabulary for its sources or a "
                "stored table of positions, which are not trained here",
                hint="begin with a model that dragoman has trained",
            )
        languages = (bundle.source_language, bundle.target_language)
        return cls(
            folder,
            bundle.config,
            Brought(tokenizer=bundle.tokenizer, languages=languages, weights=bundle.weights()),
        )

    def settings(self) -> tuple[str, ...]:
        """Return as ``--set`` would have it what the model brings along: its shape, its task, its search."""
        sections = asdict(self.config)
        keys = {
            "model": sections["model"].keys(),
            "data": (*_DATA_KEYS, *_DATA_HABITS),
            "train": ("label_smoothing",),
            "search": sections["search"].keys(),
        }
        return tuple(
            f"{section}.{key}={toml_value(sections[section][key])}"
            for section in keys
            for key in keys[section]
        )

    def check_keys(self, config: Config) -> None:
        """Refuse keys with which the weights would not fit, or would mean something else.

        Raises:
            ConfigError: With every such key, its value and that of the model.
        """
        wanted, there = asdict(config), asdict(self.config)
        differing = [
            f"{section}.{key}={value} (the model has {there[section][key]})"
            for section in ("model", "data")
            for key, value in wanted[section].items()
            if value != there[section][key]
            and (key not in _FREE if section == "model" else key in _DATA_KEYS)
        ]
        if differing:
            raise ConfigError(
                f"the weights of --from {self.folder} do not fit {', '.join(differing)}",
                hint="leave these keys out, or train a new model without --from",
            )

    def check_task(self, config: Config) -> None:
        """Refuse a recipe for another task.

        Raises:
            ConfigError: With both tasks.
        """
        if config.data.task != self.config.data.task:
            raise ConfigError(
                f"the model of --from {self.folder} does {self.config.data.task}, and the recipe is for "
                f"{config.data.task}",
                hint="leave --recipe out, or name one that fits",
            )

    def fitted(self, config: Config, text: TrainingText) -> Config:
        """Return the configuration with room for the chains of new trees, whose labels the parser must know.

        Raises:
            CorpusError: Trees hold labels or tags for which it has no symbol.
        """
        if config.data.task != "parsing":
            return config
        inventory = text.inventory()
        symbols = inventory.symbols(keep_tags=config.data.keep_tags)
        strange = sorted({one.strip("()") for one in symbols if one not in self.brought.tokenizer.symbols})
        if strange:
            raise CorpusError(
                f"{text.corpus.names}: trees hold labels or tags that the parser of --from {self.folder} "
                f"cannot write: {', '.join(strange)}",
                hint="rename them or take these trees out, or train a new parser without --from",
            )
        longest = config.data.longest_run
        if longest is None or (longest == self.config.data.longest_run and longest < inventory.longest_run):
            return replace(config, data=replace(config.data, longest_run=inventory.longest_run))
        return config
