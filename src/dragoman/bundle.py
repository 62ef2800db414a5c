"""The model folder with its weights in torch: read, written, and used as one."""

import json
from dataclasses import dataclass
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor

from dragoman.config import Config
from dragoman.config.reader import config_to_json
from dragoman.errors import BundleError
from dragoman.model import Transformer
from dragoman.model_files import (
    CARD,
    CONFIG,
    FORMAT,
    TOKENIZER,
    WEIGHTS,
    Outline,
    check_weights,
    read_weights,
)
from dragoman.text import Tokenizer


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
            "format": FORMAT,
            "source_language": self.source_language,
            "target_language": self.target_language,
            **json.loads(config_to_json(self.config)),
        }
        files = {
            TOKENIZER: self.tokenizer.to_bytes(),
            WEIGHTS: self.weights(),
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

    def weights(self) -> bytes:
        """Return the weights as the content of a safetensors file."""
        tensors = {name: tensor.detach().cpu() for name, tensor in self.model.state_dict().items()}
        return safetensors.torch.save(tensors, metadata={"format": "pt"})

    @classmethod
    def load(cls, folder: Path, device: torch.device | None = None) -> "Bundle":
        """Read a model folder; its model is in evaluation mode.

        Raises:
            BundleError: A file is missing, damaged, or does not fit the others.
            ConfigError: The configuration breaks a rule.
            TokenizerError: The tokenizer cannot be read.
        """
        outline = Outline.read(folder)
        path = folder / WEIGHTS
        tensors = read_tensors(path)
        check_weights(tensors, outline.config.model, path, _fault)
        with torch.random.fork_rng(devices=[]):
            model = Transformer(outline.config.model)
        model.load_state_dict(tensors)
        return cls(
            outline.config,
            outline.tokenizer,
            model.to(device).eval(),
            outline.source_language,
            outline.target_language,
        )


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file.

    Raises:
        BundleError: The file is missing or not a whole safetensors file.
    """
    return dict(read_weights(path, safetensors.torch.load_file))


def _fault(tensor: Tensor) -> str | None:
    """Return what is wrong with the values of a tensor, in words, or None."""
    if not tensor.is_floating_point():
        return f"{str(tensor.dtype).removeprefix('torch.')}, no real numbers"
    return None if bool(tensor.isfinite().all()) else "values that are not finite"
