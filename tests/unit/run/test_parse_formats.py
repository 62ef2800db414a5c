"""How parses are written, and how outputs that are no trees are counted."""

import json
from typing import Any

import pytest

from dragoman.parser import Parse, ParsedTree
from dragoman.run.parse_formats import ParseStyle, format_parse
from dragoman.run.parsing import BrokenOutputs
from dragoman.trees import Leaf, Tree, parse_trees

WORDS = ("(", "-LRB-", 'a"\\', "\u2028")
TREE = Tree("TOP", tuple(Leaf("XX", word) for word in WORDS))
WHOLE = ParsedTree(TREE, None, -1.5, ("(TOP", "XX", "XX", "XX", "XX", ")TOP"), (-0.5,) * 7)
BROKEN = ParsedTree(None, "after 1 symbols: (TOP is not closed", -2.5, ("(TOP",), (-1.0, -1.5))
PARSE = Parse(WORDS, (WHOLE, BROKEN))
BLANK = Parse((), ())


def written(parse: Parse, number: int = 7, **changes: Any) -> str:
    chosen: dict[str, Any] = {"format": "bracket", "scores": False, "several": False, "width": 80}
    return format_parse(parse, number, ParseStyle(**(chosen | changes)))


def test_brackets_give_the_words_back() -> None:
    """A line of brackets is read as the same tree, whatever its words hold."""
    line = written(Parse(WORDS, (WHOLE,)))
    (numbered,) = parse_trees([line.removesuffix("\n")], "a line")

    assert line.count("\n") == 1
    assert numbered.tree == TREE


@pytest.mark.parametrize(
    ("several", "scores", "starts", "blank"),
    [
        (False, False, ["", ""], "\n"),
        (False, True, ["-1.500000\t", "-2.500000\t"], "0.000000\t\n"),
        (True, False, ["7\t", "7\t"], "7\t\n"),
        (True, True, ["7\t-1.500000\t", "7\t-2.500000\t"], "7\t0.000000\t\n"),
    ],
)
def test_number_and_score_stand_before_the_tree(
    several: bool, scores: bool, starts: list[str], blank: str
) -> None:
    """Each tree has its line; what is no tree, and a sentence without words, have an empty one."""
    tree = written(Parse(WORDS, (WHOLE,)))
    lines = written(PARSE, several=several, scores=scores)

    assert lines == f"{starts[0]}{tree}{starts[1]}\n"
    assert written(BLANK, several=several, scores=scores) == blank


def test_json_has_everything() -> None:
    """One line of JSON holds words, trees, scores, symbols and faults."""
    line = written(PARSE, format="json")
    read = json.loads(line)
    tree = written(Parse(WORDS, (WHOLE,))).removesuffix("\n")

    assert line.count("\n") == 1
    assert read == {
        "line": 7,
        "words": list(WORDS),
        "tree": tree,
        "score": -1.5,
        "alternatives": [
            {
                "tree": tree,
                "score": -1.5,
                "fault": None,
                "symbols": list(WHOLE.symbols),
                "symbol_scores": [-0.5] * 7,
            },
            {
                "tree": None,
                "score": -2.5,
                "fault": BROKEN.fault,
                "symbols": ["(TOP"],
                "symbol_scores": [-1.0, -1.5],
            },
        ],
    }


def test_json_of_a_blank_line_has_nothing() -> None:
    """A sentence without words has neither tree nor score."""
    assert json.loads(written(BLANK, format="json")) == {
        "line": 7,
        "words": [],
        "tree": None,
        "score": None,
        "alternatives": [],
    }


def test_pictures_are_parted_by_empty_lines() -> None:
    """Each picture, and what is said where there is none, is followed by an empty line."""
    plain = written(PARSE, format="draw")
    headed = written(PARSE, 1_234, format="draw", several=True, scores=True)

    assert plain.endswith(f"\n\nno tree: {BROKEN.fault}\n\n")
    assert headed.startswith("line 1,234, tree 1 of 2, score -1.500000\n")
    assert f"\n\nline 1,234, tree 2 of 2, score -2.500000\nno tree: {BROKEN.fault}\n\n" in headed
    assert written(BLANK, format="draw") == "\n"


def test_broken_outputs_are_counted_and_the_first_named() -> None:
    """The share is of sentences with words, by their best output; five lines are named at most."""
    broken, few = BrokenOutputs(), BrokenOutputs()
    only_broken = Parse(WORDS, (BROKEN,))
    broken.count([(number, only_broken) for number in range(1_001, 1_008)])
    broken.count([(1_008, PARSE), (1_009, BLANK)])
    few.count([(1, PARSE), (2, only_broken), (3, BLANK)])

    assert broken.report() == (
        "7 of 8 outputs (87.5 %) are no trees over their words: "
        "lines 1,001, 1,002, 1,003, 1,004, 1,005 and 2 more"
    )
    assert few.report() == "1 of 2 outputs (50.0 %) are no trees over their words: line 2"
    assert BrokenOutputs().report() == "0 of 0 outputs are no trees over their words"
