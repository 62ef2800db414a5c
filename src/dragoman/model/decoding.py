"""The decoder one piece at a time, with what it has computed kept."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from dragoman.model.layers import DecoderLayer, LayerCache
from dragoman.model.transformer import Memory, Transformer
from dragoman.text.ids import UNKNOWN


class CachedDecoder:
    """Writes targets for a beam of hypotheses of each sentence.

    The rows of one sentence stand side by side. Keys and values of the source are kept once a sentence,
    not once a hypothesis: the hypotheses of a sentence ask as queries of one row.

    Args:
        model: In evaluation mode.
        memory: The sources as ``model.encode`` read them.
        beam_size: Rows of each sentence.
        impossible: Ids that are never produced, besides padding.
    """

    def __init__(
        self, model: Transformer, memory: Memory, beam_size: int, impossible: Sequence[int] = (UNKNOWN,)
    ) -> None:
        self._model = model
        self._impossible = list(impossible)
        self._beam_size = beam_size
        self._length = 0
        self._visible_B11S = memory.visible_B11S
        num_rows = memory.x_BSD.size(0) * beam_size
        self._caches: list[LayerCache] = [_layer(layer).start(memory, num_rows) for layer in model.decoder]

    def step(self, token_N: Tensor) -> Tensor:
        """Return the log-probabilities in nats (NV) of what follows once ``token_N`` stands.

        What is impossible has minus infinity.
        """
        x_N1D = self._model.embedding(token_N[:, None], self._length)
        for index, layer in enumerate(self._model.decoder):
            x_N1D = self._through_layer(x_N1D, _layer(layer), index)
        if self._model.config.norm == "pre":
            x_N1D = self._model.decoder_norm(x_N1D)
        self._length += 1
        logit_NV = self._model.logits(x_N1D)[:, 0]
        logprob_NV = F.log_softmax(logit_NV, dim=-1, dtype=torch.promote_types(logit_NV.dtype, torch.float32))
        logprob_NV[:, self._impossible] = -torch.inf
        return logprob_NV

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows; fewer of them than before mean that sentences have left."""
        sentence_B = row_N[:: self._beam_size] // self._beam_size
        stays = len(sentence_B) == len(self._visible_B11S)
        self._caches = [
            LayerCache(
                cache.key_NHLK[row_N],
                cache.value_NHLE[row_N],
                cache.memory_key_BHSK if stays else cache.memory_key_BHSK[sentence_B],
                cache.memory_value_BHSE if stays else cache.memory_value_BHSE[sentence_B],
            )
            for cache in self._caches
        ]
        if not stays:
            self._visible_B11S = self._visible_B11S[sentence_B]

    def _through_layer(self, x_N1D: Tensor, layer: DecoderLayer, index: int) -> Tensor:
        """Return ``x_N1D`` after the three sub-layers, and keep its key and value."""

        def look_back(x: Tensor) -> Tensor:
            key_NH1K, value_NH1E = layer.self_attention.project_memory(x)
            cache = self._caches[index]
            cache = cache._replace(
                key_NHLK=torch.cat([cache.key_NHLK, key_NH1K], dim=2),
                value_NHLE=torch.cat([cache.value_NHLE, value_NH1E], dim=2),
            )
            self._caches[index] = cache
            return layer.self_attention.attend(x, cache.key_NHLK, cache.value_NHLE, None)

        def look_at_source(x: Tensor) -> Tensor:
            cache = self._caches[index]
            x_BWD = x.view(-1, self._beam_size, x.size(-1))
            return layer.cross_attention.attend(
                x_BWD, cache.memory_key_BHSK, cache.memory_value_BHSE, self._visible_B11S
            ).flatten(0, 1)[:, None]

        x_N1D = layer.self_residual(x_N1D, look_back)
        x_N1D = layer.cross_residual(x_N1D, look_at_source)
        output_N1D: Tensor = layer.feed_forward_residual(x_N1D, layer.feed_forward)
        return output_N1D


def _layer(module: torch.nn.Module) -> DecoderLayer:
    assert isinstance(module, DecoderLayer)
    return module
