"""Outputs of a model in torch: on a GPU, on a processor without the native engine, and to look inside.

Letters of shapes: B sentences, S source positions, T target positions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from threading import Event
from typing import TypeVar

import torch
from torch import Tensor

from dragoman.bundle import Bundle
from dragoman.config import SearchConfig
from dragoman.data import by_length, pad
from dragoman.device_name import check_device_name
from dragoman.errors import BundleError, UsageError
from dragoman.model import AttentionWeights, CachedDecoder
from dragoman.quantized import QuantizedTransformer
from dragoman.search import Decoder, Hypothesis, search
from dragoman.text.ids import END

Item = TypeVar("Item")


@dataclass(frozen=True)
class Attention:
    """What happens in the model while it reads one source and writes its translation.

    Attributes:
        source_pieces: Pieces of the source, with its end.
        target_pieces: Pieces of the translation, with its end.
        weights: Encoder, decoder and cross-attention of each layer, (1, heads, queries, memory) each.
        logprob_TV: Log-probability of every piece in place of each target piece, in nats.
    """

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    weights: AttentionWeights
    logprob_TV: Tensor


class ModelSearch:
    """Finds outputs with a model that is in memory.

    Args:
        bundle: The model.
        wrap: Returns what search asks in place of the model's decoder.
        in_bytes: Whether products are computed in bytes, which must be possible here. Each thread of the
            processor then searches a batch of its own, since one batch cannot keep several busy.
    """

    def __init__(
        self,
        bundle: Bundle,
        *,
        wrap: Callable[[Decoder], Decoder] = lambda decoder: decoder,
        in_bytes: bool = False,
    ) -> None:
        self._num_threads = torch.get_num_threads() if in_bytes else 1
        self._model = QuantizedTransformer.of(bundle.model) if in_bytes else bundle.model
        self._impossible = bundle.tokenizer.impossible
        self._wrap = wrap

    def search_each(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        config: SearchConfig,
        *,
        before_batch: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """Yield the place of each source and its best outputs; those of like length are searched together.

        Args:
            sources: Ids of each, its end included.
            limits: Ids that each output may have, its end included.
            config: Settings of the search.
            before_batch: Called before each batch; what it raises ends the search.

        Raises:
            UsageError: A shortlist is asked for.
        """
        if config.shortlist:
            raise UsageError(
                "a shortlist needs the native engine, and the model in PyTorch translates here",
                hint="leave --shortlist out, or on a processor run 'dragoman build-engine'",
            )

        def outputs(chosen: Sequence[int], ended: Event) -> Iterator[tuple[int, list[Hypothesis]]]:
            before_batch()
            found = self._search([sources[i] for i in chosen], [limits[i] for i in chosen], config, ended)
            return zip(chosen, found, strict=True)

        batches = by_length([len(ids) for ids in sources], config.batch_tokens)
        yield from chain.from_iterable(side_by_side(outputs, batches, self._num_threads))

    @torch.inference_mode()
    def _search(
        self, sources: Sequence[Sequence[int]], limits: Sequence[int], config: SearchConfig, ended: Event
    ) -> list[list[Hypothesis]]:
        limit_B = torch.tensor(limits, device=self.device)
        with finite_outputs():
            decoder = Stoppable(self._wrap(self.decoder(sources, config.beam_size)), ended)
            return search(decoder, start=self._model.padding, end=END, limit_B=limit_B, config=config)

    def decoder(self, sources: Sequence[Sequence[int]], beam_size: int) -> Decoder:
        """Return what writes the targets of sources, each of ``beam_size`` rows."""
        model = self._model
        source_BS = pad([ids[:-1] for ids in sources], end=END, padding=model.source_padding)
        memory = model.encode(source_BS.to(self.device))
        return CachedDecoder(model, memory, beam_size, self._impossible)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self._model.output_weight_VD.device


def side_by_side(
    search_one: Callable[[Sequence[int], Event], Item], batches: Iterable[Sequence[int]], num_threads: int
) -> Iterator[Item]:
    """Yield what comes of each batch, in order; threads of the processor have batches of their own.

    Args:
        search_one: Searches a batch, and gives up once the event is set, as ``Stoppable`` does: then nobody
            waits for what is found.
        batches: What is searched together.
        num_threads: How many there are; those that no batch needs are torch's in each of the others.
    """
    batches, ended = list(batches), Event()
    workers = min(num_threads, len(batches))
    if workers < 2:
        yield from (search_one(batch, ended) for batch in batches)
        return
    torch.set_num_threads(num_threads // workers)
    try:
        with ThreadPoolExecutor(workers) as pool:
            try:
                yield from pool.map(lambda batch: search_one(batch, ended), batches)
            finally:
                ended.set()
    finally:
        torch.set_num_threads(num_threads)


class Stoppable:
    """A decoder that is asked no more once an event is set.

    Args:
        decoder: Says how likely each next token is.
        ended: Makes the next step raise CancelledError.
    """

    def __init__(self, decoder: Decoder, ended: Event) -> None:
        self._decoder = decoder
        self._ended = ended

    def step(self, token_N: Tensor) -> Tensor:
        """Read one more token in each row and return the log-probabilities (NV) of what follows."""
        if self._ended.is_set():
            raise CancelledError
        return self._decoder.step(token_N)

    def reorder(self, row_N: Tensor) -> None:
        """Continue with these rows, in this order."""
        self._decoder.reorder(row_N)


@contextmanager
def finite_outputs() -> Iterator[None]:
    """Tell of a model whose outputs are no numbers, which a search raises as ValueError.

    Raises:
        BundleError: It is such a one.
    """
    try:
        yield
    except ValueError as error:
        raise BundleError(
            f"the model cannot be computed with, as its weights are too large: {error}",
            hint="train again with a lower train.peak_rate",
        ) from error


@torch.inference_mode()
def attention(bundle: Bundle, source: str, pieces: Sequence[str]) -> Attention:
    """Return what happens in a model while it reads a source and writes an output.

    Args:
        bundle: The model.
        source: Short enough to be read at once.
        pieces: The output, without its end.
    """
    model, tokenizer = bundle.model, bundle.tokenizer
    ids, target = tokenizer.encode(source), tokenizer.tokens(pieces)
    device, weights = model.output_weight_VD.device, AttentionWeights()
    source_BS = pad([ids], end=END, padding=model.source_padding).to(device)
    input_BT = torch.tensor([[model.padding, *target]], device=device)
    x_BTD = model.decode(input_BT, model.encode(source_BS, weights), weights)
    logprob_TV = model.logits(x_BTD)[0].float().log_softmax(dim=-1)
    logprob_TV[:, tokenizer.impossible] = -torch.inf
    return Attention(
        (*tokenizer.pieces(ids), "</s>"), (*tokenizer.pieces(target), "</s>"), weights, logprob_TV
    )


def choose_device(name: str) -> torch.device:
    """Return the device of this name; ``auto`` is a GPU where there is one.

    Raises:
        UsageError: There is no such device here.
    """
    check_device_name(name)
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise UsageError(
            f"--device {name}: this machine shows {torch.cuda.device_count()} CUDA devices to PyTorch",
            hint="use --device cpu, or see 'dragoman env'",
        )
    return device
