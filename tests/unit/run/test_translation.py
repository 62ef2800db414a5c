"""What is told of lines that were cut, and the settings of a search."""

from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from dragoman.choice import Choice
from dragoman.config import SearchConfig
from dragoman.errors import UsageError
from dragoman.run.translation import prefixed, search_settings, translate_lines
from dragoman.translator import Alternative, Text, Translation, Translator


class Copier:
    """Translates a text by itself; "!" marks one whose output is cut, digits give its number of parts."""

    max_source_length = 64

    def __init__(self) -> None:
        self.firsts: list[int] = []

    def translate_each(
        self, texts: Sequence[Text], config: SearchConfig, choice: Choice, *, first: int
    ) -> Iterator[tuple[int, Translation]]:
        self.firsts.append(first)
        for place, (text, _) in reversed(list(enumerate(texts))):
            best = Alternative(text, 0.0, (), (), finished="!" not in text)
            yield place, Translation(text, (best,), len(text) + 1, int(text) if text.isdigit() else 1)


def told(*windows: list[str], ordered: bool = True) -> tuple[list[tuple[int, str]], list[str]]:
    """Line numbers with translations, and all notices."""
    notices: list[str] = []
    translator = cast(Translator, Copier())
    texts = prefixed(windows, None)
    lines = translate_lines(translator, texts, SearchConfig(), notices.append, ordered=ordered)
    return [(number, translation.text) for number, translation in lines], notices


def test_lines_are_numbered_across_windows() -> None:
    """Line numbers go on from window to window, and nothing is told of ordinary lines."""
    assert told(["a", "b"], ["c"]) == ([(1, "a"), (2, "b"), (3, "c")], [])


def test_windows_are_numbered_by_the_texts_before_them() -> None:
    """What is drawn for a line depends on its number in the whole input."""
    copier = Copier()
    windows = prefixed([["a", "b"], ["c"], ["d"]], None)
    list(translate_lines(cast(Translator, copier), windows, SearchConfig(), print))

    assert copier.firsts == [0, 2, 3]


def test_lines_may_come_as_they_are_done() -> None:
    """Unordered, each comes as soon as it is done, with its own number."""
    found, _ = told(["a", "b"], ["c", "d"], ordered=False)

    assert found == [(2, "b"), (1, "a"), (4, "d"), (3, "c")]


def test_a_line_in_parts_is_told_with_its_lengths() -> None:
    """One notice names the line, its pieces, the limit and the number of parts."""
    notice = "line 3 has 3 pieces, more than the 64 the model reads at once; it is translated in 12 parts"

    assert told(["a", "b"], ["12"])[1] == [notice]


@pytest.mark.parametrize(
    ("windows", "notice"),
    [
        ([["a", "!"]], "1 output was cut at the length limit: line 2"),
        ([["!"], ["!", "a", "!"]], "3 outputs were cut at the length limit: lines 1, 2, 4"),
        ([["!"] * 5, ["!"] * 7], "12 outputs were cut at the length limit: lines 1, 2, 3, 4, 5 and 7 more"),
    ],
)
def test_cut_outputs_are_counted_at_the_end(windows: list[list[str]], notice: str) -> None:
    """The first five lines are named, the others counted."""
    assert told(*windows)[1] == [notice]


def test_settings_that_are_not_given_stay_the_models_own() -> None:
    """Only the keys that are given change."""
    own = SearchConfig(beam_size=7, length_penalty=1.0)

    assert search_settings(own, {"beam_size": None, "n_best": 2}) == SearchConfig(
        beam_size=7, length_penalty=1.0, n_best=2
    )


def test_a_number_beyond_all_is_told_as_that() -> None:
    """Not as one that is too small."""
    with pytest.raises(UsageError, match="--batch-tokens 99999999999: must be at most 2,147,483,647"):
        search_settings(SearchConfig(), {"batch_tokens": 99_999_999_999})


def test_all_settings_that_break_a_rule_are_told() -> None:
    """Each is named as the option of the command line, with the rule in words."""
    with pytest.raises(UsageError) as caught:
        search_settings(SearchConfig(), {"beam_size": 0, "length_penalty": float("inf")})

    assert caught.value.message == (
        "--beam-size 0: must be a whole number of at least 1 and at most 1000; "
        "--length-penalty inf: must be a number of at least -10 and at most 10"
    )


def test_no_more_translations_than_the_beam_holds() -> None:
    """More translations than hypotheses are refused, with the beam size that would do."""
    with pytest.raises(UsageError, match="greater than the beam size of 2") as caught:
        search_settings(SearchConfig(), {"beam_size": 2, "n_best": 3})

    assert caught.value.hint == "add --beam-size 3"
