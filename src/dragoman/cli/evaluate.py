"""``dragoman evaluate``: scores of translations against references, and of trees against gold trees."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dragoman.cli.choice_options import ChoiceOptions, choice_options
from dragoman.cli.evaluate_jobs import Job, Kind, choose_job
from dragoman.cli.line_progress import line_progress
from dragoman.cli.options import (
    device_options,
    json_option,
    precision_option,
    search_options,
    use_threads,
    warn,
)
from dragoman.cli.stop import StopSignals

if TYPE_CHECKING:
    from dragoman.run import EvaluateOptions, EvaluateParserOptions, Evaluation, TreeEvaluation

_HELP = """Score translations against references, or trees against gold trees.

\b
dragoman evaluate MODEL SOURCE REFERENCE...
dragoman evaluate MODEL PAIRS
dragoman evaluate MODEL TREES
dragoman evaluate --hypothesis FILE REFERENCE...
dragoman evaluate --gold TREES --predicted TREES

The first form translates SOURCE with MODEL; line n of each REFERENCE translates line n of SOURCE. The
second reads source and reference from one file, with a tab between. The third is for a MODEL that
parses: the words of TREES are parsed and the trees compared. The last two score outputs that are there
already, of any system. Several references make one score. A file may be compressed by gzip.

Translations have BLEU, chrF and TER, each with its signature. Trees have recall, precision and F1 of
their brackets, as EVALB counts them with COLLINS.prm."""


@click.command(help=_HELP)
@click.argument("files", nargs=-1, metavar="[MODEL] [FILE]...", type=click.Path(path_type=Path))
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
@click.option(
    "--gold", type=click.Path(path_type=Path), help="Gold trees, against which --predicted is scored."
)
@click.option(
    "--predicted",
    type=click.Path(path_type=Path),
    help="Trees to score; where one stands on each line, a blank line is no tree. No model is needed.",
)
@click.option(
    "--params",
    metavar="FILE|none",
    help="Count brackets by this parameter file of EVALB, or by EVALB's rules without one.",
)
@click.option(
    "--per-sentence", is_flag=True, help="Trees: print what EVALB prints, with a row for each sentence."
)
@click.option("--unconstrained", is_flag=True, help="Parse by a free search, whose outputs may be no trees.")
@json_option
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="Keep the translations or trees in this file."
)
@search_options
@choice_options
@precision_option
@device_options
def command(
    *,
    choices: ChoiceOptions,
    files: tuple[Path, ...],
    hypothesis: Path | None,
    baseline: Path | None,
    tokenized: bool,
    no_ter: bool,
    paper_bleu: bool,
    gold: Path | None,
    predicted: Path | None,
    params: str | None,
    per_sentence: bool,
    unconstrained: bool,
    as_json: bool,
    output: Path | None,
    beam_size: int | None,
    length_penalty: float | None,
    batch_tokens: int | None,
    precision: str,
    device: str,
    threads: int | None,
) -> None:
    """Score what a model writes, or files of outputs."""
    with StopSignals():
        job = choose_job(files, hypothesis, gold, predicted)
        choices.check_one_result()
        from dragoman.run import EvaluateOptions, EvaluateParserOptions

        _check_output(output, choices)
        use_threads(threads)
        for_texts = EvaluateOptions(
            tokenized=tokenized or None,
            ter=not no_ter,
            paper_bleu=paper_bleu,
            baseline=baseline,
            output=output,
            beam_size=beam_size,
            length_penalty=length_penalty,
            batch_tokens=batch_tokens,
            device=device,
            precision=precision,
            threads=threads,
            shortlist=choices.shortlist,
            choice=choices.choice(),
            others=choices.ensemble,
        )
        for_trees = EvaluateParserOptions(
            constrained=not unconstrained,
            params=params,
            output=output,
            beam_size=beam_size,
            length_penalty=length_penalty,
            batch_tokens=batch_tokens,
            device=device,
        )
        evaluation = _evaluated(job, for_texts, for_trees)
        for notice in evaluation.notices():
            warn(notice)
        click.echo(_shown(evaluation, as_json=as_json, per_sentence=per_sentence))


def _check_output(output: Path | None, choices: ChoiceOptions) -> None:
    """Refuse to write over the phrases that are read."""
    from dragoman.run.output import check_output

    if output is not None and choices.forbid_from is not None:
        check_output(output, [choices.forbid_from])


def _evaluated(
    job: Job, for_texts: "EvaluateOptions", for_trees: "EvaluateParserOptions"
) -> "Evaluation | TreeEvaluation":
    """Do what is asked for."""
    from dragoman.run import evaluate, evaluate_outputs, evaluate_parser, evaluate_trees

    if job.kind is Kind.TREES:
        return evaluate_trees(job.others[0], job.first, for_trees.params)
    if job.model is None:
        return evaluate_outputs(job.first, job.others, for_texts)
    if job.kind is Kind.PARSER:
        with line_progress("parsing", shown=True) as advance:
            return evaluate_parser(job.model, job.first, for_trees, notice=warn, parsed=advance)
    with line_progress("translating", shown=True) as advance:
        return evaluate(job.model, job.first, job.others, for_texts, notice=warn, translated=advance)


def _shown(evaluation: "Evaluation | TreeEvaluation", *, as_json: bool, per_sentence: bool) -> str:
    """Return the report as it was asked for."""
    from dragoman.run import TreeEvaluation

    if as_json:
        return json.dumps(evaluation.as_dict(), indent=2, ensure_ascii=False)
    if per_sentence and isinstance(evaluation, TreeEvaluation):
        return "\n".join(evaluation.evalb_report())
    return "\n".join(evaluation.lines())
