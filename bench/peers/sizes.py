"""The models that are measured; all rivals build the same ones."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Size:
    """A Transformer whose norm comes after the residual sum, with one tensor for its three embeddings."""

    name: str
    num_layers: int
    """Of the encoder, and as many of the decoder."""
    d_model: int
    d_ff: int
    num_heads: int
    vocabulary_size: int
    batch_tokens: int
    """Positions of a batch on its longer side, padding counted."""
    num_steps: int
    """Steps that are timed in one round."""


SMALL = Size(
    name="small",
    num_layers=3,
    d_model=256,
    d_ff=1_024,
    num_heads=8,
    vocabulary_size=8_000,
    batch_tokens=4_096,
    num_steps=8,
)
BASE = Size(
    name="base",
    num_layers=6,
    d_model=512,
    d_ff=2_048,
    num_heads=8,
    vocabulary_size=37_000,
    batch_tokens=2_048,
    num_steps=4,
)
SIZES = {size.name: size for size in (SMALL, BASE)}

DROPOUT = 0.1
LABEL_SMOOTHING = 0.1
LEARNING_RATE = 5e-4
ADAM_BETAS = (0.9, 0.98)
ADAM_EPSILON = 1e-9
