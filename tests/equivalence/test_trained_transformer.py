"""A Transformer that others trained gives their numbers when its weights lie in our modules.

The reference is a transliteration model of CTranslate2 (pre-norm, biases everywhere, three separate
embeddings, positions in halves from 1 on with an exponent of its own) and what CTranslate2 computed with it.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig, SearchConfig
from dragoman.data import pad
from dragoman.model import CachedDecoder, Transformer
from dragoman.model.attention import MultiHeadAttention
from dragoman.search import Hypothesis, search

START, END = 1, 2
D_MODEL, NUM_POSITIONS = 32, 128
CONFIG = ModelConfig(
    vocabulary_size=48,  # 43 pieces and padding, as a multiple of 8
    source_vocabulary_size=52,  # 51 pieces and padding
    num_encoder_layers=6,
    num_decoder_layers=6,
    d_model=D_MODEL,
    d_ff=128,
    num_heads=8,
    d_k=4,
    d_v=4,
    positions="table",
    first_position=1,
    max_positions=NUM_POSITIONS,
    norm="pre",
    attention_bias=True,
    output_bias=True,
    embeddings="separate",
)
Weights = Mapping[str, Tensor]


def signal() -> Tensor:
    """Sines in the left half, cosines in the right one, timescales from 1 to 10,000 ends included."""
    increment = math.log(10_000) / (D_MODEL // 2 - 1)
    angle = [
        [position * math.exp(-increment * i) for i in range(D_MODEL // 2)]
        for position in range(1, NUM_POSITIONS + 1)
    ]
    table = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    return torch.from_numpy(table).float()


def put_linear(module: nn.Linear, weights: Weights, name: str, part: int = 0, of: int = 1) -> None:
    """Copy one of several matrices that are stacked in one."""
    module.weight.copy_(weights[f"{name}.weight"].chunk(of)[part])
    module.bias.copy_(weights[f"{name}.bias"].chunk(of)[part])


def put_norm(module: nn.LayerNorm, weights: Weights, name: str) -> None:
    module.weight.copy_(weights[f"{name}.layer_norm.gamma"])
    module.bias.copy_(weights[f"{name}.layer_norm.beta"])


def put_self_attention(module: MultiHeadAttention, weights: Weights, name: str) -> None:
    for part, projection in enumerate((module.query, module.key, module.value)):
        put_linear(projection, weights, f"{name}.linear_0", part, of=3)
    put_linear(module.output, weights, f"{name}.linear_1")


def put_feed_forward(layer: Any, weights: Weights, name: str) -> None:
    put_norm(layer.feed_forward_residual.norm, weights, f"{name}.ffn")
    put_linear(layer.feed_forward.inner, weights, f"{name}.ffn.linear_0")
    put_linear(layer.feed_forward.outer, weights, f"{name}.ffn.linear_1")


@torch.no_grad()
def mapped(weights: Weights) -> Transformer:
    """Return our model with these weights; ids that the original lacks can never be produced."""
    model = Transformer(CONFIG).eval()
    for table, name in (
        (model.source_embedding.weight_VD, "encoder.embeddings.weight"),
        (model.embedding.weight_VD, "decoder.embeddings.weight"),
        (model.projection_VD, "decoder.projection.weight"),
    ):
        table.zero_()
        table[: len(weights[name])] = weights[name]
    model.bias_V.fill_(-torch.inf)
    model.bias_V[:43] = weights["decoder.projection.bias"]
    for embedding in (model.embedding, model.source_embedding):
        embedding.positions.table_TD.copy_(signal())
    put_norm(model.encoder_norm, weights, "encoder")
    put_norm(model.decoder_norm, weights, "decoder")
    for number, layer in enumerate(model.encoder):
        name = f"encoder.layer_{number}"
        put_norm(layer.attention_residual.norm, weights, f"{name}.self_attention")
        put_self_attention(layer.attention, weights, f"{name}.self_attention")
        put_feed_forward(layer, weights, name)
    for number, layer in enumerate(model.decoder):
        name = f"decoder.layer_{number}"
        put_norm(layer.self_residual.norm, weights, f"{name}.self_attention")
        put_self_attention(layer.self_attention, weights, f"{name}.self_attention")
        put_norm(layer.cross_residual.norm, weights, f"{name}.attention")
        put_linear(layer.cross_attention.query, weights, f"{name}.attention.linear_0")
        put_linear(layer.cross_attention.key, weights, f"{name}.attention.linear_1", 0, of=2)
        put_linear(layer.cross_attention.value, weights, f"{name}.attention.linear_1", 1, of=2)
        put_linear(layer.cross_attention.output, weights, f"{name}.attention.linear_2")
        put_feed_forward(layer, weights, name)
    return model


class Reference:
    """The model, and what CTranslate2 made of 60 words."""

    def __init__(self, folder: Path) -> None:
        with np.load(folder / "weights.npz") as file:
            self.weights = {name: torch.from_numpy(file[name]) for name in file.files}
        self.model = mapped(self.weights)
        self.cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
        vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        self.source_ids = {piece: number for number, piece in enumerate(vocabulary["source"])}
        self.target_ids = {piece: number for number, piece in enumerate(vocabulary["target"])}
        self.target_pieces = vocabulary["target"]

    def sources(self) -> Tensor:
        """Return all words as one padded batch; unlike ours, they have no end."""
        rows = [[self.source_ids[letter] for letter in case["source"]] for case in self.cases]
        padding = self.model.source_padding
        return pad(rows, end=padding, padding=padding)[:, :-1]

    @torch.no_grad()
    def found(self, beam_size: int) -> list[list[Hypothesis]]:
        decoder = CachedDecoder(self.model, self.model.encode(self.sources()), beam_size, impossible=())
        limit_B = torch.full((len(self.cases),), 60)
        config = SearchConfig(beam_size=beam_size, n_best=beam_size, length_penalty=0.0)
        return search(decoder, start=START, end=END, limit_B=limit_B, config=config)

    def text(self, hypothesis: Hypothesis) -> str:
        return "".join(self.target_pieces[token] for token in hypothesis.tokens)


@pytest.fixture(scope="module")
def reference() -> Reference:
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "trained-transformer"
    if not folder.is_dir():
        pytest.skip("the trained reference model (shared/data/trained-transformer) is not here")
    return Reference(folder)


def test_every_weight_is_used(reference: Reference) -> None:
    """No number of the original is left out, and none of ours is made up."""
    of_tables = 2 * NUM_POSITIONS * D_MODEL
    of_unused_ids = (52 - 51) * D_MODEL + 2 * (48 - 43) * D_MODEL + (48 - 43)
    ours = sum(tensor.numel() for tensor in reference.model.state_dict().values())

    assert ours - of_tables - of_unused_ids == sum(map(torch.numel, reference.weights.values())) == 182_731


@torch.no_grad()
def test_token_log_probabilities_agree(reference: Reference) -> None:
    """Each token of all 60 outputs has CTranslate2's log-probability within 1e-4, ends included."""
    targets = [[reference.target_ids[letter] for letter in case["greedy"]] for case in reference.cases]
    padding = reference.model.padding
    target_BT = pad(targets, end=END, padding=padding)
    input_BT = torch.cat([torch.full((len(targets), 1), START), target_BT[:, :-1]], dim=1)
    logprob_BTV = reference.model(reference.sources(), input_BT).log_softmax(dim=-1)
    found = logprob_BTV.gather(2, target_BT[..., None])[..., 0]
    for row, case in zip(found, reference.cases, strict=True):
        expected = torch.tensor(case["greedy_token_log_probs"])

        torch.testing.assert_close(row[: len(expected)], expected, rtol=0, atol=1e-4)


def test_greedy_outputs_agree(reference: Reference) -> None:
    """Greedy search finds CTranslate2's output of every word, token by token with its score."""
    found = [hypotheses[0] for hypotheses in reference.found(beam_size=1)]

    assert [reference.text(hypothesis) for hypothesis in found] == [
        case["greedy"] for case in reference.cases
    ]
    for hypothesis, case in zip(found, reference.cases, strict=True):
        assert hypothesis.token_scores == pytest.approx(case["greedy_token_log_probs"], abs=1e-4)


@torch.no_grad()
def test_beam_outputs_agree(reference: Reference) -> None:
    """A beam of 4 finds CTranslate2's best of every word; further outputs have its scores or are better.

    CTranslate2 rules out an empty output before it normalizes the first step, so its scores are greater by
    the logarithm of what remains. It stops at four ended outputs, where this search goes on while a live
    one can still be better.
    """
    start_B1 = torch.full((len(reference.cases), 1), START)
    first_BTV = reference.model(reference.sources(), start_B1).log_softmax(dim=-1)
    not_empty_B = -torch.log1p(-first_BTV[:, 0, END].exp())
    lists = zip(reference.found(beam_size=4), reference.cases, not_empty_B.tolist(), strict=True)
    for hypotheses, case, not_empty in lists:
        ours = {reference.text(one): one.log_probability + not_empty for one in hypotheses}
        theirs = dict(case["beam4_sum"])
        both = ours.keys() & theirs.keys()

        assert max(ours, key=ours.__getitem__) == case["beam4_sum"][0][0]
        assert [ours[text] for text in both] == pytest.approx([theirs[text] for text in both], abs=1e-4)
        for our_score, their_score in zip(sorted(ours.values()), sorted(theirs.values()), strict=True):
            assert our_score >= their_score - 1e-4
