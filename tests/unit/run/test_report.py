"""Beside each model: a report for the browser, and a sheet by which it can be made once more."""

import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dragoman.run import TrainOptions, train
from dragoman.run.report import _speeds
from tiny_runs import SETTINGS, Recorder, remains, stop_after, tiny_run

pytestmark = pytest.mark.untraced


@pytest.fixture(scope="module")
def model(corpus: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "model"
    tiny_run(corpus, out)
    return out


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, Any]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page_of(out: Path) -> Page:
    return Page((out / "report.html").read_text(encoding="utf-8"))


def tags_of(page: Page) -> list[str]:
    return [tag for tag, _ in page.elements]


def test_the_report_shows_the_whole_run(model: Path) -> None:
    """It has a curve of each measure, a row for each validation, samples, and the sheet."""
    page = page_of(model)
    text = " ".join(page.texts)

    for name in ("Loss", "Learning rate", "BLEU", "chrF2", "Target pieces a second", "Padding"):
        assert name in text
    for step in (4, 8, 12):
        assert str(step) in page.texts
    assert "Ended at step 12" in text
    assert "reference" in page.texts
    assert "seed" in page.texts


def test_the_report_needs_nothing_else(model: Path) -> None:
    """No script, no address: nothing is loaded, from wherever the file is opened."""
    page = page_of(model)
    names = {name for _, attributes in page.elements for name in attributes}

    assert not {"script", "link", "img", "iframe"} & set(tags_of(page))
    assert not {"src", "href"} & names
    assert not any(name.startswith("on") for name in names)


def test_text_of_the_corpus_is_never_markup(tmp_path: Path) -> None:
    """What stands in a corpus is shown as it is written."""
    paths = [tmp_path / "corpus.en", tmp_path / "corpus.xx"]
    for path in paths:
        path.write_text("".join(f"<script>alert({n})</script> & <b>\n" for n in range(60)), encoding="utf-8")
    tiny_run(paths, tmp_path / "model")

    assert "script" not in tags_of(page_of(tmp_path / "model"))
    assert any("<script>alert(" in text for text in page_of(tmp_path / "model").texts)


def test_the_report_is_there_while_the_run_goes_on(corpus: list[Path], tmp_path: Path) -> None:
    """After a stop the report tells of the validations so far; when the run goes on, of all of them once."""
    tiny_run(corpus, tmp_path / "model", stop=stop_after(6))
    early = page_of(tmp_path / "model").texts
    tiny_run(corpus, tmp_path / "model", resume=True)
    history = (tmp_path / "model/training/history.jsonl").read_text().splitlines()

    assert "Step 4 of 12; training goes on." in early
    assert [json.loads(line)["step"] for line in history] == [4, 8, 12]


def test_speed_and_padding_are_those_since_the_validation_before() -> None:
    """Pieces a second of training and padding are differences of the counts, worked out by hand."""
    counts = ("step", "seconds", "validation_seconds", "source_tokens", "target_tokens", "positions")
    first = dict(zip(counts, (1, 2.5, 0.5, 80, 100, 200), strict=True))
    second = dict(zip(counts, (2, 5.5, 1.0, 200, 400, 800), strict=True))

    assert list(_speeds([first, second])) == [
        {"step": 1, "speed": 50.0, "padding": pytest.approx(10.0)},
        {"step": 2, "speed": 150.0, "padding": pytest.approx(30.0)},
    ]


def test_the_sheet_tells_what_the_model_depends_on(model: Path, corpus: list[Path]) -> None:
    """Seed, versions, threads, and the SHA-256 of every file of pairs and of the model."""
    sheet = json.loads((model / "reproducibility.json").read_text(encoding="utf-8"))

    assert sheet["seed"] == 1
    assert sheet["ranks"] == 1
    assert {"dragoman", "python", "torch", "packages", "system", "threads"} <= sheet["environment"].keys()
    assert sheet["files"] == {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in corpus}
    assert sheet["model"] == {
        name: hashlib.sha256((model / name).read_bytes()).hexdigest()
        for name in ("config.json", "config.toml", "tokenizer.model", "model.safetensors")
    }


def test_the_configuration_beside_the_model_trains_it_once_more(
    model: Path, corpus: list[Path], tmp_path: Path
) -> None:
    """With --config MODEL/config.toml and the same corpus, every byte is the same."""
    options = TrainOptions(config_file=model / "config.toml")
    train(corpus, tmp_path / "again", options, reporter=Recorder())

    assert remains(tmp_path / "again") == remains(model)
    assert f"max_steps = {dict(setting.split('=') for setting in SETTINGS)['train.max_steps']}" in (
        (model / "config.toml").read_text(encoding="utf-8")
    )


def test_a_run_that_ends_within_its_last_report_writes_it_again(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is finished only when everything is written; so no temporary file stays, and no old report."""
    out = tmp_path / "model"

    def killed(folder: Path, *_: Any) -> None:
        (folder / "report.html.tmp").write_bytes(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dragoman.run.session.Session.validated", lambda *_, **__: None)
        patch.setattr("dragoman.run.session.write_report", killed)
        with pytest.raises(KeyboardInterrupt):
            tiny_run(corpus, out)
    tiny_run(corpus, out, resume=True)

    assert "Ended at step 12" in (out / "report.html").read_text(encoding="utf-8")
    assert list(out.glob("*.tmp")) == []
