"""Weights that were packed once, stored beside the model."""

import hashlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy
from safetensors import SafetensorError

from dragoman.engine import packing
from dragoman.engine.engine import Engine
from dragoman.engine.packing import Part, Precision
from dragoman.errors import BundleError
from dragoman.model_files import SHORTLIST, WEIGHTS, Outline
from dragoman.storage.durable import replace_durably
from dragoman.text.lexicon import Lexicon

_FORMAT = "1"

_ABOUT = "packed"
"""The only key of what is said of a file: format, hash of the weights, hash of the content.

Several keys would be written in another order each time.
"""

_SAMPLE_BYTES = 65_536


def packed_path(folder: Path, precision: Precision) -> Path:
    """Return where the packed weights of a model lie, if they were packed."""
    return folder / f"engine-{precision}.safetensors"


def pack(outline: Outline, precision: Precision) -> Path:
    """Write the weights of a model as the engine takes them, and return the path.

    Raises:
        BundleError: The model's own weights are missing or do not fit; or the folder cannot be written.
    """
    tensors, config = outline.arrays(), outline.config.model
    arrays: dict[str, npt.NDArray[Any]] = dict(packing.tables(tensors))
    for name, part in packing.parts(tensors, config, precision, outline.tokenizer.impossible):
        for kind, values in part._asdict().items():
            if values is not None:
                arrays[f"{name}/{kind}"] = np.ascontiguousarray(values)
    about = f"{_FORMAT} {fingerprint(outline.folder / WEIGHTS)} {_checksum(arrays)}"
    path = packed_path(outline.folder, precision)
    try:
        replace_durably(path, safetensors.numpy.save(arrays, {_ABOUT: about}))
    except OSError as error:
        raise BundleError(
            f"{path} cannot be written: {error.strerror}",
            hint="make room on the disk, or copy the model to where you may write",
        ) from error
    return path


def only_packed(folder: Path) -> Precision | None:
    """Return the precision of packed weights that lie in a folder without the model's own, if any do."""
    if (folder / WEIGHTS).exists():
        return None
    return next((one for one in packing.PRECISIONS[::-1] if packed_path(folder, one).exists()), None)


def read_engine(outline: Outline, precision: Precision, workers: int) -> Engine:
    """Return the engine of a model folder, of packed weights where they were packed.

    Raises:
        BundleError: The weights are missing, damaged, or do not fit.
        EngineError: They cannot be computed with here.
    """
    config, lexicon = outline.config.model, partial(Lexicon.load, outline.folder / SHORTLIST)
    arrays = read_packed(outline, precision)
    if arrays is not None:
        return Engine(config, parts_of(arrays), packing.tables(arrays), workers=workers, lexicon=lexicon)
    return Engine.of_weights(
        config, outline.arrays(), precision, outline.tokenizer.impossible, workers=workers, lexicon=lexicon
    )


def read_packed(outline: Outline, precision: Precision) -> Mapping[str, npt.NDArray[Any]] | None:
    """Return packed weights, or None where they were not packed.

    Raises:
        BundleError: They are damaged, or were packed of other weights than those that lie beside them.
    """
    path = packed_path(outline.folder, precision)
    if not path.exists():
        return None
    hint = f"pack them again: dragoman pack {outline.folder} --precision {precision}"
    try:
        with safetensors.safe_open(path, "numpy") as file:
            about = (file.metadata() or {}).get(_ABOUT, "")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError, ValueError) as error:
        raise BundleError(f"{path} cannot be read: {error}", hint=hint) from error
    version, origin, content = f"{about}  ".split(" ")[:3]
    if version != _FORMAT or content != _checksum(arrays):
        raise BundleError(f"{path} is damaged: its content is not what was packed", hint=hint)
    weights = outline.folder / WEIGHTS
    if weights.exists() and origin != fingerprint(weights):
        raise BundleError(f"{path} was packed of other weights than those of {weights}", hint=hint)
    return arrays


def parts_of(arrays: Mapping[str, npt.NDArray[Any]]) -> Iterator[tuple[str, Part]]:
    """Yield the parts of a model that was packed."""
    for name in arrays:
        own, _, kind = name.partition("/")
        if kind == "values":
            yield own, Part(arrays[name], arrays.get(f"{own}/scale_O"), arrays.get(f"{own}/bias_O"))


def fingerprint(path: Path) -> str:
    """Return a hash of a file's size and of its first, middle and last bytes; other weights differ in all."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for place in (0, size // 2, max(0, size - _SAMPLE_BYTES)):
            file.seek(place)
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def _checksum(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        values = arrays[name]
        digest.update(f"{name} {values.dtype} {values.shape}".encode())
        digest.update(values.data)
    return digest.hexdigest()
