"""``dragoman evaluate`` for trees by the real command line: a parser's, and those of files."""

import gzip
import io
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dragoman.cli import main
from dragoman.evaluate.bracket_report import evalb_report
from dragoman.evaluate.parses import score_parses
from dragoman.parser import Parser
from dragoman.trees import Tree, clean, format_tree, read_trees, rooted
from grammar_trees import write_treebank
from tiny_runs import tiny_run

pytestmark = pytest.mark.untraced

GOLD = [
    "(TOP (S (NP-SBJ (DT the) (NN otter)) (VP (VBZ swims) (ADVP (RB away))) (. .)))",
    "(TOP (S (NP-SBJ-1 (PRP it)) (VP (VBZ is) (VP (VBN seen) (NP (-NONE- *-1)))) (. .)))",
    "(TOP (FRAG (NP (NN rain)) (, ,) (ADVP (RB again)) (. .)))",
    "(TOP (S (NP (NNS reeds)) (VP (VBP bend)) (. .)))",
]
PREDICTED = [
    "(TOP (S (NP (DT the) (NN otter)) (VP (VBZ swims) (PRT (RP away))) (. .)))",
    "(TOP (S (NP (PRP it) (VBZ is)) (VP (VBN seen)) (. .)))",
    "(TOP (FRAG (NP (NN rain) (, ,) (ADVP (RB again))) (. .)))",
    "(TOP (S (NP (NNS reeds)) (VP (VBP bend)) (. .)))",
]
COUNTS = ["num_matched", "num_gold", "num_predicted"]


class Ended(NamedTuple):
    """What a command has come to."""

    code: int
    out: str
    err: str

    def refused(self, code: int) -> list[str]:
        """Return the message's first line and the hint of a command that failed in good order."""
        assert (self.code, self.out) == (code, "")
        assert "Traceback" not in self.err
        first, *_, hint = self.err.removesuffix("\n").split("\n")
        return [first, hint]


class EvaluateTrees:
    """Runs ``dragoman evaluate`` in this process."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def file(self, name: str, lines: Sequence[str]) -> Path:
        """Write a file of these lines."""
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    def __call__(self, *words: object) -> Ended:
        code = main(["evaluate", *map(str, words)])
        written = self._capsys.readouterr()
        return Ended(code, written.out, written.err)

    def of(self, gold: Sequence[str], predicted: Sequence[str], *words: object) -> Ended:
        """Score lines against lines."""
        files = self.file("gold.mrg", gold), self.file("predicted.mrg", predicted)
        return self("--gold", files[0], "--predicted", files[1], *words)

    def json(self, gold: Sequence[str], predicted: Sequence[str], *words: object) -> dict[str, Any]:
        """Score lines against lines and return what the JSON holds."""
        found: dict[str, Any] = json.loads(self.of(gold, predicted, "--json", *words).out)
        return found


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> EvaluateTrees:
    return EvaluateTrees(tmp_path, capsys)


@pytest.fixture(scope="module")
def parser_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that writes trees, most of them wrong."""
    folder = tmp_path_factory.mktemp("parser")
    corpus = write_treebank(folder / "trees.mrg")
    tiny_run([corpus], folder / "model", "data.task=parsing", "train.validation_interval_steps=12")
    return folder / "model"


def cleaned(lines: Sequence[str], folder: Path) -> list[Tree]:
    """Return trees as a model learns them."""
    path = folder / "uncleaned.mrg"
    path.write_text("\n".join(lines), encoding="utf-8")
    trees = (clean(numbered.tree) for numbered in read_trees(path))
    return [rooted(tree) for tree in trees if tree]


def evalb(shared: Path) -> Path:
    folder = shared / "data" / "evalb"
    if not folder.is_dir():
        pytest.skip("EVALB's samples are not here")
    return folder


def case(shared: Path, name: str) -> Path:
    folder = shared / "cases" / name
    if not folder.is_dir():
        pytest.skip(f"the case {name} is not here")
    return folder


def statuses(found: dict[str, Any]) -> list[str]:
    return [sentence["status"] for sentence in found["sentences"]]


def test_the_report_has_every_metric(run: EvaluateTrees) -> None:
    """Recall, precision, F1, exact match, crossing brackets and tags, counted by hand from the trees."""
    ended = run.of(GOLD, PREDICTED)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.split("\n") == [
        "                              all sentences  at most 40 words",
        "sentences                                 4                 4",
        "labeled recall, %                     78.57             78.57",
        "labeled precision, %                  84.62             84.62",
        "labeled F1, %                         81.48             81.48",
        "exact match, %                        50.00             50.00",
        "crossing brackets a sentence           0.25              0.25",
        "no crossing brackets, %               75.00             75.00",
        "two or fewer of them, %              100.00            100.00",
        "tagging accuracy, %                   90.91             90.91",
        "4 of 4 outputs are trees over their words",
        "brackets are counted as EVALB does; rules: COLLINS",
        "",
    ]


def test_the_page_shows_what_is_printed(root: Path, run: EvaluateTrees) -> None:
    """The report on the page about scoring is that of its example's second parser."""
    example = (root / "docs" / "examples" / "score-trees.sh").read_text(encoding="utf-8")
    gold, _, second = (
        found.split("\n") for found in re.findall(r"<<'TREES'\n(.*?)\nTREES", example, re.DOTALL)
    )
    page = (root / "docs" / "how-to" / "score-trees.md").read_text(encoding="utf-8").split("\n")
    report = run.of(gold, second).out

    assert [line[4:] for line in page if line.startswith("    ")] == report.split("\n")[:-1]


@pytest.mark.parametrize(
    ("gold", "predicted", "parameters", "expected"),
    [
        ("sample.gld", "sample.tst", "sample.prm", "sample.rsl-2006"),
        ("craft-perturbed.gld", "craft-perturbed.tst", "COLLINS.prm", "craft-perturbed.COLLINS.rsl"),
        ("craft-perturbed.gld", "craft-perturbed.tst", "new.prm", "craft-perturbed.new.rsl"),
        ("masc-perturbed.gld", "masc-perturbed.tst", "COLLINS.prm", "masc-perturbed.COLLINS.rsl"),
    ],
)
def test_what_evalb_prints_is_printed(
    gold: str, predicted: str, parameters: str, expected: str, shared: Path, run: EvaluateTrees
) -> None:
    """Blank lines, brackets side by side, 240 damaged trees: EVALB's own output, byte for byte."""
    folder = evalb(shared)
    files = "--gold", folder / gold, "--predicted", folder / predicted
    ended = run(*files, "--params", folder / parameters, "--per-sentence")

    assert ended.code == 0
    assert ended.out == (folder / expected).read_text(encoding="utf-8")


def test_the_older_layout_has_the_same_numbers(shared: Path, run: EvaluateTrees) -> None:
    """Trees with quotation marks that a tagger took for something else have the numbers of EVALB's sample.

    Under the crossing brackets of all sentences older versions print how many sentences have none.
    """
    folder = evalb(shared)
    files = "--gold", folder / "bug.gld", "--predicted", folder / "bug.tst", "--params", folder / "new.prm"
    lines = [line.split() for line in run(*files, "--per-sentence").out.splitlines()]
    found = json.loads(run(*files, "--json").out)
    lines[9][5] = str(found["total"]["num_no_crossing"])

    assert lines == [line.split() for line in (folder / "bug.rsl-new").read_text("utf-8").splitlines()]


def test_collins_is_built_in(shared: Path, run: EvaluateTrees) -> None:
    """Without a file of parameters the report is that by COLLINS.prm."""
    folder = evalb(shared)
    files = "--gold", folder / "masc-perturbed.gld", "--predicted", folder / "masc-perturbed.tst"
    ended = run(*files, "--per-sentence")

    assert ended.out == (folder / "masc-perturbed.COLLINS.rsl").read_text(encoding="utf-8")


def test_rules_may_be_chosen(run: EvaluateTrees) -> None:
    """By EVALB's rules without a file, TOP and punctuation count; a file may leave labels out of account."""
    parameters = run.file("unlabeled.prm", ["LABELED 0", "DELETE_LABEL TOP", "CUTOFF_LEN 3"])
    gold, predicted = ["(TOP (S (NP (NN rain)) (. .)))"], ["(TOP (S (VP (NN rain)) (. .)))"]
    counts = [
        [run.json(gold, predicted, *words)["total"][name] for name in COUNTS]
        for words in ([], ["--params", "none"], ["--params", parameters])
    ]
    report = run.of(gold, predicted, "--params", parameters).out.split("\n")

    assert counts == [[1, 2, 2], [2, 3, 3], [2, 2, 2]]
    assert report[0].endswith("at most 3 words")
    assert report[2].startswith("unlabeled recall, %")
    assert report[-2] == f"brackets are counted as EVALB does; rules: {parameters}"


def test_standard_settings(shared: Path, run: EvaluateTrees) -> None:
    """S60: punctuation, TOP and function tags are treated as everyone does."""
    folder = case(shared, "S60-bracket-score-settings")
    files = "--gold", folder / "gold.txt", "--predicted", folder / "pred.txt"
    expected = next(iter(json.loads((folder / "expect.json").read_text(encoding="utf-8")).values()))
    ended = run(*files, "--json")
    total = json.loads(ended.out)["total"]

    assert ended.code == 0
    assert [total[name] for name in COUNTS] == [expected[name] for name in ("matched", "gold", "test")]
    for name in ("precision", "recall", "f1"):
        assert total[name] == pytest.approx(expected[name], abs=0.01)


def test_other_words_are_an_error_of_one_sentence(shared: Path, run: EvaluateTrees) -> None:
    """S58: the sentence is named with its line and reason, and the numbers over the others are right."""
    folder = case(shared, "S58-leaves-do-not-match")
    expected = json.loads((folder / "expect.json").read_text(encoding="utf-8"))["over_the_other_two"]
    ended = run("--gold", folder / "gold.txt", "--predicted", folder / "pred.txt", "--json")
    found = json.loads(ended.out)

    assert ended.code == 0
    assert statuses(found) == ["valid", "error", "valid"]
    assert ended.err == (
        "warning: 1 of 3 sentences are errors and left out of the score: line 2 (the gold tree has 4 leaves, "
        "3 of which count; the prediction has 3, 2 of which count)\n"
    )
    assert [found["total"][name] for name in COUNTS] == [
        expected[name] for name in ("matched", "gold", "test")
    ]
    assert found["total"]["f1"] == pytest.approx(expected["f1"], abs=0.01)


def test_damaged_gold_trees_are_all_told(shared: Path, run: EvaluateTrees, parser_model: Path) -> None:
    """S59: as gold trees, for a file or a model, each line that is no tree is named with the reason."""
    trees = case(shared, "S59-bad-trees") / "trees.txt"
    for words in (["--gold", trees, "--predicted", trees], [parser_model, trees]):
        ended = run(*words)

        assert ended.refused(1)[0] == "error: 7 trees cannot be read"
        for line in (2, 3, 4, 6, 7, 8, 9):
            assert f"  {trees}, line {line}: " in ended.err


def test_damaged_predictions_are_counted(shared: Path, run: EvaluateTrees) -> None:
    """S59: as predictions they are errors where they hold words, are skipped where not, and stop nothing."""
    trees = case(shared, "S59-bad-trees") / "trees.txt"
    gold = run.file("gold.mrg", ["(TOP (S (NP (NN a)) (VP (VB b))))"] * 9)
    found = json.loads(run("--gold", gold, "--predicted", trees, "--json").out)

    assert statuses(found) == ["valid", *["error"] * 3, *["skipped"] * 4, "error"]
    assert found["total"]["f1"] == 100
    assert (found["num_broken"], found["well_formed"]) == (8, pytest.approx(100 / 9))
    assert found["sentences"][2]["reason"] == f"{trees}, line 3: ) stands after the end of the tree"


def test_any_number_of_predictions_may_be_damaged(run: EvaluateTrees) -> None:
    """However many predictions are no trees, the others are scored, and F1 over all is told beside."""
    gold = ["(S (NP (NN rain)))"] * 20
    ended = run.of(gold, [gold[0], *["(S (NP (NN rain))"] * 19])

    assert ended.code == 0
    assert ended.out.split("\n")[-4:-2] == [
        "1 of 20 outputs are trees over their words",
        "F1 with what is left out as trees without brackets: 9.52 %",
    ]
    assert "warning: 19 of 20 sentences are errors and left out of the score: line 2 (" in ended.err


def test_too_many_other_words_end_the_scoring(run: EvaluateTrees) -> None:
    """Files that do not belong together are refused, as by EVALB."""
    ended = run.of(["(S (NN rain))"] * 12, ["(S (NN snow))"] * 12)

    assert ended.refused(1)[0] == (
        "error: the words of 12 predictions differ from those of their gold trees, and the rules allow 11; "
        "the first is at line 1: word 1 is 'rain' in the gold tree and 'snow' in the prediction"
    )


def test_blank_lines_stand_for_no_prediction(run: EvaluateTrees) -> None:
    """One tree a line: comments do not count, blank lines at the end may be more, others are skipped."""
    found = run.json(GOLD, ["# a parser's output", PREDICTED[0], "", *PREDICTED[2:], "", ""])

    assert statuses(found) == ["valid", "skipped", "valid", "valid"]
    assert found["total"]["num_skipped"] == 1


def test_trees_over_many_lines_are_scored(run: EvaluateTrees) -> None:
    """Files may hold trees over many lines, with blank lines between them."""
    lines = [line for tree in PREDICTED for line in ["", *tree.replace("(TOP (S", "(TOP\n  (S").split("\n")]]

    assert run.json(GOLD, lines) == run.json(GOLD, PREDICTED)


def test_files_may_be_compressed_or_piped(
    run: EvaluateTrees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Predictions come by standard input and gold trees in a file of gzip."""
    expected = run.of(GOLD, PREDICTED)
    packed = tmp_path / "gold.mrg.gz"
    packed.write_bytes(gzip.compress((tmp_path / "gold.mrg").read_bytes()))
    piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO("\n".join(PREDICTED).encode())))
    monkeypatch.setattr(sys, "stdin", piped)

    assert run("--gold", packed, "--predicted", "-") == expected


def test_predictions_without_tags_get_gold_tags(run: EvaluateTrees) -> None:
    """Where every tag is XX, punctuation and traces are told by the gold tags, and a warning says so."""
    without = [re.sub(r"\(\S+ ([^() ]+)\)", r"(XX \1)", tree) for tree in PREDICTED]
    ended = run.of(GOLD, without)
    found = run.json(GOLD, without)

    assert ended.code == 0
    assert ended.err == (
        "warning: the predictions have no tags (XX alone): "
        "each word has been given the tag of the gold tree\n"
    )
    assert "tagging accuracy" not in ended.out
    assert [found["total"][name] for name in COUNTS] == [11, 14, 13]
    assert statuses(found) == ["valid"] * 4


def test_a_model_is_scored_by_its_trees(run: EvaluateTrees, parser_model: Path, tmp_path: Path) -> None:
    """The report is that of the parser's trees, which are kept; file against file gives the same numbers."""
    kept, gold = tmp_path / "kept.mrg", run.file("gold.mrg", GOLD)
    ended = run(parser_model, gold, "--output", kept)
    right = cleaned(GOLD, tmp_path)
    words = [[leaf.word for leaf in tree.leaves()] for tree in right]
    found = [parse.tree for parse in Parser.load(parser_model, device="cpu").parse(words)]
    again = run("--gold", gold, "--predicted", kept)

    assert (ended.code, ended.err) == (0, "")
    assert kept.read_text(encoding="utf-8").split("\n") == [
        *(format_tree(tree) for tree in found if tree),
        "",
    ]
    assert ended.out.split("\n")[:-3] == score_parses(right, found).lines()
    assert again.out == ended.out


def test_a_model_has_the_other_reports_too(run: EvaluateTrees, parser_model: Path, tmp_path: Path) -> None:
    """EVALB's report and JSON are those of the same trees; settings of the search are taken."""
    gold = run.file("gold.mrg", GOLD)
    right = cleaned(GOLD, tmp_path)
    search = "--beam-size", 1, "--length-penalty", 0, "--batch-tokens", 50
    kept = tmp_path / "kept.mrg"
    report = run(parser_model, gold, *search, "--per-sentence", "--output", kept)
    found = json.loads(run(parser_model, gold, *search, "--json").out)
    scores = score_parses(right, [numbered.tree for numbered in read_trees(kept)])

    assert report.out.split("\n")[:-1] == evalb_report(scores.brackets)
    assert found == {"rules": "COLLINS"} | scores.as_dict()


def test_a_free_search_tells_what_is_no_tree(run: EvaluateTrees, parser_model: Path, tmp_path: Path) -> None:
    """Without the constraint a model that has learned little writes no trees, which is counted and told."""
    gold, kept = run.file("gold.mrg", GOLD), tmp_path / "kept.mrg"
    ended = run(parser_model, gold, "--unconstrained", "--beam-size", 1, "--output", kept)

    assert ended.code == 0
    assert "\n0 of 4 outputs are trees over their words\n" in ended.out
    assert "warning: 4 of 4 sentences are skipped and left out of the score: line 1 (" in ended.err
    assert kept.read_text(encoding="utf-8") == "\n" * 4


def test_trees_without_words_are_left_out(run: EvaluateTrees, parser_model: Path, tmp_path: Path) -> None:
    """A gold tree of traces alone is counted and named; in the output its line is blank."""
    gold, kept = run.file("gold.mrg", [GOLD[0], "(TOP (NP (-NONE- *)))", GOLD[3]]), tmp_path / "kept.mrg"
    ended = run(parser_model, gold, "--output", kept, "--beam-size", 1)

    assert ended.code == 0
    assert ended.err == f"warning: {gold}: left out 1 of 3 trees, which hold no word (line 2)\n"
    assert [bool(line) for line in kept.read_text(encoding="utf-8").split("\n")] == [True, False, True, False]


def test_nothing_but_traces_is_refused(run: EvaluateTrees, parser_model: Path) -> None:
    """Without a word there is nothing to parse."""
    gold = run.file("gold.mrg", ["(TOP (NP (-NONE- *)))"])

    assert run(parser_model, gold).refused(1)[0] == (
        f"error: {gold}: no tree holds a word; there is nothing to parse"
    )


def test_texts_are_no_gold_trees(run: EvaluateTrees, parser_model: Path) -> None:
    """A model that parses, given text, names the line and shows what it takes."""
    texts = run.file("pairs.tsv", ["We row.\tWir rudern."])

    assert run(parser_model, texts).refused(1) == [
        f"error: {texts}, line 1: 'We' stands outside of all brackets",
        "hint: a model that parses is scored on gold trees such as (S (NP (PRP I)) (VP (VBP see)))",
    ]


def test_numbers_of_trees_must_agree(run: EvaluateTrees) -> None:
    """Files of unequal length are refused with both numbers."""
    first, hint = run.of(GOLD, [*PREDICTED, PREDICTED[0]]).refused(1)

    assert first == (
        f"error: {run.folder}/gold.mrg has 4 trees but {run.folder}/predicted.mrg has 5 on 5 lines; "
        "prediction n must be of the sentence of gold tree n"
    )
    assert hint == (
        "hint: write one tree a line, in the order of the gold trees, and a blank line where there is none"
    )


@pytest.mark.parametrize(
    ("gold", "predicted", "error"),
    [
        ([], PREDICTED, "gold.mrg holds no tree"),
        (GOLD, [], "gold.mrg has 4 trees but {folder}/predicted.mrg has 0 on 0 lines; prediction n"),
        ([GOLD[0][:-1]], [PREDICTED[0]], "gold.mrg, line 1: (TOP is not closed"),
    ],
)
def test_empty_and_damaged_files_are_named(
    gold: list[str], predicted: list[str], error: str, run: EvaluateTrees
) -> None:
    """The message names the file, and the line where there is one."""
    first, _ = run.of(gold, predicted).refused(1)

    assert first.startswith(f"error: {run.folder}/{error.format(folder=run.folder)}")


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ("--gold absent --predicted GOLD", 1, "absent: no such file"),
        ("--gold GOLD --predicted absent", 1, "absent: no such file"),
        ("--gold GOLD --predicted GOLD --params absent", 1, "absent: no such file"),
        ("--gold GOLD --predicted GOLD --params GOLD", 2, "the file of parameters has 4 problems"),
        ("MODEL absent", 1, "absent: no such file"),
        ("absent GOLD", 1, "absent does not exist; a model is a folder that 'dragoman train' has made"),
        ("MODEL GOLD --output GOLD", 2, "--output GOLD: this file is read as input and would be lost"),
        ("MODEL GOLD --beam-size 0", 2, "--beam-size 0: must be a whole number of at least 1"),
        ("MODEL GOLD GOLD", 2, "MODEL parses, and is scored on one file of gold trees, not on 2 files"),
        ("MODEL GOLD --baseline GOLD", 2, "--baseline compares translations, and the model parses"),
        ("MODEL GOLD --tokenized", 2, "--tokenized is about texts, and the model parses"),
        ("MODEL GOLD --precision int8", 2, "--precision says how a model translates, and the model parses"),
        ("MODEL GOLD --mbr", 2, "--mbr says which translations are chosen, and the model parses"),
        ("MODEL GOLD --forbid-from GOLD", 2, "--forbid-from says which translations are chosen, and the"),
        ("--gold GOLD --predicted GOLD --device cpu", 2, "--device says where a model computes, and --gold"),
        ("MODEL GOLD --json --per-sentence", 2, "--json holds every sentence already; leave out --per-sent"),
        ("--gold GOLD", 2, "--predicted is missing; --predicted TREES are scored against --gold TREES"),
        ("--predicted GOLD", 2, "--gold is missing; --predicted TREES are scored against --gold TREES"),
        (
            "--gold GOLD --predicted GOLD GOLD",
            2,
            "GOLD: --gold and --predicted score trees that are there al",
        ),
        (
            "--gold GOLD --predicted GOLD --hypothesis GOLD",
            2,
            "--hypothesis: --gold and --predicted score tr",
        ),
        (
            "--gold GOLD --predicted GOLD -o x",
            2,
            "--output keeps what a model writes, and --gold and --predic",
        ),
        (
            "--gold GOLD --predicted GOLD --unconstrained",
            2,
            "--unconstrained is about a search for trees, and",
        ),
        ("--gold - --predicted -", 2, "standard input can be read only once"),
    ],
)
def test_what_makes_no_sense_is_told(
    words: str, code: int, error: str, run: EvaluateTrees, parser_model: Path
) -> None:
    """Absent files and a wrong choice of options get a sentence, a hint and their exit code."""
    gold = run.file("gold.mrg", GOLD)
    names = {"GOLD": str(gold), "MODEL": str(parser_model)}
    first, hint = run(*(names.get(word, word) for word in words.split())).refused(code)
    for name, path in names.items():
        error = error.replace(name, path)

    assert first.startswith(f"error: {error}")
    assert hint.startswith("hint: ")
