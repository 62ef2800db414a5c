"""``dragoman explain`` by the real command line."""

import json
from pathlib import Path

import pytest

from copying import Translate

pytestmark = pytest.mark.untraced


@pytest.fixture
def explain(translate: Translate) -> Translate:
    """The command on the model that copies."""
    translate.command = "explain"
    return translate


def test_the_terminal_shows_a_picture_and_the_other_choices(explain: Translate) -> None:
    """Source, output, a row for each piece, and its probability, all on standard output."""
    code, lines, said = explain("ba be bi")

    assert (code, said) == (0, "")
    assert lines[:2] == ["ba be bi", "ba be bi"]
    assert any(line.startswith("cross attention, layer 1") for line in lines)
    assert any(line.split()[:1] == ["ba"] and "0.9" in line for line in lines)


@pytest.mark.parametrize("words", [(), ("-",)])
def test_the_sentence_may_come_from_standard_input(explain: Translate, words: tuple[str, ...]) -> None:
    """A line is shown as if it had been typed; of two lines neither is."""
    one = explain(*words, "--format", "json", text="ba be bi\n")
    two = explain(*words, text="ba be\nbi\n")

    assert one == explain("ba be bi", "--format", "json")
    assert (two.code, two.lines) == (2, [])
    assert "standard input has 2 sentences" in two.said


@pytest.mark.parametrize(
    ("ending", "begins"), [("html", b"<!doctype html>"), ("svg", b"<svg "), ("json", b"{"), ("txt", b"ba be")]
)
def test_the_ending_of_a_file_names_the_format(
    explain: Translate, tmp_path: Path, ending: str, begins: bytes
) -> None:
    """Nothing is written to standard output then."""
    path = tmp_path / f"found.{ending}"
    code, lines, said = explain("ba be", "--output", path)

    assert (code, lines, said) == (0, [], "")
    assert path.read_bytes().startswith(begins)


def test_a_png_is_a_picture(explain: Translate, tmp_path: Path) -> None:
    """Matplotlib draws it."""
    pytest.importorskip("matplotlib")
    code, _, _ = explain("ba be", "--output", tmp_path / "found.png", "--heads", "1,3")

    assert code == 0
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")


def test_a_word_names_the_heads_that_span_farthest(explain: Translate, tmp_path: Path) -> None:
    """In the terminal they follow the picture; beside a file they are told on standard error."""
    _, lines, _ = explain("ba be bi", "--word", "be")
    _, _, said = explain("ba be bi", "--word", "be", "-o", tmp_path / "a.svg")

    assert "encoder heads whose attention spans farthest from 'be':" in lines
    assert "encoder heads whose attention spans farthest from 'be':" in said
    assert "layer 1, head" in said


def test_an_output_of_your_own_is_explained(explain: Translate) -> None:
    """The model would not have written it, and says how unlikely it is."""
    _, lines, _ = explain("ba be", "--translation", "gu gu", "--format", "json")
    found = json.loads(lines[0])
    [first] = [
        one["probability"] for one in found["candidates"][0] if one["piece"] == found["target_pieces"][0]
    ]

    assert found["output"] == "gu gu"
    assert first < 0.5


def test_a_model_that_copies_aligns_each_word_with_itself(explain: Translate, tmp_path: Path) -> None:
    """Pharaoh's format, a line for each pair; a blank pair has an empty line."""
    (tmp_path / "a").write_text("ba be bi\n\ngo gu\n", encoding="utf-8")
    (tmp_path / "b").write_text("ba be bi\n\ngo gu\n", encoding="utf-8")
    code, lines, said = explain("--alignments", tmp_path / "a", "--alignments", tmp_path / "b")

    assert (code, said) == (0, "")
    assert lines == ["0-0 1-1 2-2", "", "0-0 1-1"]


def test_a_corpus_that_does_not_fit_together_writes_no_line(explain: Translate, tmp_path: Path) -> None:
    """Unequal files are found before the first alignment."""
    (tmp_path / "a").write_text("ba\nbe\n", encoding="utf-8")
    (tmp_path / "b").write_text("ba\n", encoding="utf-8")
    code, lines, said = explain("--alignments", tmp_path / "a", "--alignments", tmp_path / "b")

    assert (code, lines) == (1, [])
    assert "2 lines but" in said


def test_a_word_alone_has_its_own_rows(explain: Translate) -> None:
    """The picture shows where this word looks, and no other."""
    _, lines, _ = explain("ba be bi", "--word", "be")
    picture = lines[: lines.index("probability of each piece, and the likeliest others:")]
    rows = [line.split()[0] for line in picture if line.split()[:1] in (["ba"], ["be"], ["bi"])]

    assert rows[2:] == ["be"]


def test_some_heads_are_named(explain: Translate) -> None:
    """The mean of two of four heads is not called that of all."""
    _, some, _ = explain("ba be bi", "--heads", "1,3")
    _, every, _ = explain("ba be bi")

    assert "cross attention, layer 1, the mean of heads 1, 3: each row looks at the columns" in some
    assert "cross attention, layer 1, the mean of all heads: each row looks at the columns" in every


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ba", "--alignments", "a.tsv"), "give a TEXT to explain, or a corpus with --alignments"),
        ((), "standard input has 0 sentences; give one to explain"),
        (("ba", "--layer", "7"), "--layer 7: the layers of this model's cross-attention are 1"),
        (("ba", "--heads", "9"), "--heads 9: a layer of this model has 4 heads"),
        (("ba", "--heads", "x"), "'x' are no numbers of heads"),
        (("ba", "--word", "go"), "the word 'go' is not in the source"),
        (("ba", "-o", "found.pdf"), "its ending names no format"),
        ((" ",), "the source is blank"),
        (("--alignments", "a.tsv", "--word", "ba"), "--alignments goes with --layer and --output alone"),
        (("ba", "-o", "/proc/none/x.png"), "--output"),
    ],
)
def test_what_cannot_be_shown_is_one_message(
    explain: Translate, words: tuple[str, ...], message: str
) -> None:
    """It names what is wrong, and no traceback follows."""
    code, lines, said = explain(*words)

    assert code in (1, 2)
    assert lines == []
    assert message in said
    assert "Traceback" not in said
