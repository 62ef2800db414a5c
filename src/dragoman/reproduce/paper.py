"""The numbers of the paper, as printed.

Source: Vaswani et al. (2017), Tables 2, 3 and 4.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Translated(NamedTuple):
    """A row of Table 2: newstest2014, BLEU of tokens, and training cost in operations."""

    model: str
    bleu_de: float | None
    bleu_fr: float | None
    cost_de: float | None
    cost_fr: float | None


TABLE2 = (
    Translated("ByteNet", 23.75, None, None, None),
    Translated("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    Translated("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    Translated("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    Translated("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    Translated("Deep-Att + PosUnk ensemble", None, 40.4, None, 8.0e20),
    Translated("GNMT + RL ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    Translated("ConvS2S ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    Translated("Transformer (base)", 27.3, 38.1, 3.3e18, 3.3e18),
    Translated("Transformer (big)", 28.4, 41.8, 2.3e19, 2.3e19),
)


class Variation(NamedTuple):
    """A row of Table 3: newstest2013, English to German, by beam search without averaging."""

    row: str
    """base, A to E, or big."""
    change: str
    """What differs from the base model, in the paper's letters."""
    keys: Mapping[str, Any]
    """The same as keys of the configuration."""
    perplexity: float
    """Per piece."""
    bleu: float
    millions: float | None
    """Parameters, where the paper prints them."""

    @property
    def name(self) -> str:
        """A name that a folder can bear."""
        return f"{self.row} {self.change}".strip().replace(" ", "-").replace("=", "")


def _heads(number: int, width: int) -> dict[str, Any]:
    return {"model.num_heads": number, "model.d_k": width, "model.d_v": width}


def _layers(number: int) -> dict[str, Any]:
    return {"model.num_encoder_layers": number, "model.num_decoder_layers": number}


def _width(d_model: int, d_k: int) -> dict[str, Any]:
    return {"model.d_model": d_model, "model.d_k": d_k, "model.d_v": d_k}


TABLE3 = (
    Variation("base", "", {}, 4.92, 25.8, 65),
    Variation("A", "h=1", _heads(1, 512), 5.29, 24.9, None),
    Variation("A", "h=4", _heads(4, 128), 5.00, 25.5, None),
    Variation("A", "h=16", _heads(16, 32), 4.91, 25.8, None),
    Variation("A", "h=32", _heads(32, 16), 5.01, 25.4, None),
    Variation("B", "d_k=16", {"model.d_k": 16}, 5.16, 25.1, 58),
    Variation("B", "d_k=32", {"model.d_k": 32}, 5.01, 25.4, 60),
    Variation("C", "N=2", _layers(2), 6.11, 23.7, 36),
    Variation("C", "N=4", _layers(4), 5.19, 25.3, 50),
    Variation("C", "N=8", _layers(8), 4.88, 25.5, 80),
    Variation("C", "d_model=256", _width(256, 32), 5.75, 24.5, 28),
    Variation("C", "d_model=1024", _width(1024, 128), 4.66, 26.0, 168),
    Variation("C", "d_ff=1024", {"model.d_ff": 1024}, 5.12, 25.4, 53),
    Variation("C", "d_ff=4096", {"model.d_ff": 4096}, 4.75, 26.2, 90),
    Variation("D", "P_drop=0.0", {"model.dropout": 0.0}, 5.77, 24.6, None),
    Variation("D", "P_drop=0.2", {"model.dropout": 0.2}, 4.95, 25.5, None),
    Variation("D", "e_ls=0.0", {"train.label_smoothing": 0.0}, 4.67, 25.3, None),
    Variation("D", "e_ls=0.2", {"train.label_smoothing": 0.2}, 5.47, 25.7, None),
    Variation("E", "learned positions", {"model.positions": "learned"}, 4.92, 25.7, None),
    Variation(
        "big",
        "",
        {
            "model.d_model": 1024,
            "model.d_ff": 4096,
            **_heads(16, 64),
            "model.dropout": 0.3,
            "train.max_steps": 300_000,
        },
        4.33,
        26.4,
        213,
    ),
)


class Parsed(NamedTuple):
    """A row of Table 4: F1 on section 23 of the Wall Street Journal."""

    parser: str
    training: str
    f1: float


TABLE4 = (
    Parsed("Vinyals & Kaiser et al. (2014)", "WSJ only, discriminative", 88.3),
    Parsed("Petrov et al. (2006)", "WSJ only, discriminative", 90.4),
    Parsed("Zhu et al. (2013)", "WSJ only, discriminative", 90.4),
    Parsed("Dyer et al. (2016)", "WSJ only, discriminative", 91.7),
    Parsed("Transformer (4 layers)", "WSJ only, discriminative", 91.3),
    Parsed("Zhu et al. (2013)", "semi-supervised", 91.3),
    Parsed("Huang & Harper (2009)", "semi-supervised", 91.3),
    Parsed("McClosky et al. (2006)", "semi-supervised", 92.1),
    Parsed("Vinyals & Kaiser et al. (2014)", "semi-supervised", 92.1),
    Parsed("Transformer (4 layers)", "semi-supervised", 92.7),
    Parsed("Luong et al. (2015)", "multi-task", 93.0),
    Parsed("Dyer et al. (2016)", "generative", 93.3),
)
