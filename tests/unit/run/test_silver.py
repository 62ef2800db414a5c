"""Training pairs that a machine has made, mixed in with a weight."""

import gzip
import json
from pathlib import Path

import pytest

from dragoman.config import Config, read_config
from dragoman.errors import ConfigError, CorpusError, DragomanError, TreeError
from dragoman.run.corpora import Sources, read_text
from dragoman.run.encoding import EncodedPairs, encode, encode_with_dropout
from dragoman.run.training import read_metrics
from dragoman.run.vocabulary import learn_tokenizer
from dragoman.text import open_corpus
from dragoman.trees import read_treebank
from grammar_trees import grammar_trees, write_treebank
from tiny_runs import SETTINGS, Plans, Recorder, remains, stop_after, tiny_run, write_corpus

pytestmark = pytest.mark.untraced  # whole runs; what they consist of is watched in tests of its own

PARSING = ("data.task=parsing", "search.extra_length=30", "search.beam_size=1")


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("gold") / "gold.mrg", 90)


@pytest.fixture(scope="module")
def silver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Other trees, in a compressed file."""
    path = tmp_path_factory.mktemp("silver") / "silver.mrg.gz"
    trees = [
        tree for tree in grammar_trees(150, 2, depth=1) if tree not in set(grammar_trees(90, 1, depth=1))
    ]
    path.write_bytes(gzip.compress("".join(f"{tree}\n" for tree in trees[:60]).encode()))
    return path


def encoded(folder: Path, sources: Sources, *settings: str) -> tuple[EncodedPairs, Config, list[str]]:
    """Read and encode without training; return the pairs, the configuration and what was said."""
    recorder = Recorder()
    config = read_config(recipe="tiny", file=None, settings=(*SETTINGS, *settings))
    text = read_text(sources, config.data, 1, recorder)
    tokenizer, config = learn_tokenizer(text, config, recorder)
    return encode(text, tokenizer, config.data, folder, recorder), config, recorder.notices


@pytest.mark.parametrize(("weight", "number"), [("1.0", 60), ("0.25", 15)])
def test_silver_trees_are_mixed_in(
    gold: Path, silver: Path, tmp_path: Path, weight: str, number: int
) -> None:
    """Each epoch has all gold trees and that share of the silver ones, and it is said."""
    sources = Sources(read_treebank(gold), silver=read_treebank(silver))
    pairs, config, notices = encoded(tmp_path, sources, *PARSING, f"data.silver_weight={weight}")
    [told] = [text for text in notices if text.startswith(str(silver))]

    assert len(pairs.of_epoch(3, config)) == len(pairs.gold) + number
    assert "60 trees made by a machine" in told
    assert ("25% of them come in each epoch" in told) == (weight != "1.0")


def test_the_automatic_recipe_counts_them(gold: Path, silver: Path, tmp_path: Path) -> None:
    """The number of steps is chosen for gold trees and for silver ones by their weight."""
    reporter = Plans()
    settings = (*PARSING, "data.silver_weight=0.5")
    tiny_run(
        [gold], tmp_path / "model", *settings, silver=[silver], recipe="auto", dry_run=True, reporter=reporter
    )

    assert any(text.startswith("120 trees: recipe") for text in reporter.notices)


@pytest.mark.parametrize("dropout", ["0", "0.2"])
@pytest.mark.parametrize("stop", [1, 7])
def test_a_stopped_run_goes_on_exactly(
    gold: Path, silver: Path, tmp_path: Path, dropout: str, stop: int
) -> None:
    """Weights and metrics are byte for byte those of a run without a stop, over several epochs."""
    settings = (*PARSING, "data.silver_weight=0.3", f"data.bpe_dropout={dropout}", "train.batch_tokens=600")
    tiny_run([gold], tmp_path / "whole", *settings, silver=[silver])
    out = tmp_path / "model"
    tiny_run([gold], out, *settings, silver=[silver], stop=stop_after(stop))
    tiny_run([gold], out, silver=[silver], resume=True)
    epochs = {record["epoch"] for record in read_metrics(out)}

    assert remains(out) == remains(tmp_path / "whole")
    assert len(epochs) > 1


def test_the_sheet_and_the_folder_remember_them(gold: Path, silver: Path, tmp_path: Path) -> None:
    """Silver trees are part of what a model depends on; without them the run cannot go on."""
    out = tmp_path / "model"
    tiny_run([gold], out, *PARSING, silver=[silver])
    sheet = json.loads((out / "reproducibility.json").read_text(encoding="utf-8"))

    assert set(sheet["files"]) == {str(gold), str(silver)}
    with pytest.raises(CorpusError, match=r"--silver .*silver\.mrg\.gz"):
        tiny_run([gold], out, resume=True)


def test_sentences_of_held_out_trees_are_left_out(gold: Path, tmp_path: Path) -> None:
    """A parse of a development sentence would show the model what it is asked; it is left out and told."""
    dev = write_treebank(tmp_path / "dev.mrg", 20, seed=9)
    silver = tmp_path / "silver.mrg"
    others = write_treebank(tmp_path / "others.mrg", 8, seed=12, depth=2).read_text(encoding="utf-8")
    silver.write_text(dev.read_text(encoding="utf-8") + others, encoding="utf-8")
    given = Sources(read_treebank(gold), dev=read_treebank(dev))
    _, _, notices = encoded(tmp_path, given._replace(silver=read_treebank(silver)), *PARSING)

    assert any("left out 20 trees that share a sentence with a held-out tree" in text for text in notices)
    with pytest.raises(CorpusError, match="holds nothing but 20 trees that share a sentence with a held-out"):
        encoded(tmp_path, given._replace(silver=read_treebank(dev)), *PARSING)


def test_pairs_of_texts_too(tmp_path: Path) -> None:
    """Back-translations are mixed into a corpus for translation in the same way, from two files."""
    corpus = write_corpus(tmp_path, 120)
    (tmp_path / "more").mkdir()
    silver = write_corpus(tmp_path / "more", 40, seed=5)
    sources = Sources(open_corpus(corpus), silver=open_corpus(silver))
    pairs, config, _ = encoded(tmp_path, sources, "data.silver_weight=0.5")

    assert pairs.silver is not None
    assert len(pairs.of_epoch(0, config)) == len(pairs.gold) + round(0.5 * len(pairs.silver))


@pytest.mark.parametrize("weight", ["0", "1.5", "-1", "nan"])
def test_a_weight_that_is_none(gold: Path, tmp_path: Path, weight: str) -> None:
    """The key is named, before any work."""
    with pytest.raises(ConfigError, match="silver_weight"):
        tiny_run([gold], tmp_path / "model", *PARSING, f"data.silver_weight={weight}")


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "no line|no tree"), ("(S (NP (PRP I))", "line 1"), ("plain text here\n", "silver")],
)
def test_a_silver_file_that_holds_no_trees(gold: Path, tmp_path: Path, content: str, message: str) -> None:
    """One message, which names the file."""
    silver = tmp_path / "silver.mrg"
    silver.write_text(content, encoding="utf-8")
    with pytest.raises(DragomanError, match=message) as error:
        tiny_run([gold], tmp_path / "model", *PARSING, silver=[silver])

    assert str(silver) in error.value.message


def test_spelling_hides_no_held_out_pair(tmp_path: Path) -> None:
    """A silver pair with the source or the target of a held-out one goes, whatever its case and its marks."""
    gold, dev, silver = (tmp_path / f"{name}.tsv" for name in ("gold", "dev", "silver"))
    gold.write_text("a b\tx\nc d\ty\n", encoding="utf-8")
    dev.write_text("Good day!\tGuten Tag!\n", encoding="utf-8")
    silver.write_text("good day\tneu\nnew\tguten tag .\nfree\tfrei\n", encoding="utf-8")
    recorder, config = Recorder(), read_config(recipe="tiny", file=None, settings=SETTINGS).data
    sources = Sources(*(open_corpus([path]) for path in (gold, dev)), None, open_corpus([silver]))
    text = read_text(sources, config, 1, recorder)

    assert [line for line, _ in text.silver_pairs()] == [3]
    assert f"{silver}: left out 2 pairs that share a text with a held-out pair" in recorder.notices


@pytest.mark.parametrize("is_kept", [False, True])
def test_silver_pieces_do_not_depend_on_a_stop(
    gold: Path, silver: Path, tmp_path: Path, is_kept: bool
) -> None:
    """Where the gold pairs of an epoch lie there already, the silver ones are cut as they would have been."""
    sources = Sources(read_treebank(gold), silver=read_treebank(silver))
    config = read_config(recipe="tiny", file=None, settings=(*SETTINGS, *PARSING, "data.bpe_dropout=0.3"))
    text = read_text(sources, config.data, 1, Recorder())
    tokenizer, config = learn_tokenizer(text, config, Recorder())
    found = []
    for folder in (tmp_path / "whole", tmp_path / "stopped"):
        folder.mkdir()
        if folder.name == "stopped" and is_kept:
            (folder / "epoch.bin").write_bytes((tmp_path / "whole" / "epoch.bin").read_bytes())
        encode_with_dropout(text, tokenizer, config.data, folder, (1, 2), lambda: None)
        found.append((folder / "epoch-silver.bin").read_bytes())

    assert found[0] == found[1]


def test_parses_without_tags_teach_no_tags(gold: Path, tmp_path: Path) -> None:
    """A parser that predicts no tag writes XX for each; as silver trees they would teach to write it."""
    silver = tmp_path / "silver.mrg"
    silver.write_text("(TOP (S (NP (XX I)) (VP (XX see))))\n", encoding="utf-8")
    with pytest.raises(TreeError, match="every tag is XX") as error:
        tiny_run([gold], tmp_path / "model", *PARSING, "data.keep_tags=true", silver=[silver])

    assert "data.keep_tags=true" in str(error.value.hint)


def test_held_out_pairs_that_training_sees_are_told(tmp_path: Path) -> None:
    """A test pair that stands in the training corpus, in whatever spelling, says little of new text."""
    corpus, dev, test = (tmp_path / f"{name}.tsv" for name in ("corpus", "dev", "test"))
    corpus.write_text("Good day.\tx\nc d\ty\ne f\tz\n", encoding="utf-8")
    dev.write_text("new\tneu\n", encoding="utf-8")
    test.write_text("good day!\tw\nfree\tfrei\nC D\ty\n", encoding="utf-8")
    recorder, config = Recorder(), read_config(recipe="tiny", file=None, settings=SETTINGS).data
    text = read_text(Sources(*(open_corpus([path]) for path in (corpus, dev, test))), config, 1, recorder)
    told = [notice for notice in recorder.notices if "training corpus too" in notice]

    assert told == [
        f"{test}: the source of 2 of 3 pairs is in the training corpus too; "
        "scores on them say little of new text"
    ]
    assert len(list(text.training_pairs())) == 3
