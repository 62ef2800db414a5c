"""BPE-dropout: all merges without it, fewer with it, the same in every process."""

import subprocess
import sys

import pytest

from dragoman.text import Tokenizer
from text_samples import sentences, trained

TEXTS = [*sentences(200, seed=2), "", "größer als 北京 🚣", " \u2581 two  spaces ", "x" * 500, "</s>\0"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(500), 600)


def test_without_dropout_it_agrees_with_sentencepiece(tokenizer: Tokenizer) -> None:
    """Our merges at dropout 0 are those of an independent implementation."""
    assert tokenizer.encode_with_dropout(TEXTS, 0.0, seed=1) == tokenizer.encode_all(TEXTS)


@pytest.mark.parametrize("dropout", [0.1, 0.5, 0.99])
def test_dropout_changes_pieces_and_not_texts(tokenizer: Tokenizer, dropout: float) -> None:
    """Whatever merges are left out, the text comes back."""
    tokens = tokenizer.encode_with_dropout(TEXTS, dropout, seed=1)

    assert [tokenizer.decode(text) for text in tokens] == TEXTS
    assert tokens != tokenizer.encode_all(TEXTS)


def test_more_dropout_gives_more_pieces(tokenizer: Tokenizer) -> None:
    """The number of pieces grows with the dropout, up to one a character."""
    num_pieces = [
        sum(map(len, tokenizer.encode_with_dropout(TEXTS, dropout, seed=1)))
        for dropout in (0.0, 0.1, 0.5, 0.9)
    ]
    num_bytes = sum(len(text.encode()) + 1 for text in TEXTS)

    assert num_pieces == sorted(num_pieces)
    assert num_pieces[0] < num_pieces[-1] <= num_bytes


def test_merges_are_left_out_as_often_as_dropout_says() -> None:
    """Of two merges, the second open after the first, each is left out with the given probability."""
    tokenizer = trained(["ab"], 264)
    lengths = [len(tokens) for tokens in tokenizer.encode_with_dropout(["ab"] * 20_000, 0.3, seed=1)]
    shares = [lengths.count(length) / 20_000 for length in (3, 2, 1)]

    assert tokenizer.pieces(range(258, 263)) == ["ab", "▁ab", "a", "b", "▁"]
    assert shares == pytest.approx([0.3, 0.7 * 0.3, 0.7 * 0.7], abs=0.015)  # four standard deviations


def test_the_seed_decides(tokenizer: Tokenizer) -> None:
    """Same seed, same pieces; another seed, others."""
    once, again, other = (tokenizer.encode_with_dropout(TEXTS, 0.1, seed) for seed in (7, 7, 8))

    assert once == again != other


def test_other_processes_agree(tokenizer: Tokenizer) -> None:
    """The pieces are a function of texts, dropout and seed in any process."""
    program = (
        "import sys\n"
        "from dragoman.text import Tokenizer\n"
        "tokenizer = Tokenizer.from_bytes(sys.stdin.buffer.read(), 'standard input')\n"
        "print(tokenizer.encode_with_dropout(['the boats under northern bridges'] * 9, 0.3, seed=5))"
    )
    there = subprocess.run(
        [sys.executable, "-c", program], input=tokenizer.to_bytes(), capture_output=True, check=True
    ).stdout
    here = tokenizer.encode_with_dropout(["the boats under northern bridges"] * 9, 0.3, seed=5)

    assert there.decode().strip() == str(here)


@pytest.mark.parametrize("dropout", [-0.1, 1.0, float("nan")])
def test_dropout_is_a_probability_below_one(tokenizer: Tokenizer, dropout: float) -> None:
    """Any other number is misuse."""
    with pytest.raises(ValueError, match="at least 0 and below 1"):
        tokenizer.encode_with_dropout(TEXTS, dropout, seed=1)
