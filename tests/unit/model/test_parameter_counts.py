"""The model has as many parameters as the paper prints."""

from typing import Any

import pytest
import torch

from dragoman.config import ModelConfig
from dragoman.model import Transformer
from dragoman.model.arithmetic import num_parameters

BASE = {"vocabulary_size": 40_960}
NARROW = {"d_model": 256, "d_k": 32, "d_v": 32}
WIDE = {"d_model": 1024, "d_k": 128, "d_v": 128}
BIG = {"vocabulary_size": 36_000, "d_model": 1024, "d_ff": 4096, "num_heads": 16}
# Millions, for the vocabulary that fits every printed count; the big row fits another one.
ROWS: list[tuple[str, dict[str, Any], float]] = [
    ("base", BASE, 65.07),
    ("A, one head", BASE | {"num_heads": 1, "d_k": 512, "d_v": 512}, 65.07),
    ("A, 4 heads", BASE | {"num_heads": 4, "d_k": 128, "d_v": 128}, 65.07),
    ("A, 16 heads", BASE | {"num_heads": 16, "d_k": 32, "d_v": 32}, 65.07),
    ("A, 32 heads", BASE | {"num_heads": 32, "d_k": 16, "d_v": 16}, 65.07),
    ("B, d_k 16", BASE | {"d_k": 16}, 58.00),
    ("B, d_k 32", BASE | {"d_k": 32}, 60.35),
    ("C, 2 layers", BASE | {"num_encoder_layers": 2, "num_decoder_layers": 2}, 35.67),
    ("C, 4 layers", BASE | {"num_encoder_layers": 4, "num_decoder_layers": 4}, 50.37),
    ("C, 8 layers", BASE | {"num_encoder_layers": 8, "num_decoder_layers": 8}, 79.77),
    ("C, d_model 256", BASE | NARROW, 27.83),
    ("C, d_model 1024", BASE | WIDE, 167.87),
    ("C, d_ff 1024", BASE | {"d_ff": 1024}, 52.48),
    ("C, d_ff 4096", BASE | {"d_ff": 4096}, 90.26),
    ("D, no dropout", BASE | {"dropout": 0.0}, 65.07),
    ("big", BIG, 213.15),
]


def built(changes: dict[str, Any]) -> int:
    with torch.device("meta"):
        return num_parameters(Transformer(ModelConfig(**changes)))


@pytest.mark.parametrize(("row", "changes", "millions"), ROWS, ids=[row for row, _, _ in ROWS])
def test_every_row_of_table_3_has_its_parameters(row: str, changes: dict[str, Any], millions: float) -> None:
    """Each row of Table 3 has the count of the paper, within 0.01 million."""
    assert built(changes) / 1e6 == pytest.approx(millions, abs=0.01)


@pytest.mark.parametrize(("row", "changes", "millions"), ROWS, ids=[row for row, _, _ in ROWS])
def test_the_count_has_a_closed_form(row: str, changes: dict[str, Any], millions: float) -> None:
    """The parameters are those of §3 and no others: matrices, two biases and the norms, layer by layer."""
    config = ModelConfig(**changes)
    d, norm = config.d_model, 2 * config.d_model
    attention = 2 * d * config.num_heads * (config.d_k + config.d_v)
    feed_forward = 2 * d * config.d_ff + config.d_ff + d
    encoder = config.num_encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = config.num_decoder_layers * (2 * attention + feed_forward + 3 * norm)

    assert built(changes) == config.vocabulary_size * d + encoder + decoder


def test_learned_positions_add_their_table_on_both_sides() -> None:
    """Row E has a table of positions in place of sinusoids, for each embedding, and nothing else."""
    learned = built(BASE | {"positions": "learned", "max_positions": 1_024})

    assert learned - built(BASE) == 1_024 * 512
