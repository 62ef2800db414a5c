"""Whole runs on several ranks, by the real command line: to the end, stopped, and resumed."""

import ipaddress
import os
import re
import signal
import socket
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from distributed.commands import (
    ENDLESS,
    EXACT,
    Process,
    ended,
    has_made_steps,
    is_running,
    losses,
    ranks_of,
    ranks_with,
    started,
    steps,
    wait_until,
    words,
)
from dragoman.cli import main
from dragoman.text import Tokenizer
from tiny_runs import remains, tiny_run

SHARDED = "train.sharded=true"

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks at processes in /proc")


@pytest.fixture(scope="module")
def alone(corpus: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of one process."""
    out = tmp_path_factory.mktemp("alone") / "model"
    tiny_run(corpus, out, *EXACT)
    return out


@pytest.fixture(scope="module")
def together(corpus: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run of two ranks, and what it has said."""
    out = tmp_path_factory.mktemp("together") / "model"
    code, _, said = ended(words(corpus, out, "--ranks", "2", settings=EXACT))

    assert code == 0, said

    return out, said


def names(out: Path) -> set[str]:
    return {str(path.relative_to(out)) for path in out.rglob("*")}


def assert_same_losses(found: Path, expected: Path) -> None:
    assert len(losses(found)) == 120
    assert losses(found) == pytest.approx(losses(expected), rel=1e-5)


def test_two_ranks_train_the_same_model(alone: Path, together: tuple[Path, str]) -> None:
    """With BPE-dropout and averaging, two ranks have the losses of one process to 1e-5, and its files."""
    out, _ = together

    assert_same_losses(out, alone)
    assert names(out) == names(alone)


def test_ranks_accumulate_and_stop_within_a_step(corpus: list[Path], tmp_path: Path) -> None:
    """With several micro-batches each, two ranks that are stopped and resumed have the same losses."""
    out, settings = tmp_path / "model", [*EXACT, "train.micro_batch_tokens=150"]
    with started(words(corpus, out, "--ranks", "2", settings=settings)) as process:
        wait_until(has_made_steps(out, process))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    code, _, said = ended(words(corpus, out, "--ranks", "2", "--resume"))
    tiny_run(corpus, tmp_path / "alone", *settings)

    assert (process.returncode, code) == (143, 0), said
    assert_same_losses(out, tmp_path / "alone")


def test_only_rank_0_speaks(together: tuple[Path, str]) -> None:
    """Nothing is said twice, and nobody warns."""
    _, said = together

    assert said.count("reading the corpus") == 1
    assert "Warning" not in said
    assert "rank" not in said


@needs_proc
def test_a_stopped_run_goes_on_to_the_same_bytes(
    corpus: list[Path], together: tuple[Path, str], tmp_path: Path
) -> None:
    """SIGTERM to the launcher saves and ends all ranks; on as many, the run ends in the same bytes."""
    out = tmp_path / "model"
    with started(words(corpus, out, "--ranks", "2", settings=EXACT)) as process:
        wait_until(has_made_steps(out, process))
        ranks = ranks_of(process)
        process.send_signal(signal.SIGTERM)
        stdout, said = process.communicate(timeout=30)
        stopped_at = len(steps(out))
    code, _, told = ended(words(corpus, out, "--ranks", "2", "--resume"))

    assert (process.returncode, stdout) == (143, "")
    assert sorted(ranks) == [0, 1]
    assert 5 <= stopped_at < 120
    assert said.count(f"saved at step {stopped_at:,}; go on with 'dragoman train ") == 1
    assert "--ranks 2 --resume'" in said
    assert "error" not in said
    assert code == 0, told
    assert remains(out) == remains(together[0])


def sockets_of(pid: int) -> set[str]:
    """Return the inodes of the sockets that a process has open."""
    links = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since
            links.append(os.readlink(path))
    return {found.group(1) for link in links if (found := re.fullmatch(r"socket:\[(\d+)\]", link))}


def listening() -> dict[str, ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Return the addresses of all listening TCP sockets of this machine, by inode."""
    found = {}
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                raw = bytes.fromhex(fields[1].partition(":")[0])
                address = b"".join(raw[i : i + 4][::-1] for i in range(0, len(raw), 4))
                found[fields[9]] = ipaddress.ip_address(address)
    return found


@needs_proc
def test_shards_on_loopback_survive_a_dead_rank(corpus: list[Path], tmp_path: Path) -> None:
    """Ranks listen on loopback alone; one that is killed ends all with a message, and the run goes on."""
    out = tmp_path / "model"
    settings = [*ENDLESS, SHARDED, "train.validation_interval_steps=3", "train.validation_sentences=0"]
    with started(words(corpus, out, "--ranks", "2", settings=settings)) as process:
        wait_until(has_made_steps(out, process))
        ranks, addresses = ranks_of(process), listening()
        own = [addresses.get(inode) for pid in ranks.values() for inode in sockets_of(pid)]
        os.kill(ranks[1], signal.SIGKILL)
        said = process.communicate(timeout=60)[1]
    before = losses(out)
    main(
        [
            "train",
            *map(str, corpus),
            "--out",
            str(out),
            "--resume",
            "--set",
            f"train.max_steps={len(before) + 5}",
        ]
    )

    assert process.returncode == 3
    assert "error: rank 1 was ended by SIGKILL" in said
    assert "Traceback" not in said
    assert any(own)
    assert all(address is None or address.is_loopback for address in own)
    assert losses(out)[: len(before) - 3] == before[:-3]
    assert len(losses(out)) == len(before) + 5
    assert (out / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("options", "files", "code", "message"),
    [
        ((), ("missing.en", "missing.de"), 1, "missing.en"),
        pytest.param(("--device", "cuda:99"), None, 2, "--device cuda:99", marks=pytest.mark.full),
        pytest.param(("--set", "model.d_modle=1"), None, 2, "did you mean d_model?", marks=pytest.mark.full),
    ],
)
def test_a_fault_of_the_user_is_told_once(
    corpus: list[Path],
    tmp_path: Path,
    options: tuple[str, ...],
    files: tuple[str, ...] | None,
    code: int,
    message: str,
) -> None:
    """What one process complains of, two ranks complain of in the same words, once, with the same code."""
    out = tmp_path / "model"
    files_given = corpus if files is None else [Path(name) for name in files]
    found, stdout, said = ended(words(files_given, out, "--ranks", "2", *options))

    assert (found, stdout) == (code, "")
    assert said.count("error:") == 1
    assert message in said
    assert "rank" not in said
    assert not out.exists()


def run_s39(shared: Path, out: Path, num_ranks: int) -> None:
    """Seven sentences, one a step, three epochs, a validation on one sentence after each."""
    case = shared / "cases" / "S39-uneven-ranks"
    dev = []
    for name in ("src.txt", "tgt.txt"):
        path = out.parent / name
        path.write_text((case / name).read_text(encoding="utf-8").partition("\n")[0] + "\n", encoding="utf-8")
        dev += ["--dev", str(path)]
    settings = [
        *EXACT,
        *("data.bpe_dropout=0", "data.test_pairs=0", "train.batch_tokens=1", "train.micro_batch_tokens=1"),
        *("train.max_steps=21", "train.validation_interval_steps=7", "train.validation_sentences=1"),
    ]
    code, _, said = ended(
        words([case / "src.txt", case / "tgt.txt"], out, "--ranks", str(num_ranks), *dev, settings=settings),
        timeout_seconds=60,
    )

    assert code == 0, said


@pytest.mark.parametrize("num_ranks", [2, *(pytest.param(n, marks=pytest.mark.full) for n in (3, 8))])
def test_uneven_ranks_do_not_wait_for_ever(shared: Path, tmp_path: Path, num_ranks: int) -> None:
    """S39: with fewer sentences than ranks a run ends, and each sentence is used once an epoch."""
    out = tmp_path / "model"
    run_s39(shared, out, num_ranks)
    tokenizer = Tokenizer.load(out / "tokenizer.model")
    text = (shared / "cases" / "S39-uneven-ranks" / "tgt.txt").read_text(encoding="utf-8")
    lengths = sorted(len(tokenizer.encode(line)) + 1 for line in text.splitlines())
    records = steps(out)
    epochs = [sorted(r["target_tokens"] for r in records if r["epoch"] == epoch) for epoch in range(3)]
    validations = (out / "metrics.jsonl").read_text(encoding="utf-8").count('"validation"')

    assert epochs == [lengths] * 3
    assert validations == 3


@pytest.mark.full
def test_four_ranks_and_torchrun_train_the_same_model(
    corpus: list[Path], alone: Path, tmp_path: Path
) -> None:
    """Four ranks, and two that torchrun has started, have the losses of one process to 1e-5."""
    four, two = tmp_path / "four", tmp_path / "two"
    ended(words(corpus, four, "--ranks", "4", settings=EXACT))
    command = torchrun(words(corpus, two, settings=EXACT), "--standalone", "--nproc-per-node", "2")
    code, _, said = ended(command, TMPDIR=str(tmp_path))

    assert code == 0, said
    assert_same_losses(four, alone)
    assert_same_losses(two, alone)


def torchrun(command: list[str], *options: str) -> list[str]:
    """Return a command that starts ``dragoman train`` by torchrun."""
    python, *module = command
    return [python, "-m", "torch.distributed.run", *options, *module]


@pytest.mark.full
def test_two_machines_train_the_same_model(corpus: list[Path], alone: Path, tmp_path: Path) -> None:
    """Two torchruns of one rank each, which meet by address, have the losses of one process to 1e-5."""
    out = tmp_path / "model"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        meeting = ("--master-addr", "127.0.0.1", "--master-port", str(free.getsockname()[1]))

    def machine(number: int) -> AbstractContextManager[Process]:
        place = ("--nnodes", "2", "--node-rank", str(number), "--nproc-per-node", "1")
        command = torchrun(words(corpus, out, settings=EXACT), *place, *meeting)
        return started(command, TMPDIR=str(tmp_path), GLOO_SOCKET_IFNAME="lo")

    with machine(0) as first, machine(1) as second:
        _, said = first.communicate(timeout=120)
        second.communicate(timeout=30)

    assert (first.returncode, second.returncode) == (0, 0), said
    assert_same_losses(out, alone)


@pytest.mark.full
@needs_proc
def test_a_dead_rank_of_torchrun_ends_the_others(corpus: list[Path], tmp_path: Path) -> None:
    """Killed, a rank takes all of torchrun with it within 60 seconds, and the run can go on."""
    out = tmp_path / "model"
    command = torchrun(words(corpus, out, settings=ENDLESS), "--standalone", "--nproc-per-node", "2")
    with started(command, TMPDIR=str(tmp_path), OF_THIS_TEST=str(tmp_path)) as process:
        try:
            wait_until(has_made_steps(out, process))
            ranks = ranks_with("OF_THIS_TEST", str(tmp_path))
            os.kill(ranks[1], signal.SIGKILL)
            process.communicate(timeout=60)
        finally:
            for pid in ranks_with("OF_THIS_TEST", str(tmp_path)).values():
                os.kill(pid, signal.SIGKILL)

    assert process.returncode != 0
    assert not any(map(is_running, ranks.values()))
    assert ended(words(corpus, out, "--resume", settings=["train.max_steps=130"]))[0] == 0


@pytest.mark.full
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1), (2, 4)])
def test_a_run_goes_on_with_other_ranks(
    corpus: list[Path], alone: Path, tmp_path: Path, first: int, second: int, sharded: bool
) -> None:
    """Stopped and resumed with more or fewer ranks, with or without shards, a run has the same losses."""
    out = tmp_path / "model"
    settings = [*EXACT, f"train.sharded={str(sharded).lower()}"]
    with started(words(corpus, out, "--ranks", str(first), settings=settings)) as process:
        wait_until(has_made_steps(out, process))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    other = f"train.sharded={str(not sharded).lower()}"
    code, _, said = ended(words(corpus, out, "--ranks", str(second), "--resume", settings=[other]))

    assert (process.returncode, code) == (143, 0), said
    assert_same_losses(out, alone)


@pytest.mark.full
def test_shards_make_the_same_kind_of_folder(
    corpus: list[Path], alone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that was trained in shards has the same files and losses, and translates."""
    out = tmp_path / "model"
    code, _, said = ended(words(corpus, out, "--ranks", "2", settings=[*EXACT, SHARDED]))
    translated = main(["translate", str(out), str(corpus[0]), "--beam-size", "1"])

    assert (code, translated) == (0, 0), said
    assert_same_losses(out, alone)
    assert names(out) == names(alone)
    assert capsys.readouterr().out.count("\n") == corpus[0].read_text(encoding="utf-8").count("\n")


@pytest.mark.full
@needs_proc
def test_ctrl_c_saves_and_a_second_one_ends_at_once(corpus: list[Path], tmp_path: Path) -> None:
    """Interrupted once, all ranks save and end with 130; twice, they end without waiting for a step."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        pytest.skip("Ctrl-C is ignored here, as behind an ampersand of the shell")
    once, twice = tmp_path / "once", tmp_path / "twice"
    with started(words(corpus, once, "--ranks", "2", settings=ENDLESS)) as process:
        wait_until(has_made_steps(once, process))
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    with started(words(corpus, twice, "--ranks", "2", settings=ENDLESS)) as other:
        wait_until(has_made_steps(twice, other))
        ranks = ranks_of(other)
        os.kill(ranks[1], signal.SIGSTOP)  # no step ends any more
        other.send_signal(signal.SIGINT)
        other.send_signal(signal.SIGINT)
        wait_until(lambda: other.poll() is not None, timeout_seconds=15)

    assert process.returncode == 130
    assert "saved at step" in said
    assert other.returncode == 130


@pytest.mark.full
@needs_proc
def test_ranks_notice_that_their_launcher_is_gone(corpus: list[Path], tmp_path: Path) -> None:
    """When the launcher is killed, the ranks save and end by themselves."""
    out = tmp_path / "model"
    with started(words(corpus, out, "--ranks", "2", settings=ENDLESS), TMPDIR=str(tmp_path)) as process:
        wait_until(has_made_steps(out, process))
        process.kill()
        wait_until(lambda: not ranks_of(process), timeout_seconds=30)
    saved = [path.name for path in (out / "training" / "checkpoints").iterdir() if path.is_dir()]

    assert [re.sub(r"\d+", "N", name) for name in saved] == ["step-N-interrupted"]


@pytest.mark.full
def test_a_rank_that_cannot_read_the_folder_ends_all(corpus: list[Path], tmp_path: Path) -> None:
    """A machine that does not see the folder of rank 0 names it, and rank 0 does not wait for ever."""
    place = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "DRAGOMAN_MEETING_FILE": str(tmp_path / "meeting")}
    commands = [words(corpus, tmp_path / f"model{rank}", settings=ENDLESS) for rank in range(2)]
    with (
        started(commands[0], RANK="0", LOCAL_RANK="0", **place) as first,
        started(commands[1], RANK="1", LOCAL_RANK="1", **place) as second,
    ):
        said = second.communicate(timeout=60)[1]
        told = first.communicate(timeout=60)[1]

    assert second.returncode == 1
    assert "model1/training/encoded/train.bin" in said
    assert first.returncode == 3
    assert "another one of the 2 ranks was lost" in told


@pytest.mark.parametrize(
    "variables",
    [
        {"RANK": "1"},
        {"WORLD_SIZE": "2"},
        {"RANK": "one", "WORLD_SIZE": "2"},
        {"RANK": "2", "WORLD_SIZE": "2"},
        {"RANK": "0", "WORLD_SIZE": ""},
    ],
    ids=str,
)
def test_a_place_that_cannot_be_is_named(
    variables: dict[str, str],
    corpus: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Variables of torchrun that make no sense are quoted, and the rule stands beside them."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    code = main(["train", *map(str, corpus), "--out", str(tmp_path / "model")])
    said = capsys.readouterr().err

    assert code == 2
    assert ", ".join(f"{name}={value}" for name, value in variables.items()) in said
    assert "error" in said.splitlines()[0]
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("number", ["0", "-1", "two", "1000000"])
def test_a_number_of_ranks_that_cannot_be_is_refused(
    number: str, corpus: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--ranks`` takes a positive number, and not an absurd one."""
    code = main(["train", *map(str, corpus), "--out", str(tmp_path / "model"), "--ranks", number])
    said = capsys.readouterr().err

    assert code == 2
    assert "--ranks" in said.splitlines()[0]
