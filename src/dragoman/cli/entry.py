"""The door itself: runs a command and turns what a user can mend into a sentence and an exit code.

Exit codes: 0 done, 1 text or data, 2 usage or configuration, 3 one of several processes has lost another,
130 interrupted by the keyboard, 143 ended by SIGTERM. A mistake of the program keeps its traceback.
"""

import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from dragoman import __version__
from dragoman.cli.groups import LazyCommand, LazyGroup
from dragoman.errors import DragomanError

PROGRAM = "dragoman"
COMPLETION_VARIABLE = "_DRAGOMAN_COMPLETE"
"""The environment variable by which a shell asks for completions."""

_INTERRUPTED = 130

group = LazyGroup(
    {
        "train": LazyCommand("dragoman.cli.train", "Learn to translate from a corpus."),
        "translate": LazyCommand("dragoman.cli.translate", "Translate text with a trained model."),
        "parse": LazyCommand("dragoman.cli.parse", "Draw trees over sentences with a trained model."),
        "explain": LazyCommand("dragoman.cli.explain", "Show how a model came to an output."),
        "pack": LazyCommand("dragoman.cli.pack", "Make a trained model faster."),
        "evaluate": LazyCommand("dragoman.cli.evaluate", "Score translations, or trees."),
        "reproduce": LazyCommand("dragoman.cli.reproduce", "Repeat the paper's tables, figures and claims."),
        "demo": LazyCommand("dragoman.cli.demo", "Train and judge a small model in minutes."),
        "config": LazyCommand("dragoman.cli.config", "Explain and show the configuration."),
        "build-engine": LazyCommand(
            "dragoman.cli.build_engine", "Compile the fast engine for this computer."
        ),
        "env": LazyCommand("dragoman.cli.env", "Show versions, processor and GPUs."),
        "completion": LazyCommand("dragoman.cli.completion", "Print a script for your shell's completion."),
    },
    name=PROGRAM,
    help='The Transformer of "Attention Is All You Need": from two text files to a translation model.',
    epilog="'dragoman COMMAND --help' explains a command. New here? Begin with 'dragoman demo'.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
"""The command ``dragoman``."""
click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")(group)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Args:
        arguments: The words after ``dragoman``; those of the process when left out.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the program
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as all of dragoman's files, whatever the locale
    words = list(sys.argv[1:] if arguments is None else arguments)
    code = _caught(lambda: _run(words))
    return _caught(_flush) or code


def _run(words: list[str]) -> int:
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    try:
        with group.make_context(PROGRAM, words) as context:
            group.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _flush() -> int:
    sys.stdout.flush()
    return 0


def _caught(action: Callable[[], int]) -> int:
    """Return the action's exit code, or that of the error which a user can understand."""
    try:
        return action()
    except DragomanError as error:
        return _complain(error.message, error.hint, error.exit_code)
    except click.ClickException as error:
        return _complain(_click_message(error), _help_hint(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", None, _INTERRUPTED)
    except BrokenPipeError:
        _leave_stdout()  # the reader of the pipe has seen enough: no fault of anyone
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _leave_stdout()
        place = f" {error.filename}" if error.filename else " the output"
        return _complain(f"cannot write{place}: {os.strerror(error.errno).lower()}", None, 1)


def _complain(message: str, hint: str | None, exit_code: int) -> int:
    rank = os.environ.get("RANK", "0")
    lines = [f"error: {message}" if rank == "0" else f"error: rank {rank}: {message}"] + (
        [f"hint: {hint}"] if hint else []
    )
    click.echo("\n".join(lines), err=True)
    return exit_code


def _click_message(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        like = f"; did you mean {error.possibilities[0]}?" if error.possibilities else ""
        return f"no such option: {error.option_name}{like}"
    message = error.format_message().rstrip(".")
    return message[:1].lower() + message[1:]


def _help_hint(error: click.ClickException) -> str | None:
    if isinstance(error, click.NoSuchOption) and Path(error.option_name).exists():
        return f"a file whose name begins with a dash is written ./{error.option_name}"
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"see '{context.command_path} --help'" if context else None


def _leave_stdout() -> None:
    """Let what is still buffered for standard output go nowhere, so that the interpreter ends in silence."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
