"""The pieces of the paper by name, and the call that repeats one and keeps it."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from dragoman.config import read_config
from dragoman.errors import DragomanError, UsageError
from dragoman.model_search import choose_device
from dragoman.reproduce.findings import Piece
from dragoman.reproduce.record import claim, read_record, unclaim, write_record
from dragoman.reproduce.request import SCALES, Request


class Known(NamedTuple):
    """A piece that can be repeated."""

    function: str
    """The function that repeats it, after its module in this package."""
    trains: bool
    """Whether it trains models, so that a corpus, seeds, jobs and keys mean something."""


PIECES = {
    "checks": Known("checks.repeat_checks", trains=False),
    "table1": Known("table1.repeat_table1", trains=False),
    "table2": Known("table2.repeat_table2", trains=True),
    "table3": Known("table3.repeat_table3", trains=True),
    "table4": Known("table4.repeat_table4", trains=True),
    "figures": Known("figures.repeat_figures", trains=True),
}
"""All pieces, in the order of the paper."""


def reproduce(request: Request) -> tuple[Piece, bool]:
    """Repeat a piece of the paper, or show it where the folder holds it already.

    A piece that was interrupted goes on where it stopped.

    Returns:
        What was found, and whether the folder held it already.

    Raises:
        UsageError: There is no such piece or scale, or the folder holds another result.
        DragomanError: Whatever a training or a corpus raises.
    """
    known = PIECES.get(request.what)
    if known is None:
        raise UsageError(f"{request.what}: the pieces are {', '.join(PIECES)}", hint="name one of them")
    if request.scale not in SCALES:
        raise UsageError(
            f"--scale {request.scale}: the scales are {', '.join(SCALES)}", hint="name one of them"
        )
    if not known.trains and (request.corpus or request.dev or request.test or request.settings):
        raise UsageError(f"{request.what} trains nothing on a corpus", hint="leave corpus and keys out")
    _check_options(request)
    read_config(recipe=None, file=None, settings=request.settings)  # a wrong key is told before any work
    asked = request.asked()
    claim(request.out, asked)
    if (found := read_record(request.out, asked)) is not None:
        return found, True
    trains = known.trains and request.model is None
    if trains and request.scale in ("small", "full") and choose_device("auto").type == "cpu":
        request.told(
            f"there is no GPU here, and at the scale {request.scale} trainings take days on a processor; "
            "--scale laptop is made for one, and 'dragoman env' tells what is found"
        )
    module, _, name = known.function.partition(".")
    repeat: Callable[[Request], Piece] = getattr(import_module(f"dragoman.reproduce.{module}"), name)
    try:
        piece = repeat(request)
    except DragomanError:
        unclaim(request.out)
        raise
    write_record(request.out, piece, asked)
    return piece, False


def _check_options(request: Request) -> None:
    """Refuse what a piece would not look at."""
    for option, is_given, pieces in (
        ("--seeds", request.seeds > 1, ("table3",)),
        ("--jobs", request.jobs > 1, ("table2", "table3")),
        ("--test", bool(request.test), ("table2", "table4", "figures")),
        ("--silver", bool(request.silver), ("table4",)),
        ("--model", request.model is not None, ("figures",)),
        ("--target", request.target != "de", ("table2",)),
    ):
        if is_given and request.what not in pieces:
            raise UsageError(f"{option} is for {', '.join(pieces)}", hint="leave it out")
    if request.target != "de" and (request.scale != "full" or request.corpus):
        raise UsageError("--target is for the paper's own corpus, at --scale full", hint="leave it out")
    if request.model is not None and (request.corpus or request.dev or request.settings):
        raise UsageError("--model takes the place of a training", hint="leave corpus and keys out")
    if (request.dev or request.test) and not request.corpus and request.model is None:
        raise UsageError("--dev and --test go with --corpus", hint="name the training pairs or trees too")
