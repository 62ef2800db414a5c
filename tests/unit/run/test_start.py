"""A training that begins with a trained model, to adapt it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

from diverging import poison
from dragoman.bundle import Bundle
from dragoman.config import Config, TrainConfig, choose_adaptation, read_config
from dragoman.errors import BundleError, CheckpointError, ConfigError, CorpusError
from dragoman.run import TrainOptions, train
from dragoman.run.training import read_metrics
from dragoman.train.health import MAX_SKIPPED_IN_ROW
from grammar_trees import write_treebank
from tiny_runs import SETTINGS, Recorder, remains, stop_after, tiny_run, write_corpus

pytestmark = pytest.mark.untraced  # whole runs; what they consist of is watched in tests of its own

SHAPE = tuple(setting for setting in SETTINGS if not setting.startswith("model."))
"""Settings that leave the shape to the model that a run begins with."""

AS_IT_IS = (*SHAPE, "train.max_steps=1", "train.peak_rate=1e-9", "train.average_checkpoints=1")
"""One step that changes nothing that float32 could show."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pairs that the model has not seen."""
    return write_corpus(tmp_path_factory.mktemp("other"), 60, seed=8)


@pytest.fixture(scope="module")
def trained(corpus: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of those pairs."""
    out = tmp_path_factory.mktemp("trained") / "model"
    tiny_run(corpus, out)
    return out


def adapt(
    corpus: list[Path],
    out: Path,
    start: Path,
    *settings: str,
    stop: stop_after | None = None,
    **options: Any,
) -> Recorder:
    """Train from a model with these settings; return what was said."""
    recorder = Recorder()
    if stop is not None:
        stop.watch(recorder)
    chosen = TrainOptions(settings=settings, start=start, **options)
    train(corpus, out, chosen, reporter=recorder, stop_requested=stop or (lambda: False))
    return recorder


def weights_of(folder: Path) -> dict[str, Tensor]:
    return safetensors.torch.load_file(folder / "model.safetensors")


def assert_near(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)


def test_it_begins_with_weights_and_vocabulary(trained: Path, other: list[Path], tmp_path: Path) -> None:
    """After a step that changes nothing the new model is the old one, with its vocabulary."""
    out = tmp_path / "model"
    said = adapt(other, out, trained, *AS_IT_IS).notices

    assert_near(weights_of(out), weights_of(trained))
    assert (out / "tokenizer.model").read_bytes() == (trained / "tokenizer.model").read_bytes()
    [before] = [text for text in said if text.startswith("the model as it was: development loss ")]
    [validation] = [record["validation"] for record in read_metrics(out) if "validation" in record]
    assert f"loss {validation['loss']:.2f}" in before


def test_it_learns(trained: Path, other: list[Path], tmp_path: Path) -> None:
    """Adapted to new pairs, the model is better on their like than it was."""
    out = tmp_path / "model"
    said = adapt(
        other, out, trained, *SHAPE, "train.max_steps=40", "train.validation_interval_steps=40"
    ).notices
    [before] = [text for text in said if text.startswith("the model as it was")]
    [after] = [record["validation"]["loss"] for record in read_metrics(out) if "validation" in record]

    assert after < float(before.split("loss ")[1].split(",")[0])


@pytest.mark.parametrize("stop", [1, 7])
def test_a_stopped_run_goes_on_exactly(trained: Path, other: list[Path], tmp_path: Path, stop: int) -> None:
    """Byte for byte as without a stop, also where the model that it began with is gone meanwhile."""
    adapt(other, tmp_path / "whole", trained, *SHAPE)
    start, out = tmp_path / "start", tmp_path / "model"
    shutil.copytree(trained, start)
    adapt(other, out, start, *SHAPE, stop=stop_after(stop))
    shutil.rmtree(start)
    said = adapt(other, out, start, resume=True).notices

    assert remains(out) == remains(tmp_path / "whole")
    assert any("--from play no part" in text for text in said)


def test_a_run_that_diverges_goes_back_to_them(
    trained: Path, other: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its first checkpoint there is nothing else to go back to."""
    poison(monkeypatch, from_step=1, num_setbacks=1)
    steps = f"train.max_steps={MAX_SKIPPED_IN_ROW + 2}"
    said = adapt(other, tmp_path / "model", trained, *AS_IT_IS, steps).notices

    assert any("back to step 0" in text for text in said)
    assert_near(weights_of(tmp_path / "model"), weights_of(trained))


def test_languages_are_remembered(trained: Path, other: list[Path], tmp_path: Path) -> None:
    """A corpus that names none has those of the model, also when the run goes on without the model."""
    lines = zip(*(path.read_text(encoding="utf-8").splitlines() for path in other), strict=True)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in lines), encoding="utf-8")
    out = tmp_path / "model"
    adapt([pairs], out, trained, *SHAPE, stop=stop_after(1))
    adapt([pairs], out, trained, resume=True)
    bundle = Bundle.load(out)

    assert (bundle.source_language, bundle.target_language) == ("en", "xx")
    assert {path.suffix for path in (out / "held-out").glob("test.*")} == {".en", ".xx"}


def test_the_sheet_names_the_first_weights(trained: Path, other: list[Path], tmp_path: Path) -> None:
    """They are part of what the new model depends on; a model trained from nothing has none."""
    adapt(other, tmp_path / "model", trained, *AS_IT_IS)
    sheets = [
        json.loads((folder / "reproducibility.json").read_text(encoding="utf-8"))
        for folder in (tmp_path / "model", trained)
    ]

    assert sheets[0]["first_weights"] == sheets[1]["model"]["model.safetensors"]
    assert sheets[1]["first_weights"] is None


def test_damaged_first_weights_are_found(trained: Path, other: list[Path], tmp_path: Path) -> None:
    """A changed or missing file is named before anything is made of it."""
    out = tmp_path / "model"
    adapt(other, out, trained, *SHAPE, stop=stop_after(1))
    path = out / "training" / "first.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"first\.safetensors: the file is damaged"):
        adapt(other, out, trained, resume=True)
    path.unlink()
    with pytest.raises(CheckpointError, match=r"first\.safetensors: cannot read the first weights"):
        adapt(other, out, trained, resume=True)


@pytest.mark.parametrize("recipe", ["auto", "small"])
def test_another_shape_is_refused(trained: Path, other: list[Path], tmp_path: Path, recipe: str) -> None:
    """The message names each key that does not fit, and what the model has."""
    with pytest.raises(ConfigError, match=r"model\.d_model=32 \(the model has 16\)"):
        adapt(other, tmp_path / "model", trained, "model.d_model=32", recipe=recipe)
    assert not (tmp_path / "model").exists()


def test_dropout_may_be_another(trained: Path, other: list[Path], tmp_path: Path) -> None:
    """It changes no weight, and a small corpus may want more of it."""
    adapt(other, tmp_path / "model", trained, *AS_IT_IS, "model.dropout=0.4")

    assert Bundle.load(tmp_path / "model").config.model.dropout == 0.4


def test_a_recipe_for_another_task_is_refused(trained: Path, tmp_path: Path) -> None:
    """A model that translates learns no parsing."""
    treebank = write_treebank(tmp_path / "gold.mrg", 20)
    with pytest.raises(ConfigError, match="does translation, and the recipe is for parsing"):
        adapt([treebank], tmp_path / "model", trained, recipe="parsing-small")


def test_a_model_of_another_program_is_refused(
    trained: Path, other: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What such a model has is not trained here, and that is said instead of a key that nobody has set."""
    bundle = Bundle.load(trained)
    config = replace(bundle.config, model=replace(bundle.config.model, positions="table"))
    monkeypatch.setattr(Bundle, "load", lambda folder: replace(bundle, config=config))
    with pytest.raises(ConfigError, match="the model is of another program"):
        adapt(other, tmp_path / "model", trained, *SHAPE)


def test_no_model_is_named(other: list[Path], tmp_path: Path) -> None:
    """A folder that holds no model ends the run before it begins."""
    with pytest.raises(BundleError, match="nothing"):
        adapt(other, tmp_path / "model", tmp_path / "nothing")
    assert not (tmp_path / "model").exists()


def test_the_plan_suits_the_corpus(trained: Path, other: list[Path], tmp_path: Path) -> None:
    """Without a recipe few steps at a low rate are planned, and it is said; single keys win."""
    keys = ("train.precision=float32", "train.max_steps=2", "train.validation_sentences=2")
    said = adapt(other, tmp_path / "model", trained, *keys).notices
    config = Bundle.load(tmp_path / "model").config

    assert any(text.startswith("2 steps of 4,096 tokens at a rate of at most ") for text in said)
    assert any("keys that win over it" in text and "train.validation_sentences=2" in text for text in said)
    assert config.train.peak_rate == pytest.approx((16 * 16_000) ** -0.5, rel=0.05)
    assert config.search == Bundle.load(trained).config.search


@pytest.mark.parametrize("num_pairs", [1, 5_000, 100_000, 4_000_000, 10**9])
def test_the_plan_is_gentle(num_pairs: int) -> None:
    """Ten passes within bounds, a warm-up within them, and a rate below the paper's highest."""
    settings, reason = choose_adaptation(num_pairs, Config())
    train: TrainConfig = read_config(recipe=None, file=None, settings=settings).train
    ten_passes = 10 * num_pairs * 20 / train.batch_tokens

    assert 200 <= train.max_steps <= 100_000
    assert train.warmup_steps == train.max_steps // 10
    assert 0 <= train.max_steps - ten_passes < 101 or train.max_steps in (200, 100_000)
    assert train.peak_rate is not None
    assert train.peak_rate < (512 * 4_000) ** -0.5
    assert f"{train.max_steps:,} steps" in reason


def test_a_dry_run_takes_the_vocabulary(
    trained: Path, other: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It measures the model as it will be trained, and writes nothing."""
    monkeypatch.delattr("dragoman.run.training.learn_tokenizer")
    adapt(other, tmp_path / "model", trained, *SHAPE, dry_run=True)

    assert not (tmp_path / "model").exists()


def test_a_parser_is_adapted(tmp_path: Path) -> None:
    """A parser goes on with other trees of the same labels; labels that it cannot write are refused."""
    parsing = ("data.task=parsing", "data.max_length=200", "search.extra_length=30", "search.beam_size=1")
    treebank = write_treebank(tmp_path / "gold.mrg", 60)
    tiny_run([treebank], tmp_path / "parser", *parsing)
    more = write_treebank(tmp_path / "more.mrg", 40, seed=5)
    keys = tuple(key for key in SHAPE if not key.startswith("search."))
    adapt([more], tmp_path / "adapted", tmp_path / "parser", *keys)
    config = Bundle.load(tmp_path / "adapted").config
    strange = tmp_path / "strange.mrg"
    strange.write_text(more.read_text(encoding="utf-8").replace("(NP", "(NOMEN"), encoding="utf-8")

    assert (config.data.task, config.search.extra_length, config.data.max_length) == ("parsing", 30, 200)
    with pytest.raises(CorpusError, match=r"cannot write: NOMEN"):
        adapt([strange], tmp_path / "strange", tmp_path / "parser", *keys)
    assert not (tmp_path / "strange").exists()
