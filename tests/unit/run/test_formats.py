"""How translations are written."""

import json

import pytest

from dragoman.errors import UsageError
from dragoman.run.formats import choose_format, format_translation, one_line
from dragoman.translator import Alternative, Translation


def translation(*texts: str) -> Translation:
    """A translation with alternatives of falling scores."""
    alternatives = tuple(
        Alternative(text, -float(place), ("a", "b"), (-0.5, -0.5), finished=True)
        for place, text in enumerate(texts)
    )
    return Translation("source", alternatives, 3, 1)


@pytest.mark.parametrize("text", ["a\nb", "\n", "a\n\n", "a\u2028b\x85c\rd"])
def test_a_line_never_holds_a_line_feed(text: str) -> None:
    """A line feed within a translation becomes a space; no other character is changed."""
    written = format_translation(translation(text), 1, "text", scores=False)

    assert written == text.replace("\n", " ") + "\n"
    assert one_line(text).count("\n") == 0


@pytest.mark.parametrize("text", ["a\nb", 'quote " and \\ and tab \t', "\0", "a\u2028b", "ä ||| ö"])
def test_json_gives_the_text_back(text: str) -> None:
    """One line of JSON holds any translation as it is."""
    written = format_translation(translation(text, "other"), 7, "jsonl", scores=False)
    read = json.loads(written)

    assert written.count("\n") == 1
    assert (read["line"], read["translation"]) == (7, text)
    assert [one["translation"] for one in read["alternatives"]] == [text, "other"]


@pytest.mark.parametrize("text", ["a ||| b", "|||", "||||||", "a |||", "||| a", "a || b", "a\n|||\nb"])
def test_bars_in_a_text_part_no_fields(text: str) -> None:
    """A line of an n-best list has three fields, whatever the text holds."""
    written = format_translation(translation(text), 3, "moses", scores=False)
    number, middle, score = written.removesuffix("\n").split(" ||| ")

    assert (number, float(score)) == ("2", 0.0)
    assert middle.replace("&#124;", "|") == text.replace("\n", " ")


def test_several_translations_need_a_format_for_them() -> None:
    """Text has one line for each line, so several translations are written as Moses does, or not as text."""
    chosen = [choose_format(None, 1), choose_format(None, 2)]

    assert chosen == ["text", "moses"]
    assert (choose_format("jsonl", 3), choose_format("text", 1)) == ("jsonl", "text")
    with pytest.raises(UsageError, match="3 translations of each line and --format text"):
        choose_format("text", 3)
