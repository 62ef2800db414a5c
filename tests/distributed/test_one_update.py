"""One update is the same whatever the cut: into micro-batches, over ranks, with copies or shards."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from distributed.commands import ENVIRONMENT
from distributed.one_update import CASES, SIZES, Case

Updates = dict[int, dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"]]


@pytest.fixture(scope="module")
def updates(tmp_path_factory: pytest.TempPathFactory) -> Updates:
    """What each number of ranks has found, by the case and the name of the parameter."""
    folder = tmp_path_factory.mktemp("updates")
    program = Path(__file__).with_name("one_update.py")
    done = subprocess.run(
        [sys.executable, program, folder], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr

    return {size: dict(np.load(folder / f"{size}.npz")) for size in SIZES}


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_ranks_change_nothing(updates: Updates, case: Case, size: int) -> None:
    """Copies and shards on any number of ranks have the gradient and the losses that one process has."""
    told = f"{case}/told"
    names = [name for name in updates[1] if name.startswith(f"{case}/") and name != told]
    alone, together = ({name: updates[n][name].astype(float) for name in names} for n in (1, size))
    length = np.sqrt(sum(np.square(gradient).sum() for gradient in alone.values()))
    tolerance = 1e-12 if "float64" in str(case) else 1e-6

    assert len(names) > 20
    for name in names:
        assert np.linalg.norm(together[name] - alone[name]) <= tolerance * length, name
    assert updates[size][told] == pytest.approx(updates[1][told], rel=1e-6)


def test_every_case_has_a_gradient(updates: Updates) -> None:
    """What is compared is neither empty nor zero nor clipped away."""
    lengths = [np.linalg.norm(value) for name, value in updates[1].items() if "embedding" in name]

    assert len(lengths) >= len(CASES)
    assert min(lengths) > 1e-3
