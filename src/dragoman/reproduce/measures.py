"""What a layer costs and how far it reaches, measured: operations, seconds, memory, depth, path length."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
import torch
from torch import Tensor
from torch.autograd.graph import Node, saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from dragoman.reproduce.layers import Layer


def counted_flops(action: Callable[[], object]) -> int:
    """Return the floating-point operations of the matrix products and convolutions in a call."""
    with FlopCounterMode(display=False) as counter:
        action()
    return int(counter.get_total_flops())


def median_seconds(action: Callable[[], object], *, repeats: int = 5, least_seconds: float = 0.01) -> float:
    """Return the median time of a call; a short one is made so often that a clock can tell it."""
    action()
    began = time.perf_counter()
    action()
    number = max(1, math.ceil(least_seconds / max(time.perf_counter() - began, 1e-7)))
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(number):
            action()
        found.append((time.perf_counter() - began) / number)
    return statistics.median(found)


def kept_bytes(layer: Layer, x_TD: Tensor) -> int:
    """Return the bytes that a layer keeps for its backward pass, each tensor counted once."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        layer(x_TD.detach().requires_grad_())
    return sum(kept.values())


def sequential_operations(output: Tensor) -> int:
    """Return the length of the longest chain of operations that led to a tensor, each waiting for another."""
    depths: dict[Node, int] = {}
    ahead = [output.grad_fn]
    while ahead:
        node = ahead[-1]
        if node is None or node in depths:
            ahead.pop()
            continue
        below = [before for before, _ in node.next_functions if before is not None]
        missing = [before for before in below if before not in depths]
        if missing:
            ahead += missing
        else:
            depths[node] = 1 + max((depths[before] for before in below), default=0)
            ahead.pop()
    return max(depths.values(), default=0)


def reaches(output_TD: Tensor, x_TD: Tensor) -> bool:
    """Tell whether the last position of an output depends on the first of its input, by the gradient."""
    (grad_TD,) = torch.autograd.grad(output_TD[-1].sum(), x_TD, retain_graph=True)
    return bool((grad_TD[0] != 0).any())


def path_length(layers: Callable[[int], Layer], length: int, width: int) -> int:
    """Return how many layers it takes until the last position depends on the first.

    Args:
        layers: Returns the layer at a depth, counted from 0.
        length: Positions of the sequence.
        width: Their width.
    """
    generator = torch.Generator().manual_seed(1)
    x_TD = torch.randn(length, width, generator=generator, dtype=torch.float64).requires_grad_()
    mixed_TD: Tensor = x_TD
    for depth in count():
        mixed_TD = layers(depth)(mixed_TD)
        if reaches(mixed_TD, x_TD):
            return depth + 1
    raise AssertionError("a path has an end")


def recurrent_steps(recurrence: Layer, length: int, width: int) -> int:
    """Return how many steps a recurrence needs until its last state depends on the first position.

    It is shown ever longer ends of the sequence, until one begins with the first position.
    """
    generator = torch.Generator().manual_seed(1)
    x_TD = torch.randn(length, width, generator=generator, dtype=torch.float64).requires_grad_()
    for steps in range(1, length + 1):
        if reaches(recurrence(x_TD[length - steps :]), x_TD):
            return steps - 1
    raise AssertionError("the whole sequence holds its first position")


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Return p of the power law y = c · x^p that fits best, by least squares of the logarithms."""
    slope, _ = np.polyfit(np.log(x), np.log(y), 1)
    return float(slope)


def crossing(x: Sequence[float], one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return where ``one`` grows beyond ``other``, interpolated between logarithms; None if it never does."""
    gaps = [math.log(a) - math.log(b) for a, b in zip(one, other, strict=True)]
    for i in range(1, len(gaps)):
        if gaps[i - 1] <= 0 < gaps[i] or gaps[i - 1] < 0 <= gaps[i]:
            share = -gaps[i - 1] / (gaps[i] - gaps[i - 1])
            return math.exp(math.log(x[i - 1]) + share * (math.log(x[i]) - math.log(x[i - 1])))
    return None
