"""Embeddings and positions."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.config import ModelConfig
from dragoman.model.dropout import Dropout
from dragoman.model.precision import for_products


def sinusoids(num_positions: int, d_model: int, *, first_position: int = 0, halves: bool = False) -> Tensor:
    """Return the table of positions (positions × d_model) in float64.

    PE(pos, 2i) = sin(pos / 10000^(2i / d_model)),  PE(pos, 2i + 1) = cos(pos / 10000^(2i / d_model))

    Source: Vaswani et al. (2017), §3.5.

    Args:
        num_positions: Rows of the table.
        d_model: Columns of the table.
        first_position: Value of the first row.
        halves: Lay all sines in the left half and all cosines in the right one, as Marian does,
            instead of in turn.
    """
    position_T1 = torch.arange(first_position, first_position + num_positions, dtype=torch.float64)[:, None]
    wavelength = 10_000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position_T1 / wavelength
    parts = (angle.sin(), angle.cos())
    return torch.cat(parts, dim=1) if halves else torch.stack(parts, dim=2).flatten(1)


class Positions(nn.Module):
    """Vectors of positions, added to the embeddings.

    Sinusoids have no limit: the table grows as it is asked for. Learned positions (Table 3, row E) and a
    table that came with foreign weights end at ``max_positions``.

    Source: Vaswani et al. (2017), §3.5.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.limit = config.max_positions if config.positions in ("learned", "table") else None
        self._sinusoids_TD = torch.empty(0, config.d_model)
        if config.positions == "learned":
            self.table_TD = nn.Parameter(torch.empty(config.max_positions, config.d_model))
            nn.init.normal_(self.table_TD, std=config.d_model**-0.5)
        elif config.positions == "table":
            self.register_buffer("table_TD", torch.zeros(config.max_positions, config.d_model))

    def forward(self, start: int, end: int, like: Tensor) -> Tensor:
        """Return the vectors of positions ``start`` to ``end`` (TD) in the type of ``like``.

        Raises:
            ValueError: A learned or stored table is shorter than ``end``.
        """
        if self.limit is not None:
            if end > self.limit:
                raise ValueError(f"position {end} is beyond the {self.limit} rows of the position table")
            return self.table_TD[start:end].to(like.dtype)
        same_place = self._sinusoids_TD.device == like.device and self._sinusoids_TD.dtype == like.dtype
        if not same_place or len(self._sinusoids_TD) < end:
            table = sinusoids(
                max(end, 256, 2 * len(self._sinusoids_TD)),
                self.config.d_model,
                first_position=self.config.first_position,
                halves=self.config.positions == "halves",
            )
            self._sinusoids_TD = table.to(like)
        return self._sinusoids_TD[start:end]


class Embedding(nn.Module):
    """Vectors of pieces times √d_model, plus positions, then dropout.

    The fast form hands them on in the type of matrix products, which sums and norms then keep: under
    bfloat16 half the memory is moved between products.

    The padding piece, the last one, is the zero vector and stays it. A target is shifted right by it, so
    the decoder starts from zeros.

    Source: Vaswani et al. (2017), §3.4, §3.5 and §5.4.
    """

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.scale = math.sqrt(config.d_model)
        self.fast = True
        self.padding = vocabulary_size - 1
        self.weight_VD = nn.Parameter(torch.empty(vocabulary_size, config.d_model))
        nn.init.normal_(self.weight_VD, std=config.d_model**-0.5)
        nn.init.zeros_(self.weight_VD[self.padding])
        self.positions = Positions(config)
        self.dropout = Dropout(config.dropout)

    def forward(self, token_BT: Tensor, first: int = 0) -> Tensor:
        """Return the vectors (BTD) of pieces that stand at positions ``first`` and after."""
        x_BTD = F.embedding(token_BT, self.weight_VD, padding_idx=self.padding) * self.scale
        x_BTD = x_BTD + self.positions(first, first + token_BT.size(1), x_BTD)
        output_BTD: Tensor = self.dropout(for_products(x_BTD) if self.fast else x_BTD)
        return output_BTD
