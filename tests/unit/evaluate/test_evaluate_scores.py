"""What `score` and `sentence_scores` promise, on sentences of our own and on the cases of bad input."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.errors import ScoreError
from dragoman.evaluate import EmptyReference, Scores, score, sentence_scores

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases"

OUTPUTS = [
    "The baker opens his shop at six.",
    "Two geese cross the frozen lake.",
    "My aunt has sold her blue bicycle.",
    "It will rain before we reach the inn.",
]
REFERENCES = [
    "The baker opens the shop at six.",
    "Two geese walk over the frozen lake.",
    "My aunt sold her blue bicycle.",
    "It is going to rain before we reach the inn.",
]
MORE_REFERENCES = [
    "At six, the baker opens his shop.",
    "Two geese cross a frozen lake.",
    "My aunt has sold the blue bike.",
    "Before we get to the inn, it will rain.",
]


def read_case(name: str) -> tuple[list[str], list[str], dict[str, float]]:
    """Return outputs, references and expected numbers of a case; skip where the cases are not at hand."""
    folder = CASES / name
    if not folder.is_dir():
        pytest.skip(f"the case {name} is not at hand")
    outputs, references = (
        (folder / file).read_bytes().decode().removesuffix("\n").split("\n")
        for file in ("hyp.txt", "ref.txt")
    )
    return outputs, references, json.loads((folder / "expect.json").read_text(encoding="utf-8"))


def test_equal_texts_are_perfect() -> None:
    """Outputs that equal their references score 100, 100 and no errors."""
    scores = score(REFERENCES, REFERENCES)

    assert scores.bleu.value == pytest.approx(100.0)
    assert scores.chrf.value == pytest.approx(100.0)
    assert scores.ter is not None
    assert scores.ter.value == 0.0


def test_a_list_of_texts_is_one_reference_set() -> None:
    """A plain list of references and a list of one list mean the same."""
    assert score(OUTPUTS, REFERENCES) == score(OUTPUTS, [REFERENCES])


def test_tuples_are_as_good_as_lists() -> None:
    """The kind of sequence makes no difference."""
    assert score(tuple(OUTPUTS), (tuple(REFERENCES),)) == score(OUTPUTS, [REFERENCES])


def test_the_order_of_reference_sets_changes_nothing() -> None:
    """Reference sets may be given in any order."""
    assert score(OUTPUTS, [REFERENCES, MORE_REFERENCES]) == score(OUTPUTS, [MORE_REFERENCES, REFERENCES])


def test_a_second_reference_helps_these_outputs() -> None:
    """Words that only the second set has count as right."""
    one, two = score(OUTPUTS, REFERENCES), score(OUTPUTS, [REFERENCES, MORE_REFERENCES])

    assert two.bleu.value > one.bleu.value
    assert two.chrf.value > one.chrf.value


@pytest.mark.parametrize("num_sets", [1, 2])
def test_signatures_count_the_references(num_sets: int) -> None:
    """Each signature tells the number of reference sets that gave this very value."""
    score(OUTPUTS, [REFERENCES] * 3)
    scores = score(OUTPUTS, [REFERENCES, MORE_REFERENCES][:num_sets])

    assert scores.ter is not None
    assert all(f"nrefs:{num_sets}|" in one.signature for one in (scores.bleu, scores.chrf, scores.ter))


def test_signatures_name_the_settings() -> None:
    """BLEU is cased with 13a tokens and exponential smoothing, chrF has six orders, TER ignores case."""
    scores = score(OUTPUTS, REFERENCES)

    assert scores.ter is not None
    assert {"case:mixed", "eff:no", "tok:13a", "smooth:exp"} <= set(scores.bleu.signature.split("|"))
    assert {"nc:6", "nw:0", "space:no"} <= set(scores.chrf.signature.split("|"))
    assert {"case:lc", "tok:tercom"} <= set(scores.ter.signature.split("|"))
    assert (scores.bleu.name, scores.chrf.name, scores.ter.name) == ("BLEU", "chrF2", "TER")


def test_tokenized_scores_say_so() -> None:
    """Tokenized BLEU takes tokens as they are, and both its name and its signature tell."""
    tokens = ["the end , at last !"]
    scores = score(["the end, at last !"], tokens, tokenized=True)

    assert scores.bleu.name == "BLEU (tokenized)"
    assert "tok:none" in scores.bleu.signature.split("|")
    assert scores.bleu.value < score(["the end, at last !"], tokens).bleu.value


def test_ter_may_be_left_out() -> None:
    """Without TER the other scores are the same and TER is None."""
    whole, quick = score(OUTPUTS, REFERENCES), score(OUTPUTS, REFERENCES, ter=False)

    assert quick.ter is None
    assert (quick.bleu, quick.chrf) == (whole.bleu, whole.chrf)


@pytest.mark.parametrize("outputs", [["", "", "", ""], [" ", "\t", "\u00a0", ""]])
def test_empty_outputs_score_zero(outputs: list[str]) -> None:
    """Nothing said is nothing right, in the corpus and sentence by sentence, and every word is an error."""
    scores = score(outputs, REFERENCES)

    assert (scores.bleu.value, scores.chrf.value) == (0.0, 0.0)
    assert scores.ter is not None
    assert scores.ter.value == 100.0
    assert sentence_scores(outputs, REFERENCES) == [(0.0, 0.0)] * 4
    assert scores.lines()[-1] == "4 of 4 outputs are empty"


def test_nothing_against_nothing_scores_zero() -> None:
    """An empty output is not perfect because its reference is empty too."""
    scores = score([""], [""])

    assert (scores.bleu.value, scores.chrf.value) == (0.0, 0.0)
    assert sentence_scores([""], [""]) == [(0.0, 0.0)]


def test_empty_references_are_counted_and_placed() -> None:
    """The notice counts all empty references and names the first five, counted from 1."""
    references = ["", "a b c d", " ", "", "\t", "", "", "e f g h"]
    scores = score(["a b c d"] * 8, references)

    assert scores.num_empty_references == 6
    assert scores.empty_references == tuple(EmptyReference(1, line) for line in (1, 3, 4, 5, 6))
    assert "6 of 8 references are empty (line 1, line 3, line 4, line 5, line 6, ...)" in scores.notices()[0]


def test_an_empty_reference_is_placed_in_its_set() -> None:
    """With several sets the notice also names the set."""
    scores = score(["a b", "c d"], [["a b", "c d"], ["a b", ""]])

    assert scores.empty_references == (EmptyReference(2, 2),)
    assert "line 2 of set 2" in scores.notices()[0]


def test_cut_outputs_are_reported() -> None:
    """The number of cut outputs stands in the report, and only where it is known."""
    known, unknown = score(OUTPUTS, REFERENCES, num_cut=2), score(OUTPUTS, REFERENCES)

    assert known.lines()[-1] == "0 of 4 outputs are empty, 2 cut at the length limit"
    assert "cut" not in unknown.lines()[-1]


def test_tokenized_looks_are_noticed() -> None:
    """Outputs that look tokenized are noticed where detokenized text was expected, and only there."""
    outputs = ["A dog .", "The road ends .", "Nobody came"]

    assert score(outputs, outputs).looks_tokenized
    assert "detokenize" in score(outputs, outputs).notices()[0]
    assert not score(outputs, outputs, tokenized=True).notices()
    assert not score(OUTPUTS, OUTPUTS).notices()


def test_the_report_gives_value_and_signature() -> None:
    """Each line of the report holds a name, a value to two decimals and the signature."""
    scores = score(OUTPUTS, REFERENCES)

    assert scores.lines()[0].split() == ["BLEU", f"{scores.bleu.value:.2f}", scores.bleu.signature]
    assert [line.split()[0] for line in scores.lines()[:3]] == ["BLEU", "chrF2", "TER"]


def test_the_dictionary_is_plain() -> None:
    """What goes to JSON keeps full precision and comes back equal."""
    scores = score(["a b c d", ""], [["a b c e", ""], ["a b c d", "f"]], num_cut=1)
    returned = json.loads(json.dumps(scores.as_dict()))

    assert returned == scores.as_dict()
    assert returned["bleu"]["value"] == scores.bleu.value
    assert returned["empty_references"] == [{"reference_set": 1, "line": 2}]


@pytest.mark.parametrize("scorer", [score, sentence_scores])
@pytest.mark.parametrize(
    ("references", "counts"),
    [
        ([[text] for text in REFERENCES], ("4 outputs", "1 references in set 1 of 4")),
        (REFERENCES[:3], ("4 outputs", "3 references in set 1 of 1")),
        ([REFERENCES, MORE_REFERENCES[:1]], ("4 outputs", "1 references in set 2 of 2")),
    ],
)
def test_other_lengths_are_refused(
    scorer: Callable[..., object], references: list[str] | list[list[str]], counts: tuple[str, str]
) -> None:
    """A reference set of another length is refused with both counts, and never scored in part."""
    with pytest.raises(ScoreError) as caught:
        scorer(OUTPUTS, references)

    assert all(count in caught.value.message for count in counts)
    assert caught.value.hint


@pytest.mark.parametrize(("outputs", "references"), [([], []), ([], [[]]), (OUTPUTS, [])])
def test_nothing_to_score_is_refused(outputs: list[str], references: list[str]) -> None:
    """No outputs or no references make an error of ours, not one from inside a metric."""
    with pytest.raises(ScoreError, match="nothing to score"):
        score(outputs, references)


@pytest.mark.parametrize(
    ("outputs", "references"),
    [
        ("one text", ["one text"]),
        (["one text"], "one text"),
        (["one text", "another"], ["one text", ["another"]]),
        ([b"bytes"], ["text"]),
        (["text"], [[None]]),
        (iter(["text"]), ["text"]),
        (["text"], 7),
        (["text"], [7]),
    ],
)
def test_other_types_are_refused(outputs: object, references: object) -> None:
    """Whatever is not a list of texts, or mixes texts and lists, is a mistake of the caller."""
    with pytest.raises(TypeError):
        score(outputs, references)  # type: ignore[arg-type]


def test_sentence_scores_are_in_order() -> None:
    """Each output has its own scores; a right one has full scores however short it is."""
    scores = sentence_scores(["wrong", "right", "so it is"], ["no", "right", "so it was"])

    assert scores[0] == (0.0, pytest.approx(scores[0].chrf))
    assert scores[1] == pytest.approx((100.0, 100.0))
    assert 0.0 < scores[2].bleu < 100.0


def test_sentence_scores_take_the_best_of_several_references() -> None:
    """An output that equals any of its references scores 100."""
    scores = sentence_scores(MORE_REFERENCES, [REFERENCES, MORE_REFERENCES])

    assert [one.bleu for one in scores] == pytest.approx([100.0] * 4)
    assert [one.chrf for one in scores] == pytest.approx([100.0] * 4)


def check_published(scores: Scores, expected: dict[str, float]) -> None:
    assert scores.bleu.value == pytest.approx(expected["bleu"], abs=0.01)
    assert scores.chrf.value == pytest.approx(expected["chrf2"], abs=0.01)


def test_case_references_the_wrong_way() -> None:
    """Both ways of giving one reference set score right, and a list for each sentence is refused."""
    outputs, references, expected = read_case("S53-references-the-wrong-way")
    check_published(score(outputs, references), expected)
    check_published(score(outputs, [references]), expected)

    with pytest.raises(ScoreError):
        score(outputs, [[reference] for reference in references])


def test_case_empty_reference_line() -> None:
    """A reference without text is scored, and the notice names its line."""
    outputs, references, expected = read_case("S54-empty-reference-line")
    scores = score(outputs, references)

    assert scores.bleu.value == pytest.approx(expected["bleu_if_scored"], abs=0.01)
    assert "line 2" in scores.notices()[0]


def test_case_empty_output() -> None:
    """Empty outputs score 0.0 in the corpus and by sentence, and the report counts them."""
    outputs, references, expected = read_case("S55-empty-output")
    scores = score(outputs, references)

    assert (scores.bleu.value, scores.chrf.value) == (expected["bleu"], expected["chrf2"])
    assert sentence_scores(outputs, references) == [(0.0, 0.0)] * 3
    assert "3 of 3 outputs are empty" in scores.lines()[-1]
