"""Symbols of trees in a vocabulary: targets alone are written in them, and no text touches them."""

import pickle
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import TokenizerError
from dragoman.text import Tokenizer
from dragoman.text.ids import END, UNKNOWN
from dragoman.text.training import NUM_FIXED_PIECES, smallest_vocabulary
from text_samples import sentences

pytestmark = pytest.mark.untraced  # text has no shapes

SYMBOLS = (
    "(TOP",
    "(S",
    "(NP",
    ")S",
    ")NP",
    ")TOP",
    "(",
    ")",
    ",",
    "``",
    "''",
    ":",
    '"',
    "-LRB-",
    "NN",
    "<|",
    "é",
)
"""What makes trouble where lists are parted by commas or names are quoted."""


@cache
def trained_with(symbols: tuple[str, ...], size: int = 400) -> Tokenizer:
    return Tokenizer.train(iter(sentences(300)), size, max_sentences=10_000, seed=1, symbols=symbols)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained_with(SYMBOLS)


def test_every_symbol_has_an_id_of_its_own(tokenizer: Tokenizer) -> None:
    """Ids of symbols are no ids of pieces, and pieces show a symbol by its name."""
    tokens = list(tokenizer.symbols.values())

    assert tuple(tokenizer.symbols) == SYMBOLS
    assert len(set(tokens)) == len(SYMBOLS)
    assert tokenizer.pieces(tokens) == list(SYMBOLS)
    assert not {END, UNKNOWN, tokenizer.padding} & set(tokens)


def test_a_target_is_its_symbols(tokenizer: Tokenizer) -> None:
    """Symbols parted by spaces become their ids, one each; what is no symbol is unknown."""
    targets = ["(TOP (S NN , )S )TOP", "(TOP FW )TOP", "'' ``"]
    encoded = tokenizer.encode_targets(targets)

    assert [tokenizer.pieces(tokens) for tokens in encoded] == [
        ["(TOP", "(S", "NN", ",", ")S", ")TOP"],
        ["(TOP", "<unk>", ")TOP"],
        ["''", "``"],
    ]


def test_symbols_have_no_text(tokenizer: Tokenizer) -> None:
    """What a model writes in symbols is not mistaken for text."""
    assert tokenizer.decode(tokenizer.symbols.values()) == ""


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from([*SYMBOLS, "<|NN|>", "<|(S|>", "river", " ", "▁", "<unk>", "</s>"])).map("".join)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
def test_no_text_is_encoded_to_a_symbol(text: str) -> None:
    """Even the name by which the file knows a symbol is spelled, and comes back."""
    tokenizer = trained_with(SYMBOLS)
    tokens = tokenizer.encode(text)

    assert not {*tokenizer.symbols.values(), END, UNKNOWN} & set(tokens)
    assert tokenizer.decode(tokens) == text


def test_symbols_survive_the_file(tokenizer: Tokenizer) -> None:
    """From its bytes, or copied to another process, a tokenizer has the same symbols."""
    again = Tokenizer.from_bytes(tokenizer.to_bytes(), "a test")
    copied = pickle.loads(pickle.dumps(tokenizer))

    assert again.symbols == copied.symbols == tokenizer.symbols
    assert again.pieces(range(again.vocabulary_size)) == tokenizer.pieces(range(tokenizer.vocabulary_size))


def test_a_model_may_write_symbols_and_the_end_alone(tokenizer: Tokenizer) -> None:
    """All pieces of text are impossible beside symbols; without symbols none of them is."""
    possible = set(range(tokenizer.vocabulary_size)) - set(tokenizer.impossible)
    plain = trained_with(())

    assert possible == {END, *tokenizer.symbols.values()}
    assert plain.symbols == {}
    assert plain.impossible == [UNKNOWN, plain.padding]
    assert plain.encode_targets(["a river"]) == plain.encode_all(["a river"])


@pytest.mark.parametrize("number", [3, 9, 40])
def test_the_smallest_vocabulary_is_large_enough(number: int) -> None:
    """It has room for symbols, bytes and some characters; eight fewer have not, and the message says so."""
    symbols = tuple(f"(L{i}" for i in range(number))
    smallest = smallest_vocabulary(number)
    tokenizer = trained_with(symbols, smallest)
    with pytest.raises(TokenizerError, match=rf"{number} symbols of trees.* need {smallest}"):
        trained_with(symbols, smallest - 8)

    assert tokenizer.vocabulary_size == smallest
    assert smallest - number - NUM_FIXED_PIECES - 1 in range(5, 13)
    assert tokenizer.decode(tokenizer.encode("a river")) == "a river"
