"""Means of parameters: of several checkpoints, and a moving one over the steps."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn


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


AVERAGE = "average"
"""The name of the moving average in the optimizer's state of a parameter, beside Adam's moments."""


@torch.no_grad()
def update_moving_average(optimizer: torch.optim.Optimizer, decay: float, num_updates: int) -> None:
    """Let the averages follow the parameters: ``average = decay · average + (1 - decay) · parameter``.

    At first the decay is smaller, (1 + n) / (10 + n) after n updates, so that the first parameters, which are
    random, are soon forgotten.

    Args:
        optimizer: Its state has an average for each parameter.
        decay: The decay that is reached in the end.
        num_updates: Updates made, this one included.
    """
    share = 1.0 - min(decay, (1 + num_updates) / (10 + num_updates))
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    averages = [optimizer.state[parameter][AVERAGE] for parameter in parameters]
    torch._foreach_lerp_(averages, parameters, share)


@torch.no_grad()
def exchange_averages(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Put the moving averages into the model and the parameters in their place, or, the second time, back.

    Without averages nothing happens.
    """
    for parameter in model.parameters():
        average = optimizer.state[parameter].get(AVERAGE)
        if average is not None:
            kept = parameter.clone()
            parameter.copy_(average)
            average.copy_(kept)
