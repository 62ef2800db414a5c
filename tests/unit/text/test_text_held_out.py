"""Held-out pairs stay unseen, in any spelling."""

import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text import HeldOut, Pair, split_held_out
from dragoman.text.held_out import normalized

Numbered = Sequence[tuple[int, Pair]]


def distinct(size: int) -> list[tuple[int, Pair]]:
    return [(number, Pair(f"source {number}", f"target {number}")) for number in range(1, size + 1)]


def texts(pairs: Numbered, lines: frozenset[int], side: int) -> set[str]:
    return {normalized(pair[side]) for line, pair in pairs if line in lines}


def training_lines(pairs: Numbered, held_out: HeldOut) -> frozenset[int]:
    return frozenset(line for line, _ in pairs) - held_out.dev - held_out.test - held_out.dropped


SHARED_TEXTS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=150)


@given(sides=SHARED_TEXTS, num_dev=st.integers(0, 9), num_test=st.integers(0, 9), seed=st.integers(0, 2**31))
def test_no_text_is_on_two_sides(
    sides: list[tuple[int, int]], num_dev: int, num_test: int, seed: int
) -> None:
    """Training, development and test share no source and no target; little is dropped."""
    pairs = [(3 * i + 1, Pair(f"S{s}" if i % 2 else f"s {s} !", f"t{t}")) for i, (s, t) in enumerate(sides)]
    held_out = split_held_out(pairs, num_dev, num_test, seed)
    training = training_lines(pairs, held_out)

    for side in (0, 1):
        dev, test = texts(pairs, held_out.dev, side), texts(pairs, held_out.test, side)
        assert not dev & test
        assert not texts(pairs, training, side) & (dev | test)
    assert not held_out.dev & held_out.test
    assert not held_out.dropped & (held_out.dev | held_out.test)
    assert len(held_out.dropped) <= len(pairs) // 5
    assert len(held_out.dev) <= num_dev
    assert len(held_out.test) <= num_test


@pytest.mark.parametrize(
    ("size", "wanted", "held"),
    [(3, 10, 0), (4, 10, 1), (39, 10, 1), (100, 10, 5), (1_000, 10, 10), (9, 0, 0)],
)
def test_at_most_a_twentieth_is_held_out(size: int, wanted: int, held: int) -> None:
    """Each set has at most a twentieth of the corpus, but one pair from four pairs on."""
    held_out = split_held_out(distinct(size), wanted, wanted, seed=1)

    assert (len(held_out.dev), len(held_out.test), len(held_out.dropped)) == (held, held, 0)


def test_the_seed_decides() -> None:
    """The same seed gives the same pairs, another seed others."""
    pairs = distinct(400)

    assert split_held_out(pairs, 20, 20, seed=1) == split_held_out(iter(pairs), 20, 20, seed=1)
    assert split_held_out(pairs, 20, 20, seed=1).dev != split_held_out(pairs, 20, 20, seed=2).dev


def test_other_processes_agree() -> None:
    """The split does not depend on the process, as Python's own hash would."""
    program = (
        "from dragoman.text import Pair, split_held_out\n"
        "pairs = [(n, Pair(f'source {n}', f'target {n}')) for n in range(1, 401)]\n"
        "print(sorted(split_held_out(pairs, 20, 20, seed=1).dev))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout

    assert answer.strip() == str(sorted(split_held_out(distinct(400), 20, 20, seed=1).dev))


def test_a_growing_corpus_keeps_most_held_out_pairs() -> None:
    """Ten more pairs change few of the choices."""
    before = split_held_out(distinct(1_000), 50, 50, seed=1)
    after = split_held_out(distinct(1_010), 50, 50, seed=1)

    assert len(before.dev & after.dev) >= 45


def test_groups_of_captions_can_be_held_out() -> None:
    """Where every source has two translations, pairs are found and their partners dropped or held out."""
    pairs = [(n, Pair(f"source {n // 2}", f"target {n}")) for n in range(2, 402)]
    held_out = split_held_out(pairs, 10, 10, seed=1)

    assert (len(held_out.dev), len(held_out.test)) == (10, 10)
    assert len(held_out.dropped) <= 20


def test_normalized_texts_differ_in_more_than_dress() -> None:
    """Case, punctuation and white space do not count; symbols, marks and lone punctuation do."""
    assert normalized("Straße, «NR. 5»!\u2028") == normalized("strasse nr 5") == "strassenr5"
    assert normalized("+1") != normalized("1")
    assert normalized("हिन्दी") != normalized("हन्द")
    assert normalized("?!") != normalized("...")
