"""What ``dragoman translate`` chooses besides the likeliest, by the real command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from copying import Ended, Translate
from decoding_tables import holds
from dragoman.bundle import Bundle
from dragoman.engine import is_there
from dragoman.translator import Translator

pytestmark = pytest.mark.untraced

TEXT = "ba be bi\nda\n\ngu go do ba\nbi xyz\n"
WARM = ("--temperature", 2)


def texts_of(ended: Ended) -> list[list[str]]:
    """All translations of each line of JSON."""
    return [[one["translation"] for one in json.loads(line)["alternatives"]] for line in ended.lines]


def test_no_translation_holds_a_forbidden_word(translate: Translate, tmp_path: Path) -> None:
    """Words of the command line, words of a file, in any alternative, of any way to choose."""
    (tmp_path / "words").write_text("da\n\n  gu go \n", encoding="utf-8")
    forbidden = ("--forbid", "ba", "--forbid", "bi", "--forbid-from", tmp_path / "words")
    for words in ((), ("--n-best", 4), ("--sample", 5), ("--diversity", 1, "--n-best", 2), ("--mbr",)):
        ended = translate(*forbidden, *words, "--format", "jsonl", text=TEXT)
        found = [text for some in texts_of(ended) for text in some]

        assert ended.code == 0
        assert len(found) >= 5
        assert not [
            (text, phrase) for text in found for phrase in ("ba", "bi", "da", "gu go") if holds(text, phrase)
        ]


def test_what_is_not_in_the_way_changes_nothing(translate: Translate) -> None:
    """Where no translation holds the phrase, all are as without it; so are blank lines of the file."""
    plain = translate(text=TEXT)

    assert translate("--forbid", "Haus", text=TEXT) == plain
    assert translate("--forbid", "b", "--forbid", "a be", text=TEXT) == plain


def test_the_same_seed_gives_the_same_bytes(translate: Translate) -> None:
    """In every run; without a seed it is that of 0, and another one draws others."""
    options = ("--sample", 3, *WARM, "--format", "jsonl")
    first, second, other, left_out = (
        translate(*options, *seed, text=TEXT) for seed in (("--seed", 7), ("--seed", 7), ("--seed", 8), ())
    )

    assert first == second
    assert left_out == translate(*options, "--seed", 0, text=TEXT)
    assert texts_of(first) != texts_of(other)
    assert texts_of(first) != texts_of(left_out)
    assert [len(some) for some in texts_of(first)] == [3, 3, 1, 3, 3]


def test_what_is_drawn_depends_on_the_line_alone(translate: Translate) -> None:
    """On its number and its text; not on the other lines, on batches, or on how many come of each."""
    lines = ["ba be bi bo", "ba be bi bo", "gu go", "da di du", "bi", "ba be bi bo"]
    options = ("--sample", 2, *WARM, "--format", "jsonl")
    whole = translate(*options, text="".join(f"{line}\n" for line in lines)).lines
    blank = [line if number in (1, 5) else "" for number, line in enumerate(lines)]
    others = translate(*options, "--batch-tokens", 1, text="".join(f"{line}\n" for line in blank)).lines
    more = translate("--sample", 4, *WARM, "--format", "jsonl", text="".join(f"{line}\n" for line in lines))

    assert whole[1] == others[1]
    assert whole[5] == others[5]
    assert json.loads(whole[0])["alternatives"] != json.loads(whole[1])["alternatives"]
    assert [some[:2] for some in texts_of(more)] == [
        [one["translation"] for one in json.loads(line)["alternatives"]] for line in whole
    ]


def test_what_is_drawn_does_not_depend_on_the_window(translate: Translate, tmp_path: Path) -> None:
    """Far into a file a line is drawn for by its number in the file."""
    count = 1_026
    near, far = tmp_path / "near", tmp_path / "far"
    near.write_text("\n" * (count - 1) + "ba be bi bo\n", encoding="utf-8")
    far.write_text("\n" * (count - 3) + "ba be bi bo\n" * 3, encoding="utf-8")
    options = ("--sample", 1, *WARM, "--format", "jsonl")
    last = translate(near, *options).lines[-1]
    *_, third, second, same = translate(far, *options).lines

    assert same == last
    assert len({json.loads(line)["translation"] for line in (third, second, same)}) > 1


@pytest.mark.parametrize("words", [("--top-k", 1), ("--top-p", 1e-9), ("--temperature", 1e-6)])
def test_the_sharpest_draw_is_greedy(translate: Translate, words: tuple[object, ...]) -> None:
    """Drawn from the one likeliest piece, each line is what a beam of one finds."""
    greedy = texts_of(translate("--beam-size", 1, "--format", "jsonl", text=TEXT))
    drawn = texts_of(translate("--sample", 2, *words, "--format", "jsonl", text=TEXT))

    assert [set(some) for some in drawn] == [set(some) for some in greedy]


def test_one_sample_is_a_line_of_text(translate: Translate) -> None:
    """Several are an n-best list, blank lines have one empty entry, and text has no room for several."""
    one = translate("--sample", 1, text=TEXT)
    three = translate("--sample", 3, text=TEXT)
    refused = translate("--sample", 3, "--format", "text", text=TEXT)

    assert len(one.lines) == 5
    assert one.lines[2] == ""
    assert [line.split(" ||| ")[0] for line in three.lines] == [*"000", *"111", "2", *"333", *"444"]
    assert (refused.code, refused.lines) == (2, [])
    assert "--format text: text has one for each" in refused.said


def test_so_many_samples_are_written_as_are_asked_for(translate: Translate) -> None:
    """With fewer results than samples, only so many come of each line, or it is said that they will not."""
    ended = translate("--sample", 4, "--n-best", 2, "--format", "jsonl", text="ba be\nda\n")

    assert ended.code == 2 or [len(some) for some in texts_of(ended)] == [2, 2]


@pytest.mark.parametrize("words", ["--sample 3 --temperature 3", "--n-best 4 --beam-size 4"])
def test_scores_are_those_of_the_model(translate: Translate, words: str) -> None:
    """However an output was chosen, its score is the sum of its pieces' by the length penalty."""
    ended = translate(*words.split(), "--format", "jsonl", "--length-penalty", 0, text="ba be\n")
    for one in json.loads(ended.lines[0])["alternatives"]:
        assert one["score"] == pytest.approx(sum(one["piece_scores"]), abs=1e-5)


def test_diverse_results_differ_in_more(translate: Translate) -> None:
    """The first is what a beam of its group finds, and the more they repel each other the less they share."""
    text = "ba be bi bo du\ngu go do ba\n"
    options = ("--n-best", 3, "--beam-size", 3, "--format", "jsonl")
    greedy = [some[0] for some in texts_of(translate("--beam-size", 1, "--format", "jsonl", text=text))]
    near, far = (texts_of(translate(*options, *words, text=text)) for words in ((), ("--diversity", 30)))

    assert [some[0] for some in far] == greedy
    assert all(len(set(some)) == 3 for some in far)
    for close, wide in zip(near, far, strict=True):
        assert len({text.split(" ")[0] for text in close}) < len({text.split(" ")[0] for text in wide}) == 3


def test_the_least_risk_is_chosen(translate: Translate) -> None:
    """Of what a beam or samples have found, one text that is among them; a sure model gives what it gives."""
    plain = translate(text=TEXT)
    searched, drawn = (translate(*words, "--mbr", text=TEXT) for words in ((), ("--sample", 8)))
    warm = ("--sample", 6, "--temperature", 2.5, "--format", "jsonl")
    found = texts_of(translate(*warm, text=TEXT))
    chosen = texts_of(translate(*warm, "--mbr", text=TEXT))

    assert searched.lines[:4] == drawn.lines[:4] == plain.lines[:4]
    assert [len(some) for some in chosen] == [1] * 5
    assert all(one in some for [one], some in zip(chosen, found, strict=True))
    assert [one for [one] in chosen] != [some[0] for some in found]


def test_a_model_with_itself_is_the_model(translate: Translate) -> None:
    """The mean of equal probabilities is each of them, twice and three times over."""
    alone = [json.loads(line) for line in translate("--format", "jsonl", text=TEXT).lines]
    for times in (1, 2):
        again = ("--ensemble", translate.model) * times
        ended = translate(*again, "--format", "jsonl", text=TEXT)
        for ours, theirs in zip(map(json.loads, ended.lines), alone, strict=True):
            assert ours["translation"] == theirs["translation"]
            assert ours["score"] == pytest.approx(theirs["score"], abs=1e-4)


def test_a_model_of_other_pieces_cannot_join(translate: Translate, tmp_path: Path) -> None:
    """Both folders are named; so is one that is not there."""
    other = Path(shutil.copytree(translate.model, tmp_path / "other"))
    tokenizer = other / "tokenizer.model"
    content = tokenizer.read_bytes()
    place = content.index("▁ba".encode()) + 4
    tokenizer.write_bytes(content[:place] + b"q" + content[place + 1 :])
    ended = translate("--ensemble", other, text=TEXT)
    missing = translate("--ensemble", tmp_path / "none", text=TEXT)

    assert (ended.code, ended.lines) == (2, [])
    assert ended.said.startswith(f"error: {other} has another tokenizer than {translate.model}; ")
    assert ended.said.count("\n") == 2
    assert missing.code == 1
    assert missing.said.startswith(f"error: {tmp_path / 'none'} does not exist")


def test_lines_may_come_in_any_order(translate: Translate) -> None:
    """The same lines, each with its number; text, which has none, is refused."""
    text = "".join(f"{line}\n" for line in ["ba be bi bo bu da", "", "da", "gu go do", "bi"] * 30)
    ordered = translate("--format", "jsonl", "--threads", 1, text=text)
    others = translate("--format", "jsonl", "--order", "any", "--threads", 2, text=text)
    moses = translate("--format", "moses", "--order", "any", text=text)

    assert [json.loads(line)["line"] for line in ordered.lines] == list(range(1, 151))
    assert sorted(others.lines) == sorted(ordered.lines)
    assert sorted(line.split(" ||| ")[0] for line in moses.lines) == sorted(map(str, range(150)))
    for words in ((), ("--format", "text")):
        refused = translate("--order", "any", *words, text=text)
        assert (refused.code, refused.lines) == (2, [])
        assert refused.said.startswith("error: --order any and --format text: ")


MISTAKES: list[tuple[str, str]] = [
    ("--sample 0", "--sample is 0; it must be 1 or more"),
    ("--sample -3", "--sample is -3; it must be 1 or more"),
    ("--sample 2 --temperature 0", "--temperature is 0.0; it must be above 0"),
    ("--sample 2 --temperature nan", "--temperature is nan; it must be above 0"),
    ("--sample 2 --temperature inf", "--temperature is inf; it must be above 0"),
    ("--sample 2 --top-k -1", "--top-k is -1; it must be 0 or more"),
    ("--sample 2 --top-p 0", "--top-p is 0.0; it must be above 0 and at most 1"),
    ("--sample 2 --top-p 1.5", "--top-p is 1.5; it must be above 0 and at most 1"),
    ("--sample 2 --seed -1", "--seed is -1; it must be 0 or more and below 2^64"),
    (f"--sample 2 --seed {2**64}", "; it must be 0 or more and below 2^64"),
    ("--sample two", "invalid value for '--sample'"),
    ("--top-k 5", "--top-k: nothing is drawn"),
    ("--temperature 1 --top-p 0.9 --seed 3", "--temperature, --top-p, --seed: nothing is drawn"),
    ("--diversity 0.5", "--diversity with --n-best 1 and a beam size of 4: "),
    ("--diversity 0.5 --n-best 3", "--diversity with --n-best 3 and a beam size of 4: "),
    ("--diversity -1 --n-best 2", "--diversity is -1.0; it must be 0 or more, and finite"),
    ("--diversity nan --n-best 2", "--diversity is nan; it must be 0 or more, and finite"),
    ("--diversity inf --n-best 2", "--diversity is inf; it must be 0 or more, and finite"),
    ("--diversity 1 --sample 2", "--diversity and --sample exclude each other"),
    ("--mbr --beam-size 1", "--mbr: there is only one output to choose from"),
    ("--mbr --sample 1", "--mbr: there is only one output to choose from"),
    ("--mbr --n-best 2 --format text", "2 translations of each line and --format text: "),
    ("--order all", "invalid value for '--order': 'all' is not one of 'input', 'any'"),
]


@pytest.mark.parametrize(("words", "error"), MISTAKES)
def test_mistakes_are_told_in_words(translate: Translate, words: str, error: str) -> None:
    """One message and one hint for each, and nothing is written."""
    ended = translate(*words.split(), text="ba\n")

    assert (ended.code, ended.lines) == (2, [])
    assert ended.said.startswith("error: ")
    assert error in ended.said
    assert ended.said.count("\n") == 2


@pytest.mark.parametrize("phrase", ["", " ", "\t"])
def test_a_blank_phrase_is_one_message(translate: Translate, phrase: str) -> None:
    """It would forbid everything or nothing."""
    ended = translate("--forbid", phrase, text="ba\n")

    assert (ended.code, ended.lines) == (2, [])
    assert ended.said.startswith("error: --forbid: the phrase is blank\n")


def test_a_file_of_phrases_that_is_not_there_is_one_message(translate: Translate, tmp_path: Path) -> None:
    """It is named; one that is not UTF-8 is named with the line."""
    (tmp_path / "bad").write_bytes(b"ba\n\xff\n")
    for path, message in ((tmp_path / "none", ": no such file"), (tmp_path / "bad", ", line 2: ")):
        ended = translate("--forbid-from", path, text="ba\n")

        assert (ended.code, ended.lines) == (1, [])
        assert ended.said.startswith(f"error: {path}{message}")


@pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler")
@pytest.mark.parametrize(
    "words", ["", "--forbid be", "--sample 2", "--mbr", "--ensemble MODEL", "--diversity 1 --n-best 2"]
)
def test_a_shortlist_is_kept_or_refused(translate: Translate, words: str, tmp_path: Path) -> None:
    """Whatever else is asked, what a shortlist does not allow never comes in silence."""
    chosen = [str(translate.model) if word == "MODEL" else word for word in words.split()]
    translate.model = Path(shutil.copytree(translate.model, tmp_path / "model"))
    _write_narrow_shortlist(translate.model)
    ended = translate("--shortlist", *chosen, "--format", "jsonl", text="ba be bi\n")
    found: list[dict[str, Any]] = [json.loads(line) for line in ended.lines]
    written = {piece for one in found for some in one["alternatives"] for piece in some["pieces"]}

    assert ended.code == 2 or written <= {"▁gu", "▁ba", "▁be", "▁bi"}
    assert (ended.code == 0) == (words in ("", "--mbr"))


def _write_narrow_shortlist(model: Path) -> None:
    """Let one piece come, whatever the source."""
    import numpy as np

    from dragoman.text import Tokenizer
    from dragoman.text.lexicon import Lexicon

    tokenizer = Tokenizer.load(model / "tokenizer.model")
    starts, none = np.zeros(tokenizer.vocabulary_size + 1, np.int32), np.zeros(0, np.int32)
    always = np.array([tokenizer.end, *tokenizer.tokens(["▁gu"])], np.int32)
    (model / "shortlist.safetensors").write_bytes(Lexicon(starts, none, always).to_bytes())


def test_a_shortlist_needs_the_engine(translate: Translate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyTorch translates it is refused, whatever else is asked."""
    monkeypatch.setattr("dragoman.searchers.is_there", lambda: False)
    for words in ((), ("--sample", 2), ("--forbid", "ba")):
        ended = translate("--shortlist", *words, text="ba\n")

        assert (ended.code, ended.lines) == (2, [])
        assert "error: a shortlist " in ended.said
        assert "hint: leave --shortlist out" in ended.said


def test_a_models_own_shortlist_is_no_trap(
    translate: Translate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the key in its configuration a model translates and explains wherever it may be."""
    translate.model = Path(shutil.copytree(translate.model, tmp_path / "model"))
    path = translate.model / "config.json"
    config = json.loads(path.read_text())
    config["search"]["shortlist"] = True
    path.write_text(json.dumps(config))

    assert Translator(Bundle.load(translate.model)).translate(["ba be"])[0].text == "ba be"
    if is_there():
        assert translate(text="ba be\n") == Ended(0, ["ba be"], "")
        ended = translate("--sample", 2, text="ba be\n")
        assert "hint: leave --shortlist out, or add --no-shortlist where the model has the key" in ended.said
        assert translate("--sample", 2, "--no-shortlist", text="ba be\n").code == 0
    monkeypatch.setattr("dragoman.searchers.is_there", lambda: False)

    assert translate(text="ba be\n").lines == ["ba be"]


@pytest.mark.parametrize(
    "words", ["--forbid ba", "--n-best 2 --diversity 1", "--ensemble MODEL", "--sample 2 --top-k 1"]
)
def test_without_the_engine_the_same_comes(
    translate: Translate, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """The model in torch is asked by the same searches."""
    chosen = [str(translate.model) if word == "MODEL" else word for word in words.split()]
    right = translate(*chosen, "--format", "jsonl", text=TEXT)
    monkeypatch.setattr("dragoman.searchers.is_there", lambda: False)

    assert texts_of(translate(*chosen, "--format", "jsonl", text=TEXT)) == texts_of(right)
