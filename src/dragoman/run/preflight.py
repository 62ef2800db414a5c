"""What is checked in the folder of a run before its first step."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from dragoman.config import TrainConfig
from dragoman.errors import CheckpointError
from dragoman.run.folder import FINISHED


def check_space(out: Path, num_parameters: int, config: TrainConfig) -> None:
    """Refuse to begin where the checkpoints of the run will find no room.

    Each parameter is saved with all that training keeps of it but its gradient, 4 bytes. Side by side
    lie the checkpoints that are averaged, one more that is the best or the last, and the one that is being
    written.

    Args:
        out: The folder of the run; what its checkpoints take already counts as free.
        num_parameters: Of the model.
        config: Of the training.

    Raises:
        CheckpointError: The disk has not so much room.
    """
    num_checkpoints = config.average_checkpoints + 2
    needed = (config.bytes_per_parameter - 4) * num_parameters * num_checkpoints
    taken = sum(path.stat().st_size for path in (out / "training" / "checkpoints").glob("step-*/*"))
    free = shutil.disk_usage(out).free + taken
    if free < needed:
        raise CheckpointError(
            f"{out}: the disk has room for {free / 2**20:,.1f} MiB, and {num_checkpoints} checkpoints of "
            f"{num_parameters:,} parameters and their moments need {needed / 2**20:,.1f} MiB",
            hint="make room, name a folder on another disk, or set a lower train.average_checkpoints",
        )


def check_fits(out: Path, expected: Mapping[str, Tensor]) -> None:
    """Refuse checkpoints of another model before anything of them is used.

    Args:
        out: The folder of the run; the headers of its newest checkpoint are read.
        expected: The tensors of the run's model, by name.

    Raises:
        CheckpointError: With the first tensor that differs.
    """
    path = max((out / "training" / "checkpoints").glob("step-*/model.safetensors"), default=None)
    if path is None:
        return
    try:
        with safe_open(path, "pt") as file:
            found = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError):
        return  # damaged: its checksum will tell
    wanted = {name: list(tensor.shape) for name, tensor in expected.items()}
    for name in sorted({*found, *wanted}):
        if found.get(name) != wanted.get(name):
            raise CheckpointError(
                f"{path}: the checkpoint is of a model of another vocabulary or size: {name} has shape "
                f"{found.get(name)}, the model of this run {wanted.get(name)}",
                hint="put the checkpoints of this run back, or train into a new folder",
            )


def check_begins(out: Path, saved_step: int) -> None:
    """Refuse to begin anew where checkpoints are gone that certainly were there.

    Args:
        out: The folder of a run that has no checkpoint.
        saved_step: The last step that its metrics say was saved, or 0.

    Raises:
        CheckpointError: Training would begin at step 0 once more.
    """
    if saved_step or (out / "training" / FINISHED).exists():
        upto = f"up to step {saved_step:,} " if saved_step else ""
        raise CheckpointError(
            f"{out / 'training' / 'checkpoints'}: the checkpoints are gone; the run was saved {upto}before",
            hint="restore the folder from a backup, or train into a new folder",
        )
