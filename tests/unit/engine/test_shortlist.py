"""With a shortlist nothing comes but what the pieces of a source allow."""

from itertools import chain

import numpy as np
import pytest
import torch

from dragoman.config import SearchConfig
from dragoman.engine import Engine, Precision, is_there
from dragoman.errors import BundleError, EngineError
from dragoman.text.ids import END
from dragoman.text.lexicon import Lexicon
from tiny_engines import (
    LENGTHS,
    PRECISIONS,
    allowed,
    allowed_by_torch,
    assert_alike,
    lexicon_of,
    random_lexicon,
    run,
    shortlisted,
    sources,
    weights,
)
from tiny_models import tiny_model

pytestmark = pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler")

LIMITS = [20] * len(LENGTHS)

EVERYTHING = {
    "as frequent pieces": lexicon_of([[]] * 24, range(24)),
    "as translations": lexicon_of([list(range(23, -1, -1))] * 24),
    "of the end": lexicon_of([list(range(24)), *[[5, 5, 7]] * 23]),
}


def shortlist(beam_size: int, n_best: int = 1, **settings: int) -> SearchConfig:
    return SearchConfig(beam_size=beam_size, n_best=n_best, shortlist=True, **settings)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("how", EVERYTHING)
def test_a_shortlist_of_everything_changes_nothing(how: str, beam_size: int, precision: Precision) -> None:
    """However all pieces come to be allowed, outputs and scores are those without a shortlist."""
    model = tiny_model(3, torch.float32)
    engine, n_best = shortlisted(model, EVERYTHING[how], precision), min(3, beam_size)
    free = run(engine, sources(), LIMITS, SearchConfig(beam_size=beam_size, n_best=n_best))
    found = run(engine, sources(), LIMITS, shortlist(beam_size, n_best))

    assert [[one.tokens for one in some] for some in found] == [[one.tokens for one in some] for some in free]
    for ours, theirs in zip(chain(*found), chain(*free), strict=True):
        assert ours.score == pytest.approx(theirs.score, abs=1e-4)
        assert ours.token_scores == pytest.approx(theirs.token_scores, abs=1e-4)


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "pre", "output_bias": True},
        {"vocabulary_size": 200, "d_model": 70},
        {"embeddings": "separate", "source_vocabulary_size": 31},
    ],
)
def test_a_shortlist_is_a_smaller_vocabulary(beam_size: int, changes: dict[str, int | str | bool]) -> None:
    """The same comes of the model in torch where only its pieces are possible and share all probability."""
    model = tiny_model(3, torch.float32, **changes)
    size = model.config.vocabulary_size
    lexicon = random_lexicon(7, 9, model.config.source_vocabulary_size or size, size)
    config = SearchConfig(beam_size=beam_size, n_best=min(2, beam_size))
    right = allowed_by_torch(model, lexicon, sources(), 20, config)
    found = run(shortlisted(model, lexicon), sources(), LIMITS, shortlist(beam_size, min(2, beam_size)))

    assert_alike(found, right)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("beam_size", [1, 4])
def test_nothing_depends_on_neighbors(beam_size: int, precision: Precision) -> None:
    """A sentence alone, in a batch, in a small one that is filled again, on three threads: the same bits."""
    model, lexicon, given = tiny_model(3, torch.float32), random_lexicon(5, 9), sources()
    config, limits = shortlist(beam_size), [5 + 3 * (i % 6) for i in range(len(given))]
    engine = shortlisted(model, lexicon, precision)
    alone = [run(engine, [one], [limit], config)[0] for one, limit in zip(given, limits, strict=True)]
    small = shortlist(beam_size, batch_tokens=8)

    assert run(engine, given, limits, config) == alone
    assert run(shortlisted(model, lexicon, precision, workers=3), given, limits, config) == alone
    assert run(engine, given[::-1], limits[::-1], small) == alone[::-1]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_shortlist_may_be_smaller_than_the_beam(precision: Precision) -> None:
    """With one piece and the end there is one output of each length, and no beam finds more."""
    model = tiny_model(3, torch.float32, embeddings="separate", source_vocabulary_size=31)
    engine = shortlisted(model, lexicon_of([[]] * 31, [5, END]), precision)
    for some in run(engine, sources(), [3] * len(LENGTHS), shortlist(20, 20)):
        finished = [one.tokens for one in some if one.finished]

        assert sorted(finished) == [(), (5,), (5, 5)]
        assert {one.tokens for one in some if not one.finished} <= {(5, 5, 5)}


def test_with_the_end_alone_outputs_are_empty() -> None:
    """It is certain, so its probability is 1."""
    model = tiny_model(3, torch.float32, embeddings="separate", source_vocabulary_size=31)
    engine = shortlisted(model, lexicon_of([[]] * 31))
    for [one] in run(engine, sources(), LIMITS, shortlist(4)):
        assert (one.tokens, one.finished) == ((), True)
        assert one.score == pytest.approx(0.0, abs=1e-5)


def test_the_same_engine_searches_with_and_without() -> None:
    """The shortlist is asked for once, by the first search that needs it, and holds for no other."""
    model, asked = tiny_model(3, torch.float32), []

    def lexicon() -> Lexicon:
        asked.append(1)
        return lexicon_of([[]] * 24, [5, END])

    engine = Engine.of_weights(model.config, weights(model), "float32", [], lexicon=lexicon)
    free = run(engine, sources(), LIMITS, SearchConfig())
    never = len(asked)
    found = [run(engine, sources(), LIMITS, shortlist(4)) for _ in range(2)]

    assert (never, len(asked)) == (0, 1)
    assert found[0] == found[1]
    assert run(engine, sources(), LIMITS, SearchConfig()) == free != found[0]


@pytest.mark.parametrize("number", [0, 23, 25])
def test_a_shortlist_of_another_vocabulary_is_refused(number: int) -> None:
    """With both sizes, and what counts it again."""
    engine = shortlisted(tiny_model(3, torch.float32), lexicon_of([[5]] * number))
    with pytest.raises(EngineError, match=f"of {number} pieces, the model has 24") as caught:
        run(engine, sources(), LIMITS, shortlist(4))

    assert caught.value.hint is not None
    assert "dragoman pack" in caught.value.hint


@pytest.mark.parametrize(
    "lexicon",
    [
        lexicon_of([[24], *[[5]] * 23]),
        lexicon_of([[-1], *[[5]] * 23]),
        lexicon_of([[5]] * 24, [END, 24]),
        lexicon_of([[5]] * 24, [END, -1]),
        lexicon_of([[5]] * 24)._replace(starts=np.full(25, 24, np.int32)),
        lexicon_of([[5]] * 24)._replace(starts=np.arange(24, -1, -1, np.int32)),
        lexicon_of([[5]] * 24)._replace(starts=np.arange(1, 26, dtype=np.int32)),
        lexicon_of([[5]] * 24)._replace(targets=np.full(23, 5, np.int32)),
    ],
    ids=["large", "negative", "frequent", "negative frequent", "no start", "falling", "late", "few"],
)
def test_a_shortlist_that_is_none_is_refused(lexicon: Lexicon) -> None:
    """Pieces outside the vocabulary and places outside the list are told, and a search without goes on."""
    engine = shortlisted(tiny_model(3, torch.float32), lexicon)
    for _ in range(2):
        with pytest.raises(EngineError, match=r"shortlist\.safetensors is damaged: .*shortlist") as caught:
            run(engine, sources(), LIMITS, shortlist(4))
        assert "dragoman pack" in (caught.value.hint or "")

    assert len(run(engine, sources(), LIMITS, SearchConfig())) == len(LENGTHS)


def test_without_a_lexicon_there_is_no_shortlist() -> None:
    """A search that asks for one is refused."""
    model = tiny_model(3, torch.float32)
    engine = Engine.of_weights(model.config, weights(model), "float32", [])
    with pytest.raises(EngineError, match="no shortlist"):
        run(engine, sources(), LIMITS, shortlist(4))


def test_a_lexicon_that_cannot_be_read_is_told_each_time() -> None:
    """As it was told, so that a file can be put in its place while the engine is there."""
    model, given = tiny_model(3, torch.float32), iter([False, True])

    def lexicon() -> Lexicon:
        if not next(given):
            raise BundleError("the file is not there")
        return lexicon_of([[]] * 24, [5, END])

    engine = Engine.of_weights(model.config, weights(model), "float32", [], lexicon=lexicon)
    with pytest.raises(BundleError, match="the file is not there"):
        run(engine, sources(), LIMITS, shortlist(4))
    found = run(engine, sources(), LIMITS, shortlist(4))

    assert {token for some in found for one in some for token in one.tokens} <= {5}


def test_tokens_outside_the_vocabulary_are_refused() -> None:
    """Before their translations are looked up."""
    engine = shortlisted(tiny_model(3, torch.float32), random_lexicon(3))
    for ids in ([24, END], [99, END], [-1, END]):
        with pytest.raises(EngineError, match="a token is not in the vocabulary"):
            run(engine, [[5, END], ids], [5, 5], shortlist(4))


def test_impossible_pieces_stay_impossible() -> None:
    """A shortlist that allows what the tokenizer cannot spell lets it come no more than without."""
    model, lexicon = tiny_model(3, torch.float32), lexicon_of([[4, 5, 6]] * 24)
    engine = Engine.of_weights(model.config, weights(model), "float32", [5], lexicon=lambda: lexicon)
    found = run(engine, sources(), LIMITS, shortlist(4, 4))
    written = {token for some in found for one in some for token in one.tokens}

    assert written
    assert written <= allowed(lexicon, [2]) - {5}
