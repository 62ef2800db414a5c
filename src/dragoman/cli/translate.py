"""``dragoman translate``: a filter from lines to lines."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dragoman.cli.choice_options import ChoiceOptions, choice_options
from dragoman.cli.line_progress import line_progress
from dragoman.cli.options import (
    device_options,
    precision_option,
    search_options,
    tell_without_engine,
    warn,
)
from dragoman.cli.results import results_to
from dragoman.cli.stop import StopSignals

if TYPE_CHECKING:
    from dragoman.run.formats import Format


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", required=False, default="-", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Write to this file, which appears when it is whole; left out, to standard output.",
)
@search_options
@click.option("--n-best", type=int, help="Translations of each line, at most --beam-size.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "jsonl", "moses"]),
    help="How to write; left out, text, or moses where --n-best is above 1.",
)
@click.option("--scores", is_flag=True, help="In text: write score and tab before each translation.")
@click.option(
    "--prefix",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Line n of this file is how the translation of line n begins, to the letter; a blank one is free.",
)
@choice_options
@click.option(
    "--order",
    type=click.Choice(["input", "any"]),
    default="input",
    show_default=True,
    help="With any, a line is written as soon as it is done; only where the format numbers lines.",
)
@precision_option
@device_options
def command(
    *,
    model: Path,
    file: Path,
    output: Path | None,
    beam_size: int | None,
    length_penalty: float | None,
    batch_tokens: int | None,
    n_best: int | None,
    format_name: "Format | None",
    scores: bool,
    order: str,
    prefix: Path | None,
    choices: ChoiceOptions,
    precision: str,
    device: str,
    threads: int | None,
) -> None:
    """Translate lines of text with a trained model.

    MODEL is a folder that 'dragoman train' made. FILE is text in UTF-8, one sentence a line, also compressed
    by gzip; left out, standard input is translated as it comes. Line n of the output translates line n of
    the input, and a blank line stays blank.

    Formats: text is one line for each line; jsonl one JSON object for each line, with pieces, scores and all
    alternatives; moses is 'number ||| text ||| score', numbers from 0, one line for each alternative.
    """
    with StopSignals():
        from dragoman.run.choices import check_choice
        from dragoman.run.formats import choose_format, format_translation
        from dragoman.run.output import check_output
        from dragoman.run.translation import check_prefixes, prefixed, search_settings, translate_lines
        from dragoman.run.windows import check_input, windows
        from dragoman.translator import WINDOW, Translator

        chosen = choose_format(format_name, choices.num_results(n_best), numbered=order == "any")
        choice = choices.choice()
        num_lines = check_input(file)
        if prefix is not None:
            check_prefixes(prefix, num_lines)
        if output is not None:
            check_output(output, [file, *filter(None, [prefix, choices.forbid_from])])
        translator = Translator.load(
            model, device=device, precision=precision, threads=threads, others=choices.ensemble
        )
        keys = ("beam_size", "length_penalty", "batch_tokens", "n_best", "shortlist")
        values = (beam_size, length_penalty, batch_tokens, n_best, choices.shortlist)
        config = search_settings(translator.config, dict(zip(keys, values, strict=True)))
        check_choice(choice, config)
        tell_without_engine(device)
        texts, ordered = prefixed(windows(file, WINDOW), prefix), order == "input"
        lines = translate_lines(translator, texts, config, warn, choice=choice, ordered=ordered)
        shown = num_lines is not None and not (output is None and sys.stdout.isatty())
        with line_progress("translating", shown=shown) as advance, results_to(output) as results:
            for done, (number, one) in enumerate(lines, start=1):
                results.write(format_translation(one, number, chosen, scores=scores))
                results.flush()
                advance(done, num_lines or 0)
