"""Phrases that no output contains."""

import math

import pytest
import torch

from decoding_tables import piece_table, run_pieces
from dragoman.config import SearchConfig
from dragoman.decoding import Forbidden, ForbiddingDecoder
from dragoman.text import Tokenizer
from search_tables import TableDecoder
from text_samples import sentences, trained


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(200))


def possible(tokenizer: Tokenizer, phrases: list[str], read: str, room: int = 50) -> set[int]:
    """The tokens that may follow a text, with room for so many; they keep their log-probability."""
    table, tokens = piece_table(1, tokenizer), [tokenizer.padding, *tokenizer.encode(read)]
    limit_B = torch.tensor([len(tokens) - 1 + room])
    decoder = ForbiddingDecoder(
        TableDecoder(table, [0], 1), Forbidden.of(phrases, tokenizer), limit_B, beam_size=1
    )
    for token in tokens:
        [logprob_V] = decoder.step(torch.tensor([token])).tolist()
    free_V = table(0, tuple(tokens))

    assert all(logprob in (free, -math.inf) for logprob, free in zip(logprob_V, free_V, strict=True))
    return {token for token, logprob in enumerate(logprob_V) if logprob > -math.inf}


def spelled(tokenizer: Tokenizer, tokens: set[int]) -> set[str]:
    return {tokenizer.spellings[token].decode(errors="replace") for token in tokens}


def test_after_a_phrase_only_its_word_may_go_on(tokenizer: Tokenizer) -> None:
    """Where a text ends with a phrase, the end and all that begins outside of words is impossible."""
    allowed = possible(tokenizer, ["river"], "The river")

    assert tokenizer.end not in allowed
    assert {"s", "ing", "a", "_", "7"} <= spelled(tokenizer, allowed)
    assert not {" ", ".", " boat", "-"} & spelled(tokenizer, allowed)


@pytest.mark.parametrize("read", ["The rivers", "driver", "ariver", "The River", "x_river", "river1"])
def test_parts_of_words_are_no_phrase(tokenizer: Tokenizer, read: str) -> None:
    """A phrase in a longer word, or in other case, restricts nothing, even where a word begins as another."""
    allowed = possible(tokenizer, ["river", "axe"], read)

    assert tokenizer.end in allowed
    assert {" ", "."} <= spelled(tokenizer, allowed)


@pytest.mark.parametrize("read", ["river", "(river", "the river", "e\u0301river", "river river"])
def test_a_phrase_begins_where_no_word_goes_on(tokenizer: Tokenizer, read: str) -> None:
    """The beginning of the text, a space, a mark and punctuation all part words."""
    assert tokenizer.end not in possible(tokenizer, ["river"], read)


def test_a_phrase_may_have_several_words(tokenizer: Tokenizer) -> None:
    """Of two words that are forbidden together, each may stand alone."""
    assert tokenizer.end in possible(tokenizer, ["river boat"], "The river")
    assert tokenizer.end in possible(tokenizer, ["river boat"], "The boat")
    assert tokenizer.end not in possible(tokenizer, ["river boat"], "The river boat")


def test_a_shorter_phrase_is_found_inside_a_longer_one(tokenizer: Tokenizer) -> None:
    """While a longer phrase may still come, the end of a shorter one inside it is not missed."""
    assert tokenizer.end not in possible(tokenizer, ["old river boat", "river"], "old river")


def test_a_character_that_cannot_save_the_word_is_not_begun(tokenizer: Tokenizer) -> None:
    """After a phrase a first byte is possible only if a letter or digit begins with it."""
    allowed = possible(tokenizer, ["river"], "river")

    assert tokenizer.tokens(["<0xC3>"])[0] in allowed
    assert not set(tokenizer.tokens(["<0xF4>", "<0xFF>", "<0x80>"])) & allowed


@pytest.mark.parametrize(("first", "size"), [("<0xC3>", 2), ("<0xE4>", 3), ("<0xF0>", 4)])
def test_a_character_is_begun_only_if_it_fits(tokenizer: Tokenizer, first: str, size: int) -> None:
    """Of the bytes that would lengthen a forbidden word, the first is possible if there is room for all."""
    allowed = [possible(tokenizer, ["river"], "river", room) for room in range(1, 6)]

    assert [tokenizer.tokens([first])[0] in some for some in allowed] == [
        room >= size for room in range(1, 6)
    ]
    assert all(tokenizer.tokens(["<0x61>"])[0] in some for some in allowed)


@pytest.mark.parametrize(
    ("read", "found"), [("river", False), (" river", True), ("a river", False), ("a  river", True)]
)
def test_spaces_of_a_phrase_count(tokenizer: Tokenizer, read: str, found: bool) -> None:
    """A phrase that begins with a space is found where the text has one and no word before it."""
    assert (tokenizer.end not in possible(tokenizer, [" river"], read)) == found


@pytest.mark.parametrize(("room", "comes"), [(1, False), (2, True)])
def test_no_output_is_cut_after_a_phrase(tokenizer: Tokenizer, room: int, comes: bool) -> None:
    """The last token of the limit does not end with a phrase, as nothing could lengthen the word."""
    [river] = tokenizer.tokens(["▁river"])

    assert (river in possible(tokenizer, ["river"], "The", room)) == comes


@pytest.mark.parametrize("beam_size", [1, 3])
def test_no_phrases_change_nothing(tokenizer: Tokenizer, beam_size: int) -> None:
    """Without phrases search finds what it finds without the decoder."""
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    table = piece_table(3, tokenizer, ending=0.5)
    free = run_pieces(TableDecoder(table, [0, 1], beam_size), tokenizer, [8, 5], config)
    decoder = ForbiddingDecoder(
        TableDecoder(table, [0, 1], beam_size), Forbidden.of([], tokenizer), torch.tensor([8, 5]), beam_size
    )

    assert run_pieces(decoder, tokenizer, [8, 5], config) == free


@pytest.mark.parametrize("phrase", ["", " ", "\n\u3000"])
def test_blank_phrases_are_refused(tokenizer: Tokenizer, phrase: str) -> None:
    """A phrase of nothing but spaces is an error of the caller."""
    with pytest.raises(ValueError, match="is blank"):
        Forbidden.of(["river", phrase], tokenizer)
