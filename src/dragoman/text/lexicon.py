"""Which target pieces translate a source piece, counted in a corpus.

Letters of shapes: E pairs of a source piece and a target piece of one sentence, V vocabulary.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from dragoman.errors import BundleError
from dragoman.text.ids import END

Ids = npt.NDArray[np.integer[Any]]

_MOST_LINKS = 8_000_000
"""Links that are counted at once; they take some 500 MB."""

_ROUNDS = 4

_MOST_TRANSLATIONS = 256
_LEAST_PROBABILITY = 1e-4
_NUM_FREQUENT = 1_024


class Pairs(Protocol):
    """Ids of sources and targets, without ends, as an encoded corpus has them."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> tuple[Ids, Ids]: ...


class Lexicon(NamedTuple):
    """The likeliest translations of each piece, and the pieces that come most often."""

    starts: npt.NDArray[np.int32]
    """Where the translations of each source piece begin; one more than there are pieces."""

    targets: npt.NDArray[np.int32]
    """Target pieces, the likeliest of a source piece first."""

    frequent: npt.NDArray[np.int32]
    """The most frequent target pieces, the end of the sentence among them."""

    def to_bytes(self) -> bytes:
        """Return it as the content of a safetensors file."""
        return safetensors.numpy.save(self._asdict())

    @classmethod
    def load(cls, path: Path) -> "Lexicon":
        """Read a file of what ``to_bytes`` gave.

        Raises:
            BundleError: The file is missing, or is not what was written.
        """
        try:
            found = cls(**safetensors.numpy.load_file(path))
        except FileNotFoundError:
            raise BundleError(
                f"{path} is not there; a shortlist is counted in pairs, and this model has none",
                hint=f"count it: dragoman pack {path.parent} SOURCE TARGET",
            ) from None
        except (SafetensorError, ValueError, TypeError, OSError) as error:
            raise BundleError(
                f"{path} cannot be read: {error}",
                hint=f"count it again: dragoman pack {path.parent} SOURCE TARGET",
            ) from error
        return cls(*(np.ascontiguousarray(part.ravel(), np.int32) for part in found))


def count_lexicon(pairs: Pairs, *, source_size: int, target_size: int, seed: int) -> Lexicon:
    """Return the translations of pieces by Model 1 of IBM, from as many pairs as memory has room for.

    p(t | s) is made likelier in turns: each target piece is shared out among the pieces of its source and the
    end of the source, which stands for no piece, by the probabilities of the round before.

    Source: Brown et al. (1993), Model 1, Eq. 14 and 15.

    Args:
        pairs: Ids of sources and targets, without ends.
        source_size: Source vocabulary.
        target_size: Target vocabulary.
        seed: Of the choice of pairs where there are more than enough.
    """
    chosen = _chosen(pairs, seed)
    links, slot_E, num_slots = _links(chosen, target_size)
    kinds, kind_E = np.unique(links, return_inverse=True)
    source = kinds // target_size
    probability = np.ones(len(kinds))
    for _ in range(_ROUNDS):
        share_E = probability[kind_E]
        share_E /= np.bincount(slot_E, share_E, num_slots)[slot_E]
        counts = np.bincount(kind_E, share_E, len(kinds))
        probability = counts / np.bincount(source, counts, source_size)[source]
    order = np.lexsort((kinds, -probability, source))
    order = order[probability[order] >= _LEAST_PROBABILITY]
    sorted_source = source[order]
    starts = np.searchsorted(sorted_source, np.arange(source_size + 1))
    rank = np.arange(len(order)) - starts[sorted_source]
    order = order[rank < _MOST_TRANSLATIONS]
    starts = np.searchsorted(source[order], np.arange(source_size + 1))
    times = np.bincount(np.concatenate([target for _, target in chosen]), minlength=target_size)
    frequent = np.argsort(-times, kind="stable")[:_NUM_FREQUENT]
    return Lexicon(
        starts.astype(np.int32),
        (kinds[order] % target_size).astype(np.int32),
        np.union1d(frequent[times[frequent] > 0], [END]).astype(np.int32),
    )


def _chosen(pairs: Pairs, seed: int) -> list[tuple[Ids, Ids]]:
    """Return pairs in random order, until their links are as many as can be counted."""
    chosen: list[tuple[Ids, Ids]] = []
    num_links = 0
    for i in np.random.default_rng(seed).permutation(len(pairs)).tolist():
        source, target = pairs[i]
        num_links += (len(source) + 1) * len(target)
        if num_links > _MOST_LINKS and chosen:
            break
        chosen.append((source, target))
    return chosen


def _links(
    pairs: Sequence[tuple[Ids, Ids]], target_size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], int]:
    """Return each link as a number, the target position that it belongs to, and the number of positions."""
    links, slots, first = [], [], 0
    for source, target in pairs:
        whole = np.append(source, END).astype(np.int64)
        links.append((whole[:, None] * target_size + target).ravel())
        slots.append(np.tile(np.arange(first, first + len(target)), len(whole)))
        first += len(target)
    return np.concatenate(links), np.concatenate(slots), first
