"""Every text comes back from its tokens, and no text becomes a control token."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.text import Tokenizer

pytestmark = pytest.mark.untraced  # text has no shapes

TEXTS = [
    "The boat waits under the old bridge. 12 songs, 3.50 €!",
    "Das Boot wartet unter der alten Brücke – größer, schöner.",
    "<s> </s> <unk> <pad> @@ ▁ ▅ tab\there nul\0there",
] * 40


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXTS, 400, max_sentences=1_000, seed=1)


def assert_exact(tokenizer: Tokenizer, texts: list[str]) -> None:
    encoded = tokenizer.encode_all(texts)
    control = {tokenizer.end, tokenizer.unknown, tokenizer.padding}

    assert [tokenizer.decode(tokens) for tokens in encoded] == texts
    assert not control & {token for tokens in encoded for token in tokens}


FRAGMENTS = (
    *(" ", "  ", "▁", "▁▁", "▅", "the", "boat", " Boot", "@@", "@@ ", "\u2047"),
    *("\0", "\t", "\r", "\n", "\r\n", "\u2028", "\u0085", "\u00a0", "\u3000", "\u200d", "\ufeff"),
    *("</s>", "<s>", "<unk>", "<pad>", "<0x41>", "<0x0A>", "<0xE2><0x96><0x81>"),
    *("\u0301", "é", "e\u0301", "🚣", "👩\u200d🚀"),
)
NEAR_PIECES = st.lists(st.sampled_from(FRAGMENTS)).map("".join)


@given(text=st.text() | NEAR_PIECES)
@example(text="")
@example(text="   leading, repeated   and trailing   ")
@example(text="▁▁ literal ▁")
@example(text="\u0301lone mark")
@example(text="mail me @@ home @-@ user@@ name")
def test_every_text_comes_back(tokenizer: Tokenizer, text: str) -> None:
    """decode(encode(text)) is the text, alone, in a batch and under dropout."""
    assert_exact(tokenizer, [text, f"{text} ", f" {text}", text])
    for tokens in tokenizer.encode_with_dropout([text, text], 0.3, seed=1):
        assert tokenizer.decode(tokens) == text


@given(texts=st.lists(NEAR_PIECES | st.text(max_size=8), max_size=8))
def test_a_batch_is_its_texts(tokenizer: Tokenizer, texts: list[str]) -> None:
    """Encoding many texts at once gives what each gives alone, by either implementation.

    Words of 64 characters and more are left out: with dropout they are cut before they are merged.
    """
    texts = [text for text in texts if max(len(word.encode()) for word in text.split(" ")) < 60]
    alone = [tokenizer.encode(text) for text in texts]

    assert tokenizer.encode_all(texts) == alone
    assert tokenizer.encode_with_dropout(texts, 0.0, seed=1) == alone


@given(text=NEAR_PIECES, word=st.sampled_from(["boat", "Brücke", "</s>"]))
def test_words_after_a_special_spelling_reach_the_model(tokenizer: Tokenizer, text: str, word: str) -> None:
    """A text grows by the tokens of what is added to it."""
    text = f"x{text}"
    num_tokens = len(tokenizer.encode(text)) + len(tokenizer.encode(word))

    assert len(tokenizer.encode(f"{text} {word}")) == num_tokens


def scalars() -> Iterator[str]:
    """Yield all 1,112,064 Unicode scalar values."""
    yield from map(chr, range(0xD800))
    yield from map(chr, range(0xE000, 0x110000))


def test_a_sample_of_unicode_comes_back(tokenizer: Tokenizer) -> None:
    """The first 4,096 scalar values and 20,000 of the others come back, alone and between letters."""
    everything = list(scalars())
    sample = everything[:4_096] + random.Random(1).sample(everything[4_096:], 20_000)

    assert_exact(tokenizer, sample)
    assert_exact(tokenizer, [f"a{character}b" for character in sample])


@pytest.mark.full
def test_all_of_unicode_comes_back(tokenizer: Tokenizer) -> None:
    """Each of the 1,112,064 Unicode scalar values comes back, alone, between letters and doubled."""
    everything = list(scalars())

    assert len(everything) == 1_112_064
    for start in range(0, len(everything), 50_000):
        part = everything[start : start + 50_000]
        assert_exact(tokenizer, part)
        assert_exact(tokenizer, [f"a{character}{character} b" for character in part])
