"""Models of a few hundred weights, none of which is trivial, and batches for them."""

from collections.abc import Sequence
from typing import Any

import torch

from dragoman.config import ModelConfig
from dragoman.data import Batch, collate
from dragoman.model import Transformer
from dragoman.text.ids import END

SIZES: dict[str, Any] = {
    "vocabulary_size": 24,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "d_model": 16,
    "d_ff": 24,
    "num_heads": 2,
    "d_k": 6,
    "d_v": 10,
    "dropout": 0.0,
}


def tiny_config(**changes: Any) -> ModelConfig:
    """Return a configuration whose d_k and d_v are free of d_model / h."""
    return ModelConfig(**(SIZES | changes))


def tiny_model(seed: int = 1, dtype: torch.dtype = torch.float64, **changes: Any) -> Transformer:
    """Return a model in evaluation mode whose norms and biases are drawn as well as its matrices."""
    generator = torch.Generator().manual_seed(seed)
    model = Transformer(tiny_config(**changes)).to(dtype).eval()
    paddings = {"embedding.weight_VD": model.padding, "source_embedding.weight_VD": model.source_padding}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, dtype=torch.float64, generator=generator).to(dtype) * 0.3
            parameter.copy_(noise + 1.0 if "norm.weight" in name else noise)
            if name in paddings:
                parameter[paddings[name]] = 0.0
    return model


def random_ids(lengths: Sequence[int], seed: int = 1, vocabulary_size: int = 24) -> list[list[int]]:
    """Return rows of ordinary ids, neither end, unknown nor padding."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(2, vocabulary_size - 1, (n,), generator=generator).tolist() for n in lengths]


def random_batch(source_lengths: Sequence[int], target_lengths: Sequence[int], seed: int = 1) -> Batch:
    """Return a batch of random pairs for ``tiny_model``; lengths are without ends."""
    sources, targets = random_ids(source_lengths, seed), random_ids(target_lengths, seed + 1_000)
    return collate(list(zip(sources, targets, strict=True)), end=END, padding=23)
