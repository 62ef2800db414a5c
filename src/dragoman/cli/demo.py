"""``dragoman demo``."""

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dragoman.cli.many_files import ManyFilesCommand
from dragoman.cli.options import NEW_FOLDER, json_option
from dragoman.cli.stop import StopSignals

if TYPE_CHECKING:
    from dragoman.run.demo import DemoResult, SentenceAttention

_NUM_SHOWN = 10

_GENERATED = (
    "This demo learns from a generated corpus: English and German everyday sentences made by a grammar that\n"
    "was written for it. It shows that training and search work; its scores say nothing about real text."
)


@click.command(cls=ManyFilesCommand)
@click.option(
    "--out",
    type=NEW_FOLDER,
    help="The demo's folder. Left out, it is dragoman-demo, or dragoman-demo-own with --corpus.",
)
@click.option(
    "--corpus",
    multiple=True,
    metavar="FILE...",
    type=click.Path(path_type=Path),
    help="Your own pairs instead: two line-aligned files, or one with a tab between source and target.",
)
@click.option(
    "--pairs",
    "num_pairs",
    type=int,
    metavar="NUMBER",
    help="Training pairs to generate, 30000 if left out; fewer are faster and worse.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="SECTION.KEY=VALUE",
    help="Set one key over the recipe 'demo'; may be repeated.",
)
@click.option("--resume", is_flag=True, help="Go on with a demo that was interrupted.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    *,
    out: Path | None,
    corpus: tuple[Path, ...],
    num_pairs: int | None,
    settings: tuple[str, ...],
    resume: bool,
    device: str,
    as_json: bool,
) -> None:
    """Train and judge a small model in minutes.

    Without files it learns from a generated corpus of everyday sentences in English and German, about four
    minutes on two processor cores. It shows ten translations of sentences that it has never seen beside their
    references, the scores of all of them, and where one translation looked in its source.

    A second time it shows the finished demo again, without training.
    """
    out = out or Path("dragoman-demo-own" if corpus else "dragoman-demo")
    if not corpus:
        click.echo(f"{_GENERATED}\n", err=True)
    with StopSignals() as signals:
        from dragoman.cli.stoppable import StoppableReporter
        from dragoman.run.demo import DemoOptions, run_demo

        options = DemoOptions(
            corpus=corpus, num_pairs=num_pairs, settings=settings, resume=resume, device=device
        )
        reporter = StoppableReporter(signals, samples=False)
        result = run_demo(out, options, reporter=reporter, stop_requested=signals.requested)
    if result is None:
        words = ["demo", *(["--corpus", *map(str, corpus)] if corpus else []), "--out", str(out), "--resume"]
        click.echo(f"saved; go on with '{_typed(*words)}'", err=True)
        context.exit(signals.exit_code or 1)
    if as_json:
        click.echo(json.dumps(_as_json(result), indent=2, ensure_ascii=False))
        return
    click.echo("\n".join(report(result)))


def report(result: "DemoResult") -> list[str]:
    """Return what a demo shows, in lines."""
    lines = [
        *([] if result.outcome else _finished_lines(result.folder)),
        *_translation_lines(result),
        *_score_lines(result),
        "",
    ]
    if result.attention is not None:
        lines += [*_attention_lines(result.attention), ""]
    return [*lines, *_next_lines(result)]


def _finished_lines(folder: Path) -> list[str]:
    again = "another folder, named by --out, trains anew"
    return [f"{folder} holds a finished demo, and this is its model once more; {again}.", ""]


def _translation_lines(result: "DemoResult") -> list[str]:
    from dragoman.cli.progress import printable

    corpus = " and ".join(result.files) or "the generated corpus"
    shown = list(zip(result.pairs, result.translations, strict=True))[:_NUM_SHOWN]
    lines = [
        f"The first {len(shown)} of {len(result.pairs):,} sentences of {corpus} that training never saw:",
        "",
    ]
    for pair, translation in shown:
        mark = "equal" if translation == pair.target else "different"
        lines += [
            f"           source       {printable(pair.source)}",
            f"{mark:<9}  translation  {printable(translation)}",
            f"           reference    {printable(pair.target)}",
            "",
        ]
    return lines


def _score_lines(result: "DemoResult") -> list[str]:
    from dragoman.cli.progress import minutes

    num_exact = round(result.exact_share * len(result.pairs))
    lines = [
        f"{num_exact:,} of {len(result.pairs):,} translations are equal to their references "
        f"({result.exact_share:.1%})",
        *result.scores.lines(),
    ]
    if result.outcome is not None:
        progress = result.outcome.progress
        lines.append(f"trained for {minutes(progress.seconds)}, {progress.step:,} steps")
    return lines


def _attention_lines(attention: "SentenceAttention") -> list[str]:
    from dragoman.visualize import draw_attention
    from dragoman.visualize.terminal import LEGEND

    width = shutil.get_terminal_size().columns
    picture = draw_attention(attention.source_pieces, attention.target_pieces, attention.weights, width=width)
    return [
        "Where one translation (downwards) looked in its source (across), piece by piece; ▁ begins a word:",
        "",
        *picture,
        "",
        f"{LEGEND}; decoder layer {attention.layer}, mean over its heads",
    ]


def _next_lines(result: "DemoResult") -> list[str]:
    model = str(result.model)
    if result.files:
        trained = _typed("train", *result.files, "--out", "model")
        return [
            "Next:",
            f"  {_typed('translate', model)} < FILE    translate with this model",
            f"  {trained}    train as long as these files deserve",
        ]
    return [
        "Next:",
        f"  echo 'The old man has a new car.' | {_typed('translate', model)}",
        "and on files of your own, line n of one the translation of line n of the other:",
        f"  {_typed('demo', '--corpus', 'train.en', 'train.de')}    the same demo, minutes",
        f"  {_typed('train', 'train.en', 'train.de', '--out', 'model')}    a model as good as they allow",
        f"  {_typed('translate', 'model')} < input.en > output.de",
    ]


def _typed(*words: str) -> str:
    """Return a command as it can be typed here: the program may lie where the shell does not look."""
    program = Path(sys.argv[0])
    if program.name == "__main__.py":
        return shlex.join(["python", "-m", "dragoman", *words])
    found = shutil.which("dragoman")
    if program.name != "dragoman" or not program.exists() or (found and program.samefile(found)):
        return shlex.join(["dragoman", *words])
    return shlex.join([str(program), *words])


def _as_json(result: "DemoResult") -> dict[str, object]:
    return {
        "folder": str(result.folder),
        "model": str(result.model),
        "generated_corpus": not result.files,
        "exact_share": result.exact_share,
        "scores": result.scores.as_dict(),
        "training_seconds": result.outcome.progress.seconds if result.outcome else None,
        "steps": result.outcome.progress.step if result.outcome else None,
        "translations": [
            {"source": pair.source, "reference": pair.target, "translation": translation}
            for pair, translation in zip(result.pairs, result.translations, strict=True)
        ],
        "attention": result.attention._asdict() if result.attention else None,
    }
