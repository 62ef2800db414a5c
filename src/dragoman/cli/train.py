"""``dragoman train``."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dragoman.cli.launch import LAUNCHER, launch
from dragoman.cli.options import NEW_FOLDER, configuration_options
from dragoman.cli.stop import StopSignals

if TYPE_CHECKING:
    from dragoman.run import Outcome, TrainOptions

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("corpus", nargs=-1, required=True, type=_PATH)
@click.option("--out", required=True, type=NEW_FOLDER, help="The model folder; new or empty, unless resumed.")
@click.option(
    "--source", "source_language", metavar="LANGUAGE", help="Left out, it is the suffix of the source file."
)
@click.option(
    "--target", "target_language", metavar="LANGUAGE", help="Left out, it is the suffix of the target file."
)
@click.option(
    "--dev", multiple=True, type=_PATH, help="Development pairs, or trees, as CORPUS; twice for two files."
)
@click.option(
    "--test", multiple=True, type=_PATH, help="Test pairs or trees, as CORPUS; twice for two files."
)
@click.option(
    "--silver",
    multiple=True,
    type=_PATH,
    help="Further training pairs, or trees, made by a machine, as CORPUS; data.silver_weight is their share.",
)
@click.option(
    "--from",
    "start",
    type=_PATH,
    metavar="MODEL",
    help="Begin with the weights and the vocabulary of this model, to adapt it to the corpus.",
)
@click.option(
    "--task",
    type=click.Choice(["translation", "parsing"]),
    help="What to learn, translation where nothing is said; the same as --set data.task=TASK.",
)
@configuration_options
@click.option("--seed", type=int, help="Start of every random choice; the same as --set train.seed=N.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the run in --out, exactly where it stopped; begin it where there is none.",
)
@click.option(
    "--ranks",
    type=click.IntRange(1, 1_024),
    help="Train with so many processes on this machine, one GPU or an equal share of the cores each.",
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@click.option("--dry-run", is_flag=True, help="Check everything and show the plan; train and write nothing.")
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    corpus: tuple[Path, ...],
    out: Path,
    source_language: str | None,
    target_language: str | None,
    dev: tuple[Path, ...],
    test: tuple[Path, ...],
    silver: tuple[Path, ...],
    start: Path | None,
    task: str | None,
    recipe: str | None,
    config_file: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    resume: bool,
    ranks: int | None,
    device: str,
    dry_run: bool,
) -> None:
    """Learn to translate, or to parse, from a corpus.

    CORPUS is two line-aligned text files, as in 'train.en train.de', or one file of pairs with a tab between
    source and target; each may be compressed (.gz). Line n of one file translates line n of the other.

    With '--task parsing' CORPUS is one file of trees in Penn brackets: (S (NP (PRP I)) (VP (VBP see))).

    Nothing else is needed: the recipe is chosen by the size of the corpus, and development and test pairs are
    split off. The model folder is ready for 'dragoman translate', or for 'dragoman parse'.
    """
    is_rank = "RANK" in os.environ
    if ranks is not None:
        _check_launch(ranks, is_rank=is_rank, dry_run=dry_run)
        if ranks > 1 and not is_rank and not dry_run:
            context.exit(launch(ranks, sys.argv[1:]))
    with StopSignals(quiet=is_rank and os.environ["RANK"] != "0") as signals:
        from dragoman.run import TrainOptions

        options = TrainOptions(
            source_language=source_language,
            target_language=target_language,
            dev=dev,
            test=test,
            silver=silver,
            start=start,
            recipe=recipe or "auto",
            config_file=config_file,
            settings=_with_key(_with_key(settings, "train.seed", seed), "data.task", task),
            resume=resume,
            device=device,
            dry_run=dry_run,
        )
        context.exit(_train(corpus, out, options, signals))


def _check_launch(ranks: int, *, is_rank: bool, dry_run: bool) -> None:
    """Refuse ranks within ranks, and say what a dry run of several is."""
    if is_rank and LAUNCHER not in os.environ:
        raise click.UsageError(
            "--ranks starts processes of its own, and torchrun has started this one; leave --ranks out"
        )
    if dry_run and ranks > 1:
        click.echo(
            f"measuring in one process: {ranks} ranks on this machine take {ranks} times the memory, and "
            "on a processor they share its cores",
            err=True,
        )


def _train(corpus: tuple[Path, ...], out: Path, options: "TrainOptions", signals: StopSignals) -> int:
    """Train, tell how it went or how to go on, and return the exit code."""
    from dragoman.cli.stoppable import StoppableReporter
    from dragoman.run import train

    again = _resume_command(corpus, out, options)
    try:
        outcome = train(
            corpus, out, options, reporter=StoppableReporter(signals), stop_requested=_stop(signals)
        )
    except click.exceptions.Exit:
        if (out / "training" / "config.toml").exists() and not signals.quiet:
            click.echo(f"go on with '{again}'", err=True)
        raise
    is_interrupted = outcome.reason == "interrupted"
    if signals.quiet:
        return (signals.exit_code or 1) if is_interrupted else 0
    if is_interrupted:
        click.echo(f"saved at step {outcome.progress.step:,}; go on with '{again}'", err=True)
        return signals.exit_code or 1
    for line in summary(outcome):
        click.echo(line)
    return 0


def _stop(signals: StopSignals) -> Callable[[], bool]:
    """Return what is asked again and again: a signal, or a launcher that is gone, ends the run."""
    launcher = os.environ.get(LAUNCHER)
    return lambda: signals.requested() or (launcher is not None and str(os.getppid()) != launcher)


def _with_key(settings: tuple[str, ...], key: str, value: object) -> tuple[str, ...]:
    """Return the settings with that of an option of its own; None leaves them as they are."""
    if value is None:
        return settings
    if any(setting.partition("=")[0].strip() == key for setting in settings):
        option = f"--{key.partition('.')[2]}"
        raise click.UsageError(f"{option} and --set {key} are the same key; give one of them")
    return (*settings, f"{key}={value}")


def _resume_command(corpus: tuple[Path, ...], out: Path, options: "TrainOptions") -> str:
    """Return the command that goes on with a run; what is not stored in its folder is named again."""
    named: list[tuple[str, object]] = [
        ("--source", options.source_language),
        ("--target", options.target_language),
        *(("--dev", path) for path in options.dev),
        *(("--test", path) for path in options.test),
        *(("--silver", path) for path in options.silver),
        ("--ranks", os.environ["WORLD_SIZE"] if LAUNCHER in os.environ else None),
        ("--device", None if options.device == "auto" else options.device),
    ]
    words = [str(word) for name, value in named if value is not None for word in (name, value)]
    return shlex.join(["dragoman", "train", *map(str, corpus), "--out", str(out), *words, "--resume"])


def summary(outcome: "Outcome") -> list[str]:
    """Return what a finished run has come to, and which command comes next."""
    from dragoman.cli.progress import minutes
    from dragoman.run.reporter import in_words

    if outcome.reason == "dry_run":
        return ["nothing was written: this was a dry run"]
    if outcome.reason == "nothing_to_do" and not outcome.chosen:  # else the end of a run was made up for
        return [f"the model in {outcome.folder} is as it was"]
    progress, rows = outcome.progress, []
    if outcome.dev_scores:
        rows.append(("development", in_words(outcome.dev_scores)))
    if outcome.test_scores is not None:
        rows += [("test" if i == 0 else "", line) for i, line in enumerate(outcome.test_scores.lines())]
    rows += [
        ("kept", outcome.chosen),
        ("time", f"{minutes(progress.seconds)}, {progress.step:,} steps"),
        (
            "pieces",
            f"{progress.num_source_tokens:,} source, {progress.num_target_tokens:,} target, "
            f"{progress.num_target_tokens / max(progress.seconds, 1e-9):,.0f} target pieces a second",
        ),
        ("FLOPs executed", f"{progress.flops:.2e}"),
        (
            "FLOPs as the paper counts",
            f"{outcome.paper_flops:.2e} (time x {outcome.sustained_flops / 1e9:,.0f} sustained GFLOPS)",
        ),
        ("model", str(outcome.folder)),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    folder = shlex.quote(str(outcome.folder))
    verb = "parse" if outcome.task == "parsing" else "translate"
    lines += ["", "next:", f"  dragoman {verb} {folder} FILE"]
    if outcome.test_files is not None:
        lines.append(f"  dragoman evaluate {shlex.join(map(str, (outcome.folder, *outcome.test_files)))}")
    return lines
