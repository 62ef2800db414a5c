"""Completion of a started text."""

import math

import pytest
import torch

from decoding_tables import piece_table, run_pieces
from dragoman.config import SearchConfig
from dragoman.decoding import PieceTable, Prefix, PrefixDecoder
from dragoman.text import Tokenizer
from search_tables import TableDecoder
from text_samples import sentences, trained


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(200))


def possible(tokenizer: Tokenizer, prefix: str, read: list[int]) -> set[int]:
    """The tokens that may follow once some of a completion are read; they keep their log-probability."""
    table = piece_table(1, tokenizer)
    decoder = PrefixDecoder(
        TableDecoder(table, [0], 1), [Prefix.of(prefix, tokenizer)], 1, PieceTable(tokenizer)
    )
    for token in [tokenizer.padding, *read]:
        [logprob_V] = decoder.step(torch.tensor([token])).tolist()
    free_V = table(0, (tokenizer.padding, *read))

    assert all(logprob in (free, -math.inf) for logprob, free in zip(logprob_V, free_V, strict=True))
    return {token for token, logprob in enumerate(logprob_V) if logprob > -math.inf}


def test_all_words_but_the_last_are_forced(tokenizer: Tokenizer) -> None:
    """Each piece of the first words is the only one possible, one after the other."""
    forced = tokenizer.encode("The river")
    for place, token in enumerate(forced):
        assert possible(tokenizer, "The river bo", forced[:place]) == {token}


def test_pieces_of_the_last_word_may_go_on(tokenizer: Tokenizer) -> None:
    """Pieces that are the beginning of what is to come, or that it is the beginning of, are possible."""
    allowed = possible(tokenizer, "The ri", tokenizer.encode("The"))
    texts = [bytes(tokenizer.spellings[token]) for token in range(tokenizer.vocabulary_size)]
    right = {
        token
        for token, text in enumerate(texts)
        if text and (text.startswith(b" ri") or b" ri".startswith(text))
    }

    assert allowed == right
    assert tokenizer.tokens(["▁river"])[0] in allowed


def test_after_a_space_a_word_begins(tokenizer: Tokenizer) -> None:
    """A prefix that ends in a space goes on with a piece that begins with one."""
    allowed = possible(tokenizer, "The ", tokenizer.encode("The"))

    assert allowed == {t for t, spelled in enumerate(tokenizer.spellings) if spelled.startswith(b" ")}


def test_the_end_waits_for_the_prefix(tokenizer: Tokenizer) -> None:
    """The end is impossible until the last byte stands, and then nothing is masked any more."""
    spelled = [tokenizer.tokens([f"<0x{byte:02X}>"])[0] for byte in " é".encode()]

    assert tokenizer.end not in possible(tokenizer, "é", spelled[:2])
    assert tokenizer.end in possible(tokenizer, "é", spelled)
    assert len(possible(tokenizer, "é", spelled)) == tokenizer.vocabulary_size - len(tokenizer.impossible)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_no_prefix_changes_nothing(tokenizer: Tokenizer, beam_size: int) -> None:
    """A sentence with an empty prefix is given what it is given without one, beside one that has a prefix."""
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    table = piece_table(3, tokenizer, ending=0.5)
    free = run_pieces(TableDecoder(table, [0], beam_size), tokenizer, [8], config)
    decoder = PrefixDecoder(
        TableDecoder(table, [0, 1], beam_size),
        [Prefix.of("", tokenizer), Prefix.of("The river", tokenizer)],
        beam_size,
        PieceTable(tokenizer),
    )

    assert run_pieces(decoder, tokenizer, [8, 30], config)[0] == free[0]


def test_every_byte_has_a_piece(tokenizer: Tokenizer) -> None:
    """Whatever bytes are to come, some piece agrees with them."""
    table = PieceTable(tokenizer)

    assert all(table.agreeing(bytes([byte])) for byte in range(256))


def test_lone_surrogates_are_no_prefix(tokenizer: Tokenizer) -> None:
    """What UTF-8 cannot spell is an error of the caller."""
    with pytest.raises(ValueError, match="surrogate"):
        Prefix.of("a \ud800", tokenizer)
