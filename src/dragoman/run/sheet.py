"""The reproducibility sheet: all that the bytes of a model depend on, beside the model."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dragoman.config import Config, config_to_toml
from dragoman.errors import CheckpointError
from dragoman.model_files import CONFIG, TOKENIZER, WEIGHTS
from dragoman.run.corpora import TrainingText
from dragoman.run.environment import Environment, read_environment
from dragoman.storage.durable import checksum_of, replace_durably

SHEET, SETTINGS = "reproducibility.json", "config.toml"


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Trained once more with all of this alike, a model has the same bytes (on a processor)."""

    seed: int
    device: str
    ranks: int
    environment: Environment
    files: Mapping[str, str]
    """SHA-256 of each file of training, development and test pairs."""
    training_pairs: int
    """Pairs that training saw, those that were held out left aside."""
    first_weights: str | None = None
    """SHA-256 of the weights that training began with, where they were those of another model."""

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values for a reader."""
        machine = asdict(self.environment)
        packages = machine.pop("packages")
        machine["gpus"] = ", ".join(machine["gpus"]) or "none"
        return [
            ("seed", str(self.seed)),
            ("device", self.device),
            ("ranks", str(self.ranks)),
            ("training pairs", f"{self.training_pairs:,}"),
            *((name.replace("_", " "), str(value)) for name, value in (machine | packages).items()),
            *((f"SHA-256 of {name}", value) for name, value in self.files.items()),
            *([("SHA-256 of the first weights", self.first_weights)] if self.first_weights else []),
        ]


def make_sheet(
    text: TrainingText, config: Config, device: str, ranks: int, first_weights: str | None
) -> Sheet:
    """Return the sheet of a run."""
    return Sheet(
        seed=config.train.seed,
        device=device,
        ranks=ranks,
        environment=read_environment(),
        files=text.files,
        training_pairs=text.num_training_pairs,
        first_weights=first_weights,
    )


def write_sheet(out: Path, sheet: Sheet, config: Config) -> None:
    """Write the sheet and the configuration into a model folder that is finished.

    ``dragoman train CORPUS --config OUT/config.toml`` trains the same model once more.

    Raises:
        CheckpointError: A file cannot be written.
    """
    try:
        replace_durably(out / SETTINGS, config_to_toml(config).encode())
        checksums = {name: checksum_of(out / name) for name in (CONFIG, SETTINGS, TOKENIZER, WEIGHTS)}
        content: dict[str, Any] = asdict(sheet) | {"model": checksums}
        replace_durably(out / SHEET, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise CheckpointError(
            f"{out}: cannot write the reproducibility sheet: {error.strerror}",
            hint="make room on the disk; then go on with --resume",
        ) from error
