"""What ``dragoman evaluate`` is asked for: told from its files, and compared with its options."""

from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import click
from click.core import ParameterSource

from dragoman.cli.choice_options import ChoiceOptions

_USAGE = (
    "evaluate takes MODEL SOURCE REFERENCE..., MODEL TREES, --hypothesis FILE REFERENCE..., "
    "or --gold TREES --predicted TREES"
)


class Kind(Enum):
    """What is scored, and in words what becomes of it."""

    TRANSLATOR = "the model translates"
    TRANSLATIONS = "--hypothesis scores texts that are there already"
    PARSER = "the model parses"
    TREES = "--gold and --predicted score trees that are there already"


class Job(NamedTuple):
    """What is scored, by which files."""

    kind: Kind

    model: Path | None
    """The folder of the model, where there is one."""

    first: Path
    """The file that is translated, parsed, or compared with the others."""

    others: tuple[Path, ...]
    """References, or the gold trees with which ``first`` is compared."""


_ABOUT_TEXTS = {Kind.TRANSLATOR, Kind.TRANSLATIONS}
_ABOUT_TREES = {Kind.PARSER, Kind.TREES}
_OF_MODELS = {Kind.TRANSLATOR, Kind.PARSER}
_OPTIONS = {
    "baseline": ("compares translations", _ABOUT_TEXTS),
    "tokenized": ("is about texts", _ABOUT_TEXTS),
    "no_ter": ("is about texts", _ABOUT_TEXTS),
    "paper_bleu": ("is about texts", _ABOUT_TEXTS),
    "params": ("says how brackets of trees are counted", _ABOUT_TREES),
    "per_sentence": ("is about trees", _ABOUT_TREES),
    "unconstrained": ("is about a search for trees", {Kind.PARSER}),
    "output": ("keeps what a model writes", _OF_MODELS),
    "beam_size": ("is about a model's search", _OF_MODELS),
    "length_penalty": ("is about a model's search", _OF_MODELS),
    "batch_tokens": ("is about a model's search", _OF_MODELS),
    "device": ("says where a model computes", _OF_MODELS),
    "threads": ("says how a model computes", _OF_MODELS),
    "precision": ("says how a model translates", {Kind.TRANSLATOR}),
    **dict.fromkeys(
        (field.name for field in fields(ChoiceOptions)),
        ("says which translations are chosen", {Kind.TRANSLATOR}),
    ),
}
"""Options that make no sense everywhere: what they do, and where they do it."""


def choose_job(
    files: tuple[Path, ...], hypothesis: Path | None, gold: Path | None, predicted: Path | None
) -> Job:
    """Return what is asked for.

    Raises:
        click.UsageError: The files or the options do not make sense together.
        BundleError: The first file is no folder of a model where one is needed.
    """
    if gold is not None or predicted is not None:
        job = _trees(files, hypothesis, gold, predicted)
    elif hypothesis is not None:
        job = _translations(files, hypothesis)
    else:
        job = _model(files)
    _refuse_options(job.kind)
    return job


def _trees(
    files: tuple[Path, ...], hypothesis: Path | None, gold: Path | None, predicted: Path | None
) -> Job:
    if gold is None or predicted is None:
        lacking = "--gold" if gold is None else "--predicted"
        raise click.UsageError(f"{lacking} is missing; --predicted TREES are scored against --gold TREES")
    if files or hypothesis is not None:
        other = "--hypothesis" if hypothesis is not None else str(files[0])
        raise click.UsageError(f"{other}: {Kind.TREES.value}, and need no other file")
    return Job(Kind.TREES, None, predicted, (gold,))


def _translations(files: tuple[Path, ...], hypothesis: Path) -> Job:
    if not files:
        raise click.UsageError(f"{_USAGE}; a REFERENCE is missing")
    if files[0].is_dir():
        raise click.UsageError(f"{files[0]} is a folder; with --hypothesis only references are named")
    return Job(Kind.TRANSLATIONS, None, hypothesis, files)


def _model(files: tuple[Path, ...]) -> Job:
    if len(files) < 2:
        what = "one file alone cannot be scored" if files else "no file was named"
        raise click.UsageError(f"{_USAGE}; {what}")
    from dragoman.model_files import load_config

    model, first, *others = files
    if load_config(model).data.task == "translation":
        return Job(Kind.TRANSLATOR, model, first, tuple(others))
    if others:
        raise click.UsageError(
            f"{model} parses, and is scored on one file of gold trees, not on {len(files) - 1} files"
        )
    return Job(Kind.PARSER, model, first, ())


def _refuse_options(kind: Kind) -> None:
    """Refuse what was asked for in vain.

    Raises:
        click.UsageError: An option was given that does nothing here.
    """
    context = click.get_current_context()
    for name, (purpose, kinds) in _OPTIONS.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and kind not in kinds:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} {purpose}, and {kind.value}")
    if context.params["per_sentence"] and context.params["as_json"]:
        raise click.UsageError("--json holds every sentence already; leave out --per-sentence")
