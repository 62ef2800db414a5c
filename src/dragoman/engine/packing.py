"""Weights as the engine computes with them: matrices that belong together joined, and rounded to bytes.

Letters of shapes: O outputs, I inputs, V vocabulary.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dragoman.config import ModelConfig

Precision = Literal["float32", "bfloat16", "int8"]

PRECISIONS: Sequence[Precision] = ("float32", "bfloat16", "int8")

KINDS: Sequence[npt.DTypeLike] = ("float32", "uint16", "int8")
"""Types of the numbers of matrices, in the order of ``PRECISIONS``."""

Floats = npt.NDArray[np.float32]

PANEL = 64
"""Outputs are filled up to a multiple of it."""


class Weights(NamedTuple):
    """A matrix with what is added to its outputs."""

    matrix_OI: Floats
    bias_O: Floats | None = None


class Part(NamedTuple):
    """A part of a model as the engine takes it: a vector, or a matrix that may be rounded."""

    values: npt.NDArray[Any]
    """float32; or bytes, of which weight = byte · scale; or the upper halves of the bits of float32."""

    scale_O: Floats | None = None
    bias_O: Floats | None = None

    def fault(self) -> str | None:
        """Return what the engine could not read without leaving its memory, in words, or None."""
        values, kind = self.values, str(self.values.dtype)
        if kind not in KINDS or values.ndim not in (1, 2):
            return f"numbers of type {kind} in {values.ndim} dimensions"
        if values.ndim == 1:
            is_plain = kind == "float32" and self.scale_O is None and self.bias_O is None
            return None if is_plain else "a vector must be float32 and stand alone"
        if (kind == "int8") != (self.scale_O is not None):
            return "bytes need a scale, and other numbers have none"
        for one in (self.scale_O, self.bias_O):
            if one is not None and (str(one.dtype) != "float32" or one.shape != values.shape[:1]):
                return (
                    f"a scale or bias of shape {one.shape} and type {one.dtype} for {len(values):,} outputs"
                )
        return None


def quantized(weight_OI: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return weights rounded to 8 bits, and the scale of each output."""
    most_O = np.abs(weight_OI).max(axis=1)
    scale_O = np.where(most_O > _LEAST, most_O / 127, 1).astype(np.float32)
    return np.rint(weight_OI / scale_O[:, None]).astype(np.int8), scale_O


_LEAST = 1e-30
"""Weights that are all below it are zero: they have no scale in float32."""

LANES = 16
"""Numbers of a vector in which heads lie side by side."""


class Heads(NamedTuple):
    """How the numbers of all heads lie: in vectors of 16, each lane of which belongs to one head.

    Lane l is of head l modulo ``lanes``, so that a sum over vectors is a sum over the width of every head
    at once. What fills vectors up is zero.
    """

    lanes: int
    groups: int
    keys: int
    values: int

    @classmethod
    def of(cls, config: ModelConfig) -> "Heads":
        """Return the layout for the heads of a model."""
        lanes = next((number for number in (1, 2, 4, 8) if config.num_heads <= number), LANES)
        groups = math.ceil(config.num_heads / LANES)
        keys, values = (math.ceil(width * lanes / LANES) for width in (config.d_k, config.d_v))
        return cls(lanes, groups, keys, values)

    def places(self, config: ModelConfig, *, values: bool = False) -> npt.NDArray[np.int64]:
        """Return for each place of the layout the row of the model's matrix that lies there, or -1."""
        width = config.d_v if values else config.d_k
        vectors = self.values if values else self.keys
        group, vector, lane = np.indices((self.groups, vectors, LANES))
        head = group * LANES + lane % self.lanes
        number = vector * (LANES // self.lanes) + lane // self.lanes
        there = (head < config.num_heads) & (number < width)
        found: npt.NDArray[np.int64] = np.where(there, head * width + number, -1).ravel()
        return found


def _laid(rows: Floats, places: npt.NDArray[np.int64]) -> Floats:
    """Return rows in another order, zeros where there is none."""
    found: Floats = np.where(places.reshape(-1, *[1] * (rows.ndim - 1)) < 0, np.float32(0), rows[places])
    return found


def halved(weight_OI: Floats) -> npt.NDArray[np.uint16]:
    """Return the bits of weights rounded to bfloat16: to the nearest, or to the even one of two."""
    bits_OI = np.ascontiguousarray(weight_OI, np.float32).view(np.uint32)
    return ((bits_OI + 0x7FFF + (bits_OI >> 16 & 1)) >> 16).astype(np.uint16)


def parts(
    tensors: Mapping[str, Floats], config: ModelConfig, precision: Precision, impossible: Sequence[int]
) -> Iterator[tuple[str, Part]]:
    """Yield the parts of a model by the engine's names, one after the other to save memory.

    Args:
        tensors: Weights in float32, by the model's own names.
        config: Of the model.
        precision: What matrices are rounded to.
        impossible: Ids that are never produced; they take part in the softmax all the same.
    """
    for name, (matrix_OI, bias_O) in matrices(tensors, config):
        if precision == "int8":
            byte_OI, scale_O = quantized(matrix_OI)
            yield name, Part(byte_OI, scale_O, bias_O)
        else:
            yield name, Part(halved(matrix_OI) if precision == "bfloat16" else matrix_OI, None, bias_O)
    for name, vector in vectors(tensors, config, impossible).items():
        yield name, Part(vector)


def matrices(tensors: Mapping[str, Floats], config: ModelConfig) -> Iterator[tuple[str, Weights]]:
    """Yield the matrices of the engine by its names, one after the other to save memory.

    Queries, keys and values of self-attention are one matrix, and so are keys and values of the memory.
    Queries are divided by √d_k (Eq. 1) once and for all.
    """
    scale = np.float32(1 / math.sqrt(config.d_k))
    heads = Heads.of(config)
    key_places, value_places = heads.places(config), heads.places(config, values=True)

    def linear(name: str) -> Weights:
        return Weights(tensors[f"{name}.weight"], tensors.get(f"{name}.bias"))

    def laid(name: str) -> Weights:
        """Return a projection to all heads in their layout."""
        part = name.rpartition(".")[2]
        places, factor = value_places if part == "value" else key_places, scale if part == "query" else 1
        matrix_OI, bias_O = linear(name)
        return Weights(
            _laid(matrix_OI, places) * factor, None if bias_O is None else _laid(bias_O, places) * factor
        )

    def output(name: str) -> Weights:
        """Return the projection from all heads in their layout."""
        matrix_OI, bias_O = linear(name)
        return Weights(np.ascontiguousarray(_laid(matrix_OI.T, value_places).T), bias_O)

    def joined(parts: Sequence[Weights]) -> Weights:
        biases = [part.bias_O for part in parts if part.bias_O is not None]
        matrix_OI = np.concatenate([part.matrix_OI for part in parts])
        return Weights(matrix_OI, np.concatenate(biases) if biases else None)

    for stack, count in (("encoder", config.num_encoder_layers), ("decoder", config.num_decoder_layers)):
        for number in range(count):
            layer = f"{stack}.{number}"
            own = f"{layer}.attention" if stack == "encoder" else f"{layer}.self_attention"
            yield f"{layer}.attention", joined([laid(f"{own}.{part}") for part in ("query", "key", "value")])
            yield f"{layer}.output", output(f"{own}.output")
            if stack == "decoder":
                cross = f"{layer}.cross_attention"
                yield f"{layer}.query", laid(f"{cross}.query")
                yield f"{layer}.memory", joined([laid(f"{cross}.key"), laid(f"{cross}.value")])
                yield f"{layer}.cross_output", output(f"{cross}.output")
            for part in ("inner", "outer"):
                yield f"{layer}.{part}", linear(f"{layer}.feed_forward.{part}")
    embedding = tensors["embedding.weight_VD"]
    bias_V = tensors.get("bias_V", np.zeros(len(embedding), np.float32)).copy()
    bias_V[-1] = -np.inf  # padding is no output
    yield "projection", Weights(tensors.get("projection_VD", embedding), bias_V)
    if config.embeddings == "separate":
        yield "embedding", Weights(embedding)
    if config.embeddings != "shared":
        yield "source_embedding", Weights(tensors["source_embedding.weight_VD"])


def vectors(
    tensors: Mapping[str, Floats], config: ModelConfig, impossible: Sequence[int]
) -> dict[str, Floats]:
    """Return the vectors of the engine by its names.

    Args:
        tensors: Those of the model.
        config: Of the model.
        impossible: Ids that are never produced; they take part in the softmax all the same.
    """
    found = {}
    norms = {"encoder": ("attention", "feed_forward"), "decoder": ("self", "cross", "feed_forward")}
    counts = {"encoder": config.num_encoder_layers, "decoder": config.num_decoder_layers}
    names = {
        f"{stack}.{number}.{part}_norm": f"{stack}.{number}.{part}_residual.norm"
        for stack, count in counts.items()
        for number in range(count)
        for part in norms[stack]
    }
    if config.norm == "pre":
        names |= {"encoder_norm": "encoder_norm", "decoder_norm": "decoder_norm"}
    for name, own in names.items():
        found[f"{name}.gain"], found[f"{name}.bias"] = tensors[f"{own}.weight"], tensors[f"{own}.bias"]
    hidden_V = np.zeros(math.ceil(config.vocabulary_size / PANEL) * PANEL, np.float32)
    hidden_V[list(impossible)] = -np.inf
    found["hidden"] = hidden_V
    return found


def tables(tensors: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the tensors of learned or stored positions."""
    return {name: tensors[name] for name in tensors if name.endswith("positions.table_TD")}


def fault_of_tables(config: ModelConfig, tables: Mapping[str, Floats]) -> str | None:
    """Return what is wrong with the stored positions of a model, in words, or None."""
    if config.positions not in ("learned", "table"):
        return None
    own = tables.get("embedding.positions.table_TD")
    if own is None:
        return "its table of positions is missing"
    for table_TD in tables.values():
        if str(table_TD.dtype) != "float32" or table_TD.shape != (len(own), config.d_model):
            return f"a table of positions has shape {table_TD.shape} and type {table_TD.dtype}"
    return None


class Positions(NamedTuple):
    """Vectors of positions, those of sources and those of targets, as many of each."""

    source_TD: Floats
    target_TD: Floats


def positions(count: int, config: ModelConfig, tables: Mapping[str, Floats]) -> Positions:
    """Return the vectors of the first positions, or fewer where a table ends before.

    Source: Vaswani et al. (2017), §3.5.

    Args:
        count: Positions.
        config: Of the model.
        tables: The tensors of learned or stored positions, by name.
    """
    if config.positions in ("learned", "table"):
        target_TD = np.ascontiguousarray(tables["embedding.positions.table_TD"][:count])
        own = tables.get("source_embedding.positions.table_TD")
        return Positions(target_TD if own is None else np.ascontiguousarray(own[:count]), target_TD)
    place_T1 = np.arange(config.first_position, config.first_position + count, dtype=np.float64)[:, None]
    angle = place_T1 / 10_000.0 ** (np.arange(0, config.d_model, 2, dtype=np.float64) / config.d_model)
    parts = (np.sin(angle), np.cos(angle))
    if config.positions == "halves":
        table_TD = np.concatenate(parts, axis=1).astype(np.float32)
    else:
        table_TD = np.stack(parts, axis=2).reshape(count, config.d_model).astype(np.float32)
    return Positions(table_TD, table_TD)
