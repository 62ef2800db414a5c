"""The largest values of rows.

Shapes: N rows, V values of a row, C of them chosen, M blocks of neighboring values, P places looked through.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

_BLOCK = 64
"""Neighboring values whose greatest is found first."""


def largest(value_NV: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the largest values of each row and their places (both NC), largest first.

    A row of fewer values is filled up with -inf. Of equals the lower place is better, which topk alone
    does not promise: where the last of the chosen equals the first that was left out, the equals are
    chosen again.
    """
    missing = max(0, count - value_NV.size(1))
    top_value_NC, top_place_NC = _top(value_NV, min(count + 1, value_NV.size(1)))
    place_NC = functional.pad(top_place_NC[:, :count], (0, missing))
    if count < value_NV.size(1):
        last_N = top_value_NC[:, count - 1]
        tied_N = (last_N == top_value_NC[:, count]) & (last_N > -math.inf)
        if bool(tied_N.any()):
            place_NC[tied_N] = _first_of_equals(value_NV[tied_N], last_N[tied_N][:, None], count)
    place_NC = place_NC.sort(dim=1).values
    value_NC = value_NV.gather(1, place_NC)
    value_NC[:, :missing] = -math.inf
    value_NC, order_NC = value_NC.sort(dim=1, descending=True, stable=True)
    return value_NC, place_NC.gather(1, order_NC)


def _top(value_NV: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the largest values and their places (both NC), of equals any.

    They lie in the ``count`` blocks of the greatest maxima. On a processor, where torch vectorizes a maximum
    but no topk, looking through those alone takes a fourth to a half of the time.
    """
    num_values = value_NV.size(1)
    num_blocks = num_values // _BLOCK
    if value_NV.is_cuda or num_blocks < 2 * count:
        return value_NV.topk(count, dim=1)
    greatest_NM = value_NV[:, : num_blocks * _BLOCK].reshape(-1, num_blocks, _BLOCK).amax(dim=2)
    block_NC = greatest_NM.topk(count, dim=1, sorted=False).indices
    within_NP = (block_NC[:, :, None] * _BLOCK + torch.arange(_BLOCK)).flatten(1)
    rest_NP = torch.arange(num_blocks * _BLOCK, num_values).expand(len(value_NV), -1)
    place_NP = torch.cat([within_NP, rest_NP], dim=1)
    top = value_NV.gather(1, place_NP).topk(count, dim=1)
    return top.values, place_NP.gather(1, top.indices)


def _first_of_equals(value_NV: Tensor, last_N1: Tensor, count: int) -> Tensor:
    """Return the places (NC) of all values above ``last_N1`` and of the first ones that equal it."""
    num_places = value_NV.size(1)
    rank_V = torch.arange(num_places, 0, -1, dtype=torch.int32, device=value_NV.device)
    rank_NV = torch.where(value_NV == last_N1, rank_V, 0).masked_fill(value_NV > last_N1, num_places + 1)
    return rank_NV.topk(count, dim=1).indices
