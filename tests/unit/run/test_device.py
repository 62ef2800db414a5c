"""Where and how precisely a run computes."""

import os

import pytest
import torch

from dragoman.run import device
from dragoman.run.device import choose_precision, same_bits


@pytest.mark.parametrize(
    ("gain", "precision", "said"),
    [(1.9, "bfloat16", "1.9 x"), (1.1, "float32", "1.1 x"), (0.5, "float32", "0.5 x")],
)
def test_auto_takes_what_this_processor_multiplies_faster(
    gain: float, precision: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Having instructions for bfloat16 is not enough: the measured gain decides, and is said."""
    monkeypatch.setattr(device, "_has_bfloat16", lambda _: True)
    monkeypatch.setattr(device, "bfloat16_gain", lambda: gain)

    chosen, why = choose_precision("auto", torch.device("cpu"))

    assert chosen == precision
    assert said in why


@pytest.mark.parametrize("wanted", ["float32", "bfloat16"])
def test_what_is_asked_for_is_not_measured(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named number format is taken, whatever the processor gains by it."""
    monkeypatch.setattr(device, "bfloat16_gain", lambda: pytest.fail("it was measured"))

    assert choose_precision(wanted, torch.device("cpu")) == (wanted, "as asked")


def test_a_processor_without_instructions_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """There bfloat16 is slow, and measuring it would be as well."""
    monkeypatch.setattr(device, "_has_bfloat16", lambda _: False)
    monkeypatch.setattr(device, "bfloat16_gain", lambda: pytest.fail("it was measured"))

    assert choose_precision("auto", torch.device("cpu"))[0] == "float32"


@pytest.mark.parametrize(
    ("kind", "wanted", "is_set"), [("cuda", True, True), ("cuda", False, False), ("cpu", True, False)]
)
def test_a_gpu_is_told_to_give_the_same_bits(
    kind: str, wanted: bool, is_set: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is wanted, and only meanwhile; a processor has no other way."""
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")  # so that it is taken away again
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    with same_bits(torch.device(kind), wanted=wanted):
        assert torch.are_deterministic_algorithms_enabled() == is_set
        assert ("CUBLAS_WORKSPACE_CONFIG" in os.environ) == is_set

    assert not torch.are_deterministic_algorithms_enabled()
