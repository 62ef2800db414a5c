"""A Transformer learns to parse, as it learns to translate."""

from pathlib import Path

import pytest

from dragoman.run import Outcome, TrainOptions, train
from grammar_trees import write_treebank

pytestmark = pytest.mark.untraced


def learned(treebank: Path, out: Path, size: int, *settings: str, **options: list[Path]) -> Outcome:
    """Train a small model that writes tags, by which words and symbols find each other sooner."""
    shape = (
        *("model.num_encoder_layers=2", "model.num_decoder_layers=2", "model.num_heads=4"),
        *(
            f"model.d_model={size}",
            f"model.d_ff={2 * size}",
            f"model.d_k={size // 4}",
            f"model.d_v={size // 4}",
        ),
        *("model.vocabulary_size=416", "model.dropout=0.0", "data.keep_tags=true"),
        *("train.precision=float32", "train.average_checkpoints=1", "search.beam_size=1"),
    )
    chosen = TrainOptions(recipe="parsing-small", settings=(*shape, *settings), **options)
    return train([treebank], out, chosen)


def test_a_few_trees_are_learned_by_heart(tmp_path: Path) -> None:
    """Thirty short trees are written again without a fault."""
    treebank = write_treebank(tmp_path / "trees.mrg", 30, depth=0)
    outcome = learned(
        treebank,
        tmp_path / "model",
        32,
        *("train.max_steps=160", "train.warmup_steps=30", "train.peak_rate=0.01", "train.batch_tokens=250"),
        "train.validation_interval_steps=160",
        dev=[treebank],
        test=[treebank],
    )

    assert outcome.dev_scores["f1"] > 95.0
    assert outcome.dev_scores["tagging_accuracy"] > 95.0


@pytest.mark.full
def test_a_grammar_is_learned_from_its_trees(tmp_path: Path) -> None:
    """From some hundred trees a parser learns to parse sentences of the grammar that it has never seen."""
    outcome = learned(
        write_treebank(tmp_path / "trees.mrg", 700),
        tmp_path / "model",
        64,
        *("train.max_steps=600", "train.warmup_steps=100", "train.peak_rate=0.004", "train.batch_tokens=600"),
        "train.validation_interval_steps=600",
    )

    assert outcome.test_scores is not None
    assert outcome.dev_scores["f1"] > 95.0
    assert outcome.test_scores.f1 > 95.0
