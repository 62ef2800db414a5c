"""Sources in, hypotheses out, as ids; the model and its search are native."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from threading import Lock

import numpy as np
import numpy.typing as npt

from dragoman.config import ModelConfig, SearchConfig
from dragoman.engine import packing
from dragoman.engine.channel import FoundSource, results_of
from dragoman.engine.library import Positions, fault, library
from dragoman.engine.packing import Floats, Part, Precision
from dragoman.errors import EngineError
from dragoman.text.ids import END
from dragoman.text.lexicon import Lexicon

_ACTIVATIONS = {"relu": 1, "gelu": 2, "swish": 3}

MOST_ROWS = 256
"""Hypotheses that one worker computes at once."""


class Engine:
    """A model in native code.

    What it finds for a source does not depend on the others, not even in the last bit, at any precision.
    Several threads may search at the same time.

    Args:
        config: Of the model.
        parts: All its parts, as ``packing.parts`` gives them.
        tables: The tensors of learned or stored positions, by name.
        workers: Threads that share the sources.
        lexicon: Returns what may come of each piece; asked once, by the first search with a shortlist.

    Raises:
        EngineError: The native library is missing, or the parts do not fit.
    """

    def __init__(
        self,
        config: ModelConfig,
        parts: Iterable[tuple[str, Part]],
        tables: Mapping[str, Floats],
        *,
        workers: int = 1,
        lexicon: Callable[[], Lexicon] | None = None,
    ) -> None:
        self.workers = workers
        self._lexicon = lexicon
        self._lock = Lock()
        self.config = config
        if problem := packing.fault_of_tables(config, tables):
            raise EngineError(f"the engine cannot take this model: {problem}")
        self._tables = tables
        self._positions = packing.positions(0, config, tables)
        numbers = np.array(
            [
                config.d_model,
                config.d_ff,
                config.num_encoder_layers,
                config.num_decoder_layers,
                config.vocabulary_size,
                config.source_vocabulary_size or config.vocabulary_size,
                config.norm == "pre",
                _ACTIVATIONS.get(config.activation, 0),
                *packing.Heads.of(config),
            ],
            np.intc,
        )
        self._library = library()
        self.handle = self._library.dragoman_model(numbers.ctypes.data, config.norm_epsilon)
        for name, part in parts:
            self._add(name, part)
        self._check(self._library.dragoman_connect(self.handle))

    @classmethod
    def of_weights(
        cls,
        config: ModelConfig,
        tensors: Mapping[str, Floats],
        precision: Precision,
        impossible: Sequence[int],
        *,
        workers: int = 1,
        lexicon: Callable[[], Lexicon] | None = None,
    ) -> "Engine":
        """Return the engine of a model.

        Args:
            config: Of the model.
            tensors: Its weights in float32, by name.
            precision: ``float32``; or what weights and activations are rounded to, ``bfloat16`` or ``int8``.
            impossible: Ids that are never produced, besides padding.
            workers: Threads that share the sources.
            lexicon: Returns what may come of each piece.
        """
        parts = packing.parts(tensors, config, precision, impossible)
        return cls(config, parts, packing.tables(tensors), workers=workers, lexicon=lexicon)

    def __getstate__(self) -> None:
        raise TypeError("an Engine cannot be copied or pickled; read the model again where it is needed")

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._library.dragoman_free_model(self.handle)

    def _add(self, name: str, part: Part) -> None:
        if problem := part.fault():
            raise EngineError(f"the engine cannot take this model: {name}: {problem}")
        values, scale, bias = (None if one is None else np.ascontiguousarray(one) for one in part)
        assert values is not None
        if values.ndim == 1:
            code = self._library.dragoman_add_vector(
                self.handle, name.encode(), values.ctypes.data, values.size
            )
        else:
            shape = np.array([packing.KINDS.index(values.dtype), *values.shape], np.intc)
            code = self._library.dragoman_add_matrix(
                self.handle,
                name.encode(),
                shape.ctypes.data,
                values.ctypes.data,
                None if scale is None else scale.ctypes.data,
                None if bias is None else bias.ctypes.data,
            )
        self._check(code)

    def _need_shortlist(self) -> None:
        """Give the shortlist to the native model, unless it has it."""
        with self._lock:
            if self._lexicon is None:
                return
            starts, targets, frequent = (np.ascontiguousarray(part, np.intc) for part in self._lexicon())
            num_pieces = self.config.source_vocabulary_size or self.config.vocabulary_size
            if len(starts) != num_pieces + 1:
                raise EngineError(
                    f"the shortlist is of {len(starts) - 1:,} pieces, the model has {num_pieces:,}",
                    hint="count it again with 'dragoman pack', which takes pairs of texts",
                )
            counts = np.array([len(targets), len(frequent)], np.intc)
            arrays = (starts, targets, frequent, counts)
            if self._library.dragoman_add_shortlist(self.handle, *(part.ctypes.data for part in arrays)):
                raise EngineError(
                    f"shortlist.safetensors is damaged: {fault()}",
                    hint="count it again with 'dragoman pack', which takes pairs of texts",
                )
            self._lexicon = None

    def _check(self, code: int) -> None:
        if code:
            raise EngineError(f"the engine cannot take this model: {fault()}")

    def search_each(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        config: SearchConfig,
        *,
        before_batch: Callable[[], None] = lambda: None,
    ) -> Iterator[FoundSource]:
        """Yield the place of a source and its best outputs, as soon as they are found.

        Args:
            sources: Ids of each, its end included.
            limits: Ids that each output may have, its end included.
            config: Settings of the search.
            before_batch: Called often, by this thread; what it raises ends the search.

        Raises:
            EngineError: The engine has no memory, or the model leaves a sentence no possible token.
        """
        if not sources:
            return
        if config.shortlist:
            self._need_shortlist()
        tokens = np.fromiter(chain(*sources), np.intc)
        lengths = np.array([len(source) for source in sources], np.intc)
        limit = np.array(limits, np.intc)
        positions = self.positions_up_to(int(max(lengths.max(), limit.max())))
        numbers = np.array([config.beam_size, config.n_best, END, config.shortlist], np.intc)
        batch = np.array([MOST_ROWS, config.batch_tokens, self.workers], np.intc)

        def search_natively(channel: int) -> int:
            code: int = self._library.dragoman_translate(
                self.handle,
                tokens.ctypes.data,
                lengths.ctypes.data,
                limit.ctypes.data,
                len(sources),
                numbers.ctypes.data,
                config.length_penalty,
                batch.ctypes.data,
                native(positions),
                channel,
            )
            return code

        num_found = 0
        for place, hypotheses in results_of(search_natively, before_batch):
            if not hypotheses:
                raise EngineError(
                    "the model leaves no token possible: its weights are too large to compute with",
                    hint="train again with a lower train.peak_rate",
                )
            num_found += 1
            yield place, hypotheses
        if num_found < len(sources):
            raise EngineError("the engine has failed: out of memory")

    def session(self, sources: Sequence[Sequence[int]], beam_size: int, num_steps: int) -> "Session":
        """Return a batch that is searched from outside, a step at a time.

        Args:
            sources: Ids of each, its end included.
            beam_size: Rows of each source.
            num_steps: Steps that may be made at most.
        """
        return Session(self, sources, beam_size, num_steps)

    def positions_up_to(self, count: int) -> packing.Positions:
        """Return positions up to ``count``; those that another thread computes with stay as they are."""
        positions = self._positions  # another thread may put others in their place
        if len(positions.target_TD) < count:
            positions = self._positions = packing.positions(max(count, 256), self.config, self._tables)
        return positions


def native(positions: packing.Positions) -> Positions:
    """Return positions as native code takes them, for as long as they are held."""
    source_TD, target_TD = positions
    return Positions(source_TD.ctypes.data, target_TD.ctypes.data, len(target_TD))


class Session:
    """A batch that is searched from outside: a decoder in numpy arrays.

    Letters of shapes: N = B·W rows, V vocabulary.

    Raises:
        EngineError: The engine has no memory, or a source does not fit.
    """

    def __init__(
        self, engine: Engine, sources: Sequence[Sequence[int]], beam_size: int, num_steps: int
    ) -> None:
        self._engine = engine  # which has the weights
        self._positions = engine.positions_up_to(max(num_steps, *map(len, sources)))  # held
        tokens = np.fromiter(chain(*sources), np.intc)
        lengths = np.array([len(source) for source in sources], np.intc)
        self._num_rows = len(sources) * beam_size
        self._session = library().dragoman_session(
            engine.handle,
            tokens.ctypes.data,
            lengths.ctypes.data,
            len(sources),
            beam_size,
            native(self._positions),
        )
        if not self._session:
            raise EngineError(f"the engine has failed: {fault()}")

    def __del__(self) -> None:
        if getattr(self, "_session", None):
            library().dragoman_free_session(self._session)

    def step(self, token_N: npt.NDArray[np.intc]) -> Floats:
        """Return the log-probabilities in nats (NV) of what follows once ``token_N`` stands."""
        if len(token_N) != self._num_rows:
            raise ValueError(f"{len(token_N)} tokens for {self._num_rows} rows")
        held = np.ascontiguousarray(token_N, np.intc)
        logprob_NV = np.empty((self._num_rows, self._engine.config.vocabulary_size), np.float32)
        if library().dragoman_step(self._session, held.ctypes.data, logprob_NV.ctypes.data):
            raise EngineError(f"the engine has failed: {fault()}")
        return logprob_NV

    def reorder(self, row_N: npt.NDArray[np.intc]) -> None:
        """Continue with these rows; fewer of them than before mean that sentences have left."""
        held = np.ascontiguousarray(row_N, np.intc)
        if library().dragoman_reorder(self._session, held.ctypes.data, len(held)):
            raise EngineError(f"the engine has failed: {fault()}")
        self._num_rows = len(held)
