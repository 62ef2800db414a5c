"""``dragoman demo`` as a user runs it."""

import json
import sys
from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.text.everyday import everyday_pairs
from tiny_runs import DEMO_SETTINGS

QUICK = [word for setting in DEMO_SETTINGS for word in ("--set", setting)]

pytestmark = pytest.mark.untraced


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["dragoman"])
    return tmp_path


def test_demo_says_that_its_corpus_is_generated_and_shows_all_results(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ten translations, exact matches, BLEU and chrF with signatures, attention, and what to type next."""
    code = main(["demo", "--pairs", "300", *QUICK])
    written = capsys.readouterr()

    assert code == 0
    assert "a generated corpus" in written.err.split("\n")[0]
    assert written.out.count("  translation  ") == 10
    assert "of 15 translations are equal to their references" in written.out
    assert "tok:13a" in written.out
    assert "chrF2" in written.out
    assert "decoder layer 1" in written.out
    assert "dragoman translate dragoman-demo/model" in written.out
    assert "dragoman demo --corpus train.en train.de" in written.out


def test_demo_twice_shows_the_same_without_training(capsys: pytest.CaptureFixture[str]) -> None:
    """The second run says that the demo is finished and shows the model's translations once more."""
    main(["demo", "--pairs", "300", *QUICK])
    first = capsys.readouterr().out
    code = main(["demo"])
    second = capsys.readouterr()

    assert code == 0
    assert second.out.startswith("dragoman-demo holds a finished demo")
    assert "learning the vocabulary" not in second.err
    assert second.out[second.out.index("The first 10") :].split("BLEU")[0] == first.split("BLEU")[0]


@pytest.mark.parametrize("repeated", [False, True])
def test_demo_on_own_files(desk: Path, capsys: pytest.CaptureFixture[str], repeated: bool) -> None:
    """``--corpus`` takes two files after one name, or one after each; no word of a generated corpus then."""
    pairs = everyday_pairs(60, 0, seed=5).train
    for name, texts in zip(("mine.en", "mine.de"), zip(*pairs, strict=True), strict=True):
        (desk / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    second = ["--corpus", "mine.de"] if repeated else ["mine.de"]
    code = main(["demo", "--corpus", "mine.en", *second, *QUICK])
    written = capsys.readouterr()

    assert code == 0
    assert "generated" not in written.out + written.err
    assert "sentences of mine.en and mine.de that training never saw" in written.out
    assert "dragoman train mine.en mine.de --out model" in written.out
    assert (desk / "dragoman-demo-own" / "model" / "config.json").exists()


def test_demo_on_one_file_of_pairs(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file with a tab between source and target is a corpus too."""
    pairs = everyday_pairs(60, 0, seed=5).train
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
    (desk / "mine.tsv").write_text(text, encoding="utf-8")
    code = main(["demo", "--corpus", "mine.tsv", "--json", *QUICK])
    result = json.loads(capsys.readouterr().out)

    assert (code, result["generated_corpus"], len(result["translations"])) == (0, False, 3)


def test_a_folder_of_something_else_is_refused(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is not empty is left alone, with a sentence and a hint."""
    (desk / "dragoman-demo").mkdir()
    (desk / "dragoman-demo" / "letter.txt").write_text("Dear all", encoding="utf-8")
    code = main(["demo"])
    error = capsys.readouterr().err.split("\n")[-3:]

    assert code == 2
    assert error == [
        "error: --out dragoman-demo: the folder is not empty and holds no demo",
        "hint: name a new folder",
        "",
    ]


def test_next_commands_name_a_program_that_is_not_on_the_path(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From an environment that is not active, the commands to type name the program where it lies."""
    program = desk / "bin" / "dragoman"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setattr(sys, "argv", ["bin/dragoman"])
    main(["demo", "--pairs", "20", *QUICK])

    assert "| bin/dragoman translate dragoman-demo/model" in capsys.readouterr().out


@pytest.mark.full
def test_demo_reaches_95_percent(capsys: pytest.CaptureFixture[str]) -> None:
    """At least 95 % of 500 unseen sentences are translated exactly after at most 2.5 minutes of training."""
    code = main(["demo", "--json"])
    result = json.loads(capsys.readouterr().out)

    assert (code, len(result["translations"])) == (0, 500)
    assert result["exact_share"] >= 0.95
    assert result["training_seconds"] <= 150
