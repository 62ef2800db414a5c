"""The door itself: exit codes, complaints, pipes, and answers at once."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from dragoman import __version__
from dragoman.cli import entry, main
from dragoman.errors import BundleError

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"}


def run(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Return the end of a process of the command line."""
    return subprocess.run(
        [sys.executable, "-m", "dragoman", *words],
        env=ENVIRONMENT,
        text=True,
        encoding="utf-8",
        stdout=options.get("stdout", subprocess.PIPE),  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        check=False,
    )


def test_version_goes_to_stdout() -> None:
    """``python -m dragoman --version`` prints name and version and ends with code 0."""
    done = run("--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"dragoman {__version__}\n", "")


@pytest.mark.full  # it measures time, which a machine that runs other tests does not keep
@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["config", "--help"], ["config", "show", "--help"]]
)
def test_help_answers_at_once(words: list[str]) -> None:
    """Help and version take at most 0.2 s more than an empty Python, in the best of five."""
    seconds = {}
    for name, command in {"empty": ["-c", ""], "help": ["-m", "dragoman", *words]}.items():
        times = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], env=ENVIRONMENT, check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        seconds[name] = min(times)

    assert seconds["help"] - seconds["empty"] < 0.2


@pytest.mark.parametrize("name", entry.group.list_commands(click.Context(entry.group)))
def test_help_of_no_command_imports_what_is_slow(name: str) -> None:
    """The help of every command is printed without torch, pydantic, sacrebleu and sentencepiece."""
    program = (
        "import sys; from dragoman.cli import main; code = main(sys.argv[1:]); "
        "slow = {'torch', 'pydantic', 'sacrebleu', 'sentencepiece'} & set(sys.modules); "
        "print(*sorted(slow), file=sys.stderr); "
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, name, "--help"],
        env=ENVIRONMENT,
        text=True,
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "\n")


def test_reader_of_a_pipe_may_leave() -> None:
    """When the reader of the output has gone, the command ends quietly with code 0."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        done = run("config", "schema", stdout=gone)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_disk_is_told() -> None:
    """When the output cannot be written, the command says so and ends with code 1."""
    with Path("/dev/full").open("w") as full:
        done = run("config", "schema", stdout=full)

    assert (done.returncode, done.stderr) == (1, "error: cannot write the output: no space left on device\n")


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        ("trian", "no such command: trian; did you mean train?", "see 'dragoman --help'"),
        ("config shwo", "no such command: shwo; did you mean show?", "see 'dragoman config --help'"),
        ("--verzion", "no such option: --verzion; did you mean --version?", "see 'dragoman --help'"),
        (
            "config show --recipie tiny",
            "no such option: --recipie; did you mean --recipe?",
            "see 'dragoman config show --help'",
        ),
        (
            "config show --set model.d_k=0",
            "the configuration has 1 problem\n  --set model.d_k=0: must be a whole number of at least 1",
            "see every key, its meaning and its default with 'dragoman config explain'",
        ),
        (
            "completion tcsh",
            "invalid value for 'SHELL': 'tcsh' is not one of 'bash', 'zsh', 'fish'",
            "see 'dragoman completion --help'",
        ),
    ],
)
def test_mistakes_of_usage_end_with_2(
    words: str, error: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands, options and keys that do not exist get a sentence, a hint and exit code 2."""
    code = main(words.split())
    written = capsys.readouterr()

    assert (code, written.out, written.err) == (2, "", f"error: {error}\nhint: {hint}\n")


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a command the help goes to standard error and the exit code is 2."""
    code = main([])
    written = capsys.readouterr()

    assert (code, written.out) == (2, "")
    assert "translate  " in written.err


@pytest.mark.parametrize(
    ("raised", "code", "written"),
    [
        (
            BundleError("model is no model folder", hint="name one"),
            1,
            "error: model is no model folder\nhint: name one\n",
        ),
        (BundleError("model is no model folder"), 1, "error: model is no model folder\n"),
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (click.exceptions.Exit(143), 143, ""),
    ],
)
def test_ends_of_commands(
    raised: BaseException,
    code: int,
    written: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Errors that a user can mend, and interruptions, end with their exit codes and without a traceback."""

    def end(context: click.Context) -> None:
        raise raised

    monkeypatch.setattr(entry.group, "invoke", end)

    assert main(["env"]) == code
    assert capsys.readouterr().err == written


def test_mistake_of_the_program_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no user can mend is not caught."""

    def end(context: click.Context) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(entry.group, "invoke", end)

    with pytest.raises(ZeroDivisionError):
        main(["env"])


def test_env_as_json_names_versions(capsys: pytest.CaptureFixture[str]) -> None:
    """``dragoman env --json`` is JSON with the versions and the measured gain of bfloat16."""
    code = main(["env", "--json"])
    environment = json.loads(capsys.readouterr().out)

    assert (code, environment["dragoman"]) == (0, __version__)
    assert environment["bfloat16_gain"] > 0
    assert environment["threads"] >= 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_names_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The script for each shell asks dragoman for completions."""
    code = main(["completion", shell])

    assert code == 0
    assert f"_DRAGOMAN_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_completion_answers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """When a shell asks, the commands that begin with the word are its answer."""
    monkeypatch.setenv("_DRAGOMAN_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "dragoman config s")
    monkeypatch.setenv("COMP_CWORD", "2")
    main([])

    assert capsys.readouterr().out.split() == ["plain,schema", "plain,show"]
