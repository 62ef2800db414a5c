"""How a model came to an output: that what is told is what happened."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dragoman.bundle import Bundle
from dragoman.config import Config, DataConfig, SearchConfig
from dragoman.errors import CorpusError, UsageError
from dragoman.run.explaining import Explainer
from dragoman.search.hypotheses import length_penalty
from dragoman.text import Pair, Tokenizer
from dragoman.translator import Translator
from text_samples import sentences, trained
from tiny_models import tiny_model

TEXT = "The boats wait."


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(300), 320)


def bundle(tokenizer: Tokenizer, max_length: int = 256, beam_size: int = 4, **model: Any) -> Bundle:
    network = tiny_model(vocabulary_size=tokenizer.vocabulary_size, **model)
    search = SearchConfig(beam_size=beam_size, extra_length=3)
    config = Config(model=network.config, data=DataConfig(max_length=max_length), search=search)
    return Bundle(config, tokenizer, network)


@pytest.fixture(scope="module")
def explained(tokenizer: Tokenizer) -> Bundle:
    return bundle(tokenizer)


def test_the_output_is_the_translation(explained: Bundle) -> None:
    """Looking on changes nothing: text and pieces are those of the translator."""
    found = Explainer(explained).explain(TEXT)
    [translation] = Translator(explained).translate([TEXT])

    assert found.output == translation.text
    assert found.target_pieces[:-1] == translation.alternatives[0].pieces


def test_weights_are_those_of_the_model(explained: Bundle) -> None:
    """There are all layers and heads of the three kinds, and each row of weights sums to 1."""
    found = Explainer(explained).explain(TEXT)
    s, t = len(found.source_pieces), len(found.target_pieces)

    assert found.encoder.shape == (2, 2, s, s)
    assert found.decoder.shape == (2, 2, t, t)
    assert found.cross.shape == (2, 2, t, s)
    for kind in (found.encoder, found.decoder, found.cross):
        np.testing.assert_allclose(kind.sum(axis=-1), 1.0, atol=1e-6)
    assert np.triu(found.decoder[0, 0], 1).max() == 0.0


def test_probabilities_are_those_that_search_saw(explained: Bundle) -> None:
    """Of each written piece it is the exponential of its score; candidates come best first."""
    found = Explainer(explained).explain(TEXT)
    best = Translator(explained).translate([TEXT])[0].alternatives[0]
    written = [
        next(one.probability for one in candidates if one.piece == piece)
        for piece, candidates in zip(found.target_pieces, found.candidates, strict=True)
    ]

    np.testing.assert_allclose(written[: len(best.piece_scores)], np.exp(best.piece_scores), rtol=1e-5)
    assert all(len(candidates) == 5 for candidates in found.candidates)
    assert all(a.probability >= b.probability for one in found.candidates for a, b in pairwise(one))


@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_the_beam_holds_every_output(tokenizer: Tokenizer, beam_size: int) -> None:
    """The path to the node of rank n spells the n-th output and has its log-probability."""
    model = bundle(tokenizer, beam_size=beam_size)
    found = Explainer(model).explain(TEXT)
    config = SearchConfig(beam_size=beam_size, extra_length=3, n_best=beam_size)
    outputs = Translator(model).translate([TEXT], config)[0].alternatives
    for rank, output in enumerate(outputs, start=1):
        [at] = [index for index, node in enumerate(found.beam) if node.rank == rank]
        pieces, total = [], 0.0
        while at >= 0:
            node = found.beam[at]
            assert node.parent < at
            pieces.append(node.piece)
            total += node.log_probability
            at = node.parent
        spelled = tuple(reversed(pieces))
        length = len(output.piece_scores)

        assert spelled[: len(output.pieces)] == output.pieces
        assert total / length_penalty(length, config.length_penalty) == pytest.approx(output.score, rel=1e-5)


def test_a_given_output_is_explained_as_it_is(explained: Bundle) -> None:
    """It need not be what the model would have written; there is no search then."""
    found = Explainer(explained).explain(TEXT, "Winter comes.")

    assert found.output == "Winter comes."
    assert found.beam == ()
    assert all(
        0.0 < math.fsum(one.probability for one in candidates) <= 1.0 for candidates in found.candidates
    )


@pytest.mark.parametrize(
    ("text", "message"), [("", "blank"), (" ", "blank"), ("a " * 300, "pieces; the model reads 256")]
)
def test_what_cannot_be_explained_is_told(explained: Bundle, text: str, message: str) -> None:
    """A blank text and one that is longer than the model reads at once have no explanation."""
    with pytest.raises(CorpusError, match=f"the source .*{message}"):
        Explainer(explained).explain(text)


def test_alignments_have_a_line_for_each_pair(explained: Bundle) -> None:
    """Pairs that cannot be read leave an empty line; the others have indices within their words."""
    pairs = [
        (1, Pair(TEXT, "Die Boote warten.")),
        (2, Pair("", "x")),
        (3, Pair("a " * 300, "y")),
        (4, Pair("One", "Eins")),
    ]
    first, blank, long, last = Explainer(explained).align(pairs)
    indices = [tuple(map(int, point.split("-"))) for point in first.split()]

    assert blank == long == ""
    assert last in ("0-0", "")
    assert all(i < 3 and j < 3 for i, j in indices)
    assert len({j for _, j in indices}) == len(indices)


def test_a_layer_that_is_not_there_is_refused(explained: Bundle) -> None:
    """The message tells how many there are."""
    with pytest.raises(UsageError, match="--layer 3: the decoder of this model has 2 layers"):
        list(Explainer(explained).align([(1, Pair("a", "b"))], layer=3))
