"""A decoder that reads, for each leaf of a tree, the word that follows.

Letters of shapes: B sentences, S source positions, W beam size, N = B·W rows, V vocabulary, C words.
"""

import torch
from torch import Tensor

from dragoman.data import Leaves, first_pieces
from dragoman.search import Decoder
from dragoman.text import Tokenizer
from dragoman.trees import is_bracket


def leaves_of(tokenizer: Tokenizer) -> Leaves:
    """Return which ids of a tokenizer with symbols are leaves, and which of its pieces begin words."""
    is_leaf_V = torch.zeros(tokenizer.vocabulary_size, dtype=torch.bool)
    is_leaf_V[[token for symbol, token in tokenizer.symbols.items() if not is_bracket(symbol)]] = True
    begins_word_V = torch.tensor([spelled.startswith(b" ") for spelled in tokenizer.spellings])
    return Leaves(is_leaf_V, begins_word_V, tokenizer.end)


class WordReader:
    """Hands a decoder the first piece of the next word in place of each leaf, as it was trained with.

    Args:
        decoder: Says how likely each next token is.
        source_BS: The words of each sentence, in pieces; what fills up begins no word.
        leaves: Which ids are leaves, and which begin words; on the device of the words.
        beam_size: Rows of each sentence.
    """

    def __init__(self, decoder: Decoder, source_BS: Tensor, leaves: Leaves, beam_size: int) -> None:
        self._decoder = decoder
        self._is_leaf_V = leaves.is_leaf_V
        self._first_NC = first_pieces(source_BS, leaves).repeat_interleave(beam_size, dim=0)
        self._num_leaves_N = torch.zeros_like(self._first_NC[:, 0])

    def step(self, token_N: Tensor) -> Tensor:
        """Read one more token, or word, in each row and return the log-probabilities (NV) of what follows."""
        leaf_N = self._is_leaf_V[token_N]
        self._num_leaves_N = self._num_leaves_N + leaf_N.long()
        place_N1 = self._num_leaves_N[:, None].clamp(max=self._first_NC.size(1) - 1)
        return self._decoder.step(torch.where(leaf_N, self._first_NC.gather(1, place_N1)[:, 0], token_N))

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows, in this order."""
        self._first_NC, self._num_leaves_N = self._first_NC[row_N], self._num_leaves_N[row_N]
        self._decoder.reorder(row_N)
