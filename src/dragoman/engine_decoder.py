"""The native engine as a decoder that any search can ask, wrapped or not.

Shapes: N = B·W rows (sentences times beam size), V vocabulary.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from dragoman.engine import Engine


class EngineDecoder:
    """Writes targets for a beam of hypotheses of each sentence, as ``dragoman.model.CachedDecoder`` does.

    Args:
        engine: The model; what it never produces has minus infinity.
        sources: Ids of each sentence, its end included.
        beam_size: Rows of each sentence.
        num_steps: Steps that may be made at most.
    """

    def __init__(
        self, engine: Engine, sources: Sequence[Sequence[int]], beam_size: int, num_steps: int
    ) -> None:
        self._session = engine.session(sources, beam_size, num_steps)

    def step(self, token_N: Tensor) -> Tensor:
        """Return the log-probabilities in nats (NV) of what follows once ``token_N`` stands."""
        return torch.from_numpy(self._session.step(token_N.numpy().astype(np.intc)))

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows; fewer of them than before mean that sentences have left."""
        self._session.reorder(row_N.numpy().astype(np.intc))
