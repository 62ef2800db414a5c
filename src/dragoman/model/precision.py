"""The number format of matrix products."""

import torch
from torch import Tensor


def product_type(x: Tensor) -> torch.dtype:
    """Return the type in which matrix products of ``x`` are computed here: autocast's, or its own."""
    if torch.is_autocast_enabled(x.device.type):
        return torch.get_autocast_dtype(x.device.type)
    return x.dtype


def for_products(x: Tensor) -> Tensor:
    """Return ``x`` in the type of matrix products.

    Autocast would convert it again for each product that it enters; converted here, it is once.
    """
    return x.to(product_type(x))
