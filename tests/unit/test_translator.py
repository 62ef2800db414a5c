"""Text in, text out."""

import math
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from copying import CopySearcher
from dragoman.bundle import Bundle
from dragoman.choice import PLAIN, Choice
from dragoman.config import Config, DataConfig, SearchConfig
from dragoman.data import collate
from dragoman.decoder_search import Task
from dragoman.engine import Engine, is_there
from dragoman.errors import UsageError
from dragoman.model_search import ModelSearch, choose_device
from dragoman.text import Tokenizer
from dragoman.text.ids import END
from dragoman.train.loss import loss_sums
from dragoman.translator import Translator
from text_samples import sentences, trained
from tiny_engines import weights
from tiny_models import tiny_model

TEXTS = [*sentences(7, seed=3), "", "The boats.", " ", "Winter"]
WAIT_SECONDS = 60.0
FORBIDDING = Choice(forbidden=("boat",))
"""A choice whose search asks decoders step by step."""

by_both = pytest.mark.parametrize(
    "native", [False, pytest.param(True, marks=pytest.mark.skipif(not is_there(), reason="no engine"))]
)
"""Runs a test with the model in torch and with the native engine."""


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


def held_alone(tokenizer: Tokenizer, *, native: bool, **options: Any) -> tuple[Translator, Any]:
    """Return a translator by the engine or in torch, and a weak reference to the searcher it alone holds."""
    model = tiny_model(vocabulary_size=tokenizer.vocabulary_size, dtype=torch.float32)
    config = Config(model=model.config, search=SearchConfig(beam_size=2, extra_length=3))
    bundle = Bundle(config, tokenizer, model)
    searcher = (
        Engine.of_weights(model.config, weights(model), "float32", tokenizer.impossible)
        if native
        else ModelSearch(bundle)
    )
    return Translator(bundle, searcher, **options), weakref.ref(searcher)


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
    assert "".join(part.around(tokenizer.decode(part.ids)) for part in parts) == long
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


@pytest.mark.parametrize("prefixed", [False, True])
def test_a_text_may_wait_for_the_translation_before_it(translator: Translator, prefixed: bool) -> None:
    """With a window of 1, neither the next text nor its prefix is asked for before the answer is there."""
    answers: list[str] = []

    def texts() -> Iterator[str]:
        yield "Winter"
        yield f"The boats {answers[0]}"
        yield f"The boats {answers[1]}"

    def prefixes() -> Iterator[str]:
        yield "T"
        yield answers[0][:1]
        yield answers[1][:1]

    begun = prefixes() if prefixed else None
    for translation in translator.translate_stream(texts(), prefixes=begun, window=1):
        answers += [translation.text]

    assert len(answers) == 3


@pytest.mark.parametrize("window", [1, 2, 3, 1_024])
def test_the_window_changes_nothing(translator: Translator, window: int) -> None:
    """A stream gives what a list gives, with prefixes and without, however many texts are read at once."""
    prefixes = [text[:2] for text in TEXTS]
    for begun in (None, prefixes):
        whole = translator.translate(TEXTS, prefixes=begun or ())
        found = list(translator.translate_stream(iter(TEXTS), prefixes=begun and iter(begun), window=window))

        assert [one.text for one in found] == [one.text for one in whole]


@pytest.mark.parametrize("window", [1, 2, 3, 1_024])
@pytest.mark.parametrize(
    ("prefixes", "message"),
    [
        (["T", "T"], "2 prefixes of 3 or more texts"),
        ([], "0 prefixes of 1 or more texts"),
        (["T"] * 5, "5 or more prefixes of 4 texts"),
    ],
)
def test_a_stream_has_one_prefix_for_each_text(
    translator: Translator, prefixes: list[str], message: str, window: int
) -> None:
    """Fewer or more are misuse; the texts that have theirs come before the error, whatever the window."""
    stream = translator.translate_stream(["Winter"] * 4, prefixes=iter(prefixes), window=window)
    found: list[str] = []
    with pytest.raises(ValueError, match=message):
        found.extend(translation.text for translation in stream)

    assert [text[:1] for text in found] == prefixes[:4]


def test_no_window_is_no_window(translator: Translator) -> None:
    """A window that holds no text is misuse, and told at once."""
    with pytest.raises(ValueError, match="window is 0"):
        translator.translate_stream(TEXTS, window=0)


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
    with pytest.raises(TypeError, match="texts must be a list of texts"):
        translator.translate_stream("The boats.")
    with pytest.raises(TypeError, match="prefixes must be a list of texts"):
        translator.translate_stream(["The boats."], prefixes="T")


@pytest.mark.parametrize("name", ["tpu", "cuda:99", "meta", "", "cpu:x"])
def test_unknown_devices_are_refused(name: str) -> None:
    """A device that is not there is named with what there may be."""
    with pytest.raises(UsageError, match=r"--device"):
        choose_device(name)


@by_both
def test_threads_may_share_a_translator(tokenizer: Tokenizer, native: bool) -> None:
    """What a thread translates does not depend on what others forbid, or how long their texts are."""
    translator, _ = held_alone(tokenizer, native=native)
    tasks = [
        (TEXTS[i:] * (1 + i), Choice(forbidden=(phrase,))) for i, phrase in enumerate(("a", "e", "s", "th"))
    ]
    alone = [[one.text for one in translator.translate(texts, choice=choice)] for texts, choice in tasks]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda task: translator.translate(task[0], choice=task[1]), tasks * 3)
        together = [[one.text for one in one_task] for one_task in found]

    assert together == alone * 3


@by_both
@pytest.mark.parametrize("choice", [PLAIN, FORBIDDING])
def test_a_closed_translator_lets_go_of_its_engine(
    tokenizer: Tokenizer, native: bool, choice: Choice
) -> None:
    """Left by ``with``, it holds no searcher any more, and says so when it is asked."""
    translator, searcher = held_alone(tokenizer, native=native)
    with translator:
        translator.translate(TEXTS[:1], choice=choice)
    translator.close()

    assert searcher() is None
    with pytest.raises(ValueError, match="was closed"):
        translator.translate(TEXTS)


@by_both
@pytest.mark.parametrize("choice", [PLAIN, FORBIDDING])
def test_closing_lets_a_search_of_another_thread_end(
    tokenizer: Tokenizer, native: bool, choice: Choice
) -> None:
    """What another thread translates is found whole, also in parts, then the searcher is let go of."""
    texts, searching, closed = [*TEXTS[-3:], " ".join(sentences(12))], Event(), Event()

    def wait() -> None:
        searching.set()
        assert closed.wait(WAIT_SECONDS)

    expected = held_alone(tokenizer, native=native)[0].translate(texts, choice=choice)
    translator, searcher = held_alone(tokenizer, native=native, before_batch=wait)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(translator.translate, texts, choice=choice)
        assert searching.wait(WAIT_SECONDS)
        translator.close()
        closed.set()
        found = future.result(WAIT_SECONDS)

    assert expected[-1].num_parts > 1
    assert [one.text for one in found] == [one.text for one in expected]
    assert searcher() is None


@by_both
def test_closing_while_a_search_begins_lets_it_end(
    tokenizer: Tokenizer, native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that has been asked for, and asks decoders only now, has its searcher still."""
    translator, searcher = held_alone(tokenizer, native=native)
    expected = translator.translate(TEXTS)

    def closing(*fields: Any) -> Task:
        translator.close()
        return Task(*fields)

    monkeypatch.setattr("dragoman.decoder_search.Task", closing)
    found = translator.translate(TEXTS, choice=Choice(forbidden=("never",)))

    assert [one.text for one in found] == [one.text for one in expected]
    assert searcher() is None


@by_both
def test_closing_at_any_moment_ends_every_thread(tokenizer: Tokenizer, native: bool) -> None:
    """Threads that translate without end hear that the translator was closed, and nothing else."""
    for round_number in range(20):
        translator, searcher = held_alone(tokenizer, native=native)
        begun = Event()

        def work(translator: Translator, choice: Choice, begun: Event) -> str:
            try:
                while True:
                    translator.translate(TEXTS[-3:], choice=choice)
                    begun.set()
            except ValueError as error:
                return str(error)

        with ThreadPoolExecutor(2) as pool:
            tasks = [pool.submit(work, translator, choice, begun) for choice in (PLAIN, FORBIDDING)]
            if round_number % 2:
                begun.wait(WAIT_SECONDS)
            translator.close()
            said = [task.result(WAIT_SECONDS) for task in tasks]

        assert all("was closed" in one for one in said)
        assert searcher() is None


@by_both
@pytest.mark.parametrize("choice", [PLAIN, FORBIDDING])
def test_closing_a_stream_ends_its_search(tokenizer: Tokenizer, native: bool, choice: Choice) -> None:
    """Nothing is searched for any more, so that a translator that is closed too lets go of its engine."""
    asked = []
    translator, searcher = held_alone(tokenizer, native=native, before_batch=lambda: asked.append(1))
    config = SearchConfig(beam_size=2, extra_length=3, batch_tokens=16)
    stream = translator.translate_stream(TEXTS * 50, config, choice=choice)
    first = next(stream)
    stream.close()
    num_asked = len(asked)
    again = translator.translate(TEXTS[:1], config, choice=choice)
    translator.close()

    assert num_asked < len(TEXTS) * 50
    assert first.text == again[0].text
    assert list(stream) == []
    assert searcher() is None


@by_both
def test_a_stream_of_a_closed_translator_ends_its_window(tokenizer: Tokenizer, native: bool) -> None:
    """The texts that are translated together still come, then it is said that the translator was closed."""
    translator, searcher = held_alone(tokenizer, native=native)
    stream = translator.translate_stream(TEXTS, window=3)
    found = [next(stream)]
    translator.close()
    found += [next(stream), next(stream)]
    with pytest.raises(ValueError, match="was closed"):
        next(stream)

    assert [one.source for one in found] == TEXTS[:3]
    assert searcher() is None


ODD_TEXTS = [
    "  \t The boats   sing near\tthe river.\n\n  The old boats sing!   \t The end of the winter. \t ",
    "The boats sing near the river and the bridge and the old garden.\n",
    " " * 100 + "Winter",
    "Winter" + "\t " * 50,
    "\N{NO-BREAK SPACE}" + "x" * 100 + "\N{IDEOGRAPHIC SPACE}",
]


def copied(tokenizer: Tokenizer, text: str, max_length: int = 16) -> str:
    """Return what comes of a text by a model that copies."""
    bundle = made(tokenizer, max_length).bundle
    return Translator(bundle, CopySearcher()).translate([text])[0].text


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_a_long_text_keeps_its_white_space(tokenizer: Tokenizer, text: str) -> None:
    """Several spaces, tabs and line feeds stay before, between and after the parts."""
    assert copied(tokenizer, text) == text


@given(text=st.text(st.sampled_from("ab .!\n\t\N{SNOWMAN}\N{NO-BREAK SPACE}e"), max_size=80))
def test_what_copies_changes_no_text(tokenizer: Tokenizer, text: str) -> None:
    """However a text is cut, its parts are put together as they were; a blank one stays empty."""
    assert copied(tokenizer, text, max_length=12) == (text if text.strip() else "")


def test_a_prefix_stands_before_all_white_space(tokenizer: Tokenizer) -> None:
    """The translation of a text in parts begins with its prefix to the letter."""
    text = "  \n" + " ".join(sentences(4, seed=4))
    [found] = made(tokenizer, max_length=16).translate([text], prefixes=["The"])

    assert found.num_parts > 1
    assert found.text.startswith("The")
