"""Pairs of people and pairs of a machine in one corpus."""

from collections import Counter
from pathlib import Path

import pytest

from dragoman.data import EncodedCorpus, Mixture, encode_corpus, plan_epoch
from dragoman.text import Pair


def numbers(path: Path, ids: range) -> EncodedCorpus:
    """A corpus of one-word pairs; each source is a number of its own, and of some length."""
    pairs = [(i, Pair(" ".join([str(i)] * (1 + i % 3)), str(i))) for i in ids]

    def encode(texts: list[str]) -> list[list[int]]:
        return [[int(word) for word in text.split()] for text in texts]

    return encode_corpus(pairs, (encode, encode), path, key="a", max_length=9, vocabulary_size=1_000)


@pytest.fixture
def gold(tmp_path: Path) -> EncodedCorpus:
    return numbers(tmp_path / "gold.bin", range(5))


@pytest.fixture
def silver(tmp_path: Path) -> EncodedCorpus:
    return numbers(tmp_path / "silver.bin", range(100, 110))


def targets(corpus: EncodedCorpus) -> list[int]:
    return [int(corpus[i][1][0]) for i in range(len(corpus))]


@pytest.mark.parametrize(("weight", "number"), [(1.0, 10), (0.3, 3), (0.01, 1), (0.26, 3)])
def test_every_gold_pair_and_a_share_of_the_silver_ones(
    gold: EncodedCorpus, silver: EncodedCorpus, weight: float, number: int
) -> None:
    """No pair comes twice in an epoch, and at least one silver pair comes."""
    found = targets(Mixture(gold, silver, weight, seed=1, epoch=0))

    assert found[:5] == [0, 1, 2, 3, 4]
    assert len(found) == 5 + number
    assert set(found[5:]) <= set(range(100, 110))
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7])
def test_after_some_epochs_each_silver_pair_has_come_equally_often(
    gold: EncodedCorpus, silver: EncodedCorpus, weight: float
) -> None:
    """The weight is what a silver pair counts beside a gold one: ten epochs bring it ten times as often."""
    found = Counter(
        target
        for epoch in range(10)
        for target in targets(Mixture(gold, silver, weight, seed=1, epoch=epoch))
    )

    assert {found[i] for i in range(5)} == {10}
    assert {found[i] for i in range(100, 110)} == {round(10 * weight)}


def test_an_epoch_depends_on_seed_and_number_alone(gold: EncodedCorpus, silver: EncodedCorpus) -> None:
    """So a run that goes on sees what the undisturbed one sees."""
    once, again = (targets(Mixture(gold, silver, 0.3, seed=1, epoch=7)) for _ in range(2))
    other = targets(Mixture(gold, silver, 0.3, seed=2, epoch=7))

    assert once == again
    assert once != other


def test_lengths_are_those_of_the_pairs(gold: EncodedCorpus, silver: EncodedCorpus) -> None:
    """Batches are planned by lengths, so each must stand at its pair's place."""
    mixture = Mixture(gold, silver, 0.5, seed=3, epoch=1)
    plan = plan_epoch(mixture.lengths, seed=1, epoch=0, batch_tokens=20, micro_batch_tokens=20)
    planned = sorted(int(i) for step in plan for part in step for i in part)

    assert mixture.lengths.tolist() == [
        [len(s) + 1, len(t) + 1] for s, t in map(mixture.__getitem__, range(10))
    ]
    assert planned == list(range(10))
