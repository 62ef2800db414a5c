"""Writing piece by piece, with what is computed kept."""

from typing import Any

import pytest
import torch

from dragoman.model import CachedDecoder
from tiny_models import random_batch, tiny_model

VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_bias": True, "output_bias": True, "embeddings": "separate"},
    {"positions": "halves", "first_position": 1, "num_heads": 3, "d_k": 5},
    {"positions": "learned", "max_positions": 16, "embeddings": "target", "activation": "gelu"},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
@pytest.mark.parametrize("beam_size", [1, 3])
@torch.no_grad()
def test_cached_decoder_equals_the_uncached_one(
    variant: dict[str, Any], dtype: torch.dtype, tolerance: float, beam_size: int
) -> None:
    """Rows are copied, dropped and reordered, sentences leave, and every step is as if computed anew."""
    model = tiny_model(dtype=dtype, **variant)
    generator = torch.Generator().manual_seed(1)
    sources_BS = random_batch([5, 2, 9, 1], [1] * 4).source_BS
    decoder = CachedDecoder(model, model.encode(sources_BS), beam_size)
    sentences = [0, 1, 2, 3]
    histories = [[model.padding] for _ in range(4 * beam_size)]
    for step in range(8):
        logprob = decoder.step(torch.tensor([history[-1] for history in histories]))
        memory = model.encode(sources_BS[sentences].repeat_interleave(beam_size, dim=0))
        expected = model.logits(model.decode(torch.tensor(histories), memory))[:, -1].log_softmax(-1)
        possible = [token for token in range(24) if token not in (1, model.padding)]

        torch.testing.assert_close(logprob[:, possible], expected[:, possible], rtol=0, atol=tolerance)
        assert bool(logprob[:, [1, model.padding]].isneginf().all())

        staying = [place for place in range(len(sentences)) if not (step in (2, 5) and place == 1)]
        rows = [
            place * beam_size + int(torch.randint(beam_size, (), generator=generator))
            for place in staying
            for _ in range(beam_size)
        ]
        decoder.reorder(torch.tensor(rows))
        sentences = [sentences[place] for place in staying]
        chosen = torch.randint(2, 23, (len(rows),), generator=generator).tolist()
        histories = [[*histories[row], token] for row, token in zip(rows, chosen, strict=True)]

    assert sentences == [0, 3]


@torch.no_grad()
def test_probabilities_sum_to_one_before_the_impossible_is_ruled_out() -> None:
    """What a step returns are log-probabilities over all pieces but padding."""
    model = tiny_model()
    decoder = CachedDecoder(model, model.encode(random_batch([5, 3], [1, 1]).source_BS), 2, impossible=())
    logprob = decoder.step(torch.full((4,), model.padding))

    torch.testing.assert_close(logprob.exp().sum(1), torch.ones(4, dtype=torch.float64), rtol=0, atol=1e-12)


@torch.no_grad()
def test_the_source_is_kept_once_a_sentence() -> None:
    """Keys and values of the memory do not grow with the beam."""
    model = tiny_model()
    decoder = CachedDecoder(model, model.encode(random_batch([5, 3], [1, 1]).source_BS), 7)
    decoder.step(torch.full((14,), model.padding))

    assert [tuple(cache.memory_key_BHSK.shape) for cache in decoder._caches] == [(2, 2, 6, 6)] * 2
    assert [tuple(cache.key_NHLK.shape) for cache in decoder._caches] == [(14, 2, 1, 6)] * 2
