"""Model folders whose weights are set, not learned: one writes by a table, the other copies its source."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dragoman.bundle import Bundle
from dragoman.config import Config, DataConfig, ModelConfig, SearchConfig
from dragoman.model import Transformer
from dragoman.text import Tokenizer

CODE_WIDTH = 64
"""Places of a code; and all places of a model that writes by a table."""

MAX_POSITIONS = 256
IMPOSSIBLE = -3e38
"""A weight whose logits are below all numbers of float32, minus infinity, so that probabilities are 0."""


def save(folder: Path, tokenizer: Tokenizer, model: Transformer, search: SearchConfig) -> Path:
    """Write a model folder."""
    config = Config(model=model.config, data=DataConfig(max_length=MAX_POSITIONS), search=search)
    Bundle(config, tokenizer, model).save(folder, "A model whose weights were set.\n")
    return folder


def silent_model(tokenizer: Tokenizer, **changes: Any) -> Transformer:
    """Return a model of one layer a side that adds nothing to what its embeddings say: all zeros are."""
    sizes: dict[str, Any] = {
        "num_encoder_layers": 1,
        "num_decoder_layers": 1,
        "d_ff": 8,
        "num_heads": 1,
        "dropout": 0.0,
    }
    sizes |= {"embeddings": "separate", "positions": "learned", "max_positions": MAX_POSITIONS, "norm": "pre"}
    config = ModelConfig(vocabulary_size=tokenizer.vocabulary_size, **(sizes | changes))
    model = Transformer(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if name.endswith("norm.weight") else 0.0)
    return model


class TableModel(NamedTuple):
    """A model that writes by a table."""

    folder: Path
    pieces: dict[str, str]
    """How each word of the table is spelled."""

    source: str
    """A text of one piece, for which outputs may have as many tokens as the table's case says."""


def table_model(folder: Path, tokenizer: Tokenizer, case: Mapping[str, Any]) -> TableModel:
    """Write a model whose next token depends on the last one only, with the probabilities of a case.

    The state after a token is a direction of its own, up in one place and down in the next, which the norm
    only stretches. The start has the zero embedding and so its direction from the first position.
    """
    rows: dict[str, dict[str, float]] = case["next_token_probabilities_after"]
    words = [word for word in case["tokens"] if word not in (case["bos"], case["eos"], case["pad"])]
    spaced = [
        i for i, spelling in enumerate(tokenizer.spellings) if spelling[:1] == b" " and len(spelling) > 1
    ]
    token_of = dict(zip(words, spaced, strict=False)) | {case["eos"]: tokenizer.end}
    source = tokenizer.decode(spaced[:1])
    assert tokenizer.encode(source) == spaced[:1]
    model = silent_model(tokenizer, d_model=CODE_WIDTH, d_k=8, d_v=8)
    places = iter(range(0, CODE_WIDTH, 2))
    for last, row in rows.items():
        token = tokenizer.padding if last == case["bos"] else token_of[last]
        logit_of = {token_of[word]: math.log(p) for word, p in row.items() if p > 0.0}
        _write_row(model, places, token, logit_of)
    save(folder, tokenizer, model, SearchConfig(extra_length=case["max_length"] - 2))
    return TableModel(folder, {word: tokenizer.pieces([token_of[word]])[0] for word in words}, source)


@torch.no_grad()
def _write_row(model: Transformer, places: Iterator[int], token: int, logit_of: Mapping[int, float]) -> None:
    """Give the state after a token its direction, at a free place and the next, and the logits it leads to.

    The last norm must leave zeros in all other places, to the last bit, since logits are infinite there;
    that depends on how it sums a mean, so that places are tried out.
    """
    start = token == model.padding
    table, row = (model.embedding.positions.table_TD, 0) if start else (model.embedding.weight_VD, token)
    memory = model.encode(torch.zeros(1, 1, dtype=torch.long))
    for place in places:
        table[row] = 0.0
        table[row, place], table[row, place + 1] = 1.0, -1.0
        state_D = model.decode(torch.tensor([[model.padding, token]]), memory)[0, 0 if start else 1]
        if state_D.count_nonzero() == 2:
            break
    else:
        raise AssertionError("the norm rounds wherever a state may be")
    weight_V = torch.full((model.config.vocabulary_size,), IMPOSSIBLE)
    for follower, logit in logit_of.items():
        weight_V[follower] = logit / 2.0 / float(state_D[place])
    model.projection_VD[:, place], model.projection_VD[:, place + 1] = weight_V, -weight_V


def copy_weights(tokenizer: Tokenizer) -> Transformer:
    """Return a model that writes its source to the letter, whatever pieces it has.

    Positions and pieces have codes. Each position of the target looks for its own code among those of the
    source, and takes the code of the piece that stands there.
    """
    model = silent_model(tokenizer, d_model=2 * CODE_WIDTH, d_k=CODE_WIDTH, d_v=CODE_WIDTH)
    piece_VC, position_TC = (codes(number) for number in (tokenizer.vocabulary_size, MAX_POSITIONS))
    places, pieces = slice(0, CODE_WIDTH), slice(CODE_WIDTH, 2 * CODE_WIDTH)
    layer: Any = model.decoder[0]
    attention = layer.cross_attention
    with torch.no_grad():
        model.source_embedding.weight_VD[:-1, pieces] = piece_VC[:-1] / model.source_embedding.scale
        for embedding in (model.source_embedding, model.embedding):
            embedding.positions.table_TD[:, places] = position_TC
        attention.query.weight[:, places] = 10.0 * torch.eye(CODE_WIDTH)
        attention.key.weight[:, places] = torch.eye(CODE_WIDTH)
        attention.value.weight[:, pieces] = torch.eye(CODE_WIDTH)
        attention.output.weight[pieces] = torch.eye(CODE_WIDTH)
        model.projection_VD[:, pieces] = 0.5 * piece_VC
    return model


def codes(number: int) -> Tensor:
    """Return so many rows of +1 and -1 in equal shares, each far from every other, the same at each call."""
    generator = torch.Generator().manual_seed(1)
    order = torch.stack([torch.randperm(CODE_WIDTH, generator=generator) for _ in range(number)])
    return (order < CODE_WIDTH // 2).float() * 2.0 - 1.0
