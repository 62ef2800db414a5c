"""The demo as a function: folders, own files, stopping and going on."""

from pathlib import Path

import pytest

from dragoman.errors import ConfigError, CorpusError, UsageError
from dragoman.run.demo import DemoOptions, run_demo
from dragoman.text import Corpus, Pair
from dragoman.text.everyday import everyday_pairs
from tiny_runs import DEMO_SETTINGS

SMALL = DemoOptions(num_pairs=100, settings=DEMO_SETTINGS)

pytestmark = pytest.mark.untraced


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two line-aligned files of 60 pairs."""
    pairs = everyday_pairs(60, 0, seed=5).train
    paths = tmp_path / "mine.en", tmp_path / "mine.de"
    for path, texts in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return paths


def stored_pairs(folder: Path, part: str) -> set[Pair]:
    """Return the pairs in a demo's folder."""
    return set(Corpus(folder / "corpus" / f"{part}.en", folder / "corpus" / f"{part}.de").pairs())


def test_held_out_pairs_are_judged_and_never_learned(tmp_path: Path) -> None:
    """The judged pairs are the stored test pairs, and training has none of them."""
    result = run_demo(tmp_path / "demo", SMALL)

    assert result is not None
    assert set(result.pairs) == stored_pairs(tmp_path / "demo", "test")
    assert stored_pairs(tmp_path / "demo", "train").isdisjoint(result.pairs)
    assert len(result.translations) == len(result.pairs) == 5


def test_exact_share_counts_equal_translations(tmp_path: Path) -> None:
    """The share of exact matches is that of the translations equal to their references."""
    result = run_demo(tmp_path / "demo", SMALL)

    assert result is not None
    equal = [text == pair.target for text, pair in zip(result.translations, result.pairs, strict=True)]
    assert result.exact_share == sum(equal) / len(equal)


def test_attention_has_a_weight_for_each_pair_of_pieces(tmp_path: Path) -> None:
    """Each row belongs to a target piece, has a weight for each source piece, and sums to 1."""
    result = run_demo(tmp_path / "demo", SMALL)

    assert result is not None
    assert result.attention is not None
    assert len(result.attention.weights) == len(result.attention.target_pieces)
    for row in result.attention.weights:
        assert len(row) == len(result.attention.source_pieces)
        assert sum(row) == pytest.approx(1, abs=1e-3)


def test_a_finished_demo_is_shown_again(tmp_path: Path) -> None:
    """A second run trains nothing and shows the same translations."""
    first = run_demo(tmp_path / "demo", SMALL)
    second = run_demo(tmp_path / "demo")

    assert first is not None
    assert second is not None
    assert first.outcome is not None
    assert second.outcome is None
    assert second.translations == first.translations


def test_a_stopped_demo_goes_on_to_the_same_result(tmp_path: Path) -> None:
    """Stopped after a step and resumed, a demo translates as one that was never stopped."""
    whole = run_demo(tmp_path / "whole", SMALL)
    stopped = run_demo(tmp_path / "demo", SMALL, stop_requested=lambda: True)
    resumed = run_demo(tmp_path / "demo", DemoOptions(resume=True))

    assert stopped is None
    assert whole is not None
    assert resumed is not None
    assert resumed.translations == whole.translations


def test_a_stopped_demo_is_not_overwritten(tmp_path: Path) -> None:
    """Without the wish to resume, a demo that has not ended is refused, with the way on."""
    run_demo(tmp_path / "demo", SMALL, stop_requested=lambda: True)

    with pytest.raises(UsageError, match="has not ended") as caught:
        run_demo(tmp_path / "demo", SMALL)
    assert "--resume" in str(caught.value.hint)


def test_own_files_are_learned_and_held_out(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """With files the held-out pairs come from them, and the outcome names them."""
    result = run_demo(tmp_path / "demo", DemoOptions(corpus=files, settings=DEMO_SETTINGS))

    assert result is not None
    assert result.files == tuple(map(str, files))
    assert set(result.pairs) <= set(Corpus(*files).pairs())
    assert stored_pairs(tmp_path / "demo", "train").isdisjoint(result.pairs)


def test_another_corpus_needs_another_folder(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """A folder with a demo of one corpus is not used for another."""
    run_demo(tmp_path / "demo", SMALL, stop_requested=lambda: True)

    with pytest.raises(UsageError, match="a demo of 100 generated pairs"):
        run_demo(tmp_path / "demo", DemoOptions(corpus=files, resume=True))


@pytest.mark.parametrize("content", [None, "{}", "no json", '{"format": 2}'])
def test_a_folder_of_something_else_is_refused(tmp_path: Path, content: str | None) -> None:
    """Nothing is written into a folder that holds no demo."""
    (tmp_path / ("letter.txt" if content is None else "demo.json")).write_text(
        content or "", encoding="utf-8"
    )
    before = sorted(tmp_path.iterdir())

    with pytest.raises(UsageError, match="holds no demo"):
        run_demo(tmp_path, SMALL)
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A destination that is a file is refused."""
    (tmp_path / "demo").write_text("", encoding="utf-8")

    with pytest.raises(UsageError, match="this is a file"):
        run_demo(tmp_path / "demo", SMALL)


def test_a_wrong_key_leaves_nothing_behind(tmp_path: Path) -> None:
    """A fault of the configuration is found before anything is written."""
    with pytest.raises(ConfigError, match="did you mean max_steps"):
        run_demo(tmp_path / "demo", DemoOptions(num_pairs=100, settings=["train.max_step=5"]))
    assert not (tmp_path / "demo").exists()


def test_too_few_pairs_are_told_before_any_work(tmp_path: Path) -> None:
    """Files of which no pair can be held out are refused, and nothing is written."""
    (tmp_path / "two.tsv").write_text("a\tb\nc\td\n", encoding="utf-8")

    with pytest.raises(CorpusError, match="no pair can be held out of 2"):
        run_demo(tmp_path / "demo", DemoOptions(corpus=[tmp_path / "two.tsv"]))
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize("num_pairs", [0, 19, 100_000_000])
def test_a_number_of_pairs_that_cannot_be_is_told(tmp_path: Path, num_pairs: int) -> None:
    """Too few pairs to hold one out, or too many for a demo, are a fault of usage."""
    with pytest.raises(UsageError, match=f"--pairs {num_pairs}: "):
        run_demo(tmp_path / "demo", DemoOptions(num_pairs=num_pairs))


def test_files_and_a_number_to_generate_exclude_each_other(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """Pairs are generated or read, not both."""
    with pytest.raises(UsageError, match="--pairs"):
        run_demo(tmp_path / "demo", DemoOptions(corpus=files, num_pairs=100))
