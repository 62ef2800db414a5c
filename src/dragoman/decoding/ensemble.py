"""Several decoders that speak as one.

Shapes: N = B·W rows (sentences times beam size), V vocabulary.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from dragoman.search import Decoder


class EnsembleDecoder:
    """Says of each token the mean of the probabilities that several decoders give it.

    log p(y) = log (1/n · Σᵢ pᵢ(y))

    A token is impossible only where all of them say so.

    Args:
        decoders: One or more, of one vocabulary and for the same rows.

    Raises:
        ValueError: There is no decoder.
    """

    def __init__(self, decoders: Sequence[Decoder]) -> None:
        if not decoders:
            raise ValueError("an ensemble has no decoders; it needs one or more")
        self._decoders = tuple(decoders)

    def step(self, token_N: Tensor) -> Tensor:
        """Read one more token in each row and return the log-probabilities of the next one (NV)."""
        logprobs = torch.stack([decoder.step(token_N) for decoder in self._decoders])
        return logprobs.logsumexp(dim=0) - math.log(len(self._decoders))

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows, in this order."""
        for decoder in self._decoders:
            decoder.reorder(row_N)
