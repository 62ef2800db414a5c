"""The engine computes the same on another machine: for ARM, compiled and run by an emulator."""

import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dragoman.engine import Engine, Precision, is_there, packing
from dragoman.engine.build import COMMON, SOURCES
from dragoman.model import Transformer
from tiny_engines import sources, weights
from tiny_models import tiny_model

COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
STEPS, RELU = 6, 1

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler"),
]

KINDS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "pre-norm": {"norm": "pre", "attention_bias": True, "output_bias": True},
    "odd sizes": {"d_model": 70, "d_ff": 131, "num_heads": 3, "embeddings": "separate"},
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs the engine as a program for ARM."""
    if not (shutil.which(COMPILER) and shutil.which(EMULATOR)):
        pytest.skip(f"{COMPILER} and {EMULATOR} are not installed")
    made = tmp_path_factory.mktemp("arm") / "engine"
    own = Path(__file__).with_name("another_machine.cpp")
    command = [COMPILER, *COMMON, "-DISA=plain", "-static", "-pthread", str(own)]
    subprocess.run([*command, *map(str, sorted(SOURCES.glob("*.cpp"))), "-o", str(made)], check=True)
    return [EMULATOR, str(made)]


def written(model: Transformer, precision: Precision, given: list[list[int]], forced_TN: Any) -> bytes:
    """Write a model and what to compute with it, as ``another_machine.cpp`` reads it."""
    config, tensors, file = model.config, weights(model), io.BytesIO()

    def ints(*numbers: int) -> None:
        file.write(np.array(numbers, np.int32).tobytes())

    size = config.vocabulary_size
    layers = (config.num_encoder_layers, config.num_decoder_layers)
    ints(
        config.d_model,
        config.d_ff,
        *layers,
        size,
        size,
        config.norm == "pre",
        RELU,
        *packing.Heads.of(config),
    )
    file.write(np.float32(config.norm_epsilon).tobytes())
    parts = list(packing.parts(tensors, config, precision, [model.padding]))
    ints(len(parts))
    for name, part in parts:
        kind = -1 if part.values.ndim == 1 else packing.KINDS.index(str(part.values.dtype))
        ints(len(name.encode()))
        file.write(name.encode())
        ints(kind, *part.values.shape, *[1] * (2 - part.values.ndim))
        ints(part.scale_O is not None, part.bias_O is not None)
        for values in part:
            if values is not None:
                file.write(np.ascontiguousarray(values).tobytes())
    positions = packing.positions(64, config, {})
    ints(64, config.d_model)
    file.write(positions.source_TD.tobytes() + positions.target_TD.tobytes())
    ints(len(given), *map(len, given), *(token for source in given for token in source))
    ints(len(forced_TN), *forced_TN.ravel().tolist())
    return file.getvalue()


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("kind", KINDS)
def test_arm_computes_what_this_machine_computes(
    program: list[str], tmp_path: Path, kind: str, precision: Precision
) -> None:
    """Log-probabilities of forced steps are those of the engine here, which others compare with torch."""
    model = tiny_model(3, torch.float32, **KINDS[kind])
    given, size = sources([1, 5, 17]), model.config.vocabulary_size
    forced_TN = np.random.default_rng(1).integers(2, size - 1, (STEPS, len(given))).astype(np.intc)
    forced_TN[0] = model.padding
    (tmp_path / "model.bin").write_bytes(written(model, precision, given, forced_TN))
    command = [*program, str(tmp_path / "model.bin")]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    found = np.array(ended.stdout.split(), np.float64).reshape(STEPS, len(given), size)
    session = Engine.of_weights(model.config, weights(model), precision, [model.padding]).session(
        given, 1, STEPS
    )

    np.testing.assert_allclose(found, [session.step(token_N) for token_N in forced_TN], rtol=0, atol=1e-4)
