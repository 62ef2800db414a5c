"""``dragoman parse``: a filter from sentences to trees."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dragoman.cli.line_progress import line_progress
from dragoman.cli.options import device_options, search_options, use_threads
from dragoman.cli.results import results_to
from dragoman.cli.stop import StopSignals

if TYPE_CHECKING:
    from dragoman.run.parse_formats import ParseFormat


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", required=False, default="-", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Write to this file, which appears when it is whole; left out, to standard output.",
)
@click.option("--raw", is_flag=True, help="The lines are plain English text; part it into words first.")
@search_options
@click.option("--n-best", type=int, help="Trees of each line, at most --beam-size.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["bracket", "json", "draw"]),
    default="bracket",
    show_default=True,
    help="How to write trees.",
)
@click.option("--scores", is_flag=True, help="Write the score of each tree; JSON always has it.")
@click.option(
    "--unconstrained",
    is_flag=True,
    help="Let the model write whatever it prefers, and tell how much of it is no tree.",
)
@device_options
def command(
    *,
    model: Path,
    file: Path,
    output: Path | None,
    raw: bool,
    beam_size: int | None,
    length_penalty: float | None,
    batch_tokens: int | None,
    n_best: int | None,
    format_name: "ParseFormat",
    scores: bool,
    unconstrained: bool,
    device: str,
    threads: int | None,
) -> None:
    """Draw trees over sentences with a trained model.

    MODEL is a folder that 'dragoman train' made from trees. FILE is text in UTF-8, also compressed by gzip:
    one sentence a line, its words parted by spaces, or any text with --raw. Left out, standard input is
    parsed as it comes. Line n of the output is the tree of line n of the input, and a blank line stays blank.

    Formats: bracket is one tree a line, as in (TOP (S (NP (XX I)) (VP (XX see)))), after the number of its
    line and a tab where --n-best is above 1, and after its score and a tab with --scores; json one JSON
    object for each line, with words, symbols, scores and all alternatives; draw is a picture for people.
    """
    with StopSignals():
        from dragoman.parser import Parser
        from dragoman.run.output import check_output
        from dragoman.run.parse_formats import ParseStyle, format_parse
        from dragoman.run.parsing import BrokenOutputs, parse_windows
        from dragoman.run.translation import search_settings
        from dragoman.run.windows import check_input, windows
        from dragoman.text import display_name
        from dragoman.text.words import spaced_words, split_words
        from dragoman.translator import WINDOW

        num_lines = check_input(file)
        if output is not None:
            check_output(output, [file])
        use_threads(threads)
        parser = Parser.load(model, device=device, constrained=not unconstrained)
        changes = {"beam_size": beam_size, "length_penalty": length_penalty, "batch_tokens": batch_tokens}
        config = search_settings(parser.config, changes | {"n_best": n_best})
        width = shutil.get_terminal_size().columns
        style = ParseStyle(format=format_name, scores=scores, several=config.n_best > 1, width=width)
        words_of = split_words if raw else spaced_words
        broken = BrokenOutputs()
        shown = num_lines is not None and not (output is None and sys.stdout.isatty())
        with line_progress("parsing", shown=shown) as advance, results_to(output) as results:
            lines = windows(file, WINDOW)
            for numbered in parse_windows(parser, lines, config, words_of, display_name(file)):
                for number, one in numbered:
                    results.write(format_parse(one, number, style))
                results.flush()
                broken.count(numbered)
                advance(numbered[-1][0], num_lines or 0)
        if unconstrained:
            click.echo(broken.report(), err=True)
