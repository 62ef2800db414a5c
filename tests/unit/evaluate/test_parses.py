"""Scores of a parser: what counts where outputs are no trees or have no tags."""

import json

import pytest

from dragoman.errors import TreeError
from dragoman.evaluate.bracket_report import evalb_report
from dragoman.evaluate.bracket_rules import Rules
from dragoman.evaluate.brackets import score_trees
from dragoman.evaluate.parses import score_parses
from dragoman.trees import BadTree, Leaf, Tree, parse_trees

pytestmark = pytest.mark.untraced

GOLD = "(TOP (S (NP (NN rain)) (VP (VBZ falls) (NP (-NONE- *T*))) (. .)))"
RIGHT = "(TOP (S (NP (NN rain)) (VP (VBZ falls)) (. .)))"
WITHOUT_TAGS = "(TOP (S (NP (XX rain)) (VP (XX falls)) (XX .)))"
BAD = BadTree(7, TreeError("trees.mrg, line 7: it is broken"), (Leaf("NN", "rain"),))


def tree(text: str) -> Tree:
    ((_, parsed),) = parse_trees([text], "a tree of the test")
    return parsed


def test_what_is_no_tree_is_broken() -> None:
    """Nothing, a damaged tree and a tree over other words are no trees over the words; the rest is scored."""
    predicted = [tree(RIGHT), None, BAD, tree(RIGHT.replace("rain", "snow"))]
    scores = score_parses([tree(GOLD)] * 4, predicted)

    assert (scores.num_segments, scores.num_broken, scores.well_formed) == (4, 3, 25)
    assert [one.status.name for one in scores.brackets.sentences] == ["VALID", "SKIPPED", "ERROR", "ERROR"]
    assert scores.brackets.sentences[2].reason == "trees.mrg, line 7: it is broken"
    assert scores.f1 == 100


def test_broken_outputs_may_count_as_trees_without_brackets() -> None:
    """F1 over all is that of the same outputs with a flat tree, which has no bracket, for each broken one."""
    gold, flat = tree(GOLD), tree("(TOP (NN rain) (VBZ falls) (. .))")
    broken = score_parses([gold] * 3, [tree(RIGHT), None, BAD])
    mended = score_parses([gold] * 3, [tree(RIGHT), flat, flat])

    assert broken.f1_of_all == pytest.approx(mended.f1)
    assert mended.f1_of_all == pytest.approx(mended.f1)
    assert "F1 with what is left out as trees without brackets: 50.00 %" in broken.lines()


def test_a_damaged_tree_without_words_is_skipped() -> None:
    """As EVALB does; punctuation is no word that counts."""
    bad = [BAD._replace(leaves=leaves) for leaves in ((), (Leaf(".", "."),))]
    scores = score_parses([tree(GOLD)] * 2, bad)

    assert scores.brackets.total.num_skipped == 2


def test_damaged_trees_do_not_end_the_scoring() -> None:
    """The limit of errors is about files that do not belong together."""
    scores = score_parses([tree(GOLD)] * 50, [BAD] * 50, Rules(max_errors=0))

    assert scores.brackets.total.num_errors == 50


def test_wrong_tags_are_errors_but_no_other_words() -> None:
    """A tag that makes a word of punctuation leaves its sentence out; any number of such is scored."""
    mistagged = tree(RIGHT.replace("(. .)", "(NN .)"))
    scores = score_parses(
        [tree(GOLD)] * 50, [mistagged] * 50, Rules(delete_labels=frozenset({"-NONE-", "."}))
    )

    assert (scores.brackets.total.num_errors, scores.num_broken) == (50, 0)
    assert (scores.f1, scores.f1_of_all) == (0, 0)
    assert "50 of 50 outputs are trees over their words" in scores.lines()


def test_words_without_tags_get_gold_tags() -> None:
    """With XX alone, punctuation and traces are told by the gold trees, and tags are not scored."""
    scores = score_parses([tree(GOLD)], [tree(WITHOUT_TAGS)])

    assert scores.brackets == score_parses([tree(GOLD)], [tree(RIGHT)]).brackets
    assert not scores.predicts_tags
    assert not any("tagging" in line for line in scores.lines())


def test_other_words_without_tags_are_told() -> None:
    """The reason names the word, or the number of words, and not the tags."""
    others = [tree(WITHOUT_TAGS.replace("rain", "snow")), tree("(TOP (S (NP (XX rain)) (XX .)))")]
    sentences = score_parses([tree(GOLD)] * 2, others).brackets.sentences

    assert [one.status.name for one in sentences] == ["ERROR", "ERROR"]
    assert sentences[0].reason == "word 1 is 'rain' in the gold tree and 'snow' in the prediction"


def test_one_tag_among_many_trees_is_enough() -> None:
    """Where some words have tags, XX is a tag like any other."""
    scores = score_parses([tree(GOLD)] * 2, [tree(RIGHT), tree(RIGHT.replace("NN rain", "XX rain"))])

    assert scores.predicts_tags
    assert scores.brackets.total.tagging_accuracy == 75


def test_scores_are_plain_values_for_json() -> None:
    """What a program reads survives a round through JSON."""
    plain = score_parses([tree(GOLD)] * 2, [tree(RIGHT), None]).as_dict()

    assert json.loads(json.dumps(plain)) == plain
    assert (plain["well_formed"], plain["total"]["f1"]) == (50, 100)
    assert plain["f1_of_all"] == pytest.approx(200 / 3)


def test_the_report_of_nothing_has_no_nan() -> None:
    """Where EVALB divides nothing by nothing the report has 0."""
    report = evalb_report(score_trees([tree(GOLD)], [None]))

    assert report[3] == "   1    3    2    0.00   0.00     0      0    0      0      0     0     0.00"
    assert not any("nan" in line for line in report)
