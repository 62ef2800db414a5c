"""Completed, drawn, diverse and forbidden outputs, of the engine and of the model in torch."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from decoding_tables import holds
from dragoman.bundle import Bundle
from dragoman.choice import PLAIN, Choice, Sampling
from dragoman.config import Config, DataConfig, SearchConfig
from dragoman.decoder_search import DecoderSearch
from dragoman.engine import is_there
from dragoman.errors import UsageError
from dragoman.model import Transformer
from dragoman.text import Tokenizer
from dragoman.translator import WINDOW, Translation, Translator
from text_samples import sentences, trained
from tiny_models import tiny_model

TEXTS = [*sentences(5, seed=3), "", "The boats.", " ", "Winter"]
PREFIXES = ["The ri", "", "boat ", "Zürich, 中", "x", "", "", "", "Winterboat is"]

WORDS = ("kitchen", "kitchenly", "nighter")
"""What the model of ``load`` likes to write."""

built = pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler")

Load = Callable[..., Translator]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(300), 400)


def wordy_model(tokenizer: Tokenizer, seed: int, **changes: Any) -> Transformer:
    """A model that likes to write words."""
    own = {"vocabulary_size": tokenizer.vocabulary_size, "embeddings": "separate", "output_bias": True}
    model = tiny_model(seed, torch.float32, **(own | changes))
    words = [token for token, spelled in enumerate(tokenizer.spellings) if spelled.startswith(b" ")]
    with torch.no_grad():
        model.bias_V[words] += 4.0
        model.bias_V[tokenizer.end] += 3.0
    return model


@pytest.fixture
def load(tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Returns a translator of tiny models that were saved, native where it can be or in torch."""

    def loaded(*seeds: int, native: bool = is_there(), max_length: int = 256, **model: Any) -> Translator:
        folders = []
        for seed in seeds or (2,):
            network = wordy_model(tokenizer, seed, **model)
            search = SearchConfig(beam_size=4, extra_length=12)
            config = Config(model=network.config, data=DataConfig(max_length=max_length), search=search)
            folders.append(tmp_path / f"{seed} {max_length} {len(model)}")
            Bundle(config, tokenizer, network).save(folders[-1], "A tiny model.\n")
        with monkeypatch.context() as patched:
            patched.setattr("dragoman.searchers.is_there", lambda: native)
            return Translator.load(folders[0], device="cpu", others=folders[1:], threads=1)

    return loaded


def all_texts(found: list[Translation]) -> list[list[str]]:
    return [[one.text for one in translation.alternatives] for translation in found]


@built
@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize(
    ("choice", "prefixes"),
    [
        (PLAIN, PREFIXES),
        (Choice(forbidden=WORDS), []),
        (Choice(forbidden=("kitchen", "kitchenly kitchenly")), PREFIXES),
        (Choice(sampling=Sampling(count=3, temperature=0.5, top_k=5, seed=4)), PREFIXES),
    ],
    ids=["prefixes", "forbidden", "both", "drawn"],
)
def test_the_engine_finds_what_the_model_in_torch_finds(
    load: Load, choice: Choice, prefixes: list[str], beam_size: int
) -> None:
    """The same texts in the same pieces, with scores that differ by rounding."""
    config = SearchConfig(beam_size=beam_size, n_best=min(2, beam_size), extra_length=12)
    ours, theirs = (
        load(native=native).translate(TEXTS, config, choice=choice, prefixes=prefixes)
        for native in (True, False)
    )

    assert all_texts(ours) == all_texts(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert [one.pieces for one in mine.alternatives] == [one.pieces for one in other.alternatives]
        assert [one.score for one in mine.alternatives] == pytest.approx(
            [one.score for one in other.alternatives], abs=1e-4
        )


@pytest.mark.parametrize("native", [pytest.param(True, marks=built), False])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_words_that_come_are_those_that_may(load: Load, native: bool, beam_size: int) -> None:
    """What comes in most free translations comes in none once it is forbidden, however good it is."""
    translator, config = load(native=native), SearchConfig(beam_size=beam_size, n_best=beam_size)
    free = translator.translate(TEXTS[:5], config)
    found = translator.translate(TEXTS[:5], config, choice=Choice(forbidden=WORDS))

    assert sum(any(holds(one.text, word) for word in WORDS) for one in free) >= 3
    assert not [
        text for some in all_texts(found) for text in some if any(holds(text, word) for word in WORDS)
    ]


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("native", [pytest.param(True, marks=built), False])
def test_every_alternative_starts_with_its_prefix(load: Load, native: bool, positions: str) -> None:
    """To the letter, whatever else is asked, and a blank text stays blank."""
    changes = {} if positions == "sinusoidal" else {"positions": "learned", "max_positions": 80}
    translator = load(native=native, **changes)
    config = SearchConfig(beam_size=4, n_best=4, extra_length=25)
    choices = [
        PLAIN,
        Choice(forbidden=("kitchen",)),
        Choice(sampling=Sampling(count=3)),
        Choice(diversity=1.0),
    ]
    for choice in choices:
        translations = translator.translate(TEXTS, config, choice=choice, prefixes=PREFIXES)
        for prefix, found in zip(PREFIXES, translations, strict=True):
            for one in found.alternatives:
                assert one.text.startswith(prefix if found.source.strip() else "")


@pytest.mark.parametrize("native", [pytest.param(True, marks=built), False])
def test_no_part_of_a_long_text_brings_a_forbidden_phrase(load: Load, native: bool) -> None:
    """A text that is translated in parts holds none either, not even where two parts meet."""
    translator = load(native=native, max_length=16)
    long = " ".join(sentences(8, seed=4))
    config = SearchConfig(beam_size=1, extra_length=4)
    [free] = translator.translate([long], config)
    meeting = _meeting_words(translator, long, config)
    choice = Choice(forbidden=tuple(meeting))
    [found] = translator.translate([long], config, choice=choice)

    assert found.num_parts == free.num_parts > 2
    assert any(phrase in free.text for phrase in meeting)
    assert [phrase for phrase in meeting if holds(found.text, phrase)] == []


def _meeting_words(translator: Translator, long: str, config: SearchConfig) -> list[str]:
    """Phrases that a free translation has across the places where its parts meet."""
    parts = translator._parts(long)
    texts = [translator._tokenizer.decode(part.ids) for part in parts]
    found = [one.text for one in translator.translate(texts, config)]
    return [
        f"{left.split(' ')[-1]} {right.split(' ')[0]}"
        for left, right in pairwise(found)
        if left.split(" ")[-1].isalpha() and right.split(" ")[0].isalpha()
    ]


@pytest.mark.parametrize("native", [pytest.param(True, marks=built), False])
def test_a_prefix_begins_a_text_in_parts(load: Load, native: bool) -> None:
    """The first part alone begins with it."""
    translator = load(native=native, max_length=16)
    long = " ".join(sentences(4, seed=4))
    [found] = translator.translate([long], prefixes=["The ri"])

    assert found.num_parts > 1
    assert found.text.startswith("The ri")
    assert found.text.count("The ri") == 1


@pytest.mark.parametrize("native", [pytest.param(True, marks=built), False])
def test_draws_depend_on_the_number_of_the_text_alone(load: Load, native: bool) -> None:
    """In any batch, in any window, and in a stream as in a list."""
    translator, choice = load(native=native), Choice(sampling=Sampling(count=2, seed=3))
    texts = ["Winter boats.", "", "The river", "Winter boats."]
    config = SearchConfig(extra_length=3)
    whole = translator.translate(texts, config, choice=choice)
    small = translator.translate(texts, SearchConfig(extra_length=3, batch_tokens=1), choice=choice)
    streamed = list(translator.translate_stream(iter(texts), config, choice=choice))
    later = translator.translate(["", "", "", "Winter boats."], config, choice=choice)
    far = list(translator.translate_stream(iter([*[""] * WINDOW, *texts]), config, choice=choice))
    moved = translator.translate([*[""] * WINDOW, *texts], config, choice=choice)

    assert all_texts(whole) == all_texts(small) == all_texts(streamed)
    assert all_texts(whole)[3] == all_texts(later)[3] != all_texts(whole)[0]
    assert all_texts(far) == all_texts(moved)
    assert all_texts(far)[WINDOW] != all_texts(whole)[0]


def test_an_ensemble_of_one_model_is_the_model(load: Load) -> None:
    """Twice the same changes nothing; another one changes scores, whichever of them comes first."""
    texts, config = TEXTS[:3], SearchConfig(beam_size=3, extra_length=3)
    alone, twice, mixed, turned = (
        load(*seeds).translate(texts, config) for seeds in ((2,), (2, 2), (2, 4), (4, 2))
    )
    scores = [[one.score for one in found] for found in (alone, twice, mixed, turned)]

    assert all_texts(twice) == all_texts(alone)
    assert scores[1] == pytest.approx(scores[0], abs=1e-4)
    assert all_texts(mixed) == all_texts(turned)
    assert scores[2] == pytest.approx(scores[3], abs=1e-4)
    assert scores[2] != pytest.approx(scores[0], abs=1e-2)


@built
def test_an_ensemble_is_alike_in_torch(load: Load) -> None:
    """The mean of two models is that of the same two."""
    config = SearchConfig(beam_size=3, extra_length=3)
    ours, theirs = (load(2, 4, native=native).translate(TEXTS, config) for native in (True, False))

    assert all_texts(ours) == all_texts(theirs)
    assert [one.score for one in ours] == pytest.approx([one.score for one in theirs], abs=1e-4)


def test_a_prefix_leaves_room_or_is_refused(load: Load) -> None:
    """As many pieces as the limit, less the end, are enough; the text is counted from 1."""
    translator = load()
    room = len(translator._tokenizer.encode("The boats.")) + 1 + 12
    fits, too_long = "x" * (room - 2), "x" * (room - 1)
    [found] = translator.translate(["The boats."], prefixes=[fits])
    with pytest.raises(UsageError, match="the prefix of text 2 may take ") as caught:
        translator.translate(["", "The boats."], prefixes=["", too_long])

    assert found.text.startswith(fits)
    assert f"its translation has {room} at most" in caught.value.message
    assert caught.value.hint == "shorten the prefix, or raise search.extra_length"


def test_prefixes_are_of_all_texts_or_of_none(load: Load) -> None:
    """Another number of them is misuse."""
    with pytest.raises(ValueError, match="1 prefixes of 2 texts"):
        load().translate(["Winter", "boats"], prefixes=["x"])


def test_before_each_batch_the_caller_is_asked(load: Load, tokenizer: Tokenizer) -> None:
    """What it raises ends the search, also one that asks decoders step by step."""
    asked = []

    def stop() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise KeyboardInterrupt

    translator = load()
    translator._before_batch = stop
    config = SearchConfig(batch_tokens=1, extra_length=1)
    with pytest.raises(KeyboardInterrupt):
        translator.translate(["Winter"] * 9, config, choice=Choice(forbidden=("x",)))

    assert len(asked) == 3


def test_only_models_are_asked_step_by_step(tokenizer: Tokenizer) -> None:
    """Anything else is misuse."""
    with pytest.raises(TypeError, match="only an Engine and a ModelSearch"):
        DecoderSearch([object()], tokenizer)


def test_a_stream_is_read_a_window_at_a_time(load: Load) -> None:
    """Whatever is asked, translations come before the texts end, and no more is read than a window."""
    translator, config = load(), SearchConfig(beam_size=1, extra_length=0)
    for choice in (PLAIN, Choice(forbidden=("x",)), Choice(sampling=Sampling())):
        read = []

        def endless(read: list[int] = read) -> Any:
            while True:
                read.append(1)
                yield "Winter"

        stream = translator.translate_stream(endless(), config, choice=choice)
        untouched = len(read)
        first = [next(stream).source for _ in range(WINDOW)]
        in_window = len(read)
        next(stream)

        assert (untouched, in_window, len(read)) == (0, WINDOW, 2 * WINDOW)
        assert first == ["Winter"] * WINDOW
