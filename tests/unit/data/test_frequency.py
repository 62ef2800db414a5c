"""How often each piece occurs."""

import math
from collections import Counter
from pathlib import Path

import pytest

from dragoman.data import EncodedCorpus, encode_corpus
from dragoman.data.frequency import unigram_entropy
from dragoman.text import Pair


def encoded(folder: Path, targets: list[list[int]]) -> EncodedCorpus:
    """Return a corpus of these target ids; its sources are one piece each."""
    pairs = [(line, Pair("", "")) for line in range(len(targets))]
    encode = (lambda texts: [[5]] * len(texts), lambda _: targets)
    return encode_corpus(pairs, encode, folder / "corpus.bin", key="k", max_length=99, vocabulary_size=40)


def test_entropy_is_that_of_targets_and_their_ends(tmp_path: Path) -> None:
    """It agrees with the definition, counted by hand, and the ends of sentences are pieces too."""
    targets = [[7, 8, 9], [7, 7], [], [30]]
    counts = Counter([piece for row in targets for piece in row] + [0] * len(targets))
    shares = [count / counts.total() for count in counts.values()]

    assert unigram_entropy(encoded(tmp_path, targets)) == pytest.approx(
        -sum(share * math.log(share) for share in shares)
    )


def test_equally_frequent_pieces_have_the_logarithm_of_their_number(tmp_path: Path) -> None:
    """Sixteen pieces of equal frequency, the end among them, have the entropy ln 16."""
    assert unigram_entropy(encoded(tmp_path, [list(range(3, 18))] * 5)) == pytest.approx(math.log(16))


def test_a_sample_is_near_the_whole(tmp_path: Path) -> None:
    """A sample of a tenth, drawn at even distances, gives nearly the same entropy."""
    corpus = encoded(tmp_path, [[3 + (i * i + j) % 20 for j in range(i % 7)] for i in range(3_000)])

    assert unigram_entropy(corpus, max_pairs=300) == pytest.approx(unigram_entropy(corpus), abs=0.05)
