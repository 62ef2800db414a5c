"""The files of a model folder, read and checked without torch.

config.json         languages and the whole configuration
tokenizer.model     the sentencepiece model
model.safetensors   the weights; a tied tensor is stored once
README.md           the model card
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from dragoman.config import Config, ModelConfig
from dragoman.config.reader import config_from_json
from dragoman.errors import BundleError
from dragoman.text import Tokenizer
from dragoman.text.lines import lfs_pointer_message, lfs_pointer_size

CONFIG, TOKENIZER, WEIGHTS, CARD = "config.json", "tokenizer.model", "model.safetensors", "README.md"

SHORTLIST = "shortlist.safetensors"
"""Which pieces may come of each piece, where that was counted."""

FORMAT = 1
"""Of the folder; counts up when an older version cannot read it."""

Arrays = Mapping[str, npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Outline:
    """A model but for its weights."""

    folder: Path
    config: Config
    tokenizer: Tokenizer
    source_language: str | None
    target_language: str | None

    @classmethod
    def read(cls, folder: Path) -> "Outline":
        """Read configuration and tokenizer of a model folder.

        Raises:
            BundleError: A file is missing, damaged, or does not fit the others.
            ConfigError: The configuration breaks a rule.
            TokenizerError: The tokenizer cannot be read.
        """
        config, languages = _read_config(folder)
        tokenizer = Tokenizer.from_bytes(_read(folder / TOKENIZER), str(folder / TOKENIZER))
        if tokenizer.vocabulary_size != config.model.vocabulary_size:
            raise BundleError(
                f"{folder / TOKENIZER} has {tokenizer.vocabulary_size:,} pieces but {folder / CONFIG} says "
                f"model.vocabulary_size = {config.model.vocabulary_size:,}; both must be of the same model",
                hint="copy the whole folder again from where it was trained",
            )
        return cls(folder, config, tokenizer, *languages)

    def arrays(self) -> Arrays:
        """Read the weights as float32.

        Raises:
            BundleError: The file is missing, damaged, or does not fit the configuration.
        """
        path = self.folder / WEIGHTS
        arrays = read_weights(path, safetensors.numpy.load_file)
        check_weights(arrays, self.config.model, path, _fault)
        return {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}


def load_config(folder: Path) -> Config:
    """Return the configuration of a model folder; neither tokenizer nor weights are read.

    Raises:
        BundleError: The folder does not hold a model, or one of another format.
        ConfigError: The configuration breaks a rule.
    """
    return _read_config(folder)[0]


def read_weights(path: Path, load: Callable[[Path], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the tensors of a safetensors file, of the kind that ``load`` reads.

    Raises:
        BundleError: The file is missing or not a whole safetensors file.
    """
    content = _read(path, only_head=True)
    # A safetensors file may begin with any bytes, a length, but then comes its header, a JSON object.
    if content[8:9] != b"{" and (content[:2] == b"PK" or content[:1] == b"\x80"):
        kind = "a zip archive or PyTorch checkpoint" if content[:2] == b"PK" else "a pickle"
        raise BundleError(
            f"{path} is {kind}, not safetensors; dragoman runs no code that lies in model files",
            hint="use a model folder that 'dragoman train' has made",
        )
    try:
        return load(path)
    except (SafetensorError, ValueError, OverflowError, MemoryError) as error:
        raise BundleError(
            f"{path} is not a whole safetensors file: {error}",
            hint="copy it again from where it was trained",
        ) from error


def check_weights(
    tensors: Mapping[str, Any], config: ModelConfig, path: Path, fault: Callable[[Any], str | None]
) -> None:
    """Check names, shapes and values against what the configuration asks for.

    Args:
        tensors: What was read.
        config: Of the model.
        path: Whence.
        fault: Says what is wrong with the values of a tensor, if anything is.

    Raises:
        BundleError: With the first few differences.
    """
    ends = [f"encoder.{config.num_encoder_layers - 1}", f"decoder.{config.num_decoder_layers - 1}"]
    names = [f"{layer}.feed_forward.inner.weight" for layer in ends]
    problems = [f"{name} is missing" for name in names if name not in tensors]
    if not problems:  # else a number of layers that is a lie would take all memory
        expected = expected_shapes(config)
        problems = _differences(tensors, expected)
        for name, tensor in tensors.items():
            if name not in expected:
                problems.append(f"{name} is unknown")
            elif found := fault(tensor):
                problems.append(f"{name} holds {found}")
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise BundleError(
            f"{path} does not fit {path.with_name(CONFIG)}: {'; '.join(sorted(problems)[:3])}{more}",
            hint="copy the whole folder again from where it was trained",
        )


def expected_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor of a model by its name."""
    d_model, vocabulary = config.d_model, config.vocabulary_size
    keys, values = config.num_heads * config.d_k, config.num_heads * config.d_v
    projections = {"query": (keys, d_model), "key": (keys, d_model), "value": (values, d_model)}
    projections["output"] = (d_model, values)
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight_VD": (vocabulary, d_model)}
    embeddings = ["embedding"]
    if config.embeddings != "shared":
        shapes["source_embedding.weight_VD"] = (config.source_vocabulary_size or vocabulary, d_model)
        embeddings.append("source_embedding")
    if config.positions in ("learned", "table"):
        shapes |= {f"{name}.positions.table_TD": (config.max_positions, d_model) for name in embeddings}
    if config.embeddings == "separate":
        shapes["projection_VD"] = (vocabulary, d_model)
    if config.output_bias:
        shapes["bias_V"] = (vocabulary,)
    attentions = {"encoder": ["attention"], "decoder": ["self_attention", "cross_attention"]}
    residuals = {"encoder": ["attention"], "decoder": ["self", "cross"]}
    counts = {"encoder": config.num_encoder_layers, "decoder": config.num_decoder_layers}
    norms = [f"{stack}_norm" for stack in counts if config.norm == "pre"]
    for stack, count in counts.items():
        for layer in (f"{stack}.{number}" for number in range(count)):
            for attention in attentions[stack]:
                for part, shape in projections.items():
                    shapes[f"{layer}.{attention}.{part}.weight"] = shape
                    if config.attention_bias:
                        shapes[f"{layer}.{attention}.{part}.bias"] = shape[:1]
            for part, shape in (("inner", (config.d_ff, d_model)), ("outer", (d_model, config.d_ff))):
                shapes[f"{layer}.feed_forward.{part}.weight"] = shape
                shapes[f"{layer}.feed_forward.{part}.bias"] = shape[:1]
            norms += [f"{layer}.{part}_residual.norm" for part in (*residuals[stack], "feed_forward")]
    return shapes | {f"{norm}.{part}": (d_model,) for norm in norms for part in ("weight", "bias")}


def _fault(array: npt.NDArray[Any]) -> str | None:
    if not np.issubdtype(array.dtype, np.floating):
        return f"{array.dtype}, no real numbers"
    return None if np.isfinite(array).all() else "values that are not finite"


def _differences(tensors: Mapping[str, Any], expected: Mapping[str, Sequence[int]]) -> list[str]:
    """Return what is missing and what has another shape, in words."""
    return [
        f"{name} is missing"
        if name not in tensors
        else f"{name} has shape {list(tensors[name].shape)}, expected {list(shape)}"
        for name, shape in expected.items()
        if name not in tensors or list(tensors[name].shape) != list(shape)
    ]


def _read_config(folder: Path) -> tuple[Config, tuple[str | None, str | None]]:
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise BundleError(
            f"{folder} {what}; a model is a folder that 'dragoman train' has made",
            hint="name the folder given to 'dragoman train' as --out",
        )
    path = folder / CONFIG
    text = _read(path).decode("utf-8", errors="replace")
    try:
        about: dict[str, Any] = json.loads(text)
        version = about.pop("format")
        languages = about.pop("source_language"), about.pop("target_language")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise BundleError(
            f"{path} is not the configuration of a dragoman model",
            hint="name the folder given to 'dragoman train' as --out",
        ) from None
    if version != FORMAT:
        raise BundleError(
            f"{path} has format {version!r}; this version of dragoman reads format {FORMAT}",
            hint="install a newer dragoman: pip install --upgrade dragoman",
        )
    return config_from_json(json.dumps(about), str(path)), languages


def _read(path: Path, *, only_head: bool = False) -> bytes:
    """Return a file's content, or its first bytes, unless it is missing or a Git LFS pointer."""
    try:
        with path.open("rb") as file:
            content = file.read(1_024 if only_head else -1)
        promised = lfs_pointer_size(content[:1_024])
        if promised is None:
            return content
        message, hint = lfs_pointer_message(str(path), path.stat().st_size, promised)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BundleError(
            f"{path} cannot be read: {reason}",
            hint="name the folder given to 'dragoman train' as --out; is its training finished?",
        ) from None
    raise BundleError(message, hint=hint)
