"""What a rival hands to the measurement."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from peers.batches import Pairs


@dataclass(frozen=True)
class Rival:
    """A model with its own way to train; ``make`` in each ``rival_*.py`` builds one."""

    version: str
    model: nn.Module
    prepare: Callable[[Pairs], Any]
    """Turns pairs into the rival's own batch; not timed."""
    step: Callable[[Any], float]
    """Forward, backward and optimizer on such a batch; returns the loss, in nats per target piece."""

    @property
    def num_parameters(self) -> int:
        """Trained values; a tied tensor counts once."""
        return sum(parameter.numel() for parameter in self.model.parameters() if parameter.requires_grad)


def rank_and_size() -> tuple[int, int]:
    """Return which of how many processes of the rival this is."""
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
