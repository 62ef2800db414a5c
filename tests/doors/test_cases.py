"""Shared cases that are promised at both doors: each is asked of the command line and of the Python API."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from built_models import TableModel, copy_weights, save, table_model
from copying import Translate
from dragoman import Translator
from dragoman.config import SearchConfig
from dragoman.engine import is_there
from dragoman.text import Tokenizer
from dragoman.text.lines import read_lines
from dragoman.translator import Alternative
from text_samples import sentences, trained
from tiny_models import tiny_model

pytestmark = pytest.mark.untraced

Ask = Callable[..., list[list[Alternative]]]
"""Takes a model folder, a file or texts, and settings of the search; gives the alternatives of each text."""

BARS = "&#124;&#124;&#124;"
"""How three bars are written between the fields of Moses's n-best lists, as the page on formats says."""

LETTERS = {
    "S11-marker-characters/src.txt": 6,
    "S16-literal-at-at/text.txt": 8,
    "S17-literal-block/text.txt": 5,
}
LETTERS |= {"S18-joiners/text.txt": 5, "S49-emoji-in-the-middle/text.txt": 5, "S50-placeholders/text.txt": 8}
"""Files whose lines a model that copies must give back to the letter, and how many lines they have."""

by_both_engines = pytest.mark.parametrize(
    "engine",
    ["torch", pytest.param("native", marks=pytest.mark.skipif(not is_there(), reason="no engine"))],
    indirect=True,
)
"""Runs a test with the model in torch and with the native engine."""


@pytest.fixture
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What searches: where the engine is there, it can be left out."""
    monkeypatch.setattr("dragoman.searchers.is_there", lambda: request.param == "native")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    words = "apple river door stone the red car paints quiet old bridge crosses my sister boat @@ ."
    draw = random.Random(1)
    return trained([*sentences(100), *(" ".join(draw.sample(words.split(), 8)) for _ in range(100))], 400)


@pytest.fixture(scope="module")
def copier(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that copies any text."""
    folder = tmp_path_factory.mktemp("copier")
    return save(folder, tokenizer, copy_weights(tokenizer), SearchConfig(beam_size=1))


@pytest.fixture(scope="module")
def dreamer(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model of random weights, whose outputs hang on all of the source."""
    model = tiny_model(3, torch.float32, vocabulary_size=tokenizer.vocabulary_size)
    return save(tmp_path_factory.mktemp("dreamer"), tokenizer, model, SearchConfig(extra_length=3))


def by_api(
    folder: Path, given: Path | list[str], *, window: int = 1_024, **settings: Any
) -> list[list[Alternative]]:
    """Ask ``dragoman.Translator``."""
    texts = read_lines(given) if isinstance(given, Path) else iter(given)
    with Translator.load(folder, device="cpu", threads=1) as translator:
        config = replace(translator.config, **settings)
        found = list(translator.translate_stream(texts, config, window=window))
    return [list(one.alternatives) for one in found]


def by_command(
    translate: Translate, given: Path | list[str], settings: dict[str, Any]
) -> list[list[Alternative]]:
    """Ask ``dragoman translate``."""
    words: list[object] = ["--format", "jsonl", "--device", "cpu", "--threads", 1]
    for key, value in settings.items():
        words += [f"--{key.replace('_', '-')}", value]
    if isinstance(given, Path):
        ended = translate(given, *words)
    else:
        ended = translate(*words, text="".join(f"{text}\n" for text in given))
    assert ended.code == 0, ended.said
    lines = [json.loads(line) for line in ended.lines]
    assert [line["line"] for line in lines] == list(range(1, len(lines) + 1))
    return [
        [
            Alternative(
                one["translation"],
                one["score"],
                tuple(one["pieces"]),
                tuple(one["piece_scores"]),
                one["finished"],
            )
            for one in line["alternatives"]
        ]
        for line in lines
    ]


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Path], Translate]:
    """Returns the filter that translates with the model of a folder."""
    return lambda folder: Translate(folder, monkeypatch, capsys)


@pytest.fixture(params=["command", "api"])
def ask(request: pytest.FixtureRequest, command: Callable[[Path], Translate]) -> Ask:
    """One of the two doors."""
    if request.param == "api":
        return by_api
    return lambda folder, given, *, window=0, **settings: by_command(command(folder), given, settings)


def texts_of(found: list[list[Alternative]]) -> list[str]:
    """The best translation of each text."""
    return [own[0].text for own in found]


@by_both_engines
@pytest.mark.parametrize("case", LETTERS)
def test_what_is_copied_comes_back_to_the_letter(
    case: str, engine: None, ask: Ask, copier: Path, shared: Path
) -> None:
    """S11, S16, S17, S18, S49, S50: no character of a line is lost, added, escaped or taken for a mark."""
    lines = (shared / "cases" / case).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    found = ask(copier, shared / "cases" / case)

    assert texts_of(found) == lines
    assert len(lines) == LETTERS[case]
    assert all(own[0].finished and all(own[0].pieces) for own in found)


@pytest.mark.parametrize("case", LETTERS)
def test_plain_text_is_written_to_the_letter(
    case: str, command: Callable[[Path], Translate], copier: Path, shared: Path
) -> None:
    """S11, S16, S17, S18, S49, S50: the lines of the command's text are the bytes that the API gives."""
    ended = command(copier)(shared / "cases" / case)
    given = texts_of(by_api(copier, shared / "cases" / case))

    assert (ended.code, ended.lines) == (0, given)
    assert "".join(f"{line}\n" for line in ended.lines).encode() == (shared / "cases" / case).read_bytes()


def test_bars_do_not_break_the_n_best_format(
    command: Callable[[Path], Translate], copier: Path, shared: Path
) -> None:
    """S11: each n-best line has three fields, and its text, the bars put back, is that of the API."""
    file = shared / "cases" / "S11-marker-characters" / "src.txt"
    right = by_api(copier, file, beam_size=4, n_best=2)
    ended = command(copier)(file, "--beam-size", 4, "--n-best", 2)
    fields = [line.split(" ||| ") for line in ended.lines]
    expected = [(str(number), one.text) for number, own in enumerate(right) for one in own]

    assert (ended.code, {len(field) for field in fields}) == (0, {3})
    assert [(number, text.replace(BARS, "|||")) for number, text, _ in fields] == expected
    assert [len(own) for own in right] == [2] * 6
    assert right[4][0].text == "p|||q ||| r"


def test_words_around_an_emoji_are_those_without_it(ask: Ask, copier: Path, shared: Path) -> None:
    """S49: the output is not cut at an emoji: beside it stand the words of the line without it."""
    lines = list(read_lines(shared / "cases" / "S49-emoji-in-the-middle" / "text.txt"))
    emoji = dict.fromkeys(map(ord, "😆😀😊🇸🇪👍🏽"))
    without = [line.translate(emoji) for line in lines]
    found, right = (texts_of(ask(copier, texts)) for texts in (lines, without))

    assert [text.translate(emoji) for text in found] == right
    assert all(text != line for text, line in zip(right, lines, strict=True))
    assert len(found) == 5


@pytest.mark.parametrize(("name", "count"), [("no-final-newline", 3), ("one", 3), ("two-blank-at-end", 5)])
def test_a_final_line_feed_ends_a_line_and_begins_none(
    name: str, count: int, ask: Ask, command: Callable[[Path], Translate], copier: Path, shared: Path
) -> None:
    """S07: 3, 3 and 5 outputs, never one more; the command ends each by one line feed."""
    file = shared / "cases" / "S07-final-newline" / f"{name}.txt"
    sources = list(read_lines(shared / "cases" / "S07-final-newline" / "one.txt"))

    assert texts_of(ask(copier, file)) == [*sources, "", ""][:count]
    assert command(copier)(file).lines == [*sources, "", ""][:count]


@pytest.mark.parametrize("size", [1, 16, 256, 4_096])
def test_two_thousand_lines_stay_in_their_places(size: int, ask: Ask, copier: Path, shared: Path) -> None:
    """S09: as many lines, in their order, as each is alone; blank ones blank, at any size of a batch.

    The API reads so many sentences at once; for the command it is a budget of so many tokens.
    """
    file = shared / "cases" / "S09-two-thousand-lines" / "src.txt"
    sources = list(read_lines(file))
    found = texts_of(ask(copier, file, window=size, batch_tokens=4_096 if ask is by_api else size))
    chosen = random.Random(size).sample(range(2_000), 50)
    alone = by_api(copier, [sources[i] for i in chosen], window=1)

    assert len(found) == 2_000
    assert [found[i] for i in chosen] == texts_of(alone)
    assert found == sources
    assert found.count("") == 89


@pytest.mark.parametrize("beam_size", [1, 4])
def test_batches_and_order_change_no_text(
    beam_size: int, ask: Ask, dreamer: Path, shared: Path, tmp_path: Path
) -> None:
    """S28: at batches of 1, 2, 7 and 64, forth and back, the same texts come, scores within 1e-4."""
    forth, back = shared / "cases" / "S28-batch-invariance" / "src.txt", tmp_path / "back.txt"
    lines = list(read_lines(forth))
    back.write_text("".join(f"{line}\n" for line in lines[::-1]), encoding="utf-8")
    longest = max(len(line.encode()) for line in lines) + 1
    first = ask(dreamer, forth, beam_size=beam_size)
    for size in (1, 2, 7, 64):
        settings = {"beam_size": beam_size, "batch_tokens": 1 if size == 1 else size * longest}
        for found in (
            ask(dreamer, forth, window=size, **settings),
            ask(dreamer, back, window=size, **settings)[::-1],
        ):
            assert texts_of(found) == texts_of(first)
            assert [own[0].score for own in found] == pytest.approx([own[0].score for own in first], abs=1e-4)
    assert len(set(texts_of(first))) > 32


def test_empty_texts_have_one_empty_entry(ask: Ask, dreamer: Path, shared: Path) -> None:
    """S51: five results in order; an empty text has one empty entry, another all of those it has alone."""
    body = json.loads((shared / "cases" / "S51-empty-segments" / "body.json").read_text(encoding="utf-8"))
    found = ask(dreamer, body["text"], n_best=body["n_best"])
    alone = [ask(dreamer, [text], n_best=body["n_best"])[0] for text in ("the boat", "the river")]
    texts = [[one.text for one in own] for own in found]

    assert [len(own) for own in texts] == [1, 3, 1, 3, 1]
    assert texts[0] == texts[2] == texts[4] == [""]
    assert texts[1::2] == [[one.text for one in own] for own in alone]
    assert texts[1] != texts[3]


def given_table(name: str, shared: Path, folder: Path, tokenizer: Tokenizer) -> tuple[Any, TableModel]:
    """A case, and the model of its table."""
    case = json.loads((shared / "cases" / name / "case.json").read_text(encoding="utf-8"))
    return case, table_model(folder, tokenizer, case)


def spelled(model: TableModel, words: list[str]) -> tuple[str, ...]:
    """The pieces of an output of the table, without its end."""
    return tuple(model.pieces[word] for word in words if word in model.pieces)


def scores_by_hand(case: dict[str, Any], model: TableModel, found: Alternative) -> list[float]:
    """What the table gives each token of an output, its end included where it has one."""
    words = {piece: word for word, piece in model.pieces.items()}
    row = [case["bos"], *(words[piece] for piece in found.pieces), *[case["eos"]] * found.finished]
    table = case["next_token_probabilities_after"]
    return [math.log(table[last][word]) for last, word in pairwise(row)]


def assert_scored_by(case: dict[str, Any], model: TableModel, own: list[Alternative]) -> None:
    """Each piece has the table's score, the whole the case's formula, and the best come first."""
    for found in own:
        right = scores_by_hand(case, model, found)
        penalty = ((5 + len(right)) / 6) ** case["alpha"]

        assert found.piece_scores == pytest.approx(right, abs=1e-5)
        assert found.score == pytest.approx(sum(right) / penalty, abs=1e-4)
    assert [one.score for one in own] == sorted((one.score for one in own), reverse=True)
    assert len({one.pieces for one in own}) == len(own)


@by_both_engines
def test_the_better_road_is_found_although_it_ends_later(
    engine: None, ask: Ask, shared: Path, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    """S30: search does not stop at the first output to end, and gives the best with its log-probability."""
    case, model = given_table("S30-early-stop", shared, tmp_path, tokenizer)
    [[best]] = ask(model.folder, [model.source], beam_size=case["beam"], length_penalty=case["alpha"])

    assert (best.pieces, best.finished) == (spelled(model, case["right_best"]), True)
    assert sum(best.piece_scores) == pytest.approx(case["right_best_logprob"], abs=1e-5)
    assert best.pieces != spelled(model, case["wrong_if_stopped_at_first_finished_top_beam"])
    assert_scored_by(case, model, [best])


@by_both_engines
def test_a_beam_may_be_larger_than_the_vocabulary(
    engine: None, ask: Ask, shared: Path, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    """S31: no beam fails; from 5 up the first three outputs of the table come in their order."""
    case, model = given_table("S31-beam-larger-than-vocabulary", shared, tmp_path, tokenizer)
    right = [(spelled(model, words), score) for words, score in case["all_finished_in_order"]]
    for beam_size in (*case["beams"], 2 * tokenizer.vocabulary_size):
        n_best = min(3, beam_size)
        settings = {"beam_size": beam_size, "n_best": n_best, "length_penalty": case["alpha"]}
        [own] = ask(model.folder, [model.source], **settings)

        assert_scored_by(case, model, own)
        if beam_size >= 5:
            assert [one.pieces for one in own] == [pieces for pieces, _ in right[:3]]
            assert [one.score for one in own] == pytest.approx([score for _, score in right[:3]], abs=1e-4)
        assert own[0].pieces == spelled(model, case["right_best"])
        assert all(one.finished for one in own)


@by_both_engines
def test_what_never_ends_is_cut_and_marked(
    engine: None, ask: Ask, shared: Path, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    """S32: greedy or with a beam, outputs of 6 tokens come back that say they were cut."""
    case, model = given_table("S32-never-ends", shared, tmp_path, tokenizer)
    for beam_size, n_best in ((1, 1), (case["beam"], 1), (case["beam"], 3)):
        settings = {"beam_size": beam_size, "n_best": n_best, "length_penalty": case["alpha"]}
        [own] = ask(model.folder, [model.source], **settings)

        assert [(len(one.pieces), one.finished) for one in own] == [(case["max_length"], False)] * n_best
        assert all(one.text for one in own)
        assert_scored_by(case, model, own)


@by_both_engines
def test_one_output_is_not_repeated_to_fill_a_list(
    engine: None, ask: Ask, shared: Path, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    """S33: where one output exists, the list of five has one entry."""
    case, model = given_table("S33-fewer-than-n", shared, tmp_path, tokenizer)
    settings = {"beam_size": case["beam"], "n_best": case["n_best"], "length_penalty": case["alpha"]}
    [own] = ask(model.folder, [model.source], **settings)

    assert [one.pieces for one in own] == [spelled(model, words) for words in case["right"]]
    assert own[0].finished
    assert_scored_by(case, model, own)


def test_no_two_entries_have_the_same_tokens(ask: Ask, dreamer: Path, shared: Path) -> None:
    """S33: on real text the entries of an n-best list are different outputs."""
    lines = list(read_lines(shared / "cases" / "S07-final-newline" / "one.txt"))
    found = ask(dreamer, lines, beam_size=5, n_best=5)

    assert [len({one.pieces for one in own}) for own in found] == [5] * 3
