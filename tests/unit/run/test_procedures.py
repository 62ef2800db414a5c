"""The procedures of the reference data on resuming and seeds, on its 600 pairs."""

import json
from pathlib import Path

import pytest

from tiny_runs import SETTINGS, remains, stop_after, tiny_run

pytestmark = [pytest.mark.untraced, pytest.mark.full]  # their small versions are in test_resume.py

LONG = (
    *SETTINGS,
    "data.bpe_dropout=0.1",
    "data.test_pairs=0",
    "model.dropout=0.1",
    "train.max_steps=200",
    "train.warmup_steps=50",
    "train.batch_tokens=294",
    "train.micro_batch_tokens=147",
    "train.validation_interval_steps=25",
    "train.validation_sentences=0",
    "train.average_checkpoints=3",
)
"""200 steps with accumulation, dropout of both kinds and averaging; an epoch has about 75 steps."""


def run(shared: Path, out: Path, *settings: str, stops: tuple[int, ...] = ()) -> dict[str, bytes]:
    """Train on the reference data, stopped and resumed after so many steps of each session."""
    mini = shared / "cases" / "mini"
    corpus, dev = ([mini / f"{name}.{side}" for side in ("src", "tgt")] for name in ("train", "valid"))
    for number, stop in enumerate((*stops, 10**6)):
        given = () if number else (*LONG, *settings)
        tiny_run(corpus, out, *given, dev=dev, resume=number > 0, stop=stop_after(stop))
    return remains(out)


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


def records(found: dict[str, bytes]) -> list[dict[str, float]]:
    return [json.loads(line) for line in found["metrics.jsonl"].splitlines()]


def test_two_hundred_steps_in_two_sessions(shared: Path, tmp_path: Path) -> None:
    """S34: 120 steps and 80 have the numbers, rates, losses and weights of 200 in one go."""
    whole = run(shared, tmp_path / "whole")

    assert [record["step"] for record in records(whole) if "loss" in record] == list(range(1, 201))
    assert_same(run(shared, tmp_path / "parts", stops=(120,)), whole)


@pytest.mark.parametrize(("of_epoch", "more"), [(0, 1), (0, 7), (1, 0), (1, 1)])
def test_a_stop_within_and_at_the_end_of_an_epoch(
    shared: Path, tmp_path: Path, of_epoch: int, more: int
) -> None:
    """S35: each rest of an epoch is seen once and in order; patience and best score are carried over.

    The stops are after step 1, step 7, the last step of the first epoch and the first one of the second.
    """
    settings = (
        *("train.patience=2", "train.select_by=loss"),
        *("train.peak_rate=0.5", "train.validation_interval_steps=30"),
    )
    whole = run(shared, tmp_path / "whole", *settings)
    length = sum(record["epoch"] == 0 and "loss" in record for record in records(whole))
    parts = run(shared, tmp_path / "parts", *settings, stops=(of_epoch * length + more,))

    assert 60 < length < 90
    assert length + 1 < records(whole)[-1]["step"] < 200
    assert_same(parts, whole)


def test_one_seed_is_one_run(shared: Path, tmp_path: Path) -> None:
    """S40: seed 1 twice gives equal bytes, seed 2 others, and the seed is stored."""
    one, same, other = (
        run(shared, tmp_path / name, "train.max_steps=100", f"train.seed={seed}")
        for name, seed in (("one", 1), ("same", 1), ("other", 2))
    )

    assert_same(same, one)
    assert other["model.safetensors"] != one["model.safetensors"]
    assert other["metrics.jsonl"] != one["metrics.jsonl"]
    assert [json.loads(found["config.json"])["train"]["seed"] for found in (one, other)] == [1, 2]
