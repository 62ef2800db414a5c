"""The mean of several checkpoints."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor


def average(checkpoints: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of each parameter, summed in float32 at least and in the parameter's own type again.

    A tied tensor has one name, so it is counted once. One checkpoint is held at a time.

    Source: Vaswani et al. (2017), §6.1.

    Raises:
        ValueError: No checkpoint, or names or shapes that differ.
    """
    totals: dict[str, Tensor] = {}
    types: dict[str, torch.dtype] = {}
    count = 0
    for parameters in checkpoints:
        if count and parameters.keys() != totals.keys():
            raise ValueError("the checkpoints do not hold the same parameters")
        for name, tensor in parameters.items():
            wide = tensor.to(torch.promote_types(tensor.dtype, torch.float32))
            if count and wide.shape != totals[name].shape:
                raise ValueError(f"{name} has shape {list(wide.shape)} and {list(totals[name].shape)}")
            totals[name] = totals[name] + wide if count else wide.clone()
            types[name] = tensor.dtype
        count += 1
    if count == 0:
        raise ValueError("there is no checkpoint to average")
    return {name: (total / count).to(types[name]) for name, total in totals.items()}
