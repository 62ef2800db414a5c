"""``dragoman train`` by the real command line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.run.folder import _seal

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}

SMALL = [
    *("--set", "model.vocabulary_size=320"),
    *("--set", "model.num_encoder_layers=1"),
    *("--set", "model.num_decoder_layers=1"),
    *("--set", "model.d_model=16"),
    *("--set", "model.d_ff=16"),
    *("--set", "train.batch_tokens=256"),
    *("--set", "train.validation_interval_steps=10"),
    *("--set", "train.validation_sentences=4"),
]
"""Settings of a model that trains in a second and learns nothing."""

ANIMALS = ("cat", "dog", "bird", "fish", "horse", "goose", "mouse", "cow", "bee", "fox")
VERBS = ("sees", "hears", "likes", "finds", "knows", "meets", "calls", "needs", "visits", "follows")


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[str, str]:
    """Two line-aligned files of a hundred pairs."""
    pairs = [
        (f"the {a} {v} the {ANIMALS[(i + j) % 10]} {i}", f"{i} {ANIMALS[(i + j) % 10]} {a} {v}")
        for i, a in enumerate(ANIMALS)
        for j, v in enumerate(VERBS)
    ]
    names = (str(tmp_path / "text.en"), str(tmp_path / "text.xx"))
    for name, side in zip(names, zip(*pairs, strict=True), strict=True):
        Path(name).write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return names


def test_one_command_makes_a_model(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two files and a destination are enough: the folder holds a model, a log and the held-out pairs."""
    out = tmp_path / "model"
    code = main(["train", *corpus, "--out", str(out), *SMALL, "--set", "train.max_steps=20"])
    said = capsys.readouterr()
    about = json.loads((out / "config.json").read_text(encoding="utf-8"))

    assert code == 0
    assert (about["source_language"], about["target_language"]) == ("en", "xx")
    assert {path.name for path in out.iterdir()} >= {
        *("config.json", "tokenizer.model", "model.safetensors", "README.md"),
        *("metrics.jsonl", "held-out", "training"),
    }
    assert f"dragoman evaluate {out}" in said.out
    assert (
        "held out 5 pairs for development of the 1,000 asked for and 5 pairs for the final test of the 1,000"
        in said.err
    )
    assert "BLEU" in said.out
    assert "nrefs:1" in said.out


def test_the_configuration_beside_a_model_trains_it_once_more(
    corpus: tuple[str, str], tmp_path: Path
) -> None:
    """``train --config MODEL/config.toml`` with the same files gives the same weights."""
    first, second = tmp_path / "first", tmp_path / "second"
    main(["train", *corpus, "--out", str(first), *SMALL, "--set", "train.max_steps=12", "--seed", "5"])
    code = main(["train", *corpus, "--out", str(second), "--config", str(first / "config.toml")])

    assert code == 0
    for name in ("model.safetensors", "tokenizer.model", "metrics.jsonl"):
        assert (second / name).read_bytes() == (first / name).read_bytes()


def test_dry_run_writes_nothing(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--dry-run`` shows parameters, steps and FLOPs, and leaves no folder behind."""
    out = tmp_path / "model"
    code = main(["train", *corpus, "--out", str(out), *SMALL, "--dry-run"])
    said = capsys.readouterr()

    assert code == 0
    assert not out.exists()
    assert "parameters" in said.err
    assert "FLOPs" in said.err


def test_auto_explains_itself_in_three_lines(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a recipe one is chosen by the number of pairs, and three lines say why."""
    main(["train", *corpus, "--out", str(tmp_path / "model"), *SMALL, "--dry-run"])
    said = capsys.readouterr().err.splitlines()

    assert said[0].startswith("100 pairs")
    assert "vocabulary" in said[1]
    assert "passes over the corpus" in said[2]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--set", "model.d_modle=8"], 2, "did you mean d_model?"),
        (["--recipe", "tyni"], 2, "tiny"),
        (["--device", "cuda:99"], 2, "--device cuda:99"),
        (["--device", "toaster"], 2, "must be auto, cpu, cuda"),
        (["--dev", "missing.tsv"], 1, "missing.tsv"),
        (["--config", "missing.toml"], 2, "missing.toml"),
        (["--seed", "-1"], 2, "train.seed"),
        (["--seed", "1", "--set", "train.seed=2"], 2, "--seed and --set train.seed are the same key"),
        (["--set", "model.d_model=1000000000"], 2, "GiB for parameters, gradients and Adam's moments"),
        (["--set", "model.num_encoder_layers=1000000000"], 2, "GiB for parameters"),
        (["--set", "model.vocabulary_size=128"], 2, "model.vocabulary_size=128: must be at least 264"),
        (
            ["--set", "model.positions=learned", "--set", "model.max_positions=64"],
            2,
            "model.max_positions=64 is below data.max_length=256",
        ),
        (["--set", "model.positions=table"], 2, "model.positions = table"),
    ],
)
def test_what_cannot_be_ends_with_a_sentence(
    words: list[str],
    code: int,
    message: str,
    corpus: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A bad key, name, device or file is named; nothing is written and no traceback shown."""
    out = tmp_path / "model"
    ended = main(["train", *corpus, "--out", str(out), *SMALL, *words])
    said = capsys.readouterr().err

    assert ended == code
    assert message in said
    assert "Traceback" not in said
    assert not out.exists()


def test_unequal_files_are_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both names and both counts are told, and no folder is made."""
    source, target, out = tmp_path / "a.en", tmp_path / "a.de", tmp_path / "model"
    source.write_text("one\ntwo\n", encoding="utf-8")
    target.write_text("eins\n", encoding="utf-8")
    code = main(["train", str(source), str(target), "--out", str(out)])
    said = capsys.readouterr().err

    assert code == 1
    assert f"{source} has 2 lines but {target} has 1" in said
    assert not out.exists()


def test_a_folder_that_holds_something_is_left_alone(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Training never writes into a folder that is not its own."""
    out = tmp_path / "photos"
    out.mkdir()
    (out / "cat.jpg").write_bytes(b"cat")
    code = main(["train", *corpus, "--out", str(out), *SMALL])

    assert code == 2
    assert "not empty" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["cat.jpg"]


def test_an_empty_name_is_not_the_current_folder(
    corpus: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An unset variable of the shell, as in ``--out "$MODEL"``, is a mistake and not a place to train."""
    code = main(["train", *corpus, "--out", "", *SMALL])

    assert code == 2
    assert "the name of the folder is empty" in capsys.readouterr().err


def test_a_dry_run_tells_what_several_ranks_take(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One process is measured, and that is said."""
    code = main(["train", *corpus, "--out", str(tmp_path / "model"), *SMALL, "--dry-run", "--ranks", "3"])

    assert code == 0
    assert "3 ranks on this machine take 3 times the memory" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_is_saved_and_goes_on(
    number: signal.Signals, code: int, corpus: tuple[str, str], tmp_path: Path
) -> None:
    """Ctrl-C and SIGTERM end the run with a checkpoint, their exit code and the command that goes on."""
    out = tmp_path / "model"
    words = [sys.executable, "-m", "dragoman", "train", *corpus, "--out", str(out)]
    process = subprocess.Popen(
        [
            *words,
            *SMALL,
            "--set",
            "train.max_steps=1000000",
            "--set",
            "train.validation_interval_steps=100000",
        ],
        env=ENVIRONMENT,
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for _ in range(600):
        log = out / "metrics.jsonl"
        if log.exists() and log.stat().st_size > 0:
            break
        time.sleep(0.1)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    last = json.loads((out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])["step"]
    again = main([*words[3:], "--resume", "--set", f"train.max_steps={last + 3}"])

    assert process.returncode == code
    assert stdout == ""
    assert f"saved at step {last:,}; go on with 'dragoman train " in stderr
    assert "Traceback" not in stderr
    assert again == 0
    assert (out / "model.safetensors").exists()


def test_a_finished_run_has_nothing_to_do(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Resumed at or beyond its limit, a run ends at once with code 0 and says so."""
    words = ["train", *corpus, "--out", str(tmp_path / "model")]
    main([*words, *SMALL, "--set", "train.max_steps=10"])
    capsys.readouterr()
    codes = [main([*words, "--resume", "--set", f"train.max_steps={limit}"]) for limit in (10, 5)]
    said = capsys.readouterr().err

    assert codes == [0, 0]
    assert "nothing to do: at step 10, limit 10" in said
    assert "nothing to do: at step 10, limit 5" in said


def test_the_end_of_a_run_is_made_up_for(
    corpus: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stopped while the test pairs were scored, it tells its scores when it is resumed."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    words = ["train", *corpus, "--out", str(tmp_path / "model")]
    with monkeypatch.context() as patched:
        patched.setattr("dragoman.run.session.score_pairs", stopped)
        first = main([*words, *SMALL, "--set", "train.max_steps=10"])
    capsys.readouterr()
    second = main([*words, "--resume"])
    said = capsys.readouterr().out

    assert (first, second) == (130, 0)
    assert "development" in said
    assert "BLEU" in said
    assert "as it was" not in said


def test_a_run_of_a_gpu_goes_on_on_a_processor(corpus: tuple[str, str], tmp_path: Path) -> None:
    """Its configuration says nothing of micro-batches, which on a processor have a size; it stays so."""
    words = ["train", *corpus, "--out", str(tmp_path / "model")]
    main([*words, *SMALL, "--set", "train.max_steps=4"])
    stored = tmp_path / "model" / "training" / "config.toml"
    lines = stored.read_text(encoding="utf-8").splitlines()[1:]
    toml = "".join(f"{line}\n" for line in lines if "micro_batch" not in line).encode()
    stored.write_bytes(_seal(toml) + b"\n" + toml)

    assert main([*words, "--resume", "--set", "train.max_steps=8"]) == 0


def test_a_language_is_no_path(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends the names of held-out files; one with a slash is refused before anything is written."""
    code = main(["train", *corpus, "--out", str(tmp_path / "model"), *SMALL, "--source", "en/US"])

    assert code == 2
    assert "--source 'en/US': a language ends names of files" in capsys.readouterr().err
    assert not (tmp_path / "model" / "training" / "config.toml").exists()


def test_without_development_pairs_none_are_spoken_of(corpus: tuple[str, str], tmp_path: Path) -> None:
    """The training loss chooses, and is not taken for that of pairs that there are not."""
    out = tmp_path / "model"
    keys = ("data.dev_pairs=0", "train.average_checkpoints=1", "train.max_steps=4")
    code = main(
        ["train", *corpus, "--out", str(out), *SMALL, *(word for key in keys for word in ("--set", key))]
    )
    card = (out / "README.md").read_text(encoding="utf-8")

    assert code == 0
    assert "development pairs" not in card
    assert "the best by training loss" in (out / "report.html").read_text(encoding="utf-8")


def test_a_resumed_run_keeps_corpus_and_model(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another corpus, or another size of the model, is refused."""
    words = ["train", *corpus, "--out", str(tmp_path / "model")]
    main([*words, *SMALL, "--set", "train.max_steps=10"])
    capsys.readouterr()
    model = main([*words, "--resume", "--set", "model.d_ff=32"])
    Path(corpus[0]).write_text(
        Path(corpus[0]).read_text(encoding="utf-8").replace("cat", "rat"), encoding="utf-8"
    )
    text = main([*words, "--resume", "--set", "train.max_steps=20"])
    said = capsys.readouterr().err

    assert (model, text) == (2, 1)
    assert "cannot change model.d_ff" in said
    assert "not the corpus" in said


@pytest.mark.parametrize("words", [[], ["--recipe", "tiny"]])
def test_an_empty_corpus_is_refused(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files without a line end with one sentence, whatever the recipe."""
    empty = tmp_path / "empty"
    empty.touch()
    code = main(["train", str(empty), str(empty), "--out", str(tmp_path / "model"), *words])

    assert code == 1
    assert "no line; a corpus needs pairs" in capsys.readouterr().err


def test_an_impossible_folder_is_found_first(
    corpus: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder under a file is refused before the corpus is read, by a dry run too."""
    code = main(["train", *corpus, "--out", f"{corpus[0]}/model", "--dry-run"])

    assert code == 2
    assert "is a file" in capsys.readouterr().err


@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_fault(closing: str) -> None:
    """A program started without standard output or error does its work."""
    command = f'"{sys.executable}" -m dragoman config schema {closing}'
    done = subprocess.run(["sh", "-c", command], env=ENVIRONMENT, check=False)

    assert done.returncode == 0


def test_a_corpus_cannot_steer_the_terminal(
    corpus: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control characters of sentences that are shown are spelled out."""
    for name in corpus:
        text = Path(name).read_text(encoding="utf-8")
        Path(name).write_text(text.replace(" ", " \x1b[31m\0"), encoding="utf-8")
    main(["train", *corpus, "--out", str(tmp_path / "model"), *SMALL, "--set", "train.max_steps=10"])
    said = capsys.readouterr().err

    assert "\\x1b[31m\\x00" in said
    assert "\x1b" not in said
    assert "\0" not in said
