"""Which pieces translate which, counted in pairs."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from dragoman.errors import BundleError
from dragoman.text import lexicon
from dragoman.text.ids import END
from dragoman.text.lexicon import Ids, Lexicon, count_lexicon

Pair = tuple[Sequence[int], Sequence[int]]

SHIFT = 30
"""In ``DICTIONARY`` the translation of a piece is so much greater."""


def encoded(pairs: Sequence[Pair], dtype: type[np.integer[Any]] = np.int64) -> list[tuple[Ids, Ids]]:
    return [(np.array(source, dtype), np.array(target, dtype)) for source, target in pairs]


def dictionary(number: int = 300, seed: int = 1) -> list[Pair]:
    """Pairs of which each source piece from 2 to 13 has one translation; the target has another order."""
    draw = random.Random(seed)
    sources = [draw.sample(range(2, 14), draw.randint(1, 4)) for _ in range(number)]
    return [(source, [piece + SHIFT for piece in draw.sample(source, len(source))]) for source in sources]


def counted(pairs: Sequence[Pair], seed: int = 1, target_size: int = 50) -> Lexicon:
    return count_lexicon(encoded(pairs), source_size=20, target_size=target_size, seed=seed)


def translations(found: Lexicon, piece: int) -> list[int]:
    """What may come of a piece, the likeliest first."""
    return found.targets[found.starts[piece] : found.starts[piece + 1]].tolist()


def test_a_dictionary_is_found() -> None:
    """Where each piece has one translation, this is its likeliest; pieces that never come have none."""
    found = counted(dictionary())

    assert [translations(found, piece)[0] for piece in range(2, 14)] == [
        piece + SHIFT for piece in range(2, 14)
    ]
    assert [translations(found, piece) for piece in range(14, 20)] == [[]] * 6
    assert len(found.starts) == 21


def test_pieces_are_told_apart_by_other_pairs() -> None:
    """The classic of three pairs: das Haus, the house; das Buch, the book; ein Buch, a book."""
    das, haus, ein, buch = range(2, 6)
    the, house, one, book = range(12, 16)
    found = counted([((das, haus), (the, house)), ((das, buch), (the, book)), ((ein, buch), (one, book))] * 3)

    assert [translations(found, piece)[0] for piece in (das, haus, ein, buch)] == [the, house, one, book]


def test_the_likeliest_comes_first() -> None:
    """Of a piece that stands alone, translations are ordered by how often they come."""
    pairs = [((2,), (target,)) for target, times in ((7, 2), (5, 9), (11, 4)) for _ in range(times)]

    assert translations(counted(pairs), 2) == [5, 11, 7]


def test_the_end_of_the_source_stands_for_no_piece() -> None:
    """A target piece that comes in every pair, whatever the source, belongs to the end of the source."""
    pairs = [(source, [*target, 49]) for source, target in dictionary()]

    assert translations(counted(pairs), END)[0] == 49


def test_a_piece_has_so_many_translations_at_most() -> None:
    """Those that come most often; 256 of 400 are kept."""
    often, seldom = list(range(2, 258)), list(range(258, 402))
    found = counted([((2,), [*often, *seldom]), ((2,), often)], target_size=410)

    assert sorted(translations(found, 2)) == often


def test_unlikely_translations_are_left_out() -> None:
    """What comes once in more than ten thousand times of its piece is no translation of it."""
    pairs = [((2,), (5,)), ((2,), (6,))]
    found = count_lexicon(encoded([pairs[0]] * 12_000 + [pairs[1]]), source_size=3, target_size=8, seed=1)

    assert translations(found, 2) == [5]


def test_the_frequent_pieces_and_the_end_are_known() -> None:
    """The end, which no target of a pair holds, and those 1,024 target pieces that come most often."""
    few = counted(dictionary())
    times = [(target, 1 + target % 2) for target in range(2, 1_700)]
    many = counted([((2,), [target] * number) for target, number in times], target_size=1_700)

    assert few.frequent.tolist() == [END, *(piece + SHIFT for piece in range(2, 14))]
    assert len(many.frequent) == 1_025
    assert {END, *range(3, 900, 2)} < set(many.frequent.tolist())


def test_the_same_pairs_give_the_same() -> None:
    """Reproducible, whatever the seed while all pairs have room, and whatever type the ids have."""
    found, again, other_seed = counted(dictionary()), counted(dictionary()), counted(dictionary(), seed=2)
    narrow = count_lexicon(encoded(dictionary(), np.uint16), source_size=20, target_size=50, seed=1)

    assert found.to_bytes() == again.to_bytes() == narrow.to_bytes()
    for ours, theirs in zip(found.frequent, other_seed.frequent, strict=True):
        assert ours == theirs


def test_more_pairs_than_there_is_room_for_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which ones the seed says; one at least, however long it is."""
    pairs = [((2,), (10 + number,)) for number in range(40)]
    monkeypatch.setattr(lexicon, "_MOST_LINKS", 20)
    found = {seed: set(translations(counted(pairs, seed), 2)) for seed in (1, 2)}
    again = set(translations(counted(pairs, 1), 2))
    monkeypatch.setattr(lexicon, "_MOST_LINKS", 1)
    [one] = translations(counted(pairs), 2)

    assert len(found[1]) == len(found[2]) == 10
    assert found[1] == again != found[2]
    assert one in range(10, 50)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """The content of the file gives the same lexicon."""
    found, path = counted(dictionary()), tmp_path / "shortlist.safetensors"
    path.write_bytes(found.to_bytes())
    read = Lexicon.load(path)

    for ours, theirs in zip(read, found, strict=True):
        assert ours.dtype == np.int32
        assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "foreign", "more", "a folder"])
def test_a_damaged_file_is_one_message(tmp_path: Path, damage: str) -> None:
    """It names the file and the command that counts it again."""
    path = tmp_path / "shortlist.safetensors"
    whole = counted(dictionary())
    contents = {
        "empty": b"",
        "cut": whole.to_bytes()[:-40],
        "foreign": safetensors.numpy.save({"weight": np.zeros((2, 2), np.float32)}),
        "more": safetensors.numpy.save({**whole._asdict(), "others": whole.frequent}),
    }
    if damage == "a folder":
        path.mkdir()
    elif damage != "missing":
        path.write_bytes(contents[damage])
    with pytest.raises(BundleError) as caught:
        Lexicon.load(path)

    assert caught.value.message.startswith(f"{path} ")
    assert "\n" not in caught.value.message
    assert caught.value.hint in (
        f"count it: dragoman pack {tmp_path} SOURCE TARGET",
        f"count it again: dragoman pack {tmp_path} SOURCE TARGET",
    )
