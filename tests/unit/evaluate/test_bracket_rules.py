"""What the reader of EVALB's parameters promises."""

from pathlib import Path

import pytest

from dragoman.errors import ConfigError, CorpusError
from dragoman.evaluate.bracket_rules import Rules, read_rules

EVERY_KEYWORD = """\
## All that a file may say ##
DEBUG 0
MAX_ERROR 3

CUTOFF_LEN 70
LABELED 0
DELETE_LABEL TOP
DELETE_LABEL #
  DELETE_LABEL\t``  \n\
DELETE_LABEL_FOR_LENGTH -NONE-
QUOTE_LABEL POS
EQ_LABEL ADVP PRT
EQ_WORD gray grey
# EQ_WORD  Example example
"""


def test_every_keyword_is_read(tmp_path: Path) -> None:
    """Each keyword sets what its name says; comments, blank lines and blanks around a line do not matter."""
    file = tmp_path / "every.prm"
    file.write_text(EVERY_KEYWORD, encoding="utf-8")

    assert read_rules(file) == Rules(
        labeled=False,
        delete_labels=frozenset({"TOP", "#", "``"}),
        delete_labels_for_length=frozenset({"-NONE-"}),
        quote_labels=frozenset({"POS"}),
        equal_labels=frozenset({("ADVP", "PRT")}),
        equal_words=frozenset({("gray", "grey")}),
        cutoff_length=70,
        max_errors=3,
    )


def test_an_empty_file_changes_no_default(tmp_path: Path) -> None:
    """What a file does not say is as in EVALB without a file."""
    file = tmp_path / "empty.prm"
    file.write_text("# nothing\n", encoding="utf-8")

    assert read_rules(file) == Rules()


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    """Every line that breaks the format is named with its number and the reason."""
    file = tmp_path / "bad.prm"
    file.write_text(
        "DELETE_LABLE TOP\nDELETE_LABEL\nEQ_LABEL ADVP\nMAX_ERROR many\nLABELED 2\nDELETE_LABEL TOP S1\n"
        f"CUTOFF_LEN -1\nCOLOR red\nMAX_ERROR {'9' * 5_000}\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        read_rules(file)

    assert caught.value.message.split("\n") == [
        "the file of parameters has 9 problems",
        f"  {file}:1  DELETE_LABLE: no such keyword; did you mean DELETE_LABEL?",
        f"  {file}:2  DELETE_LABEL: needs one value, and there is none",
        f"  {file}:3  EQ_LABEL: needs two values, not 1 (ADVP)",
        f"  {file}:4  MAX_ERROR: must be a whole number, not many",
        f"  {file}:5  LABELED: must be 0 (unlabeled) or 1 (labeled), not 2",
        f"  {file}:6  DELETE_LABEL: needs one value, not 2 (TOP S1)",
        f"  {file}:7  CUTOFF_LEN: must be a whole number, not -1",
        f"  {file}:8  COLOR: no such keyword",
        f"  {file}:9  MAX_ERROR: must have at most 18 digits, not 5,000",
    ]
    assert caught.value.hint is not None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The message names the file that is not there."""
    with pytest.raises(CorpusError, match=r"absent\.prm"):
        read_rules(tmp_path / "absent.prm")
