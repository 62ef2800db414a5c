"""The model's products in bytes through torch's own operations, where the native engine is not there."""

import copy
from functools import cache
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from dragoman.model import Transformer

_ZERO = 128
"""The unsigned byte that stands for 0."""

_LEAST = 1e-30
"""Magnitudes below it become 0, so that a row of zeros has a scale."""


class _Rounded(NamedTuple):
    """Rows in bytes."""

    byte: Tensor
    """Between 1 and 255; 128 is 0."""

    scale: Tensor
    """What one more of a row's bytes is worth."""


class _Rounding:
    """Rounds rows to bytes; queries, keys and values ask for the same rows one after the other."""

    def __init__(self) -> None:
        self._last: tuple[Tensor | None, _Rounded | None] = None, None

    def __call__(self, x: Tensor) -> _Rounded:
        last, rounded = self._last  # read at once: other threads may write it
        if x is not last or rounded is None:
            scale = x.abs().amax(dim=-1, keepdim=True).clamp_(min=_LEAST) / 127
            # torch converts to signed bytes three times as fast; the top bit turns -127..127 into 1..255
            byte = (x / scale).round_().to(torch.int8).view(torch.uint8).bitwise_xor_(_ZERO)
            rounded = _Rounded(byte, scale)
            self._last = x, rounded
        return rounded


class QuantizedLinear(nn.Module):
    """A linear map whose inputs and weights are rounded to bytes.

    Each row of the input has a scale of its own, its greatest magnitude by 127, and so has each output. What
    comes out for a row therefore depends on no other row.

    Args:
        weight_ED: The weights, from D inputs to E outputs.
        bias_E: What is added, if anything.
        rounding: Makes the input bytes.
    """

    def __init__(self, weight_ED: Tensor, bias_E: Tensor | None, rounding: _Rounding) -> None:
        super().__init__()
        self._rounding = rounding
        self._scale_E = weight_ED.abs().amax(dim=1).clamp(min=_LEAST) / 127
        byte_ED = (weight_ED / self._scale_E[:, None]).round().to(torch.int8)
        self._packed = torch.ops.onednn.qlinear_prepack(byte_ED, None)
        self._zero_E = torch.zeros(len(weight_ED), dtype=torch.int32)
        self._bias_E = bias_E

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs, in float32."""
        byte, scale = self._rounding(x)
        y = _product(byte.flatten(0, -2), self._packed, self._scale_E, self._zero_E).view(*x.shape[:-1], -1)
        return y.mul_(scale) if self._bias_E is None else torch.addcmul(self._bias_E, y, scale, out=y)


class QuantizedTransformer(Transformer):
    """A model that computes in bytes what is a product with weights; it shares all else with its original."""

    _projection: QuantizedLinear

    @classmethod
    def of(cls, model: Transformer) -> "QuantizedTransformer":
        """Return the model in bytes.

        Args:
            model: In evaluation mode, on the processor, in float32.
        """
        shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
        quantized = cast(QuantizedTransformer, copy.deepcopy(model, shared))
        quantized.__class__ = cls
        rounding = _Rounding()
        for module in list(quantized.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(module, name, _quantized(child.weight, child.bias, rounding))
        quantized._projection = _quantized(model.output_weight_VD, model.output_bias_V, rounding)
        return quantized

    def logits(self, x_BTD: Tensor) -> Tensor:
        """Return the logits (BTV) of the next piece; padding has minus infinity."""
        logit_BTV: Tensor = self._projection(x_BTD)
        logit_BTV[..., self.padding] = -torch.inf
        return logit_BTV


@cache
def can_quantize() -> bool:
    """Tell whether torch has products of bytes here, and whether they are exact.

    Some processors add up two products at a time in 16 bits, which the greatest ones overflow.
    """
    most = torch.full((2, 64), 255, dtype=torch.uint8)
    try:
        packed = torch.ops.onednn.qlinear_prepack(torch.full((16, 64), 127, dtype=torch.int8), None)
        found = _product(most, packed, torch.ones(16), torch.zeros(16, dtype=torch.int32))
    except (AttributeError, RuntimeError):
        return False
    return bool((found == (255 - _ZERO) * 127 * 64).all())


def _product(byte_ND: Tensor, packed: Tensor, scale_E: Tensor, zero_E: Tensor) -> Tensor:
    """Return what bytes give with packed weights, in float32 (NE)."""
    y_NE: Tensor = torch.ops.onednn.qlinear_pointwise(
        byte_ND, 1.0, _ZERO, packed, scale_E, zero_E, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return y_NE


def _quantized(weight_ED: Tensor, bias_E: Tensor | None, rounding: _Rounding) -> QuantizedLinear:
    return QuantizedLinear(weight_ED.detach(), None if bias_E is None else bias_E.detach(), rounding)
