"""Engines of tiny models, and shortlists for them."""

from collections.abc import Sequence
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.engine import Engine, Precision, has_bfloat16
from dragoman.hypothesis import Hypothesis
from dragoman.model import Transformer
from dragoman.model_search import ModelSearch
from dragoman.search import Decoder
from dragoman.searchers import Searcher, in_order
from dragoman.text.ids import END
from dragoman.text.lexicon import Lexicon
from tiny_models import random_ids

PRECISIONS: list[Precision] = ["float32", "int8"]
if has_bfloat16():
    PRECISIONS.append("bfloat16")

LENGTHS = [1, 2, 3, 5, 8, 13, 21, 4, 4, 17]


def weights(model: Transformer) -> dict[str, Any]:
    return {name: tensor.float().numpy() for name, tensor in model.state_dict().items()}


def sources(lengths: Sequence[int] = LENGTHS, seed: int = 5) -> list[list[int]]:
    """Sources of tiny models, with their ends."""
    return [[*ids, END] for ids in random_ids(lengths, seed, 24)]


def run(searcher: Searcher, *arguments: Any, before_batch: Any = lambda: None) -> list[list[Hypothesis]]:
    return list(in_order(searcher.search_each(*arguments, before_batch=before_batch)))


def plain(found: list[list[Hypothesis]]) -> list[list[tuple[tuple[int, ...], bool]]]:
    return [[(one.tokens, one.finished) for one in sentence] for sentence in found]


def assert_alike(found: list[list[Hypothesis]], right: list[list[Hypothesis]]) -> None:
    """The same outputs, with the same scores of each token but for rounding."""
    assert plain(found) == plain(right)
    for ours, theirs in zip(chain(*found), chain(*right), strict=True):
        assert ours.token_scores == pytest.approx(theirs.token_scores, abs=1e-4)
        assert ours.score == pytest.approx(theirs.score, abs=1e-4)


def shortlisted(
    model: Transformer, lexicon: Lexicon, precision: Precision = "float32", workers: int = 1
) -> Engine:
    """The engine of a model with a shortlist; all but padding may be produced."""
    return Engine.of_weights(
        model.config, weights(model), precision, [], workers=workers, lexicon=lambda: lexicon
    )


def lexicon_of(translations: Sequence[Sequence[int]], frequent: Sequence[int] = (END,)) -> Lexicon:
    """A lexicon of what may come of each source piece and always."""
    starts = np.cumsum([0, *map(len, translations)])
    targets = [target for some in translations for target in some]
    return Lexicon(*(np.array(part, np.int32) for part in (starts, targets, frequent)))


def random_lexicon(seed: int, most: int = 4, source_size: int = 24, size: int = 24) -> Lexicon:
    """A lexicon that gives each source piece some pieces or none, and lets few come always."""
    draw = np.random.default_rng(seed)
    translations = [draw.choice(size, draw.integers(0, most + 1), replace=False) for _ in range(source_size)]
    return lexicon_of([some.tolist() for some in translations], [END, *draw.choice(size, 1).tolist()])


def allowed(lexicon: Lexicon, source: Sequence[int], *, copied: bool = True) -> set[int]:
    """What a lexicon lets come of a source; of one vocabulary the source's own pieces always may."""
    starts = lexicon.starts
    own = [lexicon.targets[starts[piece] : starts[piece + 1]].tolist() for piece in source]
    return {*lexicon.frequent.tolist(), *(source if copied else ())}.union(*own)


class AllowingDecoder:
    """Lets only some tokens come, and shares all probability out among them."""

    def __init__(self, decoder: Decoder, tokens: set[int]) -> None:
        self._decoder = decoder
        self._tokens = sorted(tokens)

    def step(self, token_N: Tensor) -> Tensor:
        logprob_NV = self._decoder.step(token_N)
        own = logprob_NV[:, self._tokens].log_softmax(dim=-1)
        return torch.full_like(logprob_NV, -torch.inf).index_copy(1, torch.tensor(self._tokens), own)

    def reorder(self, row_N: Tensor) -> None:
        self._decoder.reorder(row_N)


def allowed_by_torch(
    model: Transformer, lexicon: Lexicon, given: Sequence[Sequence[int]], limit: int, config: SearchConfig
) -> list[list[Hypothesis]]:
    """What the model in torch finds where only what a lexicon allows may come."""
    bundle: Any = SimpleNamespace(model=model, tokenizer=SimpleNamespace(impossible=[model.padding]))
    found = []
    for source in given:
        tokens = allowed(lexicon, source, copied=model.config.source_vocabulary_size is None)
        search = ModelSearch(bundle, wrap=lambda decoder, tokens=tokens: AllowingDecoder(decoder, tokens))
        found += run(search, [source], [limit], config)
    return found
