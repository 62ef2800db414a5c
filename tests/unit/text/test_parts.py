"""Long texts in parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text import Tokenizer
from dragoman.text.parts import cut_text
from text_samples import sentences


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(iter(sentences(300)), 336, max_sentences=10_000, seed=1)


TEXTS = st.text(st.sampled_from("ab .!\n\t\N{SNOWMAN}\N{GRINNING FACE}▁\N{NO-BREAK SPACE}e"), max_size=120)


@given(text=TEXTS, limit=st.integers(5, 20))
def test_nothing_is_lost(tokenizer: Tokenizer, text: str, limit: int) -> None:
    """Gaps, parts and the end are the text, unless it is blank, and no part is too long."""
    parts = cut_text(text, tokenizer, limit)
    whole = "".join(part.around(tokenizer.decode(part.ids)) for part in parts)

    assert whole == (text if text.strip() else "")
    assert all(0 < len(part.ids) <= limit for part in parts)
    assert all(not (part.gap + part.end).strip() for part in parts)
    assert not any(part.end for part in parts[:-1])
    assert bool(parts) == bool(text.strip())


def test_a_text_that_fits_is_one_part(tokenizer: Tokenizer) -> None:
    """As it is, white space at both ends too."""
    text = "  The boats sing. \t"

    assert [(part.gap, part.ids) for part in cut_text(text, tokenizer, 64)] == [("", tokenizer.encode(text))]


def test_a_text_is_cut_between_sentences(tokenizer: Tokenizer) -> None:
    """The white space between two sentences is in neither part."""
    text = "The old boats sing near the river.\n\n  The old boats sing near the bridge!   The end."
    limit = len(tokenizer.encode("The old boats sing near the bridge!   The")) + 1
    parts = cut_text(text, tokenizer, limit)

    assert [(part.gap, tokenizer.decode(part.ids)) for part in parts] == [
        ("", "The old boats sing near the river."),
        ("\n\n  ", "The old boats sing near the bridge!"),
        ("   ", "The end."),
    ]


def test_a_megabyte_of_one_line_is_cut_in_seconds(tokenizer: Tokenizer) -> None:
    """Work grows with the text and not with its square: each piece is made a few times at most."""
    calls = []

    class Counting:
        def __getattr__(self, name: str) -> object:
            return getattr(tokenizer, name)

        def encode(self, text: str) -> list[int]:
            calls.append(len(text))
            return tokenizer.encode(text)

    text = "The old boats sing near the river. " * 3_000
    cut_text(text, Counting(), 63)  # type: ignore[arg-type]

    assert sum(calls) < 20 * len(text)
