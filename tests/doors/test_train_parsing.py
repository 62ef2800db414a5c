"""``dragoman train --task parsing`` by the real command line."""

import json
from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.trees import parse_trees, read_trees
from grammar_trees import write_treebank

SMALL = [
    *("--set", "model.vocabulary_size=320"),
    *("--set", "model.num_encoder_layers=1"),
    *("--set", "model.num_decoder_layers=1"),
    *("--set", "model.d_model=16"),
    *("--set", "model.d_ff=16"),
    *("--set", "train.batch_tokens=512"),
    *("--set", "train.max_steps=6"),
    *("--set", "train.validation_interval_steps=3"),
    *("--set", "train.validation_sentences=4"),
    *("--set", "search.beam_size=1"),
    *("--set", "search.extra_length=20"),
]
"""Settings of a model that trains in a second and learns nothing."""

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def treebank(tmp_path: Path) -> str:
    """A file of eighty trees."""
    return str(write_treebank(tmp_path / "trees.mrg", 80))


def test_one_command_makes_a_parser(treebank: str, tmp_path: Path, capsys: Capture) -> None:
    """A treebank, the task and a destination are enough; what was said fits the task."""
    out = tmp_path / "model"
    code = main(["train", treebank, "--task", "parsing", "--out", str(out), *SMALL])
    said = capsys.readouterr()
    about = json.loads((out / "config.json").read_text(encoding="utf-8"))
    next_steps = said.out.partition("next:\n")[2].split("\n")

    assert code == 0
    assert about["data"]["task"] == "parsing"
    assert "80 trees: recipe parsing-small, 4 + 4 layers of width 256" in said.err
    assert (
        "held out 4 trees for development of the 1,000 asked for and 4 trees for the final test" in said.err
    )
    assert "data: 72 training trees" in said.err
    assert "F1 " in said.err
    assert "exact match " in said.err
    assert "    tree        (TOP (" in said.err
    assert "scoring 4 test trees" in said.err
    assert "4 of 4 outputs are trees" in said.out
    assert "pair" not in said.out + said.err
    assert "translat" not in said.out + said.err
    assert next_steps == [
        f"  dragoman parse {out} FILE",
        f"  dragoman evaluate {out} {out / 'held-out' / 'test.mrg'}",
        "",
    ]
    assert len(list(read_trees(out / "held-out" / "test.mrg"))) == 4


def test_a_run_is_resumed_without_its_task(treebank: str, tmp_path: Path, capsys: Capture) -> None:
    """The folder knows what was learned; the same command with the task goes on as well."""
    out = str(tmp_path / "model")
    first = main(["train", treebank, "--task", "parsing", "--out", out, *SMALL])
    longer = ["--resume", "--set", "train.max_steps=8"]
    second = main(["train", treebank, "--out", out, *longer])
    third = main(["train", treebank, "--task", "parsing", "--out", out, *longer])
    said = capsys.readouterr()

    assert (first, second, third) == (0, 0, 0)
    assert "going on after step 6" in said.err
    assert f"the model in {out} is as it was" in said.out


def test_a_dry_run_shows_the_plan(treebank: str, tmp_path: Path, capsys: Capture) -> None:
    """``--dry-run`` measures and leaves nothing behind."""
    out = tmp_path / "model"
    code = main(["train", treebank, "--task", "parsing", "--out", str(out), *SMALL, "--dry-run"])
    said = capsys.readouterr()

    assert code == 0
    assert "72 training trees" in said.err
    assert "measured in " in said.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["{trees}", "--task", "parsing", "--set", "data.task=parsing"], 2, "--task and --set data.task are"),
        (["{trees}", "--task", "tagging"], 2, "'tagging' is not one of"),
        (["{trees}", "{trees}", "--task", "parsing"], 2, "2 files, and parsing is learned from one"),
        (["-", "--task", "parsing"], 2, "standard input only once"),
        (["{trees}"], 1, "if this is a file of trees, learn to parse from it with '--task parsing'"),
        (["{text}", "--task", "parsing"], 1, "text.en, line 1: 'a' stands outside of all brackets"),
        (["{trees}", "--task", "parsing", "--recipe", "nothing"], 2, "nothing"),
        (["{trees}", "--task", "parsing", "--dev", "{text}"], 1, "text.en, line 1: "),
    ],
)
def test_what_cannot_be_is_said(
    treebank: str, tmp_path: Path, capsys: Capture, words: list[str], code: int, message: str
) -> None:
    """Each wrong use has its message and exit code, and no folder is made."""
    text = tmp_path / "text.en"
    text.write_text("a dog\n", encoding="utf-8")
    given = [word.format(trees=treebank, text=text) for word in words]
    found = main(["train", *given, "--out", str(tmp_path / "model"), *SMALL])
    said = capsys.readouterr()

    assert found == code
    assert message in said.err
    assert "Traceback" not in said.err
    assert not (tmp_path / "model" / "training" / "config.toml").exists()


def test_three_trees_of_one_word_make_a_parser(shared: Path, tmp_path: Path, capsys: Capture) -> None:
    """S57: nothing is held out of so few; each word gets a tree, and the trees score by themselves."""
    file = str(shared / "cases" / "S57-one-token" / "trees.txt")
    out = tmp_path / "model"
    trained = main(["train", file, "--task", "parsing", "--out", str(out), *SMALL])
    parsed = main(["parse", str(out), str(shared / "cases" / "S57-one-token" / "tokens.txt")])
    trees = list(parse_trees(capsys.readouterr().out.splitlines()[-3:], "parsed"))
    scored = main(["evaluate", "--gold", file, "--predicted", file, "--json"])
    scores = json.loads(capsys.readouterr().out)

    assert (trained, parsed, scored) == (0, 0, 0)
    assert [[leaf.word for leaf in one.tree.leaves()] for one in trees] == [["Yes"], [")"], ["."]]
    assert scores["well_formed"] == 100


def test_damaged_trees_are_all_told(shared: Path, tmp_path: Path, capsys: Capture) -> None:
    """S59: as training trees, each line that is no tree is named, and nothing is trained."""
    file = str(shared / "cases" / "S59-bad-trees" / "trees.txt")
    code = main(["train", file, "--task", "parsing", "--out", str(tmp_path / "model"), *SMALL])
    said = capsys.readouterr().err

    assert code == 1
    assert [f"trees.txt, line {number}: " in said for number in range(1, 10)] == [
        number in (2, 3, 4, 6, 7, 8, 9) for number in range(1, 10)
    ]
    assert not (tmp_path / "model").exists()
