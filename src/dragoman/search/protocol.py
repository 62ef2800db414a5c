"""The two things search asks of a model.

Shapes: N = B·W rows (sentences times beam size), V vocabulary.
"""

from typing import Protocol

from torch import Tensor


class Decoder(Protocol):
    """Something that says how likely each next token is: a model, an ensemble, a table in a test.

    Rows b·W to b·W + W - 1 are the hypotheses of sentence b. A decoder remembers what each row has read.
    """

    def step(self, token_N: Tensor) -> Tensor:
        """Read one more token in each row and return the log-probabilities of the next one.

        Args:
            token_N: The newest token of each row; in the first step the start id in every row.

        Returns:
            Log-probabilities (NV), in nats; -inf for a token that is impossible.
        """
        ...

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows, in this order; a row may come several times or not at all.

        Sentences that are settled leave the batch, so there may be fewer rows than before. All rows of a
        sentence stay or leave together: ``row_N[::W] // W`` are the sentences that stay.
        """
        ...
