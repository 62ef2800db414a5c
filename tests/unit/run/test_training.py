"""Runs from corpus to model folder."""

import json
from pathlib import Path

import pytest
import torch

from dragoman.errors import ConfigError, CorpusError, DragomanError
from dragoman.translator import Translator
from tiny_runs import Recorder, remains, stop_after, tiny_run

pytestmark = pytest.mark.untraced


def test_a_run_leaves_a_model_and_its_story(corpus: list[Path], tmp_path: Path) -> None:
    """The folder holds a model that translates, a card, metrics of every step, and the held-out pairs."""
    outcome = tiny_run(corpus, tmp_path / "model")
    records = [json.loads(line) for line in (tmp_path / "model" / "metrics.jsonl").read_text().splitlines()]
    held_out = [path.read_text().count("\n") for path in outcome.test_files or ()]
    translations = Translator.load(tmp_path / "model").translate(["The boats.", "", "Winter"])

    assert [record["step"] for record in records if "loss" in record] == list(range(1, 13))
    assert [record["step"] for record in records if "validation" in record] == [4, 8, 12]
    assert {"loss", "perplexity", "bleu", "chrf"} <= outcome.dev_scores.keys()
    assert held_out == [4, 4]
    assert outcome.test_scores is not None
    assert outcome.test_scores.num_segments == 4
    assert (len(translations), translations[1].text) == (3, "")


def test_training_leaves_the_global_generator_alone(corpus: list[Path], tmp_path: Path) -> None:
    """A program's own random numbers are the same whether it trains in between or not."""
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    tiny_run(corpus, tmp_path / "model", "train.max_steps=2")

    assert torch.equal(torch.random.get_rng_state(), before)


def test_no_held_out_pair_is_trained_on(corpus: list[Path], tmp_path: Path) -> None:
    """No development or test sentence stands among those that were encoded for training."""
    outcome = tiny_run(corpus, tmp_path / "model", "train.max_steps=1")
    folder = tmp_path / "model" / "held-out"
    held_out = {line for path in folder.glob("*.en") for line in path.read_text().splitlines()}
    everything = corpus[0].read_text().splitlines()
    trained_on = outcome.progress.num_source_tokens

    assert len(held_out) == 10
    assert held_out <= set(everything)
    assert trained_on > 0


@pytest.mark.parametrize(
    "settings",
    [
        ("data.dev_pairs=0", "data.test_pairs=0"),
        ("train.validation_sentences=0",),
        ("data.dev_pairs=0", "train.select_by=chrf"),
    ],
)
def test_a_run_can_do_without_scores(corpus: list[Path], tmp_path: Path, settings: tuple[str, ...]) -> None:
    """Without development pairs, or without translating them, the loss decides and a model is written."""
    outcome = tiny_run(corpus, tmp_path / "model", *settings)

    assert outcome.reason == "max_steps"
    assert (tmp_path / "model" / "model.safetensors").exists()


def test_a_dry_run_writes_nothing(corpus: list[Path], tmp_path: Path) -> None:
    """Everything is checked and planned, and the folder is not even made."""
    outcome = tiny_run(corpus, tmp_path / "model", dry_run=True)

    assert outcome.reason == "dry_run"
    assert list(tmp_path.iterdir()) == []


def test_a_lowered_vocabulary_is_said(corpus: list[Path], tmp_path: Path) -> None:
    """S20: a vocabulary that the corpus cannot carry is lowered with a notice and stored as it is."""
    recorder = Recorder()
    tiny_run(
        corpus, tmp_path / "model", "model.vocabulary_size=32000", "train.max_steps=1", reporter=recorder
    )
    size = json.loads((tmp_path / "model" / "config.json").read_text())["model"]["vocabulary_size"]

    assert size < 32_000
    assert any(f"{size:,}" in notice and "32,000" in notice for notice in recorder.notices)


def broken(folder: Path, corpus: list[Path], what: str) -> tuple[list[Path], dict[str, list[Path]]]:
    """Return a corpus with one fault, and further options that hold it."""
    source, target = folder / "bad.en", folder / "bad.xx"
    source.write_bytes(corpus[0].read_bytes())
    target.write_bytes(corpus[1].read_bytes())
    if what == "unequal":
        source.write_bytes(corpus[0].read_bytes() + b"one more\n")
    elif what == "not UTF-8":
        target.write_bytes(corpus[1].read_bytes().replace(b"river", b"r\xffver", 1))
    elif what == "empty":
        source.write_bytes(b"")
        target.write_bytes(b"")
    elif what == "blank":
        source.write_bytes(b"\n" * corpus[0].read_bytes().count(b"\n"))
    elif what == "missing":
        target.unlink()
    elif what == "dev missing":
        return corpus, {"dev": [folder / "no.en", folder / "no.xx"]}
    elif what == "test unequal":
        source.write_bytes(b"one\n")
        return corpus, {"test": [source, target]}
    return [source, target], {}


@pytest.mark.parametrize(
    "what", ["unequal", "not UTF-8", "empty", "blank", "missing", "dev missing", "test unequal"]
)
def test_a_bad_corpus_leaves_nothing_behind(corpus: list[Path], tmp_path: Path, what: str) -> None:
    """S05: a corpus that cannot be used is one message before any work, and no folder is made."""
    paths, options = broken(tmp_path, corpus, what)
    with pytest.raises(CorpusError) as fault:
        tiny_run(paths, tmp_path / "model", **options)

    assert "\n" not in fault.value.message
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    "setting", ["data.max_length=2", "model.vocabulary_size=16", "model.d_modle=3", "train.max_steps=0"]
)
def test_bad_settings_leave_nothing_behind(corpus: list[Path], tmp_path: Path, setting: str) -> None:
    """Settings under which nothing can be trained are one error, and no half-made folder stays."""
    with pytest.raises(DragomanError):
        tiny_run(corpus, tmp_path / "model", setting)

    assert not (tmp_path / "model").exists()


def test_every_problem_of_the_settings_is_told_at_once(corpus: list[Path], tmp_path: Path) -> None:
    """Two wrong keys are one error that names both."""
    with pytest.raises(ConfigError) as fault:
        tiny_run(corpus, tmp_path / "model", "model.d_modle=3", "train.precision=fp16")

    assert "d_modle" in str(fault.value)
    assert "precision" in str(fault.value)


def test_an_over_long_development_pair_is_left_out(shared: Path, tmp_path: Path) -> None:
    """S10: of five development pairs one is over the limit; it is counted, and the run ends."""
    folder, recorder = shared / "cases" / "S10-long-validation-line", Recorder()
    train, valid = ([folder / f"{name}.{side}" for side in ("src", "tgt")] for name in ("train", "valid"))
    outcome = tiny_run(
        train,
        tmp_path / "model",
        "train.batch_tokens=512",
        "train.micro_batch_tokens=512",
        "data.max_length=256",
        "train.max_steps=2",
        dev=valid,
        reporter=recorder,
    )

    assert outcome.reason == "max_steps"
    assert any("left out 1 of 5 development pairs" in notice for notice in recorder.notices)


def test_the_reference_corpus_resumes_and_repeats(shared: Path, tmp_path: Path) -> None:
    """S34 on the reference corpus with its own development pairs: stopped or not, the bytes are the same."""
    folder = shared / "cases" / "mini"
    train, valid = ([folder / f"{name}.{side}" for side in ("src", "tgt")] for name in ("train", "valid"))
    settings = ("train.max_steps=10", "train.batch_tokens=200", "train.micro_batch_tokens=100")
    tiny_run(train, tmp_path / "whole", *settings, dev=valid)
    tiny_run(train, tmp_path / "cut", *settings, dev=valid, stop=stop_after(6))
    tiny_run(train, tmp_path / "cut", dev=valid, resume=True)
    whole, cut = remains(tmp_path / "whole"), remains(tmp_path / "cut")

    assert [name for name in whole if cut.get(name) != whole[name]] == []


@pytest.mark.full
@pytest.mark.parametrize("stop", [1, 7, 75, 76, 120])
def test_the_reference_corpus_resumes_over_epochs(shared: Path, tmp_path: Path, stop: int) -> None:
    """S35 in full: 200 steps of about 8 sentences with dropout and patience, stopped near an epoch's end."""
    folder = shared / "cases" / "mini"
    train, valid = ([folder / f"{name}.{side}" for side in ("src", "tgt")] for name in ("train", "valid"))
    settings = (
        "train.max_steps=200",
        "train.batch_tokens=110",
        "train.micro_batch_tokens=110",
        "train.warmup_steps=50",
        "train.patience=20",
        "train.validation_interval_steps=20",
    )
    tiny_run(train, tmp_path / "whole", *settings, dev=valid)
    tiny_run(train, tmp_path / "cut", *settings, dev=valid, stop=stop_after(stop))
    tiny_run(train, tmp_path / "cut", dev=valid, resume=True)
    whole, cut = remains(tmp_path / "whole"), remains(tmp_path / "cut")

    assert [name for name in whole if cut.get(name) != whole[name]] == []
