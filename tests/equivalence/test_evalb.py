"""The bracket score equals what EVALB itself prints, in every sentence and to the last digit."""

from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.evaluate.bracket_report import evalb_report
from dragoman.evaluate.bracket_rules import COLLINS, Rules, read_rules
from dragoman.evaluate.brackets import BracketScores, Status, score_trees
from dragoman.trees import Tree, parse_trees, read_trees

NUM_HEAD_LINES = 2

pytestmark = pytest.mark.untraced


@pytest.fixture
def evalb(shared: Path) -> Path:
    """The folder of EVALB's samples, parameters and outputs."""
    folder = shared / "data" / "evalb"
    if not folder.is_dir():
        pytest.skip("EVALB's samples are not here")
    return folder


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def side_by_side(line: str) -> Tree:
    """Return the brackets of a line as one tree, whose outermost bracket has no label and does not count."""
    ((_, tree),) = parse_trees([f"(OUTER {line})"], "a line of the sample")
    return Tree("", tree.children)


def sample_scores(evalb: Path) -> BracketScores:
    """Score EVALB's sample, where a prediction may be a blank line or several brackets side by side."""
    gold = [tree for _, tree in read_trees(evalb / "sample.gld")]
    predicted = [side_by_side(line) if line.strip() else None for line in read(evalb / "sample.tst")]
    return score_trees(gold, predicted, read_rules(evalb / "sample.prm"))


def older_fields(scores: BracketScores) -> list[list[str]]:
    """Return the fields of EVALB's lines as its older versions print them.

    Under the crossing brackets of all sentences they print how many sentences have none.
    """
    lines = [line.split() for line in evalb_report(scores)]
    lines[len(scores.sentences) + NUM_HEAD_LINES + 2][5] = str(scores.total.num_no_crossing)
    return lines


def file_scores(evalb: Path, name: str, rules: Rules) -> BracketScores:
    gold = list(read_trees(evalb / f"{name}.gld"))
    predicted = [tree for _, tree in read_trees(evalb / f"{name}.tst")]
    return score_trees([one.tree for one in gold], predicted, rules, lines=[one.line for one in gold])


def test_sample(evalb: Path) -> None:
    """Errors, blank lines, traces, equal labels and words: the sample's table of 2006 is the same."""
    assert evalb_report(sample_scores(evalb)) == read(evalb / "sample.rsl-2006")


def test_sample_of_the_first_version(evalb: Path) -> None:
    """The sample's older table holds the same numbers.

    It prints no F, and for sentences that are errors or skipped it prints words all the same.
    """
    scores = sample_scores(evalb)
    lines = [line for line in older_fields(scores) if "FMeasure" not in line]
    expected = [line.split() for line in read(evalb / "sample.rsl")]
    for i, one in enumerate(scores.sentences, start=NUM_HEAD_LINES + 1):
        if one.status is not Status.VALID:
            lines[i][9] = expected[i][9]

    assert lines == expected


def test_quotation_marks(evalb: Path) -> None:
    """Quotation marks that a tagger took for possessives and nouns are put back as EVALB does."""
    scores = file_scores(evalb, "bug", read_rules(evalb / "new.prm"))

    assert older_fields(scores) == [line.split() for line in read(evalb / "bug.rsl-new")]


@pytest.mark.parametrize(
    ("name", "parameters"), [("craft", "COLLINS"), ("craft", "new"), ("masc", "COLLINS")]
)
def test_damaged_trees(evalb: Path, name: str, parameters: str) -> None:
    """Of 240 damaged trees every row and every sum is the same, by each file of parameters."""
    scores = file_scores(evalb, f"{name}-perturbed", read_rules(evalb / f"{parameters}.prm"))

    assert evalb_report(scores) == read(evalb / f"{name}-perturbed.{parameters}.rsl")


def test_collins_is_built_in(evalb: Path) -> None:
    """The rules that hold without a file are those of COLLINS.prm."""
    assert read_rules(evalb / "COLLINS.prm") == COLLINS


def test_more_errors_may_be_allowed(evalb: Path) -> None:
    """The file nk.prm is new.prm with as many errors as there may be."""
    assert read_rules(evalb / "nk.prm") == replace(read_rules(evalb / "new.prm"), max_errors=10_000)
