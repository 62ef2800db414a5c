"""The model folder: configuration, tokenizer, weights and a card; no pickle anywhere.

config.json         languages and the whole configuration
tokenizer.model     the sentencepiece model
model.safetensors   the weights; a tied tensor is stored once
README.md           the model card
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from dragoman.config import Config, ModelConfig
from dragoman.config.reader import config_from_json, config_to_json
from dragoman.errors import BundleError
from dragoman.model import Transformer
from dragoman.text import Tokenizer
from dragoman.text.lines import lfs_pointer_message, lfs_pointer_size

CONFIG, TOKENIZER, WEIGHTS, CARD = "config.json", "tokenizer.model", "model.safetensors", "README.md"

_FORMAT = 1


@dataclass(frozen=True)
class Bundle:
    """A trained model with all that is needed to use it."""

    config: Config
    tokenizer: Tokenizer
    model: Transformer
    source_language: str | None = None
    target_language: str | None = None

    def save(self, folder: Path, card: str) -> None:
        """Write the model folder; each file is replaced whole.

        Args:
            folder: Made if it does not exist.
            card: The text of the model card, in Markdown.

        Raises:
            BundleError: A file cannot be written.
        """
        about = {
            "format": _FORMAT,
            "source_language": self.source_language,
            "target_language": self.target_language,
            **json.loads(config_to_json(self.config)),
        }
        tensors = {name: tensor.detach().cpu() for name, tensor in self.model.state_dict().items()}
        files = {
            TOKENIZER: self.tokenizer.to_bytes(),
            WEIGHTS: safetensors.torch.save(tensors, metadata={"format": "pt"}),
            CARD: card.encode(),
            CONFIG: (json.dumps(about, indent=2, ensure_ascii=False) + "\n").encode(),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                temporary = folder / f".{name}.tmp"
                temporary.write_bytes(content)
                temporary.replace(folder / name)
        except OSError as error:
            raise BundleError(f"{folder}: cannot write the model: {error.strerror}") from error

    @classmethod
    def load(cls, folder: Path, device: torch.device | None = None) -> "Bundle":
        """Read a model folder; its model is in evaluation mode.

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
        tensors = read_tensors(folder / WEIGHTS)
        _check_sizes(config.model, tensors, folder / WEIGHTS, folder / CONFIG)
        with torch.random.fork_rng(devices=[]):
            model = Transformer(config.model)
        check_tensors(tensors, model.state_dict(), folder / WEIGHTS, folder / CONFIG)
        model.load_state_dict(tensors)
        return cls(config, tokenizer, model.to(device).eval(), *languages)


def load_config(folder: Path) -> Config:
    """Return the configuration of a model folder; neither tokenizer nor weights are read.

    Raises:
        BundleError: The folder does not hold a model, or one of another format.
        ConfigError: The configuration breaks a rule.
    """
    return _read_config(folder)[0]


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file.

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
        return safetensors.torch.load_file(path)
    except (SafetensorError, ValueError, OverflowError, MemoryError) as error:
        raise BundleError(
            f"{path} is not a whole safetensors file: {error}",
            hint="copy it again from where it was trained",
        ) from error


def check_tensors(
    tensors: Mapping[str, Tensor], expected: Mapping[str, Tensor], path: Path, config_path: Path
) -> None:
    """Check names, shapes, types and finiteness against what the configuration asks for.

    Raises:
        BundleError: With the first few differences.
    """
    problems = _differences(tensors, {name: tensor.shape for name, tensor in expected.items()})
    for name, tensor in tensors.items():
        if name not in expected:
            problems.append(f"{name} is unknown")
        elif not tensor.is_floating_point():
            problems.append(f"{name} holds {str(tensor.dtype).removeprefix('torch.')}, no real numbers")
        elif not tensor.isfinite().all():
            problems.append(f"{name} holds values that are not finite")
    _refuse(problems, path, config_path)


def _check_sizes(config: ModelConfig, tensors: Mapping[str, Tensor], path: Path, config_path: Path) -> None:
    """Check the sizes that decide how much memory a model takes, before any is taken: they may be lies.

    Raises:
        BundleError: With the first few differences.
    """
    heads_in = (config.num_heads * config.d_k, config.d_model)
    heads_out = (config.num_heads * config.d_v, config.d_model)
    inner = (config.d_ff, config.d_model)
    expected = {"embedding.weight_VD": (config.vocabulary_size, config.d_model)}
    for layer in (f"encoder.{config.num_encoder_layers - 1}", f"decoder.{config.num_decoder_layers - 1}"):
        attention = f"{layer}.{'self_' if layer.startswith('decoder') else ''}attention"
        expected[f"{layer}.feed_forward.inner.weight"] = inner
        expected[f"{attention}.query.weight"] = heads_in
        expected[f"{attention}.value.weight"] = heads_out
    if config.positions in ("learned", "table"):
        expected["embedding.positions.table_TD"] = (config.max_positions, config.d_model)
    if config.source_vocabulary_size is not None:
        expected["source_embedding.weight_VD"] = (config.source_vocabulary_size, config.d_model)
    _refuse(_differences(tensors, expected), path, config_path)


def _differences(tensors: Mapping[str, Tensor], expected: Mapping[str, Sequence[int]]) -> list[str]:
    """Return what is missing and what has another shape, in words."""
    return [
        f"{name} is missing"
        if name not in tensors
        else f"{name} has shape {list(tensors[name].shape)}, expected {list(shape)}"
        for name, shape in expected.items()
        if name not in tensors or list(tensors[name].shape) != list(shape)
    ]


def _refuse(problems: list[str], path: Path, config_path: Path) -> None:
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise BundleError(
            f"{path} does not fit {config_path}: {'; '.join(sorted(problems)[:3])}{more}",
            hint="copy the whole folder again from where it was trained",
        )


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
    if version != _FORMAT:
        raise BundleError(
            f"{path} has format {version!r}; this version of dragoman reads format {_FORMAT}",
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
