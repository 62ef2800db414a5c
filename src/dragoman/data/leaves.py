"""What the decoder of a parser reads where it has written a leaf: the word that follows.

Letters of shapes: B sentences, S source positions, T target positions, V vocabulary, C words of a sentence.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Leaves(NamedTuple):
    """Which ids are leaves of trees, and which pieces begin words."""

    is_leaf_V: Tensor
    """True where an id stands for a word of a tree."""

    begins_word_V: Tensor
    """True where an id is a piece that begins with a space."""

    end: int
    """Ends a sentence; it is read after the last word."""

    def to(self, device: torch.device) -> "Leaves":
        """Return them on ``device``."""
        return Leaves(self.is_leaf_V.to(device), self.begins_word_V.to(device), self.end)


def first_pieces(source_BS: Tensor, leaves: Leaves) -> Tensor:
    """Return the first piece of each word of each source (BC); the end comes after the last, once or more."""
    begins_BS = leaves.begins_word_V[source_BS]
    word_BS = begins_BS.cumsum(dim=1) - 1
    count = int(begins_BS.sum(dim=1).max()) + 1
    # What begins no word is written into a place of its own, which is cut off.
    place_BS = word_BS.masked_fill(~begins_BS, count)
    first_BC = torch.full((len(source_BS), count + 1), leaves.end, device=source_BS.device)
    return first_BC.scatter(1, place_BS, source_BS)[:, :count]


def as_read(source_BS: Tensor, target_BT: Tensor, leaves: Leaves) -> Tensor:
    """Return targets (BT) with the first piece of the following word in place of each leaf.

    The words of a tree come from its source, so the decoder may always know which is next. Without that it
    has to count its leaves to find their words, which takes long to learn.

    Unlike the paper, whose decoder reads what it has written.

    Args:
        source_BS: The words, in pieces.
        target_BT: Trees, with ends and padding.
        leaves: Which ids are leaves, and which begin words.
    """
    leaf_BT = leaves.is_leaf_V[target_BT]
    first_BC = first_pieces(source_BS, leaves)
    following_BT = leaf_BT.cumsum(dim=1).clamp(max=first_BC.size(1) - 1)
    return torch.where(leaf_BT, first_BC.gather(1, following_BT), target_BT)
