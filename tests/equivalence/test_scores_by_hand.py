"""The scores agree with their definitions, written down once more in the plainest way."""

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.evaluate import score, sentence_scores

word = st.sampled_from(["a", "boat", "the", "green", "otter", "swims", "home", "late", "again"])
sentence = st.lists(word, min_size=4, max_size=14).map(" ".join)
corpus = st.lists(st.tuples(sentence, sentence, sentence), min_size=1, max_size=6)


def grams(items: str | list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(items[i : i + order]) for i in range(len(items) - order + 1))


def bleu(hypotheses: list[str], sets: list[list[str]]) -> float:
    """Return corpus BLEU as Papineni et al. (2002) define it.

    The first order without a match counts half a match, the next a quarter, and so on.
    """
    log_precision, halving = 0.0, 1.0
    outputs = [text.split() for text in hypotheses]
    references = [[text.split() for text in texts] for texts in zip(*sets, strict=True)]
    for order in range(1, 5):
        matches = sum(
            min(count, max(grams(reference, order)[gram] for reference in several))
            for output, several in zip(outputs, references, strict=True)
            for gram, count in grams(output, order).items()
        )
        total = sum(len(output) - order + 1 for output in outputs)
        if order == 1 and not matches:
            return 0.0
        if not matches:
            halving /= 2
        log_precision += math.log((matches or halving) / total) / 4
    length = sum(map(len, outputs))
    closest = sum(
        min((abs(len(reference) - len(output)), len(reference)) for reference in several)[1]
        for output, several in zip(outputs, references, strict=True)
    )
    return 100 * math.exp(min(0.0, 1 - closest / length) + log_precision)


def chrf(hypothesis: str, reference: str) -> float:
    """Return chrF2 of one sentence as Popović (2015) defines it: F2 of the mean precision and recall."""
    output, wanted = hypothesis.replace(" ", ""), reference.replace(" ", "")
    precisions, recalls = [], []
    for order in range(1, 7):
        ours, theirs = grams(output, order), grams(wanted, order)
        if ours and theirs:
            matches = (ours & theirs).total()
            precisions.append(matches / ours.total())
            recalls.append(matches / theirs.total())
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return 100 * 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0


def edits(output: list[str], wanted: list[str]) -> int:
    """Return the least number of insertions, deletions and substitutions of words."""
    row = list(range(len(wanted) + 1))
    for i, ours in enumerate(output, start=1):
        last, row = row, [i]
        for j, theirs in enumerate(wanted, start=1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (ours != theirs)))
    return row[-1]


@given(corpus)
@settings(max_examples=30, deadline=None)
def test_bleu_is_papinenis(texts: list[tuple[str, str, str]]) -> None:
    """BLEU of a corpus with one and with two references is that of the definition."""
    outputs, first, second = (list(column) for column in zip(*texts, strict=True))

    assert score(outputs, first, ter=False).bleu.value == pytest.approx(bleu(outputs, [first]))
    assert score(outputs, [first, second], ter=False).bleu.value == pytest.approx(
        bleu(outputs, [first, second])
    )


@given(sentence, sentence)
@settings(max_examples=30, deadline=None)
def test_chrf_is_popovics(hypothesis: str, reference: str) -> None:
    """ChrF of a sentence is that of the definition, alone or as a corpus of one."""
    assert sentence_scores([hypothesis], [reference])[0].chrf == pytest.approx(chrf(hypothesis, reference))
    assert score([hypothesis], [reference], ter=False).chrf.value == pytest.approx(
        chrf(hypothesis, reference)
    )


@given(sentence, sentence)
@settings(max_examples=30, deadline=None)
def test_ter_is_at_most_the_edit_rate(hypothesis: str, reference: str) -> None:
    """Moving a block of words is an edit more to choose from, so TER is at most the plain edit rate."""
    scores = score([hypothesis], [reference])
    plain = edits(hypothesis.split(), reference.split()) / len(reference.split())

    assert scores.ter is not None
    assert scores.ter.value <= 100 * plain + 1e-9
    assert (scores.ter.value == 0.0) == (hypothesis == reference)


@given(corpus, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_order_of_segments_changes_nothing(texts: list[tuple[str, str, str]], order: Random) -> None:
    """A corpus score depends on which pairs there are, not on their order."""
    shuffled = list(texts)
    order.shuffle(shuffled)
    (outputs, first, second), (moved, *moved_sets) = (
        [list(column) for column in zip(*some, strict=True)] for some in (texts, shuffled)
    )

    before, after = score(outputs, [first, second]), score(moved, moved_sets)
    assert (before.bleu, before.chrf) == (after.bleu, after.chrf)
    assert before.ter is not None
    assert after.ter is not None
    assert before.ter.value == pytest.approx(after.ter.value)
