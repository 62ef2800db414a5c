"""What is found in any order is given in order, and no later than it can be."""

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Barrier, Event

import pytest
import torch

from dragoman.bundle import Bundle
from dragoman.cli import main
from dragoman.config import Config, SearchConfig
from dragoman.engine import is_there
from dragoman.engine.library import library
from dragoman.errors import UsageError
from dragoman.model_search import ModelSearch, Stoppable, side_by_side
from dragoman.searchers import check_joins, in_order, load_searcher
from dragoman.text import Tokenizer
from dragoman.text.ids import END
from text_samples import sentences, trained
from tiny_models import tiny_model


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(100), 304)


def bundle(tokenizer: Tokenizer, seed: int = 1, **model: object) -> Bundle:
    network = tiny_model(seed, vocabulary_size=tokenizer.vocabulary_size, **model)
    return Bundle(Config(model=network.config), tokenizer, network)


@pytest.mark.parametrize("seed", range(5))
def test_any_order_becomes_that_of_places(seed: int) -> None:
    """Everything comes once, whatever came first."""
    places = random.Random(seed).sample(range(20), 20)

    assert list(in_order((place, f"item {place}") for place in places)) == [f"item {i}" for i in range(20)]


def test_nothing_waits_longer_than_it_must() -> None:
    """What comes in its turn is given before the next is asked for; what is early waits for those before."""
    asked: list[int] = []

    def found() -> Iterator[tuple[int, str]]:
        for place in (1, 0, 2, 4, 3):
            asked.append(place)
            yield place, str(place)

    given = [(item, len(asked)) for item in in_order(found())]

    assert given == [("0", 2), ("1", 2), ("2", 3), ("3", 5), ("4", 5)]


@pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler")
def test_a_precision_that_the_processor_lacks_is_refused(
    tokenizer: Tokenizer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message, with what every processor computes, before any line is read."""
    bundle(tokenizer).save(tmp_path / "model", "A tiny model.\n")
    best = library().dragoman_kernels()
    try:
        assert library().dragoman_use_kernels(b"plain") == 0
        code = main(["translate", str(tmp_path / "model"), "--precision", "bfloat16"])
    finally:
        library().dragoman_use_kernels(best)
    said = capsys.readouterr()

    assert (code, said.out) == (2, "")
    assert "--precision bfloat16: this processor has no instructions for it (plain)" in said.err
    assert "--precision int8" in said.err


def test_nothing_found_is_nothing() -> None:
    """No place is waited for."""
    empty: list[tuple[int, str]] = []

    assert list(in_order(empty)) == []


def test_the_model_in_torch_has_no_shortlist(tokenizer: Tokenizer) -> None:
    """It is refused before anything is computed, with what to leave out."""
    search = ModelSearch(bundle(tokenizer))
    with pytest.raises(UsageError, match="needs the native engine") as caught:
        list(search.search_each([[5, END]], [5], SearchConfig(shortlist=True)))

    assert caught.value.hint == "leave --shortlist out, or on a processor run 'dragoman build-engine'"


def test_models_of_equal_pieces_join(tokenizer: Tokenizer) -> None:
    """Whatever else differs between them; other pieces and fewer positions do not fit."""
    first, other = bundle(tokenizer), bundle(tokenizer, 2, num_heads=4, norm="pre", d_model=32)
    strange = bundle(trained(sentences(100, seed=9), 304))
    few, more = (bundle(tokenizer, positions="learned", max_positions=number) for number in (20, 30))
    check_joins(other, Path("other"), first, Path("first"))
    check_joins(more, Path("more"), few, Path("few"))
    check_joins(first, Path("first"), few, Path("few"))
    with pytest.raises(UsageError, match="strange has another tokenizer than first"):
        check_joins(strange, Path("strange"), first, Path("first"))
    for second, name in ((more, "more"), (first, "first")):
        with pytest.raises(UsageError, match=f"few has 20 positions, fewer than {name}"):
            check_joins(few, Path("few"), second, Path(name))


@pytest.mark.parametrize("threads", [0, -1, 1_025, True, "2", 1.5])
def test_a_number_of_threads_that_is_none_is_refused(threads: object) -> None:
    """By the same rule as on the command line, before anything is read."""
    with pytest.raises(UsageError, match=f"--threads {threads}: must be a whole number of at least 1"):
        load_searcher(Path("nowhere"), device="cpu", precision="auto", threads=threads)


def test_batches_are_searched_side_by_side() -> None:
    """Two threads have a batch each at the same time, and what comes of them keeps its order."""
    meeting = Barrier(2)

    def search_one(batch: Sequence[int], ended: Event) -> int:
        meeting.wait(timeout=10)
        assert not ended.is_set()
        return batch[0]

    assert list(side_by_side(search_one, [[3], [1], [4], [2]], num_threads=2)) == [3, 1, 4, 2]


def test_nobody_waits_for_a_search_that_nobody_wants() -> None:
    """Where the reader stops, or one batch fails, the others end at their next step."""

    def search_one(batch: Sequence[int], ended: Event) -> int:
        if batch == [0]:
            return 0
        if batch == [2]:
            raise KeyboardInterrupt
        decoder = Stoppable(Endless(), ended)
        while True:
            decoder.step(torch.zeros(1))

    found = side_by_side(search_one, [[0], [1]], num_threads=2)
    next(found)
    found.close()  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        list(side_by_side(search_one, [[2], [1]], num_threads=2))


class Endless:
    """A decoder whose sentences never end."""

    def step(self, token_N: torch.Tensor) -> torch.Tensor:
        time.sleep(0.001)
        return token_N

    def reorder(self, row_N: torch.Tensor) -> None:
        pass
