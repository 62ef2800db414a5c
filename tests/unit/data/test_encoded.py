"""Encoded corpora in one file."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from dragoman.data import EncodedCorpus, encode_corpus, gather
from dragoman.errors import CorpusError
from dragoman.text import Pair


class Counting:
    """Turns a text of numbers into ids, and counts how many texts it was given."""

    def __init__(self) -> None:
        self.num_texts = 0

    def __call__(self, texts: list[str]) -> list[list[int]]:
        self.num_texts += len(texts)
        return [[int(word) for word in text.split()] for text in texts]


def texts(number: int, seed: int = 1) -> list[tuple[int, Pair]]:
    draw = np.random.default_rng(seed)
    sides = [" ".join(map(str, draw.integers(2, 60_000, draw.integers(1, 9)))) for _ in range(2 * number)]
    return [(i + 1, Pair(sides[2 * i], sides[2 * i + 1])) for i in range(number)]


def encoded(
    path: Path, pairs: Iterable[tuple[int, Pair]], encode: Counting, **changes: object
) -> EncodedCorpus:
    settings = {"key": "a", "max_length": 100, "vocabulary_size": 60_000}
    return encode_corpus(pairs, (encode, encode), path, **(settings | changes))


def content(corpus: EncodedCorpus) -> list[tuple[list[int], list[int]]]:
    return [(source.tolist(), target.tolist()) for source, target in (corpus[i] for i in range(len(corpus)))]


def expected(pairs: list[tuple[int, Pair]]) -> list[tuple[list[int], list[int]]]:
    encode = Counting()
    return [tuple(encode([pair.source, pair.target])) for _, pair in pairs]


@pytest.mark.parametrize("number", [0, 1, 2, 5_000])
@pytest.mark.parametrize("vocabulary_size", [60_000, 70_000])
def test_every_id_comes_back(tmp_path: Path, number: int, vocabulary_size: int) -> None:
    """Pairs come back as they were, in order, with their lengths and the end counted."""
    pairs = texts(number)
    corpus = encoded(tmp_path / "ids", pairs, Counting(), vocabulary_size=vocabulary_size)

    assert content(corpus) == expected(pairs)
    assert corpus.lengths.tolist() == [[len(s) + 1, len(t) + 1] for s, t in expected(pairs)]
    assert [path.name for path in tmp_path.iterdir()] == ["ids"]


def test_each_side_is_encoded_in_its_own_way(tmp_path: Path) -> None:
    """Sources and targets may be of different kinds, as words and symbols are."""
    encode = (lambda texts: [[len(text)] for text in texts], lambda texts: [[7, 8] for _ in texts])
    pairs = [(1, Pair("a", "b")), (2, Pair("abc", ""))]
    corpus = encode_corpus(pairs, encode, tmp_path / "ids", key="a", max_length=9, vocabulary_size=16)

    assert content(corpus) == [([1], [7, 8]), ([3], [7, 8])]


@pytest.mark.parametrize(("vocabulary_size", "bytes_each"), [(2**16, 2), (2**16 + 8, 4)])
def test_ids_are_as_wide_as_the_vocabulary_needs(
    tmp_path: Path, vocabulary_size: int, bytes_each: int
) -> None:
    """The greatest id of a vocabulary fits, and no more bytes are taken than it needs."""
    greatest = vocabulary_size - 1
    pairs = [(1, Pair(str(greatest), "2"))]
    corpus = encoded(tmp_path / "ids", pairs, Counting(), vocabulary_size=vocabulary_size)

    assert content(corpus) == [([greatest], [2])]
    assert corpus[0][0].dtype.itemsize == bytes_each


def test_a_second_run_reuses_the_file(tmp_path: Path) -> None:
    """Under the same key nothing is encoded again and the file is not touched."""
    encode, pairs = Counting(), texts(50)
    encoded(tmp_path / "ids", pairs, encode)
    before = (tmp_path / "ids").stat()
    again = encoded(tmp_path / "ids", pairs, encode)
    after = (tmp_path / "ids").stat()

    assert encode.num_texts == 100
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert content(again) == expected(pairs)


def test_another_key_is_encoded_anew(tmp_path: Path) -> None:
    """What was made from another corpus or tokenizer is not taken for this one."""
    encoded(tmp_path / "ids", texts(50), Counting())
    pairs = texts(30, seed=2)

    assert content(encoded(tmp_path / "ids", pairs, Counting(), key="b")) == expected(pairs)


def test_the_bytes_are_a_function_of_the_pairs(tmp_path: Path) -> None:
    """The same pairs make the same file."""
    for name in ("one", "two"):
        encoded(tmp_path / name, texts(50), Counting())

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_cut_file_is_made_anew(tmp_path: Path) -> None:
    """Wherever a write was interrupted, the file is seen as no corpus and replaced."""
    pairs = texts(5)
    encoded(tmp_path / "ids", pairs, Counting())
    whole = (tmp_path / "ids").read_bytes()
    for size in range(0, len(whole), 7):
        (tmp_path / "ids").write_bytes(whole[:size])
        corpus = encoded(tmp_path / "ids", pairs, Counting())

        assert content(corpus) == expected(pairs)


@pytest.mark.parametrize("value", [0, 0x31, 0xFF])
def test_a_damaged_footer_is_no_crash(tmp_path: Path, value: int) -> None:
    """A byte of the footer or its length that has changed leads to the same pairs."""
    pairs = texts(5)
    encoded(tmp_path / "ids", pairs, Counting())
    whole = (tmp_path / "ids").read_bytes()
    for place in range(whole.rindex(b'{"key"'), len(whole)):
        (tmp_path / "ids").write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
        corpus = encoded(tmp_path / "ids", pairs, Counting())

        assert content(corpus) == expected(pairs)


@pytest.mark.parametrize(
    "junk", [b"1" + (1).to_bytes(8, "little"), b"[]" + (2).to_bytes(8, "little"), b"x" * 99]
)
def test_foreign_files_are_replaced(tmp_path: Path, junk: bytes) -> None:
    """A file that is something else is no corpus, whatever its end looks like."""
    (tmp_path / "ids").write_bytes(junk)
    pairs = texts(5)

    assert content(encoded(tmp_path / "ids", pairs, Counting())) == expected(pairs)


def test_ids_stay_on_disk(tmp_path: Path) -> None:
    """The ids are mapped and read where they are asked for; memory does not grow with the corpus."""
    corpus = encoded(tmp_path / "ids", texts(500), Counting())
    source, _ = corpus[3]

    assert isinstance(corpus._ids.base, np.memmap)
    assert np.shares_memory(source, corpus._ids)
    assert not corpus._ids.flags.writeable


@pytest.mark.untraced
@pytest.mark.parametrize("mask", [1, 128])
def test_any_changed_byte_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: int) -> None:
    """Ids, places, footer, checksum or length: whatever has changed on the disk, the pairs are the same."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)  # slow, and no machine loses its memory here
    pairs = texts(5)
    encoded(tmp_path / "ids", pairs, Counting())
    whole = (tmp_path / "ids").read_bytes()
    for place in range(0, len(whole), 3):
        (tmp_path / "ids").write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
        corpus = encoded(tmp_path / "ids", pairs, Counting())

        assert content(corpus) == expected(pairs)
        assert (tmp_path / "ids").read_bytes() == whole


def test_an_unreadable_file_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that the disk does not give back is only a cache."""
    encode, pairs = Counting(), texts(5)
    encoded(tmp_path / "ids", pairs, encode)

    def failing(_path: Path) -> bool:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("dragoman.data.encoded._is_undamaged", failing)
        corpus = encoded(tmp_path / "ids", pairs, encode)

    assert content(corpus) == expected(pairs)
    assert encode.num_texts == 20


def test_pairs_are_read_as_a_stream(tmp_path: Path) -> None:
    """Encoding holds a bounded number of texts at once, however long the corpus is."""
    alive = {"now": 0, "most": 0}

    class Text(str):
        __slots__ = ()

        def __del__(self) -> None:
            alive["now"] -= 1

    def stream() -> Iterable[tuple[int, Pair]]:
        for line in range(1, 20_001):
            alive["now"] += 1
            alive["most"] = max(alive["most"], alive["now"])
            yield line, Pair(Text("5 6"), "7")

    assert len(encoded(tmp_path / "ids", stream(), Counting())) == 20_000
    assert alive["most"] < 10_000


def test_too_long_pairs_are_counted_with_their_lines(tmp_path: Path) -> None:
    """A pair is kept when its longer side has the limit with its end, and left out beyond it."""
    long, fits = " ".join(["5"] * 8), " ".join(["5"] * 7)
    pairs = [(line, Pair("5", long) if line % 3 == 0 else Pair(fits, "6")) for line in range(1, 31)]
    corpus = encoded(tmp_path / "ids", pairs, Counting(), max_length=8)
    again = encoded(tmp_path / "ids", pairs, Counting(), max_length=8)

    for one in (corpus, again):
        assert (len(one), one.num_too_long, one.first_too_long) == (20, 10, [3, 6, 9, 12, 15])


def test_a_failing_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus that cannot be written is a plain error, and no half of it stays."""

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CorpusError, match="ids: cannot write the encoded corpus: No space left on device"):
        encoded(tmp_path / "ids", texts(5), Counting())

    assert list(tmp_path.iterdir()) == []


def test_gathered_pairs_have_ends_and_padding(tmp_path: Path) -> None:
    """A batch of a corpus holds the chosen pairs in the order in which they were chosen."""
    corpus = encoded(tmp_path / "ids", [(1, Pair("5 6", "7")), (2, Pair("8", "9 10"))], Counting())
    batch = gather(corpus, np.array([1, 0]), end=0, padding=23)

    assert batch.source_BS.tolist() == [[8, 0, 23], [5, 6, 0]]
    assert batch.target_BT.tolist() == [[9, 10, 0], [7, 0, 23]]
