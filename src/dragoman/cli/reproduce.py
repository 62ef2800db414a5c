"""``dragoman reproduce``: the paper's tables, figures and claims."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dragoman.cli.stop import StopSignals

if TYPE_CHECKING:
    from dragoman.reproduce import Piece, Request

_PATH = click.Path(path_type=Path)
_WHAT = ("checks", "table1", "table2", "table3", "table4", "figures")


@click.command()
@click.argument("what", type=click.Choice(_WHAT))
@click.option("--out", type=_PATH, help="The folder of the result; left out, reproduced/WHAT.")
@click.option(
    "--scale",
    type=click.Choice(["tiny", "laptop", "small", "full"]),
    default="laptop",
    show_default=True,
    help="laptop is for two cores, small for one GPU, full the paper's own setting, tiny a rehearsal.",
)
@click.option("--corpus", multiple=True, type=_PATH, help="Training pairs or trees, as for 'dragoman train'.")
@click.option("--dev", multiple=True, type=_PATH, help="Development pairs or trees, in the same form.")
@click.option("--test", multiple=True, type=_PATH, help="Test pairs or trees, in the same form.")
@click.option(
    "--target",
    type=click.Choice(["de", "fr"]),
    default="de",
    help="Full scale: translate from English to German, which is the default, or to French.",
)
@click.option("--silver", multiple=True, type=_PATH, help="table4: trees that a machine has made, mixed in.")
@click.option("--model", type=_PATH, help="figures: a model that is there already, in place of a new one.")
@click.option(
    "--seeds", type=click.IntRange(1, 100), default=1, show_default=True, help="Trainings of each model."
)
@click.option(
    "--jobs", type=click.IntRange(1, 1_024), default=1, show_default=True, help="Trainings at a time."
)
@click.option(
    "--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="One key over those of the piece."
)
@click.option("--params", is_flag=True, help="table3: print the numbers of parameters and end.")
def command(
    *,
    what: str,
    out: Path | None,
    scale: str,
    corpus: tuple[Path, ...],
    dev: tuple[Path, ...],
    test: tuple[Path, ...],
    target: str,
    silver: tuple[Path, ...],
    model: Path | None,
    seeds: int,
    jobs: int,
    settings: tuple[str, ...],
    params: bool,
) -> None:
    r"""Repeat a piece of "Attention Is All You Need", and say whether it agrees.

    \b
    checks    six claims about the model, each a small experiment
    table1    what types of layers cost, and how far they reach
    table2    translation: quality and cost of training
    table3    variations of the model
    table4    constituency parsing
    figures   what attention heads look at

    The folder has report.html, each table as CSV, and all that the numbers depend on. The same command
    goes on where it was interrupted, and shows the result once there is one. Pieces that train take the
    embedded corpus where none is named.
    """
    if params:
        if out or corpus or dev or test or silver or model or settings:
            raise click.UsageError("--params trains nothing: leave folder, files and keys out")
        _print_parameters(what)
        return
    with StopSignals() as signals:
        from dragoman.cli.stoppable import StoppableReporter
        from dragoman.reproduce import Request

        request = Request(
            what=what,
            out=out or Path("reproduced") / what,
            scale=scale,  # type: ignore[arg-type]
            corpus=corpus,
            dev=dev,
            test=test,
            target=target,  # type: ignore[arg-type]
            silver=silver,
            model=model,
            seeds=seeds,
            jobs=jobs,
            settings=settings,
            told=lambda text: click.echo(text, err=True),
            reporter=StoppableReporter(signals, samples=False),
            stop_requested=signals.requested,
        )
        _repeat(request, signals)


def _repeat(request: "Request", signals: StopSignals) -> None:
    """Repeat a piece and print what was found, or say how to go on."""
    from dragoman.reproduce import reproduce
    from dragoman.train.step import StopRequestedError

    try:
        piece, was_there = reproduce(request)
    except StopRequestedError:
        click.echo("saved; the same command goes on", err=True)
        raise click.exceptions.Exit(signals.exit_code or 1) from None
    except click.exceptions.Exit:
        if request.out.exists():
            click.echo("what is through is kept; the same command goes on", err=True)
        raise
    _show(piece, with_table=request.what.startswith("table"))
    click.echo(f"\n{'found in' if was_there else 'written to'} {request.out / 'report.html'}", err=True)


def _print_parameters(what: str) -> None:
    """Print the numbers of parameters of Table 3."""
    if what != "table3":
        raise click.UsageError("--params is for table3")
    from dragoman.reproduce.table3 import parameter_table

    _print_rows(parameter_table().heads, parameter_table().texts())


def _show(piece: "Piece", *, with_table: bool) -> None:
    """Print what was found, with the first table if that is what was repeated."""
    click.echo("\n".join([piece.title, *piece.lines()]))
    for table in piece.tables[:1] if with_table else ():
        click.echo(f"\n{table.title}")
        _print_rows(table.heads, table.texts())


def _print_rows(heads: Sequence[str], rows: list[list[str]]) -> None:
    """Print a table in columns."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        click.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
