"""The launcher of ranks, with ranks that do as a test tells them and need no PyTorch."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.cli import launch as module
from dragoman.cli.launch import LAUNCHER, launch
from dragoman.errors import RanksError, UsageError
from dragoman.run.joining import MEETING_FILE

LOST = f"sys.exit({RanksError.exit_code})"

Launch = Callable[..., tuple[int, str]]


@pytest.fixture
def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Launch:
    """Launch one program a rank; return the exit code and what reaches standard error."""

    def run(*programs: str) -> tuple[int, str]:
        package = tmp_path / "dragoman"
        package.mkdir()
        (package / "__init__.py").touch()  # without it the real package comes first
        start = "import os, signal, sys, time\nrank = int(os.environ['RANK'])\n"
        for rank, program in enumerate(programs):
            (package / f"rank{rank}.py").write_text(f"{start}{program}\n", encoding="utf-8")
        (package / "__main__.py").write_text(
            "import os, runpy\nrunpy.run_path(__file__.replace('__main__', 'rank' + os.environ['RANK']))\n",
            encoding="utf-8",
        )
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        code = launch(len(programs), ["train"])
        said = capfd.readouterr()
        return code, said.out + said.err

    return run


def say(text: str, code: int) -> str:
    return f"print({text!r}, file=sys.stderr); sys.exit({code})"


def test_only_rank_0_is_heard(launched: Launch) -> None:
    """When all goes well, nothing that other ranks print is shown."""
    assert launched("print('from 0')", "print('from 1'); print('from 1', file=sys.stderr)") == (0, "from 0\n")


def test_ranks_learn_their_places(launched: Launch, tmp_path: Path) -> None:
    """Each rank has its number, the number of all, a place to meet, and its launcher."""
    names = ["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", LAUNCHER]
    tell = f"open(f'told{{rank}}', 'w').write(' '.join(os.environ[name] for name in {names}))"
    code, _ = launched(tell, tell, f"{tell}; assert os.path.isabs(os.environ[{MEETING_FILE!r}])")
    told = [(tmp_path / f"told{rank}").read_text() for rank in range(3)]

    assert code == 0
    assert told == [f"{rank} {rank} 3 3 {os.getpid()}" for rank in range(3)]


def test_a_fault_that_every_rank_finds_is_told_once(launched: Launch) -> None:
    """A command that makes no sense is complained of by rank 0 alone, whoever finds it first."""
    code = UsageError.exit_code
    late = f"time.sleep(0.4); {say('error: no', code)}"

    assert launched(late, say("error: rank 1: no", code)) == (code, "error: no\n")


def test_a_fault_of_rank_0_is_told_once(launched: Launch) -> None:
    """Ranks that lose rank 0 because it has failed say nothing."""
    ended = launched(say("error: no such file", 1), say("error: rank 1: another one was lost", 3))

    assert ended == (1, "error: no such file\n")


def test_a_fault_of_another_rank_is_told(launched: Launch) -> None:
    """The message of the first rank to fail is shown, and its exit code is that of the whole."""
    fault = say("error: rank 2: cannot read", 1)
    late = f"time.sleep(0.5); {LOST}"

    assert launched(late, late, fault) == (1, "error: rank 2: cannot read\n")


def test_ranks_that_lose_each_other_end_with_their_own_code(launched: Launch) -> None:
    """Where no rank has failed by itself, rank 0's message stands alone."""
    code = RanksError.exit_code

    assert launched(say("error: lost", code), LOST) == (code, "error: lost\n")


def test_a_rank_that_is_killed_is_named(launched: Launch) -> None:
    """A rank that can say nothing is spoken for, with the signal that has ended it and what comes next."""
    code, said = launched(LOST, "os.kill(os.getpid(), signal.SIGKILL)")

    assert code == RanksError.exit_code
    assert said.startswith("error: rank 1 was ended by SIGKILL, and all ranks with it\nhint: ")
    assert "--resume" in said


def test_a_rank_that_does_not_notice_is_ended(launched: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a rank has failed, the others are waited for a while and no longer."""
    monkeypatch.setattr(module, "_GRACE_SECONDS", 0.5)
    started = time.monotonic()
    ended = launched("time.sleep(60)", say("error: rank 1: no", 1))

    assert ended == (1, "error: rank 1: no\n")
    assert time.monotonic() - started < 20


HEARS = """
heard = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: heard.append(number))
open(f'ready{rank}', 'w').close()
while not heard:
    time.sleep(0.01)
time.sleep(0.3)
open(f'heard{rank}', 'w').write(str(len(heard)))
sys.exit(128 + heard[0])
"""


def interrupt(folder: Path, number: int, *pauses: float) -> None:
    """Send this process a signal when both ranks are ready, and one more after each pause."""

    def send() -> None:
        while not all((folder / f"ready{rank}").exists() for rank in range(2)):
            time.sleep(0.01)
        os.kill(os.getpid(), number)
        for pause in pauses:
            time.sleep(pause)
            os.kill(os.getpid(), number)

    threading.Thread(target=send, daemon=True).start()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_wish_to_stop_reaches_every_rank_once(
    launched: Launch, tmp_path: Path, number: signal.Signals
) -> None:
    """A signal is passed on, its exit code comes back, and nobody complains of ranks that have stopped."""
    interrupt(tmp_path, number)
    ended = launched(HEARS, HEARS)

    assert ended == (128 + number, "")
    assert [(tmp_path / f"heard{rank}").read_text() for rank in range(2)] == ["1", "1"]


def test_a_second_wish_to_stop_is_not_refused(
    launched: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks that hear a second signal and go on nevertheless are ended soon after."""
    monkeypatch.setattr(module, "_AT_ONCE_SECONDS", 0.3)
    deaf = HEARS.replace("time.sleep(0.3)", "time.sleep(60)")
    interrupt(tmp_path, signal.SIGTERM, 0.5)
    started = time.monotonic()

    assert launched(deaf, deaf) == (143, "")
    assert time.monotonic() - started < 20


def test_a_failure_while_stopping_is_told(launched: Launch, tmp_path: Path) -> None:
    """A disk that is full while a stopped run is saved ends it with a message and no exit code of success."""
    fails = HEARS.replace("sys.exit(128 + heard[0])", say("error: no space", 1))
    interrupt(tmp_path, signal.SIGTERM)

    assert launched(fails, HEARS) == (1, "error: no space\n")


def test_the_launcher_needs_no_torch() -> None:
    """The process that only waits for the ranks does not spend seconds and memory on PyTorch."""
    command = f"{sys.executable} -c 'import sys, dragoman.cli.launch; sys.exit(\"torch\" in sys.modules)'"

    assert os.system(command) == 0
