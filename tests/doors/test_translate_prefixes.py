"""``dragoman translate --prefix`` by the real command line."""

import json
from pathlib import Path

import pytest

from copying import Ended, Translate

pytestmark = pytest.mark.untraced


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Where a test writes its prefixes."""
    return tmp_path / "prefixes"


def prefixes(file: Path, *lines: str) -> Path:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


@pytest.mark.parametrize("beam_size", [1, 4])
def test_each_line_starts_with_its_prefix(translate: Translate, written: Path, beam_size: int) -> None:
    """To the letter: words, parts of words, spaces at the end, and what the model has never seen."""
    given = ["da", "b", "gu ", "Zürich, ", "  ba", "😀 €", "ba be b", "x\u2581y", "da  du"]
    text = "ba be bi\n" * len(given)
    ended = translate("--prefix", prefixes(written, *given), "--beam-size", beam_size, text=text)

    assert (ended.code, ended.said.count("error")) == (0, 0)
    assert [line[: len(prefix)] for line, prefix in zip(ended.lines, given, strict=True)] == given


def test_the_output_goes_on_after_its_prefix(translate: Translate, written: Path) -> None:
    """A model that copies completes the line, and a part of a word becomes a word."""
    given = prefixes(written, "ba", "ba be b", "ba be bi")
    ended = translate("--prefix", given, text="ba be bi\n" * 3)

    assert ended == Ended(0, ["ba be bi"] * 3, "")


def test_blank_prefixes_change_nothing(translate: Translate, written: Path) -> None:
    """Where a line is blank the translation is the plain one with its score, beside lines with a prefix."""
    text = "ba be\nda\n\ngu go\n"
    plain = [json.loads(line) for line in translate("--format", "jsonl", text=text).lines]
    ended = translate("--format", "jsonl", "--prefix", prefixes(written, "", "du", "", ""), text=text)
    free = translate("--format", "jsonl", "--prefix", prefixes(written, *[""] * 4), text=text)
    found = [json.loads(line) for line in ended.lines]

    assert [json.loads(line) for line in free.lines] == plain
    assert found[1]["translation"].startswith("du")
    for number in (0, 2, 3):
        assert found[number]["translation"] == plain[number]["translation"]
        assert found[number]["score"] == pytest.approx(plain[number]["score"], abs=1e-4)


def test_a_prefix_of_spaces_is_blank(translate: Translate, written: Path) -> None:
    """As a source of spaces is: the translation begins as it likes."""
    ended = translate("--prefix", prefixes(written, " ", "\t ", "ba"), text="da di\n" * 3)

    assert ended.lines[:2] == ["da di"] * 2


@pytest.mark.parametrize("count", [0, 1, 2, 4, 9])
def test_there_is_a_prefix_for_each_line(translate: Translate, written: Path, count: int) -> None:
    """Fewer or more are one message with both numbers."""
    ended = translate("--prefix", prefixes(written, *["ba"] * count), text="ba\nda\ngu\n")
    numbers = (
        f"{count} line{'s' * (count != 1)} and the input 3 or more"
        if count < 3
        else "more lines and the input 3"
    )

    assert ended.code == 1
    assert ended.said.startswith(f"error: {written} has {numbers}")
    assert ended.said.count("\n") == 2


def test_prefixes_of_windows_belong_to_their_lines(
    translate: Translate, written: Path, tmp_path: Path
) -> None:
    """Line n of one file is for line n of the other, far into both."""
    (tmp_path / "text").write_text("ba be\n" * 1_030, encoding="utf-8")
    given = [
        f"{word} {number}" if number in (0, 1_023, 1_024, 1_029) else ""
        for number in range(1_030)
        for word in ["da"]
    ]
    ended = translate(tmp_path / "text", "--beam-size", 1, "--prefix", prefixes(written, *given))

    assert ended.code == 0
    assert all(line.startswith(prefix) for line, prefix in zip(ended.lines, given, strict=True))
    assert [i for i, line in enumerate(ended.lines) if line != "ba be"] == [0, 1_023, 1_024, 1_029]


def test_a_prefix_that_leaves_no_room_is_one_message(translate: Translate, written: Path) -> None:
    """It names the line and both numbers; nothing is written."""
    ended = translate("--prefix", prefixes(written, "", "ba " * 70), text="ba\nda\n")

    assert (ended.code, ended.lines) == (2, [])
    assert ended.said.startswith("error: the prefix of text 2 may take ")
    assert ended.said.count("\n") == 2


@pytest.mark.parametrize("prefix", ["ba ", "da ba be", "ba, be", "(ba) be", "da-ba-du"])
def test_a_prefix_that_is_forbidden_is_one_message(translate: Translate, written: Path, prefix: str) -> None:
    """The line is named and the phrase."""
    ended = translate("--prefix", prefixes(written, "", prefix), "--forbid", "ba", text="be\nbe\n")

    assert (ended.code, ended.lines) == (2, [])
    assert ended.said.startswith("error: the prefix of text 2 holds 'ba', which is forbidden\n")
    assert ended.said.count("\n") == 2


@pytest.mark.parametrize("prefix", ["ba", "bab ", "abba be", "_ba be"])
def test_a_prefix_may_begin_what_is_forbidden(translate: Translate, written: Path, prefix: str) -> None:
    """Parts of words are no words; at the end of the prefix the word goes on."""
    options = ("--prefix", prefixes(written, prefix), "--forbid", "ba")
    ended = translate(*options, text="be bo\n")

    assert ended.code == 0
    assert ended.lines[0].startswith(prefix)
    assert "ba" not in ended.lines[0].split(" ")


def test_a_blank_source_stays_blank(translate: Translate, written: Path) -> None:
    """Nothing is translated, so nothing begins."""
    ended = translate("--prefix", prefixes(written, "da", "da"), text="\nda\n")

    assert ended == Ended(0, ["", "da"], "")


@pytest.mark.parametrize(
    ("content", "message"), [(b"ba\n\xff\n", "line 2: byte 1 of the line is 0xFF"), (None, "no such file")]
)
def test_prefixes_that_cannot_be_read_are_one_message(
    translate: Translate, written: Path, content: bytes | None, message: str
) -> None:
    """The file is named, and the line where there is one."""
    if content is not None:
        written.write_bytes(content)
    ended = translate("--prefix", written, text="ba\nda\n")

    assert ended.code == 1
    assert ended.said.startswith(f"error: {written}")
    assert message in ended.said
    assert ended.said.count("\n") == 2


@pytest.mark.parametrize("option", ["--prefix", "--forbid-from"])
def test_output_is_none_of_the_files_that_are_read(translate: Translate, written: Path, option: str) -> None:
    """Prefixes and phrases would be lost as the text would."""
    prefixes(written, "du")
    ended = translate(option, written, "--output", written, text="ba\n")

    assert ended.code == 2
    assert "this file is read as input and would be lost" in ended.said
    assert written.read_text(encoding="utf-8") == "du\n"
