"""The pieces of the paper, repeated at the smallest scale: that they end, tell and keep what they found."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.config import read_config
from dragoman.errors import (
    BundleError,
    ConfigError,
    CorpusError,
    DivergedError,
    MissingDependencyError,
    UsageError,
)
from dragoman.evaluate import Score
from dragoman.reproduce import Finding, Piece, Request, Table, reproduce
from dragoman.reproduce.checks import repeat_checks
from dragoman.reproduce.paper import TABLE2, TABLE3, TABLE4
from dragoman.reproduce.record import read_record, write_record
from dragoman.reproduce.table1 import repeat_table1
from dragoman.reproduce.table2 import BIG, _as_printed, _Scored, _training
from dragoman.reproduce.table3 import BASE, _letter_findings, parameter_table
from dragoman.reproduce.texts import Texts
from dragoman.reproduce.trainings import Training, _devices, predicted_cost, shrunk
from dragoman.run.reporter import Plan, Probe
from dragoman.train.step import StopRequestedError
from grammar_trees import grammar_trees
from tiny_runs import SETTINGS, write_corpus

pytestmark = pytest.mark.untraced


def request(what: str, out: Path, **changes: Any) -> Request:
    return Request(what=what, out=out, **({"scale": "tiny"} | changes))


def test_the_claims_of_table_1_hold(tmp_path: Path) -> None:
    """Counted costs, chains, paths and the crossing are what the paper says, at any scale."""
    piece = repeat_table1(request("table1", tmp_path))

    assert [finding for finding in piece.findings if finding.agrees is not True] == []
    assert len(piece.findings) == 17


def test_the_six_checks_hold(tmp_path: Path) -> None:
    """Dimensions, cost of heads, complexity, paths, causality and variance agree with the paper."""
    piece = repeat_checks(request("checks", tmp_path))
    told = " ".join(finding.claim for finding in piece.findings)

    assert [finding for finding in piece.findings[:-1] if finding.agrees is not True] == []
    assert piece.findings[-1].agrees is None  # four steps of training say nothing
    for word in ("QKᵀ", "heads", "cost", "n < d", "apart", "later", "variance", "gradients", "trains worse"):
        assert word in told


@pytest.mark.full
def test_attention_without_its_scale_does_not_learn(tmp_path: Path) -> None:
    """At d_k = 512 the loss stays above a nat where with the division it is nearly nothing."""
    piece = repeat_checks(Request(what="checks", out=tmp_path, scale="laptop"))

    assert piece.agrees


def test_parameters_are_the_printed_ones() -> None:
    """Every count of Table 3 rounds to the paper's, but for 52.48, which it prints as 53."""
    for row, change, _, count, millions, printed in parameter_table().rows:
        assert isinstance(count, int)
        assert millions == round(count / 1e6, 2)
        if printed is not None:
            assert abs(count / 1e6 - float(printed)) < (0.6 if change == "d_ff=1024" else 0.5), row


def test_the_paper_s_numbers_are_all_there() -> None:
    """Rows of its tables, and some numbers that everybody knows."""
    assert (len(TABLE2), len(TABLE3), len(TABLE4)) == (10, 20, 12)
    assert TABLE2[-1][1:] == (28.4, 41.8, 2.3e19, 2.3e19)
    assert {row.row for row in TABLE3} == {"base", "A", "B", "C", "D", "E", "big"}
    assert max(one.f1 for one in TABLE4) == 93.3


def test_the_paper_s_numbers_are_its_numbers() -> None:
    """Digit by digit as printed: one line for each row of Tables 2, 3 and 4."""
    printed = Path(__file__).with_name("paper_tables.txt").read_text(encoding="utf-8").splitlines()
    rows = [*TABLE2, *(one._replace(keys={}) for one in TABLE3), *TABLE4]

    assert ["; ".join(_as_text(value) for value in row if value != {}) for row in rows] == printed


def _as_text(value: object) -> str:
    if value is None:
        return "-"
    return (
        f"{value:.1e}"
        if isinstance(value, float) and value > 1e9
        else f"{value:g}"
        if value != str(value)
        else str(value)
    )


def test_the_big_model_makes_three_times_the_steps(tmp_path: Path) -> None:
    """As in the paper, at every scale, unless all models are to make as many as was asked for."""
    texts = Texts(train=[], dev=[], tests=[], about="")
    for scale, steps in (("laptop", 4_500), ("small", 60_000), ("full", 300_000)):
        asked = request("table2", tmp_path, scale=scale)
        own = _training(asked, texts, "big", BASE | BIG).settings
        assert read_config(recipe="base", file=None, settings=own).train.max_steps == steps
    asked = request("table2", tmp_path, scale="laptop", settings=["train.max_steps=7"])
    both = [_training(asked, texts, name, BASE).settings for name in ("base", "big")]

    assert [read_config(recipe="base", file=None, settings=own).train.max_steps for own in both] == [7, 7]


@pytest.mark.parametrize(
    ("spread", "gap", "agrees"),
    [(None, 0.04, None), (None, 0.06, True), (None, -0.06, False), (0.001, 0.02, True), (0.3, 0.02, None)],
)
def test_noise_is_not_read_as_an_effect(spread: float | None, gap: float, agrees: bool | None) -> None:
    """A difference within the spread of the seeds, or of one seed within 5 %, is not told."""
    place = {variation.name: i for i, variation in enumerate(TABLE3)}
    perplexity = [5.0] * len(TABLE3)
    perplexity[place["A-h1"]] = 5.0 * (1 + gap)
    [finding] = [
        one
        for one in _letter_findings(perplexity, [spread] * len(TABLE3))
        if one.claim.startswith("a single head")
    ]

    assert finding.agrees is agrees
    assert ("too near to be told" in finding.measured) == (agrees is None)


def test_a_mix_to_french_is_scored_as_french(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a file of pairs says which language its tokens are cut by."""
    source, target = write_corpus(tmp_path)
    files = {name: [tmp_path / f"{name}.en-fr.tsv"] for name in ("corpus", "dev", "test")}
    pairs = zip(source.read_text().splitlines(), target.read_text().splitlines(), strict=True)
    lines = [f"{one}\t{other}\n" for one, other in pairs]
    for [path] in files.values():
        path.write_text("".join(lines[:100] if "corpus" in path.name else lines[100:]), encoding="utf-8")
    languages = list[str]()
    monkeypatch.setattr("dragoman.reproduce.table2._paper_bleu", lambda *texts: languages.append(texts[-1]))
    piece, _ = reproduce(request("table2", tmp_path / "out", **files))

    assert languages == ["fr", "fr"]
    assert piece.tables[0].rows[-1][1] == "test.en-fr"


def test_widths_shrink_and_nothing_else() -> None:
    """Heads and layers stay; a width that cannot be divided is refused."""
    keys = {"model.d_model": 512, "model.num_heads": 8, "model.positions": "learned", "model.dropout": 0.1}

    assert shrunk(keys, 8) == [
        "model.d_model=64",
        "model.num_heads=8",
        "model.positions=learned",
        "model.dropout=0.1",
    ]


class StopError(Exception):
    """Ends a run from within."""


def some_piece() -> Piece:
    return Piece(
        title="A <b>title</b>",
        text=["A & B"],
        findings=[Finding("claim", "measured", True), Finding("other", "x", None)],
        tables=[Table(name="one", title="One", heads=["a", "b"], rows=[["x, y", 1], [None, 0.5]])],
        charts=["<svg></svg>"],
        files=(("data.txt", "00ff"),),
    )


def test_a_record_comes_back(tmp_path: Path) -> None:
    """The folder holds a report, a CSV of each table, and all that it takes to show the piece again."""
    piece, asked = some_piece(), {"what": "table1", "scale": "tiny"}
    write_record(tmp_path / "out", piece, asked)
    found = read_record(tmp_path / "out", asked)
    rows = list(csv.reader((tmp_path / "out" / "one.csv").read_text(encoding="utf-8").splitlines()))
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))

    assert found is not None
    assert (found.title, found.lines(), found.tables[0].texts()) == (
        piece.title,
        piece.lines(),
        piece.tables[0].texts(),
    )
    assert rows == [["a", "b"], ["x, y", "1"], ["", "0.5"]]
    assert "A &lt;b&gt;title&lt;/b&gt;" in report
    assert result["environment"]["torch"]


def test_a_record_of_other_settings_is_not_shown_as_this_one(tmp_path: Path) -> None:
    """It is refused, with what is different."""
    write_record(tmp_path, some_piece(), {"what": "table1", "scale": "tiny"})
    with pytest.raises(UsageError, match=r"that of another request \(scale=tiny"):
        read_record(tmp_path, {"what": "table1", "scale": "laptop"})


def test_a_damaged_record_is_one_message(tmp_path: Path) -> None:
    """It names the file."""
    (tmp_path / "result.json").write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match=r"result\.json in it cannot be read"):
        read_record(tmp_path, {})


def test_table_2_trains_scores_and_prices(tmp_path: Path) -> None:
    """Both models stand behind the paper's ten rows with scores and cost; a second call shows them."""
    piece, was_there = reproduce(request("table2", tmp_path))
    again, was_there_then = reproduce(request("table2", tmp_path))
    rows = piece.tables[0].rows

    assert (was_there, was_there_then) == (False, True)
    assert len(rows) == 12
    assert all(isinstance(row[6], float) for row in rows[-2:])
    assert all(isinstance(row[-1], float) and row[-1] > 0 for row in rows[-2:])
    assert all(f"{name} " in piece.charts[0] for name in ("base", "big"))
    assert again.lines() == piece.lines()
    assert (tmp_path / "trainings" / "base" / "test-1.out").exists()


def two_files(folder: Path, name: str, lines: str) -> list[Path]:
    files = [folder / f"{name}.{side}" for side in ("en", "de")]
    for path in files:
        path.write_text(lines, encoding="utf-8")
    return files


def test_table_2_scores_each_test_set(tmp_path: Path) -> None:
    """Files of --test go together as those of --dev; each set has a row of each model, under its name."""
    dev = two_files(tmp_path, "dev", "Five boats wait.\nSix boats came.\n")
    both = [*two_files(tmp_path, "news-1", "One\nTwo\n"), *two_files(tmp_path, "news-2", "Three\nFour\n")]
    corpus = two_files(tmp_path, "train", "".join(f"The boat of {n} waits.\n" for n in range(60)))
    given = {"corpus": corpus, "dev": dev, "test": both}
    piece, _ = reproduce(request("table2", tmp_path / "out", **given))

    assert [row[1] for row in piece.tables[0].rows[-4:]] == ["news-1", "news-2"] * 2
    assert "news-2: " in piece.findings[0].measured
    assert (tmp_path / "out" / "trainings" / "big" / "test-2.out").exists()
    for test, message in (([], "on test pairs"), (both[:3], "--test names 3 files, and --dev 2")):
        with pytest.raises(UsageError, match=message):
            reproduce(request("table2", tmp_path / f"out-{len(test)}", **(given | {"test": test})))


def test_test_sets_that_are_called_alike_have_their_folders_names() -> None:
    """A test.tsv of several corpora can be told from the others."""
    tests = [[Path("a/test.tsv")], [Path("b/test.tsv")], [Path("c/news.en-de.en"), Path("c/news.en-de.de")]]
    texts = Texts(train=(), dev=(), tests=tests, about="")

    assert texts.test_names() == ["a/test", "b/test", "news.en-de"]


def test_a_training_whose_result_was_not_kept_is_judged_once_more(tmp_path: Path) -> None:
    """Killed between its end and the note of it, a training is not made again, and its row is the same."""
    before, _ = reproduce(request("table2", tmp_path))
    kept = json.loads((tmp_path / "trainings" / "base" / "trained.json").read_bytes())
    for name in ("result.json", "trainings/base/trained.json"):
        (tmp_path / name).unlink()
    after, _ = reproduce(request("table2", tmp_path))
    found = json.loads((tmp_path / "trainings" / "base" / "trained.json").read_bytes())

    assert after.findings[-1] == before.findings[-1]
    assert found["dev_scores"] == kept["dev_scores"] != {}
    assert found["minutes"] == kept["minutes"]


def test_table_3_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """Rows that are trained are not trained again, and a row is one key away from the base model."""
    told: list[str] = []

    def stop_at_four(text: str) -> None:
        told.append(text)
        if text.startswith("training 4 of"):
            raise StopError

    with pytest.raises(StopError):
        reproduce(request("table3", tmp_path, told=stop_at_four))
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("trained.json")}
    told.clear()
    piece, _ = reproduce(request("table3", tmp_path, told=told.append))
    first = [line for line in told if "trainings are finished already" in line]

    assert len(stamps) == 3
    assert first == ["3 of 20 trainings are finished already"]
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())
    table = piece.tables[0]
    places = [[row[table.heads.index(head)] for row in table.rows] for head in ("rank, paper", "rank")]
    assert len(table.rows) == 20
    assert [sum(column) for column in places] == [210, 210]  # type: ignore[arg-type]
    assert "Place by perplexity" in piece.charts[0]
    assert all(finding.agrees is None for finding in piece.findings)


def test_trainings_side_by_side_stop_and_go_on(tmp_path: Path) -> None:
    """A stop reaches the processes, which save; the same request goes on, one by one as well."""
    told: list[str] = []
    settings = ["train.max_steps=600", "train.validation_interval_steps=600"]
    asked = request("table2", tmp_path, jobs=2, settings=settings, told=told.append)
    with pytest.raises(StopRequestedError):
        reproduce(replace(asked, stop_requested=lambda: any(tmp_path.rglob("metrics.jsonl"))))

    assert not any("finished" in text for text in told)
    assert list(tmp_path.rglob("trained.json")) == []
    assert list(tmp_path.rglob("step-*")) != []

    piece, _ = reproduce(asked)

    assert sum("of 2 trainings are finished" in text for text in told) == 2
    assert len(piece.tables[0].rows) > len(TABLE2)
    assert len(list(tmp_path.rglob("trained.json"))) == 2


def test_gpus_are_dealt_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings side by side take the GPUs in turn; a single one, and the processor, are shared."""
    found = {}
    for num_gpus in (0, 1, 2):
        monkeypatch.setattr(torch.cuda, "device_count", lambda num_gpus=num_gpus: num_gpus)
        found[num_gpus] = _devices(3)

    assert found == {0: ["auto"] * 3, 1: ["auto"] * 3, 2: ["cuda:0", "cuda:1", "cuda:0"]}


def test_a_training_that_fails_ends_those_beside_it(tmp_path: Path) -> None:
    """Its message is the message of all, at once."""
    settings = ["train.max_steps=2000", "train.peak_rate=100"]
    with pytest.raises(DivergedError):
        reproduce(request("table2", tmp_path, jobs=2, settings=settings))


def test_the_cost_is_told_beforehand(tmp_path: Path) -> None:
    """Some steps of the first training are measured; one of twice the steps takes twice as much."""
    texts = write_corpus(tmp_path)

    def cost(*max_steps: int) -> list[float]:
        trainings = [
            Training(
                name=str(steps),
                folder=tmp_path / f"of-{steps}",
                corpus=texts,
                dev=texts,
                recipe="tiny",
                settings=[*SETTINGS, "data.test_pairs=0", f"train.max_steps={steps}"],
            )
            for steps in max_steps
        ]
        words = predicted_cost(trainings, jobs=1)
        found = re.search(r"about ([\d.]+) hours, (\S+) operations; as the paper prices it (\S+)$", words)
        assert found is not None, words
        return [float(number) for number in found.groups()]

    _, one, price = cost(4_000)
    _, both, _ = cost(4_000, 8_000)

    assert both == pytest.approx(3 * one, rel=0.05)
    assert price > 0
    assert not (tmp_path / "of-4000").exists()


def test_what_is_done_of_a_training_shortens_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the first of two equal trainings is nearly through, the other one is still ahead as a whole."""
    plan = Plan(
        num_parameters=1, vocabulary_size=8, num_training_pairs=1, unit="pair", num_steps=1_000,
        num_steps_done=900, steps_per_epoch=1, padding_share=0.0, num_validations=0, max_minutes=None,
        micro_batch_tokens=1, device="cpu", precision="float32", optimizer_bytes=1, step_flops=1e9,
    )  # fmt: skip
    monkeypatch.setattr(
        "dragoman.reproduce.trainings.train",
        lambda *_, reporter, **__: (
            reporter.planned(plan), reporter.probed(plan, Probe(num_steps=3, seconds_per_step=36.0))
        ),
    )  # fmt: skip
    training = Training(name="one", folder=tmp_path, corpus=[], dev=[], recipe="tiny", settings=[])

    assert "about 11.0 hours, 1.1e+12 operations" in predicted_cost([training, training], jobs=1)


@pytest.fixture
def treebank(tmp_path: Path) -> dict[str, list[Path]]:
    """Three parts of a treebank, each in a file."""
    trees = grammar_trees(120, 1, depth=1)
    paths = {}
    for name, part in {"corpus": trees[:80], "dev": trees[80:100], "test": trees[100:]}.items():
        path = tmp_path / f"{name}.mrg"
        path.write_text("".join(f"{tree}\n" for tree in part), encoding="utf-8")
        paths[name] = [path]
    return paths


def test_table_4_parses_the_test_part(tmp_path: Path, treebank: dict[str, list[Path]]) -> None:
    """The baseline and our row stand behind the paper's; every output is a tree."""
    piece, _ = reproduce(request("table4", tmp_path / "out", **treebank))
    *_, baseline, ours = piece.tables[0].rows

    assert len(piece.tables[0].rows) == 14
    assert float(baseline[3]) > 0  # type: ignore[arg-type]
    assert ours[0] == "this program"
    assert "100.0 % of the outputs are trees" in piece.findings[0].measured


def test_table_4_has_a_row_with_trees_of_a_machine(tmp_path: Path, treebank: dict[str, list[Path]]) -> None:
    """With --silver both settings are trained and compared; tags that are wrong break no tree."""
    file = tmp_path / "silver.mrg"
    file.write_text("".join(f"{tree}\n" for tree in grammar_trees(40, 2, depth=1)), encoding="utf-8")
    asked = request("table4", tmp_path / "out", **treebank, silver=[file], settings=["data.keep_tags=true"])
    piece, _ = reproduce(asked)

    assert [row[1] for row in piece.tables[0].rows[-2:]] == ["treebank", "semi-supervised"]
    assert all("100.0 % of the outputs are trees" in one.measured for one in piece.findings[:2])
    assert any("(" in one.measured and "that EVALB leaves out" in one.measured for one in piece.findings[:2])
    assert piece.findings[2].claim.startswith("machine-made trees")


def test_table_4_without_a_treebank_says_what_it_needs(tmp_path: Path) -> None:
    """The message names the options."""
    with pytest.raises(UsageError, match="needs a treebank in three parts") as error:
        reproduce(request("table4", tmp_path))

    assert "--corpus train.mrg --dev dev.mrg --test test.mrg" in str(error.value.hint)


def test_a_request_that_cannot_be_leaves_the_folder_free(
    tmp_path: Path, treebank: dict[str, list[Path]]
) -> None:
    """What was forgotten is added to the same command, and it goes on."""
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="needs a treebank in three parts"):
        reproduce(request("table4", out))
    assert not out.exists()
    with pytest.raises(CorpusError, match=r"absent\.mrg"):
        reproduce(request("table4", out, **(treebank | {"corpus": [tmp_path / "absent.mrg"]})))
    with pytest.raises(BundleError):
        reproduce(request("figures", out, model=_empty_model(tmp_path / "empty")))
    assert not out.exists()
    assert reproduce(request("table4", out, **treebank))[1] is False


def _empty_model(folder: Path) -> Path:
    """Make a folder that is no model, but for the name of a file."""
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"")
    return folder


def test_a_training_of_other_keys_is_not_gone_on_with(tmp_path: Path) -> None:
    """Seeds that were trained with other keys, by an older version, do not count beside new ones."""
    reproduce(request("table2", tmp_path))
    (tmp_path / "result.json").unlink()
    note = tmp_path / "trainings" / "base.json"
    note.write_text(note.read_text(encoding="utf-8").replace("max_steps=4", "max_steps=5"), encoding="utf-8")
    with pytest.raises(UsageError, match="base: the training was begun with other keys"):
        reproduce(request("table2", tmp_path))


def test_table_4_takes_one_file_of_each_part(tmp_path: Path, treebank: dict[str, list[Path]]) -> None:
    """A section in a hundred files is joined first; none of them is left out in silence."""
    with pytest.raises(UsageError, match="takes one file of trees as --test, not 2") as error:
        reproduce(request("table4", tmp_path / "out", **(treebank | {"test": treebank["test"] * 2})))

    assert str(error.value.hint).startswith("join them first")


@pytest.mark.parametrize(
    ("what", "change", "option"),
    [
        ("table2", {"seeds": 2}, "--seeds is for table3"),
        ("table3", {"silver": [Path("silver.mrg")]}, "--silver is for table4"),
        ("table4", {"jobs": 2}, "--jobs is for table2, table3"),
        (
            "table3",
            {"corpus": [Path("a.tsv")], "test": [Path("b.tsv")]},
            "--test is for table2, table4, figures",
        ),
        ("table2", {"model": Path("model")}, "--model is for figures"),
        ("table3", {"target": "fr"}, "--target is for table2"),
        ("table2", {"target": "fr"}, "--target is for the paper's own corpus"),
        ("figures", {"model": Path("model"), "settings": ["train.seed=2"]}, "takes the place of a training"),
        ("table3", {"dev": [Path("dev.tsv")]}, "--dev and --test go with --corpus"),
    ],
)
def test_options_that_a_piece_does_not_look_at_are_refused(
    tmp_path: Path, what: str, change: dict[str, Any], option: str
) -> None:
    """Nobody is left to believe that they did something."""
    with pytest.raises(UsageError, match=option):
        reproduce(request(what, tmp_path / "out", **change))


def test_without_a_gpu_the_greater_scales_warn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is downloaded or trained."""
    told: list[str] = []
    monkeypatch.setattr("dragoman.reproduce.wmt14.find_spec", lambda _: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(MissingDependencyError):
        reproduce(Request(what="table2", out=tmp_path, scale="full", told=told.append))

    assert told[0].startswith("there is no GPU here")


def test_the_figures_have_pages_and_pictures(tmp_path: Path) -> None:
    """A page for each sentence, and an SVG of the head that reaches farthest and of the sharpest."""
    piece, _ = reproduce(request("figures", tmp_path))
    names = {path.name for path in tmp_path.iterdir()}

    assert {f"sentence-{i}{end}" for i in (1, 2, 3) for end in (".html", "-far.svg", "-sharp.svg")} < names
    assert len(piece.tables[0].rows) == 6


def test_the_full_scale_obtains_the_paper_s_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package that knows where it lies, one message says how to get it."""
    monkeypatch.setattr("dragoman.reproduce.wmt14.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match="obtained by mtdata"):
        reproduce(Request(what="table2", out=tmp_path, scale="full", target="fr"))


def test_the_full_scale_has_the_paper_s_vocabularies(tmp_path: Path) -> None:
    """37,000 pieces to German and 32,000 to French (§5.1), in both models."""
    texts = Texts(train=(), dev=(), tests=[], about="")
    for target, size in (("de", 37_000), ("fr", 32_000)):
        asked = Request(what="table2", out=tmp_path, scale="full", target=target)  # type: ignore[arg-type]
        for name, keys in (("base", BASE), ("big", BASE | BIG)):
            settings = _training(asked, texts, name, keys).settings
            assert read_config(recipe="base", file=None, settings=settings).model.vocabulary_size == size


def test_a_score_within_half_a_point_of_the_printed_one_agrees(tmp_path: Path) -> None:
    """Of the paper's texts and keys alone: 27.3 and 28.4 to German, 38.1 and 41.8 to French."""
    paper = Texts(train=(), dev=(), tests=[], about="", is_paper=True)

    def verdict(name: str, bleu: float, texts: Texts = paper, **changes: Any) -> bool | None:
        asked = Request(what="table2", out=tmp_path, scale="full", **changes)
        return _as_printed(
            asked, texts, name, _Scored("news", Score("BLEU", bleu, ""), Score("BLEU", bleu, ""))
        )

    assert (verdict("base", 27.7), verdict("base", 26.7), verdict("big", 28.0)) == (True, False, True)
    assert (verdict("base", 38.5, target="fr"), verdict("big", 38.5, target="fr")) == (True, False)
    assert verdict("base", 27.3, settings=["train.seed=2"]) is None
    assert verdict("base", 27.3, texts=replace(paper, is_paper=False)) is None


def test_the_figures_of_a_model_that_is_there(tmp_path: Path) -> None:
    """Nothing is trained; the folder is made; without test pairs the sentences are the paper's."""
    reproduce(request("figures", tmp_path / "one"))
    model = tmp_path / "one" / "trainings" / "model"
    piece, _ = reproduce(request("figures", tmp_path / "two" / "inner", model=model))

    assert "American governments" in piece.text[1]
    assert [row[2] for row in piece.tables[0].rows] == ["making"] * 2 + ["its"] * 2
    assert not (tmp_path / "two" / "inner" / "trainings").exists()
    own = tmp_path / "own.txt"
    own.write_text("short\n" + "one two three four five six seven eight nine ten\n" * 2, encoding="utf-8")
    piece, _ = reproduce(request("figures", tmp_path / "three", model=model, test=[own]))
    assert "one two three" in piece.text[1]
    (model / "model.safetensors").write_bytes(b"another one")
    with pytest.raises(UsageError, match=r"that of another request \(model="):
        reproduce(request("figures", tmp_path / "two" / "inner", model=model))


def test_a_folder_belongs_to_one_request(tmp_path: Path) -> None:
    """Other settings and other content of the same files are refused before anything is done."""
    files = [tmp_path / name for name in ("a.en", "a.de")]
    for path in files:
        path.write_text("One\nTwo\n", encoding="utf-8")
    given = {"corpus": files, "dev": files, "test": files}

    def stop(text: str) -> None:
        raise StopError

    with pytest.raises(StopError):
        reproduce(request("table2", tmp_path / "out", told=stop, **given))
    with pytest.raises(UsageError, match=r"that of another request \(settings="):
        reproduce(request("table2", tmp_path / "out", settings=["train.max_steps=6"], **given))
    files[0].write_text("Three\nFour\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"that of another request \(checksums="):
        reproduce(request("table2", tmp_path / "out", **given))


def test_more_seeds_go_on_where_fewer_ended(tmp_path: Path) -> None:
    """What is trained stays; fewer seeds than the folder has are another request."""
    reproduce(request("table3", tmp_path))
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("trained.json")}
    told: list[str] = []
    piece, was_there = reproduce(request("table3", tmp_path, seeds=2, told=told.append))

    assert not was_there
    assert told[0] == "20 of 40 trainings are finished already"
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())
    assert "Seeds of each row: 2" in piece.text[3]
    assert reproduce(request("table3", tmp_path, seeds=2))[1]
    with pytest.raises(UsageError, match=r"that of another request \(seeds=2\)"):
        reproduce(request("table3", tmp_path))


def test_nothing_of_anybody_else_is_overwritten(tmp_path: Path) -> None:
    """A folder that holds something, and a file, are no place for a result."""
    (tmp_path / "report.html").write_text("mine", encoding="utf-8")
    for out, message in ((tmp_path, "the folder is not empty"), (tmp_path / "report.html", "this is a file")):
        with pytest.raises(UsageError, match=message):
            reproduce(request("table1", out))

    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"what": "table9"}, "the pieces are checks, table1"),
        ({"what": "checks", "settings": ["train.max_steps=3"]}, "checks trains nothing"),
        ({"what": "table3", "settings": ["foo.bar=1"]}, "foo"),
    ],
)
def test_what_cannot_be_repeated_is_one_message(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    """Before any work, and with what would help."""
    with pytest.raises((UsageError, ConfigError), match=message):
        reproduce(Request(**({"out": tmp_path / "out", "scale": "tiny"} | changes)))

    assert not (tmp_path / "out").exists()
