"""Encoded corpora in one memory-mapped file.

The file holds the ids of all pairs, source and target in turn, then where each begins, then a footer of
JSON with the key, the SHA-256 of all of it, and the footer's length. It is written under a temporary name
and renamed when whole. Before it is used a second time its checksum is compared, which takes a second
or two a gigabyte.
"""

import hashlib
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BufferedRandom
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dragoman.data.leaves import Leaves
from dragoman.errors import CorpusError
from dragoman.text.pairs import Pair

Ids = npt.NDArray[np.integer[Any]]
EncodeAll = Callable[[list[str]], list[list[int]]]

_CHUNK_PAIRS = 4_096
_LENGTH_BYTES = 8
_CHECKSUM_BYTES = 32


class EncodedCorpus:
    """The ids of a corpus, read from disk as they are asked for.

    Attributes:
        lengths: Lengths of source and target of every pair (pairs × 2), ends of sentences included.
        num_too_long: Pairs that were left out because a side is longer than the limit.
        first_too_long: Line numbers of the first of them.
        leaves: Where targets are trees of which the decoder reads the words, what are leaves; else None.
    """

    leaves: Leaves | None = None

    def __init__(self, path: Path) -> None:
        self._footer, ids_bytes, offsets_bytes = _read_footer(path)
        dtype = np.dtype(self._footer["dtype"])
        self._ids: Ids = _mapped(path, dtype, 0, ids_bytes // dtype.itemsize)
        self._offsets = _mapped(path, np.dtype(np.int64), ids_bytes, offsets_bytes // 8)
        self.lengths = np.diff(self._offsets).reshape(-1, 2) + 1
        self.key: str = self._footer["key"]
        self.num_too_long: int = self._footer["num_too_long"]
        self.first_too_long: list[int] = self._footer["first_too_long"]

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> tuple[Ids, Ids]:
        """Return the ids of one pair, without ends of sentences."""
        start, middle, end = self._offsets[2 * index : 2 * index + 3]
        return self._ids[start:middle], self._ids[middle:end]

    def shapes(self, batches: Iterable[Ids]) -> list[tuple[int, int, int]]:
        """Return the pairs, source positions and target positions of batches of these pairs."""
        return [(len(batch), *self.lengths[batch].max(axis=0).tolist()) for batch in batches]


def encode_corpus(
    pairs: Iterable[tuple[int, Pair]],
    encode: tuple[EncodeAll, EncodeAll],
    path: Path,
    *,
    key: str,
    max_length: int,
    vocabulary_size: int,
) -> EncodedCorpus:
    """Return the encoded pairs, from ``path`` if it holds them already under this key, else made anew.

    Args:
        pairs: Line numbers and pairs.
        encode: Turns sources into ids, and targets.
        path: The file; its folder is made if it does not exist.
        key: A hash of all that the ids depend on.
        max_length: Longest side that is kept, in pieces, end of sentence included.
        vocabulary_size: Decides how wide an id is stored.

    Raises:
        CorpusError: The file cannot be written.
    """
    try:
        if path.exists() and _read_footer(path)[0]["key"] == key and _is_undamaged(path):
            return EncodedCorpus(path)
    except (OSError, ValueError, KeyError, TypeError):
        pass  # cut, foreign or unreadable: it is only a cache, and made anew
    temporary = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb+") as file:
            _write(file, pairs, encode, key, max_length, np.dtype(_id_type(vocabulary_size)))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise CorpusError(
            f"{path}: cannot write the encoded corpus: {error.strerror}",
            hint="make room on the disk; then go on with --resume",
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return EncodedCorpus(path)


def _id_type(vocabulary_size: int) -> type[np.integer[Any]]:
    return np.uint16 if vocabulary_size <= 2**16 else np.uint32


def _write(
    file: BufferedRandom,
    pairs: Iterable[tuple[int, Pair]],
    encode: tuple[EncodeAll, EncodeAll],
    key: str,
    max_length: int,
    dtype: np.dtype[Any],
) -> None:
    offsets = array("q", [0])
    too_long: list[int] = []
    num_too_long = 0
    encode_sources, encode_targets = encode
    for chunk in _chunks(pairs):
        sources = encode_sources([pair.source for _, pair in chunk])
        targets = encode_targets([pair.target for _, pair in chunk])
        for (line, _), source, target in zip(chunk, sources, targets, strict=True):
            if max(len(source), len(target)) >= max_length:
                num_too_long += 1
                if len(too_long) < 5:
                    too_long.append(line)
                continue
            file.write(np.asarray(source + target, dtype).tobytes())
            offsets.append(offsets[-1] + len(source))
            offsets.append(offsets[-1] + len(target))
    ids_bytes = file.tell()
    padding = -ids_bytes % 8
    file.write(b"\0" * padding)
    file.write(offsets.tobytes())
    footer = {
        "key": key,
        "dtype": dtype.name,
        "ids_bytes": ids_bytes + padding,
        "offsets_bytes": len(offsets) * 8,
        "num_too_long": num_too_long,
        "first_too_long": too_long,
    }
    encoded = json.dumps(footer).encode()
    file.write(encoded)
    file.seek(0)
    checksum = hashlib.file_digest(file, "sha256").digest()
    file.write(checksum)
    file.write(len(encoded).to_bytes(_LENGTH_BYTES, "little"))


def _chunks(pairs: Iterable[tuple[int, Pair]]) -> Iterator[list[tuple[int, Pair]]]:
    iterator = iter(pairs)
    while chunk := list(islice(iterator, _CHUNK_PAIRS)):
        yield chunk


def _read_footer(path: Path) -> tuple[dict[str, Any], int, int]:
    """Return the footer and the sizes of ids and offsets; ValueError if the file is not whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size < _LENGTH_BYTES:
            raise ValueError(f"{path} is too short")
        file.seek(size - _LENGTH_BYTES)
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        after = _CHECKSUM_BYTES + _LENGTH_BYTES
        if length > size - after:
            raise ValueError(f"{path} is cut")
        file.seek(size - after - length)
        footer: dict[str, Any] = json.loads(file.read(length))
    if footer["ids_bytes"] + footer["offsets_bytes"] + length + after != size:
        raise ValueError(f"{path} is cut")
    if footer["dtype"] not in ("uint16", "uint32"):
        raise ValueError(f"{path} holds no ids")
    return footer, footer["ids_bytes"], footer["offsets_bytes"]


def _is_undamaged(path: Path) -> bool:
    """Tell whether the file is what was written."""
    left = path.stat().st_size - _CHECKSUM_BYTES - _LENGTH_BYTES
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while left > 0 and (part := file.read(min(left, 2**20))):
            digest.update(part)
            left -= len(part)
        return digest.digest() == file.read(_CHECKSUM_BYTES)


def _mapped(path: Path, dtype: np.dtype[Any], offset: int, length: int) -> npt.NDArray[Any]:
    if length == 0:
        return np.zeros(0, dtype)
    return np.memmap(path, dtype, mode="r", offset=offset, shape=(length,)).view(np.ndarray)
