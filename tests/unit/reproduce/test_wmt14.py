"""The paper's corpora: obtained step by step, from servers that stand in for the real ones."""

import functools
import http.server
import sys
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sacrebleu import BLEU, dataset
from sacrebleu.dataset.plain_text import PlainTextDataset

from dragoman.errors import CorpusError, MissingDependencyError
from dragoman.reproduce import Request, reproduce, wmt14
from dragoman.reproduce.table2 import _paper_bleu
from dragoman.run import Reporter
from tiny_runs import SETTINGS, write_corpus

EN, DE = "The boats wait.\nWinter comes.\n", "Die Boote warten.\nDer Winter kommt.\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a server with two test sets."""
    folder = tmp_path / "server"
    folder.mkdir()
    for name in ("2013", "2014"):
        (folder / f"{name}.en").write_text(EN, encoding="utf-8")
        (folder / f"{name}.de").write_text(DE, encoding="utf-8")
    write_corpus(folder, 60)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


@pytest.fixture
def newstests(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sacrebleu's own download, with the addresses of the server."""
    monkeypatch.setattr("sacrebleu.dataset.base.SACREBLEU_DIR", str(tmp_path / "cache"), raising=False)
    monkeypatch.setenv("SACREBLEU", str(tmp_path / "cache"))
    for name, year in (("wmt13", "2013"), ("wmt14/full", "2014")):
        made = PlainTextDataset(
            name,
            data=[f"{server}/{year}.en", f"{server}/{year}.de"],
            description="",
            langpairs={
                "en-de": [f"{name.replace('/', '_')}.{year}.en", f"{name.replace('/', '_')}.{year}.de"]
            },
        )
        monkeypatch.setitem(dataset.DATASETS, name, made)


class Downloader:
    """Stands in for mtdata: writes what it would write, or fails."""

    def __init__(self, folder: Path, code: int = 0) -> None:
        self.folder, self.code = folder / "mtdata", code
        self.commands: list[Sequence[str]] = []

    def __call__(self, command: Sequence[str]) -> int:
        self.commands.append(command)
        if self.code == 0:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "train.eng").write_text(EN, encoding="utf-8")
            (self.folder / "train.deu").write_text(DE, encoding="utf-8")
        return self.code


class Stages(Reporter):
    """Remembers what was done, in order."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def stage(self, text: str) -> None:
        self.told.append(text)


@pytest.mark.untraced
@pytest.mark.usefixtures("newstests", "with_mtdata")
def test_the_whole_way_of_the_full_scale(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Obtained from servers, trained, averaged, scored over split compounds and priced, in one request."""
    pytest.importorskip("sacremoses")

    def download(command: Sequence[str]) -> int:
        folder = Path(command[command.index("--out") + 1])
        folder.mkdir(parents=True)
        for name, source in (("train.eng", "corpus.en"), ("train.deu", "corpus.xx")):
            urllib.request.urlretrieve(f"{server}/{source}", folder / name)
        return 0

    monkeypatch.setattr(wmt14, "_run", download)
    reporter, told = Stages(), list[str]()
    shape = [setting for setting in SETTINGS if not setting.startswith("train.average")]
    tiny = [*shape, "data.test_pairs=0", "train.max_steps=6", "train.validation_interval_steps=1"]
    out = tmp_path / "out"
    asked = Request(what="table2", out=out, scale="full", settings=tiny, told=told.append, reporter=reporter)
    piece, _ = reproduce(asked)
    rows = [dict(zip(piece.tables[0].heads, row, strict=True)) for row in piece.tables[0].rows[-2:]]
    names = {name for name, _ in piece.files}

    assert [text for text in told if text.startswith("downloading")] != []
    assert "averaging the last 5 checkpoints" in reporter.told
    assert "averaging the last 6 checkpoints" in reporter.told  # of 20 there are so many
    assert all(float(row["BLEU here, tokens"]) >= 0 and float(row["cost here"]) > 0 for row in rows)  # type: ignore[arg-type]
    assert names == {"train.eng", "train.deu", "dev.en", "dev.de", "test.en", "test.de"}
    assert [finding.agrees for finding in piece.findings[:2]] == [None, None]  # other keys than the paper's
    assert all("kept: " in finding.measured for finding in piece.findings[:2])
    assert [name for name, toml in piece.configurations if "max_steps = 6" in toml] == ["base", "big"]
    assert "every key" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("newstests", "with_mtdata")
def test_what_was_stopped_while_it_merged_is_not_taken_for_whole(tmp_path: Path) -> None:
    """Parts of the corpora are left in a folder of their own, and the same command asks for them again."""
    folder = tmp_path / "corpus"
    (folder / "mtdata").mkdir(parents=True)
    for name in ("train.eng", "train.deu"):
        (folder / "mtdata" / name).write_text("a part\n", encoding="utf-8")
    run = Downloader(folder)
    texts = wmt14.obtain(folder, "de", lambda _: None, run=run)

    assert len(run.commands) == 1
    assert [path.read_text(encoding="utf-8") for path in texts.train] == [EN, DE]


@pytest.fixture
def with_mtdata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wmt14, "find_spec", lambda name: name)


@pytest.mark.usefixtures("newstests", "with_mtdata")
def test_everything_is_obtained_once(tmp_path: Path) -> None:
    """Training pairs by one command of mtdata, test sets from the server; a second call asks for nothing."""
    folder = tmp_path / "corpus"
    run, told = Downloader(folder), list[str]()
    first = wmt14.obtain(folder, "de", told.append, run=run)
    second = wmt14.obtain(folder, "de", told.append, run=run)
    [command] = run.commands

    assert command[:4] == [sys.executable, "-m", "mtdata", "get"]
    assert command[command.index("--langs") + 1] == "eng-deu"
    assert tuple(command[command.index("--train") + 1 :]) == wmt14.CORPORA["de"]
    assert [path.read_text(encoding="utf-8") for path in (*first.dev, *first.tests[0])] == [EN, DE] * 2
    assert second == first
    assert len(told) == 3


@pytest.mark.full
def test_mtdata_knows_every_corpus() -> None:
    """By the names that it is asked for, in both languages."""
    pytest.importorskip("mtdata")
    from mtdata.index import Index

    known = {str(entry.did) for entry in Index.get_instance().entries.values()}

    assert {*wmt14.CORPORA["de"], *wmt14.CORPORA["fr"]} <= known


def test_the_paper_s_bleu_is_over_moses_tokens() -> None:
    """Marks and clitics are tokens, quotes are made plain, and compounds are split; as counted by hand."""
    pytest.importorskip("sacremoses")
    found = _paper_bleu(["The well-known (old) boat isn’t here."], ["The well-known old boat is here."], "en")
    tokens = [
        "The well ##AT##-##AT## known ( old ) boat isn 't here .",
        "The well ##AT##-##AT## known old boat is here .",
    ]
    right = BLEU(tokenize="none", force=True).corpus_score([tokens[0]], [[tokens[1]]])

    assert found is not None
    assert found.value == pytest.approx(right.score, abs=1e-9)
    assert 0 < found.value < 100


def test_without_sacremoses_there_is_no_such_bleu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then sacreBLEU stands alone."""
    monkeypatch.setattr("dragoman.reproduce.table2.find_spec", lambda _: None)

    assert _paper_bleu(["a b"], ["a b"], "en") is None


@pytest.mark.usefixtures("with_mtdata")
def test_a_failed_download_is_one_message(tmp_path: Path) -> None:
    """It says what ended how, and that the same command goes on."""
    with pytest.raises(CorpusError, match="mtdata ended with 3 and has not written") as error:
        wmt14.obtain(tmp_path, "de", lambda _: None, run=Downloader(tmp_path, code=3))

    assert "the same command goes on" in str(error.value.hint)


def test_without_mtdata_it_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run."""
    monkeypatch.setattr(wmt14, "find_spec", lambda _: None)
    run = Downloader(tmp_path)
    with pytest.raises(MissingDependencyError, match="obtained by mtdata, which is not installed") as error:
        wmt14.obtain(tmp_path, "fr", lambda _: None, run=run)

    assert "dragoman[wmt]" in str(error.value.hint)
    assert run.commands == []


@pytest.mark.usefixtures("newstests", "with_mtdata")
def test_a_test_set_that_is_gone_is_one_message(tmp_path: Path) -> None:
    """It names the set, and the options by which pairs at hand take its place."""
    (tmp_path / "server" / "2014.en").unlink()
    with pytest.raises(CorpusError, match="the test set wmt14/full cannot be downloaded") as error:
        wmt14.obtain(tmp_path / "corpus", "de", lambda _: None, run=Downloader(tmp_path / "corpus"))

    assert "--dev and --test" in str(error.value.hint)
