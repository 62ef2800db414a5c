"""Text in, text out."""

import math
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from dragoman.bundle import Bundle
from dragoman.choice import Choice
from dragoman.config import Config, DataConfig, SearchConfig
from dragoman.data import collate
from dragoman.engine import Engine, is_there
from dragoman.errors import UsageError
from dragoman.model_search import choose_device
from dragoman.text import Tokenizer
from dragoman.text.ids import END
from dragoman.train.loss import loss_sums
from dragoman.translator import Translator
from text_samples import sentences, trained
from tiny_engines import weights
from tiny_models import tiny_model

TEXTS = [*sentences(7, seed=3), "", "The boats.", " ", "Winter"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(300), 320)


def made(tokenizer: Tokenizer, max_length: int = 256, **model: Any) -> Translator:
    """Return a translator in float64, where no two scores are equal by rounding."""
    network = tiny_model(vocabulary_size=tokenizer.vocabulary_size, **model)
    search = SearchConfig(beam_size=4, extra_length=3)
    config = Config(model=network.config, data=DataConfig(max_length=max_length), search=search)
    return Translator(Bundle(config, tokenizer, network))


@pytest.fixture(scope="module")
def translator(tokenizer: Tokenizer) -> Translator:
    return made(tokenizer)


def test_every_text_has_its_translation_and_blank_ones_stay_blank(translator: Translator) -> None:
    """S06: as many translations as texts, in order; a blank text is empty and costs nothing."""
    found = translator.translate(TEXTS)
    blank = [i for i, text in enumerate(TEXTS) if not text.strip()]

    assert [one.source for one in found] == TEXTS
    assert [(found[i].text, found[i].score, found[i].num_source_pieces) for i in blank] == [("", 0.0, 0)] * 2
    assert all(one.alternatives for one in found)
    assert translator.translate([]) == []


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("batch_tokens", [1, 40, 4_096])
def test_neighbors_change_nothing(translator: Translator, beam_size: int, batch_tokens: int) -> None:
    """S28: a text is translated alike alone, in any batch and in any order."""
    config = SearchConfig(beam_size=beam_size, extra_length=3, batch_tokens=batch_tokens)
    alone = [translator.translate([text], config)[0] for text in TEXTS]
    for texts, expected in ((TEXTS, alone), (TEXTS[::-1], alone[::-1])):
        found = translator.translate(texts, config)

        assert [one.text for one in found] == [one.text for one in expected]
        assert [one.score for one in found] == pytest.approx([one.score for one in expected], abs=1e-9)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
def test_the_best_is_first_however_many_are_asked_for(translator: Translator, length_penalty: float) -> None:
    """S29, S33: the first is the same for any n, scores never rise down the list, no output comes twice."""
    lists = [
        translator.translate(
            TEXTS, SearchConfig(beam_size=5, n_best=n, length_penalty=length_penalty, extra_length=3)
        )
        for n in (1, 2, 5)
    ]
    for several in lists[1:]:
        for one, many in zip(lists[0], several, strict=True):
            scores = [alternative.score for alternative in many.alternatives]

            assert many.text == one.text
            assert many.score == pytest.approx(one.score, abs=1e-9)
            assert scores == sorted(scores, reverse=True)
            assert len({alternative.pieces for alternative in many.alternatives}) == len(scores)


def test_scores_are_those_of_the_model(translator: Translator, tokenizer: Tokenizer) -> None:
    """An output's score is what the model, reading it as a known target, gives its pieces (1e-6)."""
    config = SearchConfig(beam_size=4, extra_length=3, length_penalty=0.6)
    for translation in translator.translate(TEXTS[:5], config):
        (best,) = translation.alternatives
        total = sum(best.piece_scores)
        source, target = tokenizer.encode(translation.source), tokenizer.encode(best.text)
        batch = collate([(source, target)], end=END, padding=tokenizer.padding)
        penalty = ((5 + len(best.piece_scores)) / 6) ** 0.6

        assert best.score == pytest.approx(total / penalty, abs=1e-6)
        if best.finished and tuple(tokenizer.pieces(target)) == best.pieces:
            plain = float(loss_sums(translator.bundle.model, batch, 0.0).plain.detach())
            assert total == pytest.approx(-plain, abs=1e-6)


def test_no_output_is_longer_than_its_limit(translator: Translator, tokenizer: Tokenizer) -> None:
    """An output has at most the source's pieces with its end, and so many more as are allowed."""
    config = SearchConfig(beam_size=2, extra_length=2)
    for translation in translator.translate(TEXTS[:7], config):
        best = translation.alternatives[0]

        assert len(best.piece_scores) <= translation.num_source_pieces + 2
        assert len(best.piece_scores) == len(best.pieces) + best.finished


def test_an_over_long_text_is_translated_in_parts(tokenizer: Tokenizer) -> None:
    """S08: what is longer than the model reads is cut at words, and its neighbors are as when alone."""
    translator = made(tokenizer, max_length=16)
    long = " ".join(sentences(5, seed=4))
    found = translator.translate(["The boats.", long, "Winter"])
    parts = translator._parts(long)

    assert found[1].num_parts == len(parts) > 1
    assert all(len(part.ids) <= 15 for part in parts)
    assert "".join(part.gap + tokenizer.decode(part.ids) for part in parts) == long
    assert [one.text for one in found[::2]] == [
        translator.translate([text])[0].text for text in ("The boats.", "Winter")
    ]


def test_a_text_without_any_space_is_cut_as_well(tokenizer: Tokenizer) -> None:
    """S21: one endless word is translated in parts of full length."""
    translator = made(tokenizer, max_length=16)
    (found,) = translator.translate(["x" * 500])

    assert found.num_parts > 1
    assert math.isfinite(found.score)


def test_learned_positions_limit_what_is_read_and_written(tokenizer: Tokenizer) -> None:
    """Beyond the last learned position nothing is read or written, and nothing fails."""
    translator = made(tokenizer, positions="learned", max_positions=12)
    (found,) = translator.translate([" ".join(sentences(2, seed=4))])

    assert translator.max_source_length == 12
    assert found.num_parts > 1


def test_a_stream_is_read_as_far_as_it_is_asked(translator: Translator) -> None:
    """Translations come before the stream of texts has ended; it may never end."""

    def endless() -> Any:
        while True:
            yield "Winter"

    stream = translator.translate_stream(endless(), SearchConfig(beam_size=1, extra_length=1))

    assert next(stream).source == "Winter"


def test_attention_is_given_with_its_pieces(translator: Translator) -> None:
    """Each layer's weights have a row for every piece that asks, and its rows sum to 1."""
    translation = translator.translate(["The boats."])[0]
    attention = translator.attention("The boats.", translation.alternatives[0])
    (cross, *_), num_source = attention.weights.cross, len(attention.source_pieces)

    assert cross.shape == (1, 2, len(attention.target_pieces), num_source)
    assert attention.source_pieces[-1] == attention.target_pieces[-1] == "</s>"
    torch.testing.assert_close(cross.sum(-1), torch.ones_like(cross.sum(-1)))


def test_one_text_is_not_a_list_of_texts(translator: Translator) -> None:
    """A text in place of a list is misuse, and not translated letter by letter."""
    with pytest.raises(TypeError, match="a list of texts"):
        translator.translate("The boats.")


@pytest.mark.parametrize("name", ["tpu", "cuda:99", "meta", "", "cpu:x"])
def test_unknown_devices_are_refused(name: str) -> None:
    """A device that is not there is named with what there may be."""
    with pytest.raises(UsageError, match=r"--device"):
        choose_device(name)


@pytest.mark.parametrize(
    "native", [False, pytest.param(True, marks=pytest.mark.skipif(not is_there(), reason="no engine"))]
)
def test_threads_may_share_a_translator(tokenizer: Tokenizer, native: bool) -> None:
    """What a thread translates does not depend on what others forbid, or how long their texts are."""
    model = tiny_model(vocabulary_size=tokenizer.vocabulary_size, dtype=torch.float32)
    config = Config(model=model.config, search=SearchConfig(beam_size=2, extra_length=3))
    engine = (
        Engine.of_weights(model.config, weights(model), "float32", tokenizer.impossible) if native else None
    )
    translator = Translator(Bundle(config, tokenizer, model), engine)
    tasks = [
        (TEXTS[i:] * (1 + i), Choice(forbidden=(phrase,))) for i, phrase in enumerate(("a", "e", "s", "th"))
    ]
    alone = [[one.text for one in translator.translate(texts, choice=choice)] for texts, choice in tasks]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda task: translator.translate(task[0], choice=task[1]), tasks * 3)
        together = [[one.text for one in one_task] for one_task in found]

    assert together == alone * 3


def test_a_closed_translator_lets_go_of_its_engine(tokenizer: Tokenizer) -> None:
    """Left by ``with``, it holds no searcher any more, and says so when it is asked."""
    with made(tokenizer) as translator:
        searcher = weakref.ref(translator._searchers[0])
        translator.translate(TEXTS[:1])

    assert searcher() is None
    with pytest.raises(ValueError, match="was closed"):
        translator.translate(TEXTS)
