"""From a corpus, or a treebank, to a model folder.

config.json, tokenizer.model, model.safetensors, README.md    the model
metrics.jsonl        what each step and validation measured; the same for the same seed
report.html          curves, scores and samples, for a browser
reproducibility.json, config.toml    all that the model depends on, and what trains it once more
held-out/            development and test pairs that were split off, if none were named
training/            what a run needs to go on: configuration, checkpoints, encoded pairs
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from dragoman.config import (
    AUTO,
    Config,
    TrainConfig,
    choose_adaptation,
    choose_parsing_recipe,
    choose_recipe,
    read_config,
)
from dragoman.errors import ConfigError, UsageError
from dragoman.model import Transformer
from dragoman.model.arithmetic import count_parameters
from dragoman.run import folder as run_folder
from dragoman.run.allocator import keep_freed_memory
from dragoman.run.corpora import Sources, TrainingText, open_pairs, read_text
from dragoman.run.device import choose_precision, same_bits, total_memory
from dragoman.run.encoding import encode, tell_unseen_symbols
from dragoman.run.held_out import Languages
from dragoman.run.joining import joined
from dragoman.run.metrics import check_tensorboard, whole_records
from dragoman.run.place import Place
from dragoman.run.plan import make_plan
from dragoman.run.probe import probe
from dragoman.run.reporter import Reporter
from dragoman.run.session import Outcome, Session, follow
from dragoman.run.start import Start
from dragoman.run.vocabulary import learn_tokenizer
from dragoman.storage.progress import Progress
from dragoman.text import Corpus, PairSource, check_corpus, languages_of
from dragoman.text.training import SMALLEST_VOCABULARY

CorpusPaths = Sequence[Path | str]

_MOST_KEYS = 6
"""Changed keys that a notice names."""

_POSITIONS_ON_A_PROCESSOR = 4_096
"""Positions of a micro-batch where the configuration does not say it: more gain nothing, and take memory."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How to train; every default is chosen to give a good result."""

    source_language: str | None = None
    """Left out, it is the suffix of the source file."""
    target_language: str | None = None
    """Left out, it is the suffix of the target file."""
    dev: CorpusPaths = ()
    """Development pairs; left out, they are split off."""
    test: CorpusPaths = ()
    """Test pairs for the final scores; left out, they are split off."""
    silver: CorpusPaths = ()
    """Further training pairs or trees that a machine has made, mixed in with the weight
    ``data.silver_weight``: parses of plain text, or back-translations."""
    start: Path | str | None = None
    """A trained model to begin with: its weights, vocabulary and shape; left out, all of it is new."""
    recipe: str = AUTO
    """Settings to begin with; ``auto`` chooses by the task and the number of pairs."""
    config_file: Path | None = None
    """A TOML file with keys."""
    settings: Sequence[str] = ()
    """Single keys, as ``train.max_steps=500``."""
    resume: bool = False
    """Go on with the run that the folder holds, if it holds one."""
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""
    dry_run: bool = False
    """Check and plan everything, write nothing and train nothing."""


def train(
    corpus: CorpusPaths,
    out: Path | str,
    options: TrainOptions | None = None,
    *,
    reporter: Reporter | None = None,
    stop_requested: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Train a model that translates, or one that parses, and write its folder.

    Args:
        corpus: One file of pairs, or two line-aligned files; for ``data.task=parsing`` a file of trees.
        out: The model folder; must be new or empty unless the run is resumed.
        options: How to train.
        reporter: Hears what happens.
        stop_requested: Asked after each step and within long ones; True saves and ends the run, which can
            then be resumed.

    Raises:
        DragomanError: Anything a user can mend; see each kind.
    """
    options, reporter = options or TrainOptions(), reporter or Reporter()
    with joined(options.device) as (ranks, device):
        place = Place(ranks, device, Path(out), stop_requested)
        if ranks.is_first:
            return _lead(corpus, place, options, reporter)
        if options.dry_run:
            return Outcome("dry_run", Progress(), place.out, {}, None, "")
        return follow(place, reporter)


def _lead(corpus: CorpusPaths, place: Place, options: TrainOptions, reporter: Reporter) -> Outcome:
    """Check everything, prepare and train."""
    with run_folder.claimed(
        place.out, resume=options.resume, writes=not options.dry_run, notice=reporter.notice
    ) as stored:
        if stored is not None and (options.start or options.config_file or options.recipe != AUTO):
            reporter.notice(
                "a resumed run keeps what it began with; recipe, configuration file and --from play no part"
            )
        start = None if stored or options.start is None else Start.read(Path(options.start))
        config, lines, opened = _configure(corpus, options, stored, start)
        for line in (*lines, *_rate_notice(config.train)):
            reporter.notice(line)
        precision, why = choose_precision(config.train.precision, place.device)
        if config.train.precision != precision:
            reporter.notice(f"matrix products in {precision}: {why}")
        config = replace(config, train=replace(config.train, precision=precision))
        if stored is None and place.device.type == "cpu" and config.train.micro_batch_tokens is None:
            at_once = min(config.train.batch_tokens, _POSITIONS_ON_A_PROCESSOR)
            config = replace(config, train=replace(config.train, micro_batch_tokens=at_once))
        if stored is not None:
            run_folder.check_same_keys(config, stored)
        config = _with_score(config)
        if stored is not None:
            for line in _changes(
                "keys that change from here on", run_folder.resumed_config(stored, ()), config
            ):
                reporter.notice(line)
        _check_can_train(config, place)
        reporter.stage("reading the corpus")
        pairs = opened or open_pairs(corpus, config.data)
        others = (
            open_pairs(paths, config.data) if paths else None
            for paths in (options.dev, options.test, options.silver)
        )
        text = read_text(Sources(pairs, *others), config.data, config.train.seed, reporter)
        if stored is not None:
            run_folder.check_same_corpus(place.out, text)
        if options.dry_run:
            return _dry_run(text, config, place, reporter, start)
        languages = run_folder.stored_languages(place.out) if stored else None
        languages = languages or _languages(pairs, options, start)
        with same_bits(place.device, wanted=config.train.deterministic):
            session = Session(text, config, place, languages, reporter, start)
            if start is not None:
                session.tell_scores()
            del start  # its weights are those of the session now
            return session.go()


def _check_can_train(config: Config, place: Place) -> None:
    """Refuse, before any work, what only imported models have, what has no room, what is not installed."""
    if config.model.source_vocabulary_size is not None or config.model.positions == "table":
        raise ConfigError(
            "model.source_vocabulary_size and model.positions = table are for models of other programs; "
            "a model that is trained here has one vocabulary and no stored table",
            hint="leave these keys out",
        )
    if config.data.task == "translation" and config.model.vocabulary_size < SMALLEST_VOCABULARY:
        raise ConfigError(
            f"model.vocabulary_size={config.model.vocabulary_size}: must be at least {SMALLEST_VOCABULARY}, "
            "for the 256 bytes, end, unknown, padding and a few characters",
            hint=f"set model.vocabulary_size={SMALLEST_VOCABULARY} or more",
        )
    if config.model.positions == "learned" and config.model.max_positions < config.data.max_length:
        raise ConfigError(
            f"model.max_positions={config.model.max_positions} is below data.max_length="
            f"{config.data.max_length}: the longest pairs would have positions that are not learned",
            hint=f"set model.max_positions={config.data.max_length}, or a lower data.max_length",
        )
    needed = config.train.bytes_on_a_rank(place.ranks.size) * count_parameters(config.model)
    if place.device.type == "cpu" and place.ranks.size > 1:  # the ranks of a machine share its memory
        needed *= max(1, int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    there = total_memory(place.device)
    if there is not None and needed > there:
        raise ConfigError(
            f"the model needs {needed / 2**30:,.0f} GiB for parameters, gradients and Adam's moments; "
            f"{place.device} has {there / 2**30:,.0f} GiB",
            hint="set a smaller model.d_model, model.d_ff, model.vocabulary_size or fewer layers"
            + ("" if config.train.sharded else ", or on several GPUs train.sharded=true"),
        )
    if config.train.tensorboard:
        check_tensorboard()


def _configure(
    corpus: CorpusPaths, options: TrainOptions, stored: Path | None, start: Start | None
) -> tuple[Config, Sequence[str], PairSource | None]:
    """Return the configuration, lines that explain how it was chosen, and the corpus if it was looked at."""
    if stored is not None:
        return run_folder.resumed_config(stored, options.settings), (), None
    file, settings = options.config_file, options.settings
    if start is not None:
        return _configure_adapting(corpus, options, start)
    if options.recipe != AUTO:
        return read_config(recipe=options.recipe, file=file, settings=settings), (), None
    given = read_config(recipe=None, file=file, settings=settings)
    pairs = open_pairs(corpus, given.data)
    num_pairs = _num_usable(pairs, options, given)
    choose = choose_recipe if given.data.task == "translation" else choose_parsing_recipe
    choice = choose(num_pairs, _steps_given(given, options))
    config = read_config(recipe=choice, file=file, settings=settings)
    recipe_alone = read_config(recipe=choice, file=None, settings=())
    return config, [*choice.reasons, *_changes("keys that win over the recipe", recipe_alone, config)], pairs


def _configure_adapting(
    corpus: CorpusPaths, options: TrainOptions, start: Start
) -> tuple[Config, Sequence[str], PairSource | None]:
    """Return the same for a training that begins with a trained model."""
    file, settings, brought = options.config_file, options.settings, start.settings()
    if options.recipe != AUTO:
        start.check_task(read_config(recipe=options.recipe, file=file, settings=settings))
        config = read_config(recipe=options.recipe, file=file, settings=settings, begun_with=brought)
        start.check_keys(config)
        return config, (), None
    given = read_config(recipe=None, file=file, settings=settings, begun_with=brought)
    start.check_keys(given)
    pairs = open_pairs(corpus, given.data)
    num_pairs = _num_usable(pairs, options, given)
    plan, reason = choose_adaptation(num_pairs, start.config, _steps_given(given, options))
    config = read_config(recipe=None, file=file, settings=settings, begun_with=(*brought, *plan))
    alone = read_config(recipe=None, file=None, settings=(), begun_with=(*brought, *plan))
    return config, [reason, *_changes("keys that win over it", alone, config)], pairs


def _steps_given(given: Config, options: TrainOptions) -> int | None:
    """Return the number of steps that a file or a single key asks for, or None where it is left open."""
    steps = given.train.max_steps
    other = f"train.max_steps={1 if steps > 1 else 2}"
    otherwise = read_config(
        recipe=None, file=options.config_file, settings=options.settings, begun_with=(other,)
    )
    return steps if otherwise.train.max_steps == steps else None


def _rate_notice(config: TrainConfig) -> list[str]:
    """Return in a line that the rate falls before it has risen, where it does."""
    num_falling = round(config.cooldown_share * config.max_steps)
    first_falling = config.max_steps - num_falling + 1
    if not num_falling or config.warmup_steps <= first_falling:
        return []
    return [
        f"the rate never comes to its peak: it rises for {config.warmup_steps:,} steps (train.warmup_steps) "
        f"and falls from step {first_falling:,} on (train.cooldown_share); make one of them smaller"
    ]


def _num_usable(pairs: PairSource, options: TrainOptions, config: Config) -> int:
    """Return how many pairs or trees there are to learn from, silver ones by their weight."""
    found = check_corpus(pairs).num_usable
    if options.silver:
        silver = check_corpus(open_pairs(options.silver, config.data)).num_usable
        found += round(config.data.silver_weight * silver)
    return found


def _changes(what: str, chosen: Config, config: Config) -> list[str]:
    """Return in a line which keys a file or single settings have changed."""
    before, after = asdict(chosen), asdict(config)
    changed = [
        f"{section}.{key}={value}"
        for section, keys in after.items()
        for key, value in keys.items()
        if before[section][key] != value
    ]
    if not changed:
        return []
    more = f" and {len(changed) - _MOST_KEYS} more" if len(changed) > _MOST_KEYS else ""
    return [f"{what}: {', '.join(changed[:_MOST_KEYS])}{more}"]


def _with_score(config: Config) -> Config:
    """Return a configuration that names the score by which checkpoints are judged.

    Raises:
        ConfigError: The task has no such score.
    """
    task, select_by = config.data.task, config.train.select_by
    if select_by == "auto":
        auto: Literal["bleu", "f1"] = "bleu" if task == "translation" else "f1"
        return replace(config, train=replace(config.train, select_by=auto))
    scores = {"translation": ("bleu", "chrf", "loss"), "parsing": ("f1", "loss")}[task]
    if select_by not in scores:
        raise ConfigError(
            f"train.select_by={select_by}: the scores of {task} are {', '.join(scores)}",
            hint=f"leave the key out, or set train.select_by={scores[0]}",
        )
    return config


def _languages(pairs: PairSource, options: TrainOptions, start: Start | None) -> Languages:
    """Return the languages that are named, else the suffixes of the files, else those of the first model."""
    source, target = languages_of(pairs) if isinstance(pairs, Corpus) else (None, None)
    if start is not None:
        source, target = source or start.brought.languages[0], target or start.brought.languages[1]
    for option, name in (("--source", options.source_language), ("--target", options.target_language)):
        if name is not None and (not name.strip() or set(name) & set("/\\\0")):
            raise UsageError(
                f"{option} {name!r}: a language ends names of files; it cannot be blank or hold a slash",
                hint="name a language such as en, en-US or deu_Latn",
            )
    return options.source_language or source, options.target_language or target


def _dry_run(
    text: TrainingText, config: Config, place: Place, reporter: Reporter, start: Start | None
) -> Outcome:
    """Measure some steps of a model that is thrown away, and write nothing."""
    num_steps_done = min(run_folder.last_step(place.out), config.train.max_steps)
    if num_steps_done:
        reporter.notice(f"the run stands at step {num_steps_done:,} of {config.train.max_steps:,}")
    if config.train.fast and place.device.type == "cpu":
        keep_freed_memory()
    tokenizer = start.brought.tokenizer if start else run_folder.stored_tokenizer(place.out)
    if start is not None:
        config = start.fitted(config, text)
    if tokenizer is None:
        tokenizer, config = learn_tokenizer(text, config, reporter)
    tell_unseen_symbols(text, tokenizer, config.data, reporter)
    with tempfile.TemporaryDirectory() as scratch:
        corpus = encode(text, tokenizer, config.data, Path(scratch), reporter).of_epoch(0, config)
        with torch.device("meta"):
            model = Transformer(config.model)
        plan = make_plan(model, corpus, config, place.device, num_steps_done)
        reporter.planned(plan)
        reporter.stage("measuring some steps")
        reporter.probed(plan, probe(config, corpus, place.device, num_dev_pairs=len(text.dev)))
    return Outcome("dry_run", Progress(), place.out, {}, None, "", task=config.data.task)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the records of ``metrics.jsonl``, steps and validations in order."""
    return list(whole_records(folder / "metrics.jsonl"))
