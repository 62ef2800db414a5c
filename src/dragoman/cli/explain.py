"""``dragoman explain``: how a model came to an output."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dragoman.cli.options import device_options, use_threads
from dragoman.cli.results import results_to
from dragoman.cli.stop import StopSignals

if TYPE_CHECKING:
    from dragoman.visualize.explanation import Kind

_PATH = click.Path(path_type=Path)
_FORMATS = ("text", "html", "svg", "png", "json")


class _Heads(click.ParamType[tuple[int, ...]]):
    """Numbers of heads, as in 1,3,8."""

    name = "heads"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
            self.fail(f"{value!r} are no numbers of heads, as in 1,3,8", param, ctx)
        return tuple(int(part) for part in parts)


@click.command()
@click.argument("model", type=_PATH)
@click.argument("text", required=False)
@click.option("--translation", metavar="TEXT", help="Explain this output in place of the model's own.")
@click.option(
    "--output",
    "-o",
    type=_PATH,
    help="Write to this file; its ending .html, .svg, .png, .json or .txt names the format.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    help="What to write; left out, the ending of --output says it, or text for the terminal.",
)
@click.option(
    "--kind",
    type=click.Choice(["encoder", "decoder", "cross"]),
    help="The use of attention to show first; cross where nothing is said, encoder with --word.",
)
@click.option(
    "--layer", type=click.IntRange(1), help="The layer to show, from 1; left out, the last but one."
)
@click.option("--heads", type=_Heads(), metavar="N,N,...", help="The heads to show, from 1; left out, all.")
@click.option("--word", help="Look at this word alone, and name the heads whose attention spans farthest.")
@click.option(
    "--alignments",
    multiple=True,
    type=_PATH,
    help="Write word alignments of a corpus in Pharaoh's format: a file of pairs, or twice for two files.",
)
@device_options
def command(
    *,
    model: Path,
    text: str | None,
    translation: str | None,
    output: Path | None,
    format_name: str | None,
    kind: "Kind | None",
    layer: int | None,
    heads: tuple[int, ...] | None,
    word: str | None,
    alignments: tuple[Path, ...],
    device: str,
    threads: int | None,
) -> None:
    """Show how MODEL comes to its translation of TEXT, one sentence; left out or -, standard input.

    That is where each head looks, what else could have come, and what search has kept.

    In the terminal it is a picture of cross-attention and a line for each piece. As HTML it is a page with
    everything, in one file that needs no network; svg and png are figures for a paper, with one layer as
    lines between words; json has all numbers.
    """
    with StopSignals():
        from dragoman.bundle import Bundle
        from dragoman.model_search import choose_device
        from dragoman.run.explaining import Explainer
        from dragoman.run.output import check_output

        if text is not None and alignments:
            raise click.UsageError("give a TEXT to explain, or a corpus with --alignments")
        if alignments and (translation or format_name or kind or heads or word):
            raise click.UsageError("--alignments goes with --layer and --output alone")
        chosen = "text" if alignments else format_name or _format_of(output)
        if output is not None:
            check_output(output, list(alignments))
        use_threads(threads)
        sentence = text if alignments else _sentence(text)
        explainer = Explainer(Bundle.load(model, choose_device(device)))
        if sentence is None:
            from dragoman.text import check_corpus, open_corpus

            corpus = open_corpus(alignments)
            check_corpus(corpus)  # first, so that half a file is never written
            with results_to(output) as results:
                for line in explainer.align(corpus.numbered_pairs(), layer):
                    results.write(f"{line}\n")
            return
        explanation = explainer.explain(sentence, translation)
        from dragoman.run.explanation_formats import far_heads, formatted, view_of

        view = view_of(explanation, kind=kind, layer=layer, heads=heads, word=word)
        content = formatted(explanation, view, chosen, about=explainer.about)
        _write(content, output)
        if word is not None and (output is not None or chosen != "text"):
            click.echo(far_heads(explanation, view), err=True)


def _sentence(text: str | None) -> str:
    """Return the text that was given, or the only line of standard input."""
    from dragoman.text import STANDARD_INPUT, read_lines

    if text not in (None, STANDARD_INPUT):
        return str(text)
    if text is None and sys.stdin.isatty():
        raise click.UsageError("give a TEXT to explain, or a corpus with --alignments")
    lines = [line for line in read_lines(STANDARD_INPUT) if line.strip()]
    if len(lines) != 1:
        raise click.UsageError(f"standard input has {len(lines):,} sentences; give one to explain")
    return lines[0]


def _format_of(output: Path | None) -> str:
    """Return the format that the ending of a file names."""
    if output is None or output.suffix == ".txt":
        return "text"
    ending = output.suffix.removeprefix(".")
    if ending in _FORMATS:
        return ending
    raise click.UsageError(
        f"--output {output}: its ending names no format (.html, .svg, .png, .json, .txt); give --format"
    )


def _write(content: str | bytes, output: Path | None) -> None:
    if isinstance(content, str):
        with results_to(output) as results:
            results.write(content)
    elif output is not None:
        from dragoman.run.output import write_bytes

        write_bytes(output, content)
    elif sys.stdout.isatty():
        raise click.UsageError("an image is no text for a terminal; name a file with --output")
    else:
        sys.stdout.buffer.write(content)
