"""Dropout, readable and from cheap random bits."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Dropout(nn.Module):
    """Set a share of the elements to zero while training and scale the others up.

    The fast form compares eight random bits with a threshold. It draws from the default generator, as
    torch's own does, but one 64-bit number serves eight elements: torch draws one an element, on one thread.
    The rate is rounded to a multiple of 1/256 and the scale follows the rounded rate, so the expected
    value is exact.

    Source: Vaswani et al. (2017), §5.4; Srivastava et al. (2014).
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.fast = True

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x`` with a share of its elements dropped, or ``x`` itself when not training."""
        if not self.training or self.rate == 0.0:
            return x
        return drop(x, self.rate) if self.fast and not x.is_cuda else F.dropout(x, self.rate)


def drop(x: Tensor, rate: float) -> Tensor:
    """Return ``x`` with elements dropped at the multiple of 1/256 nearest to ``rate``, at least 1/256."""
    threshold = min(max(round(rate * 256), 1), 255)
    words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device)
    bits = words.random_(-(2**63), None).view(torch.uint8)[: x.numel()].view(x.shape)
    kept = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    torch.ge(bits, threshold, out=kept)  # straight into the type of x: torch is slow with bool tensors
    return x * kept.mul_(256 / (256 - threshold))
