"""``dragoman evaluate``: scores against references."""

import json
from pathlib import Path

import click

from dragoman.cli.line_progress import line_progress
from dragoman.cli.options import device_options, json_option, search_options, use_threads, warn
from dragoman.cli.stop import StopSignals

_USAGE = "evaluate takes MODEL SOURCE REFERENCE..., or --hypothesis FILE REFERENCE..."


@click.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="[MODEL SOURCE] REFERENCE...", type=click.Path(path_type=Path)
)
@click.option(
    "--hypothesis",
    type=click.Path(path_type=Path),
    help="Score this file of outputs; no model is needed.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="Outputs of another system, to test whether the difference is significant.",
)
@click.option("--tokenized", is_flag=True, help="The texts are tokens; BLEU counts them as they are.")
@click.option("--no-ter", is_flag=True, help="Leave out TER, the slowest of the scores.")
@click.option("--paper-bleu", is_flag=True, help="Add the paper's BLEU: tokens as they are, compounds split.")
@json_option
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Keep the translations in this file.")
@search_options
@device_options
def command(
    *,
    files: tuple[Path, ...],
    hypothesis: Path | None,
    baseline: Path | None,
    tokenized: bool,
    no_ter: bool,
    paper_bleu: bool,
    as_json: bool,
    output: Path | None,
    beam_size: int | None,
    length_penalty: float | None,
    batch_tokens: int | None,
    device: str,
    threads: int | None,
) -> None:
    """Score translations against references: BLEU, chrF and TER, each with its signature.

    \b
    dragoman evaluate MODEL SOURCE REFERENCE...
    dragoman evaluate MODEL PAIRS
    dragoman evaluate --hypothesis FILE REFERENCE...

    The first form translates SOURCE with MODEL; line n of each REFERENCE translates line n of SOURCE. The
    second reads source and reference from one file, with a tab between. The third scores outputs that are
    there already, of any system. Several references make one score. A file may be compressed by gzip.
    """  # noqa: D301 - click looks for the backspace itself
    with StopSignals():
        model, source, references = _roles(files, hypothesis, output)
        from dragoman.run import EvaluateOptions, evaluate, evaluate_outputs

        use_threads(threads)
        options = EvaluateOptions(
            tokenized=tokenized or None,
            ter=not no_ter,
            paper_bleu=paper_bleu,
            baseline=baseline,
            output=output,
            beam_size=beam_size,
            length_penalty=length_penalty,
            batch_tokens=batch_tokens,
            device=device,
        )
        if model is None:
            evaluation = evaluate_outputs(source, references, options)
        else:
            with line_progress("translating", shown=True) as advance:
                evaluation = evaluate(model, source, references, options, notice=warn, translated=advance)
        for notice in evaluation.scores.notices():
            warn(notice)
        click.echo(_report(evaluation.as_dict()) if as_json else "\n".join(evaluation.lines()))


def _report(values: dict[str, object]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False)


def _roles(
    files: tuple[Path, ...], hypothesis: Path | None, output: Path | None
) -> tuple[Path | None, Path, tuple[Path, ...]]:
    """Return the model, if there is one, the file that is scored or translated, and the references.

    Raises:
        click.UsageError: The files do not make sense together.
    """
    if hypothesis is None:
        if len(files) < 2:
            raise click.UsageError(f"{_USAGE}; one file alone cannot be scored")
        return files[0], files[1], files[2:]
    if output is not None:
        raise click.UsageError("--output keeps translations, and with --hypothesis nothing is translated")
    if files[0].is_dir():
        raise click.UsageError(f"{files[0]} is a folder; with --hypothesis only references are named")
    return None, hypothesis, files
