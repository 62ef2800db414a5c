"""Packed weights give what the weights give that they were packed of."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
import torch

from dragoman.bundle import Bundle
from dragoman.config import Config, SearchConfig
from dragoman.engine import (
    Engine,
    Precision,
    is_there,
    only_packed,
    pack,
    packed_path,
    read_engine,
)
from dragoman.engine.packed import _checksum
from dragoman.errors import BundleError, DragomanError
from dragoman.hypothesis import Hypothesis
from dragoman.model_files import Outline
from dragoman.text import Tokenizer
from text_samples import sentences, trained
from tiny_engines import LENGTHS, PRECISIONS, run, sources, weights
from tiny_models import tiny_model

pytestmark = pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler")

KINDS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "pre-norm": {"norm": "pre"},
    "biases": {"attention_bias": True, "output_bias": True},
    "learned positions": {"positions": "learned", "max_positions": 64},
    "separate embeddings": {"embeddings": "separate"},
    "target embeddings": {"embeddings": "target"},
    "separate learned positions": {"embeddings": "separate", "positions": "learned", "max_positions": 64},
    "odd sizes": {"d_model": 70, "d_ff": 131, "num_heads": 3, "output_bias": True},
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(200), 304)


@pytest.fixture
def saved(tokenizer: Tokenizer, tmp_path: Path) -> Callable[..., Outline]:
    """Writes a model folder and returns what is read of it."""

    def save(name: str = "model", seed: int = 3, **changes: Any) -> Outline:
        model = tiny_model(seed, torch.float32, vocabulary_size=tokenizer.vocabulary_size, **changes)
        Bundle(Config(model=model.config), tokenizer, model).save(tmp_path / name, "A tiny model.\n")
        return Outline.read(tmp_path / name)

    return save


def found_by(engine: Engine) -> list[list[Hypothesis]]:
    return run(engine, sources(), [20] * len(LENGTHS), SearchConfig(beam_size=4, n_best=2))


def refused(outline: Outline, precision: Precision = "int8") -> BundleError:
    """The one error that reading the engine of a folder has raised."""
    with pytest.raises(BundleError) as caught:
        read_engine(outline, precision, 1)
    return caught.value


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_packed_weights_give_the_same_bits(
    saved: Callable[..., Outline], kind: str, precision: Precision
) -> None:
    """Before packing, after it, and where the weights themselves are gone: outputs and scores are equal."""
    outline = saved(**KINDS[kind])
    model = tiny_model(3, torch.float32, vocabulary_size=304, **KINDS[kind])
    right = found_by(Engine.of_weights(model.config, weights(model), precision, outline.tokenizer.impossible))
    unpacked = found_by(read_engine(outline, precision, 1))
    path = pack(outline, precision)
    beside = found_by(read_engine(outline, precision, 2))
    (outline.folder / "model.safetensors").unlink()
    alone = found_by(read_engine(outline, precision, 1))

    assert path == packed_path(outline.folder, precision)
    assert unpacked == beside == alone == right


def test_packing_twice_gives_the_same_file(saved: Callable[..., Outline]) -> None:
    """The second replaces the first, and nothing else is left in the folder."""
    outline = saved()
    before = {path.name for path in outline.folder.iterdir()}
    first = pack(outline, "int8").read_bytes()
    second = pack(outline, "int8").read_bytes()

    assert first == second
    assert {path.name for path in outline.folder.iterdir()} - before == {"engine-int8.safetensors"}


def test_bytes_take_a_quarter_of_the_room(saved: Callable[..., Outline]) -> None:
    """Weights of 8 bits are a file of about a quarter of the model's size."""
    outline = saved(d_model=64, d_ff=256, num_heads=4, d_k=16, d_v=16)
    size = pack(outline, "int8").stat().st_size

    assert size < 0.4 * (outline.folder / "model.safetensors").stat().st_size


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9, 1.0])
def test_a_flipped_bit_is_told(saved: Callable[..., Outline], place: float) -> None:
    """Wherever it lies among the numbers: one message names the file and how to pack again."""
    outline = saved(d_model=64, d_ff=256)
    path = pack(outline, "int8")
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)
    error = refused(outline)

    assert error.message == f"{path} is damaged: its content is not what was packed"
    assert error.hint == f"pack them again: dragoman pack {outline.folder} --precision int8"


def test_a_flipped_bit_of_the_header_is_told(saved: Callable[..., Outline]) -> None:
    """Whichever it is: in its size, in what is said of the file, or in the first names."""
    outline = saved()
    path = pack(outline, "int8")
    content = path.read_bytes()
    after = content.index(b"}") + 60  # what is said of the file comes first, then the tensors
    for place in range(after):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert refused(outline).hint == f"pack them again: dragoman pack {outline.folder} --precision int8"


@pytest.mark.parametrize("kept", [0, 4, 200, -1])
def test_a_cut_file_is_told(saved: Callable[..., Outline], kept: int) -> None:
    """However little is left of it."""
    outline = saved()
    path = pack(outline, "int8")
    path.write_bytes(path.read_bytes()[:kept])
    error = refused(outline)

    assert error.message.startswith(f"{path} cannot be read: ")
    assert error.hint == f"pack them again: dragoman pack {outline.folder} --precision int8"


@pytest.mark.parametrize("what", ["the model's weights", "no file of ours", "a folder"])
def test_what_was_not_packed_is_told(saved: Callable[..., Outline], what: str) -> None:
    """Another file under its name is not computed with."""
    outline = saved()
    path = packed_path(outline.folder, "int8")
    if what == "a folder":
        path.mkdir()
    else:
        content = (outline.folder / "model.safetensors").read_bytes()
        path.write_bytes(content if what == "the model's weights" else b"PK" + content)
    error = refused(outline)

    assert error.message.startswith(f"{path} ")
    assert error.hint == f"pack them again: dragoman pack {outline.folder} --precision int8"


def test_other_weights_beside_it_are_told(saved: Callable[..., Outline]) -> None:
    """After another training into the same folder, the old packed weights are not used in silence."""
    outline, other = saved(), saved("other", seed=4)
    path, weights_path = pack(outline, "int8"), outline.folder / "model.safetensors"
    weights_path.write_bytes((other.folder / "model.safetensors").read_bytes())
    error = refused(outline)
    pack(outline, "int8")

    assert error.message == f"{path} was packed of other weights than those of {weights_path}"
    assert error.hint == f"pack them again: dragoman pack {outline.folder} --precision int8"
    assert found_by(read_engine(outline, "int8", 1)) == found_by(read_engine(other, "int8", 1))


def changed(outline: Outline, name: str, change: Callable[[Any], Any], precision: Precision) -> None:
    """Pack a model with one array changed, under a checksum that is right."""
    path = pack(outline, precision)
    with safetensors.safe_open(path, "numpy") as file:
        about = file.metadata()["packed"].split(" ")
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  # no mapping
    values = change(arrays.pop(name))
    if values is not None:
        arrays[name] = np.ascontiguousarray(values)
    packed = " ".join([*about[:2], _checksum(arrays)])
    path.write_bytes(safetensors.numpy.save(arrays, {"packed": packed}))


CHANGES: dict[str, Callable[[Any], Any]] = {
    "gone": lambda values: None,
    "short": lambda values: values[: len(values) // 2],
    "none": lambda values: values[:0],
    "long": lambda values: np.concatenate([values, values]),
    "flat": lambda values: values.ravel(),
    "deep": lambda values: values[None, None],
    "narrow": lambda values: values[..., :-1],
    "double": lambda values: values.astype(np.float64),
    "bytes": lambda values: (values > 0).astype(np.int8),
}


FLAT = ("encoder.0.attention/scale_O", "decoder.0.self_norm.gain/values", "hidden/values")
BIASES = ("decoder.1.inner/bias_O", "projection/bias_O")
BYTES = ("encoder.0.attention/values", "projection/values")
TABLE = "embedding.positions.table_TD"
HARMLESS = {
    *((name, "flat") for name in (*FLAT, *BIASES)),
    *((name, "gone") for name in BIASES),  # a model may have none
    *((name, "bytes") for name in BYTES),
    (TABLE, "long"),
}
"""Changes that are none, or that leave a model."""


@pytest.mark.parametrize(
    ("name", "change"),
    [pair for pair in product((*FLAT, *BIASES, *BYTES, TABLE), CHANGES) if pair not in HARMLESS],
)
def test_packed_parts_of_another_shape_are_refused(
    saved: Callable[..., Outline], name: str, change: str
) -> None:
    """Arrays that do not belong to the model are told, and never read beyond their end."""
    outline = saved(positions="learned", max_positions=64)
    changed(outline, name, CHANGES[change], "int8")
    with pytest.raises(DragomanError):
        run(read_engine(outline, "int8", 1), sources([60]), [62], SearchConfig())


@pytest.mark.parametrize("precision", PRECISIONS)
def test_only_packed_weights_tell_their_precision(
    saved: Callable[..., Outline], precision: Precision
) -> None:
    """Where the model's own weights are there, or none are packed, nothing is only packed."""
    outline, weights_path = saved(), saved().folder / "model.safetensors"
    unpacked = only_packed(outline.folder)
    pack(outline, precision)
    beside = only_packed(outline.folder)
    weights_path.unlink()

    assert (unpacked, beside, only_packed(outline.folder)) == (None, None, precision)


def test_another_precision_needs_the_weights(saved: Callable[..., Outline]) -> None:
    """Without them it is said which file is missing, and packing again says it too."""
    outline = saved()
    pack(outline, "int8")
    (outline.folder / "model.safetensors").unlink()
    error = refused(outline, "float32")
    with pytest.raises(BundleError, match=r"model\.safetensors cannot be read: no such file"):
        pack(outline, "int8")

    assert "model.safetensors cannot be read: no such file" in error.message
    assert len(found_by(read_engine(outline, "int8", 1))) == len(LENGTHS)
