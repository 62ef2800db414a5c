"""What the bracket score promises, on random trees, on trees of our own and on the cases of bad input."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dragoman.errors import ScoreError
from dragoman.evaluate.bracket_rules import COLLINS, Rules
from dragoman.evaluate.brackets import BracketScores, SentenceScores, Status, score_trees
from dragoman.trees import Bracket, Leaf, Tree, build, parse_trees, read_trees, walk

WORDS = {"otter": ("NN", "VB"), "swims": ("VBZ", "NNS"), "away": ("RB", "PRT"), ",": (",",), ".": (".",)}
LABELS = ("S", "NP", "NP-SBJ", "VP", "ADVP", "PRT", "TOP")

pytestmark = pytest.mark.untraced

random = st.integers(0, 2**32 - 1).map(Random)
fifty = settings(max_examples=50, deadline=None)


def any_parse(words: list[str], random: Random, levels: int = 4) -> Tree:
    """Return a tree over these words; the tag of each is one of those it may have."""
    cuts = sorted(random.sample(range(1, len(words)), random.randint(0, min(3, len(words) - 1))))
    children: list[Tree | Leaf] = []
    for start, end in zip([0, *cuts], [*cuts, len(words)], strict=True):
        part = words[start:end]
        if levels and (len(part) > 1 or random.random() < 0.5):
            children.append(any_parse(part, random, levels - 1))
        else:
            children.extend(Leaf(random.choice(WORDS[word]), word) for word in part)
    return Tree(random.choice(LABELS), tuple(children))


def any_pairs(random: Random) -> list[tuple[Tree, Tree]]:
    """Return some pairs of trees over the same words, which are not punctuation alone."""
    texts = [["otter", *random.choices(list(WORDS), k=random.randint(0, 9))] for _ in range(5)]
    return [(any_parse(words, random), any_parse(words, random)) for words in texts]


def without(whole: Tree, number: int) -> Tree:
    """Return a tree without one of its brackets, numbered as they open; what it held stays in its place."""
    steps: list[Leaf | Bracket] = []
    growing: list[int] = []
    num_brackets = 0
    for step in walk(whole):
        if isinstance(step, Bracket) and step.opens:
            growing.append(num_brackets)
            num_brackets += 1
        if isinstance(step, Leaf) or growing[-1] != number:
            steps.append(step)
        if isinstance(step, Bracket) and not step.opens:
            growing.pop()
    rest = build(steps)
    assert isinstance(rest, Tree)
    return rest


def tree(text: str) -> Tree:
    ((_, parsed),) = parse_trees([text], "a tree of the test")
    return parsed


def sentence(gold: str, predicted: str, rules: Rules = COLLINS) -> SentenceScores:
    return score_trees([tree(gold)], [tree(predicted)], rules).sentences[0]


def counts(scores: SentenceScores) -> tuple[int, int, int]:
    return scores.num_matched, scores.num_gold, scores.num_predicted


def case(shared: Path, name: str) -> tuple[BracketScores, dict[str, Any]]:
    """Score the predictions of a case of the reference data and return what is expected of them, too."""
    folder = shared / "cases" / name
    if not folder.is_dir():
        pytest.skip(f"the case {name} is not here")
    gold, predicted = ([one.tree for one in read_trees(folder / f"{file}.txt")] for file in ("gold", "pred"))
    return score_trees(gold, predicted), json.loads((folder / "expect.json").read_text(encoding="utf-8"))


def numbers(scores: BracketScores) -> dict[str, float]:
    """Return the sums under the names of the cases, rounded as they are there."""
    total = scores.total
    return {
        "matched": total.num_matched,
        "gold": total.num_gold,
        "test": total.num_predicted,
        "precision": round(total.precision, 2),
        "recall": round(total.recall, 2),
        "f1": round(total.f1, 2),
        "complete_match": round(total.exact_match, 2),
    }


@fifty
@given(random)
def test_trees_are_perfect_by_themselves(random: Random) -> None:
    """Trees scored against themselves have all brackets right, all tags right and nothing crossing."""
    gold = [Tree("S", (one,)) for one, _ in any_pairs(random)]
    total = score_trees(gold, gold).total

    assert (total.recall, total.precision, total.f1, total.exact_match) == (100, 100, 100, 100)
    assert (total.tagging_accuracy, total.average_crossing, total.no_crossing) == (100, 0, 100)


@fifty
@given(random)
def test_recall_is_precision_the_other_way_round(random: Random) -> None:
    """Recall of one set of trees by another is the precision of the other by the one; F1 is the same."""
    one, other = zip(*any_pairs(random), strict=True)
    forth, back = score_trees(one, other).total, score_trees(other, one).total

    assert (forth.recall, forth.precision) == (back.precision, back.recall)
    assert forth.f1 == pytest.approx(back.f1)
    assert forth.tagging_accuracy == back.tagging_accuracy


@fifty
@given(random)
def test_order_of_sentences_changes_no_sum(random: Random) -> None:
    """The sums are those of a bag of sentences."""
    pairs = any_pairs(random)
    first, second = (
        score_trees(*zip(*some, strict=True)) for some in (pairs, random.sample(pairs, len(pairs)))
    )

    assert (first.total, first.short) == (second.total, second.short)


@fifty
@given(random)
def test_a_missing_bracket_lowers_recall_only(random: Random) -> None:
    """Without one of its brackets a right tree still has full precision, but less than full recall."""
    whole = Tree("S", (any_pairs(random)[0][0],))
    num_brackets = sum(isinstance(step, Bracket) and step.opens for step in walk(whole))
    scores = score_trees([whole], [without(whole, random.randrange(1, num_brackets))]).sentences[0]
    assume(scores.num_gold > scores.num_predicted)

    assert scores.precision == 100
    assert scores.recall == pytest.approx(100 - 100 / scores.num_gold)
    assert (scores.num_crossing, scores.tagging_accuracy) == (0, 100)


def bag(node: Tree | Leaf, start: int) -> tuple[int, list[tuple[str, int, int]]]:
    """Return where a constituent ends and its brackets that count, over words that are no punctuation."""
    if isinstance(node, Leaf):
        return start + node.word.isalpha(), []
    end, inside = start, []
    for child in node.children:
        end, more = bag(child, end)
        inside += more
    label = node.label.split("-")[0].replace("PRT", "ADVP")
    return end, inside + [(label, start, end)] * (end > start and label != "TOP")


@fifty
@given(random)
def test_counts_are_those_of_bags_of_brackets(random: Random) -> None:
    """Matched are the brackets common to two bags, each bracket written as its label and its words."""
    gold, predicted = any_pairs(random)[0]
    (_, right), (_, found) = bag(gold, 0), bag(predicted, 0)
    common = sum(min(right.count(one), found.count(one)) for one in set(right))

    assert counts(score_trees([gold], [predicted]).sentences[0]) == (common, len(right), len(found))


def test_each_bracket_matches_once() -> None:
    """Of two brackets over the same words one is right where the gold tree has one."""
    scores = sentence("(S (NP (NN rain)) (VP (VBZ falls)))", "(S (NP (NP (NN rain))) (VP (VBZ falls)))")

    assert counts(scores) == (3, 3, 4)


def test_function_tags_are_cut_from_brackets_and_not_from_tags() -> None:
    """NP-SBJ-1 and NP=2 are NP, but the tag NN-X is not NN."""
    scores = sentence("(S (NP-SBJ-1 (NN-X rain)) (VP=2 (VBZ falls)))", "(S (NP (NN rain)) (VP (VBZ falls)))")

    assert counts(scores) == (3, 3, 3)
    assert (scores.num_words, scores.num_correct_tags) == (2, 1)


def test_punctuation_does_not_count() -> None:
    """A bracket may hold the final stop or leave it out; the stop is no word, though it makes the length."""
    scores = sentence(
        "(TOP (S (NP (NN rain)) (VP (VBZ falls)) (. .)))", "(S1 (S (NP (NN rain)) (VP (VBZ falls) (. .))))"
    )

    assert counts(scores) == (3, 3, 4)
    assert (scores.length, scores.num_words) == (3, 2)


def test_traces_are_neither_words_nor_length() -> None:
    """An empty element does not count, and neither does a bracket that holds nothing else."""
    scores = sentence("(S (NP (-NONE- *)) (VP (VB see) (NP (PRP it))))", "(S (VP (VB see) (NP (PRP it))))")

    assert counts(scores) == (3, 3, 3)
    assert (scores.length, scores.num_words) == (2, 2)


def test_a_bracket_without_label_does_not_count() -> None:
    """The outermost bracket of Penn's own files is worth as little as TOP."""
    scores = sentence("( (S (NP (NN rain))))", "(TOP (S (NP (NN rain))))")

    assert counts(scores) == (2, 2, 2)


def test_equal_labels_and_words_are_taken_for_one() -> None:
    """Pairs hold in either order, for brackets, tags and words."""
    rules = Rules(equal_labels=frozenset({("ADVP", "PRT")}), equal_words=frozenset({("gray", "grey")}))
    forth = sentence("(S (ADVP (PRT gray)))", "(S (PRT (ADVP grey)))", rules)
    back = sentence("(S (PRT (ADVP grey)))", "(S (ADVP (PRT gray)))", rules)

    assert counts(forth) == counts(back) == (2, 2, 2)
    assert forth.num_correct_tags == back.num_correct_tags == 1


def test_labels_may_be_left_out_of_account() -> None:
    """Without labels a bracket is right where its words are."""
    scores = sentence(
        "(S (NP (NN rain)) (VP (VBZ falls)))", "(X (Y (NN rain)) (VBZ falls))", Rules(labeled=False)
    )

    assert counts(scores) == (2, 3, 2)


def test_crossing_brackets_are_counted_once_each() -> None:
    """A predicted bracket that crosses two gold brackets is one crossing bracket."""
    scores = sentence("(S (A (B (X a) (X b)) (X c)) (X d))", "(S (X a) (C (X b) (X c) (X d)))")

    assert scores.num_crossing == 1


def test_quotation_marks_are_put_back() -> None:
    """A mark that one tree deletes and the other takes for a possessive is a word of both."""
    rules = Rules(delete_labels=frozenset({"''"}), quote_labels=frozenset({"''", "POS"}))
    gold, predicted = (
        "(S (NP (NNS boys) (POS ')) (NP (NN boat)))",
        "(S (NP (NNS boys) ('' ')) (NP (NN boat)))",
    )
    forth, back = sentence(gold, predicted, rules), sentence(predicted, gold, rules)

    assert counts(forth) == counts(back) == (3, 3, 3)
    assert (forth.num_words, forth.num_correct_tags) == (back.num_words, back.num_correct_tags) == (3, 2)


def test_trees_may_be_deeper_than_the_stack() -> None:
    """Ten thousand brackets in one another are counted."""
    deep: Tree | Leaf = Leaf("NN", "turtle")
    for _ in range(10_000):
        deep = Tree("NP", (deep,))
    assert isinstance(deep, Tree)

    assert counts(score_trees([deep], [deep]).sentences[0]) == (10_000, 10_000, 10_000)


def test_sentences_up_to_the_cutoff_have_sums_of_their_own() -> None:
    """The length that decides is the gold tree's; all sentences are in the other sums."""
    trees = [tree("(S (NP (NN rain)) (VP (VBZ falls)))"), tree("(S (NP (NN rain)))")]
    scores = score_trees(trees, trees, Rules(cutoff_length=1))

    assert (scores.total.num_sentences, scores.total.num_gold) == (2, 5)
    assert (scores.cutoff_length, scores.short.num_sentences, scores.short.num_gold) == (1, 1, 2)


def test_leaves_that_do_not_match_are_errors_with_their_line() -> None:
    """Other words, or more or fewer of them, are told with their lines and left out of the sums."""
    right = tree("(S (NN rain) (VBZ falls))")
    others = [right, tree("(S (NN rain))"), tree("(S (NN snow) (VBZ falls))")]
    scores = score_trees([right] * 3, others, lines=[2, 4, 9])

    assert [one.status for one in scores.sentences] == [Status.VALID, Status.ERROR, Status.ERROR]
    assert scores.notices() == [
        "2 of 3 sentences are errors and left out of the score: "
        "line 4 (the gold tree has 2 leaves, 2 of which count; the prediction has 1, 1 of which count); "
        "line 9 (word 1 is 'rain' in the gold tree and 'snow' in the prediction)"
    ]
    assert (scores.total.num_errors, scores.total.num_valid, scores.total.f1) == (2, 1, 100)


def test_missing_predictions_are_skipped() -> None:
    """No prediction, and one without words that count, are skipped and told."""
    gold = [tree("(TOP (NN rain))"), tree("(TOP (NN rain))"), tree("(TOP (. .))")]
    scores = score_trees(gold, [gold[0], None, gold[2]])

    assert [one.status for one in scores.sentences] == [Status.VALID, Status.SKIPPED, Status.SKIPPED]
    assert scores.notices() == [
        "2 of 3 sentences are skipped and left out of the score: "
        "line 2 (no tree); line 3 (no word of the tree counts)"
    ]


def test_no_bracket_divides_by_nothing() -> None:
    """Trees of words under TOP alone have no brackets; every number is there and the sentence is exact."""
    gold = [tree("(TOP (UH Yes))")]
    total = score_trees(gold, gold).total
    nothing = score_trees(gold, [None]).total

    assert (total.num_gold, total.recall, total.precision, total.f1) == (0, 0, 0, 0)
    assert (total.exact_match, total.tagging_accuracy) == (100, 100)
    assert (nothing.exact_match, nothing.average_crossing, nothing.no_crossing) == (0, 0, 0)


def test_too_many_errors_end_the_scoring() -> None:
    """As in EVALB one error more than the rules say is let through, and the next is told as a mistake."""
    gold, other = tree("(S (NN rain))"), tree("(S (NN snow))")
    rules = Rules(max_errors=2)

    assert score_trees([gold] * 4, [gold] + [other] * 3, rules).total.num_errors == 3
    with pytest.raises(
        ScoreError, match=r"4 predictions .* allow 3; the first is at line 2: word 1 is 'rain'"
    ):
        score_trees([gold] * 5, [gold] + [other] * 4, rules)


def test_unequal_numbers_of_trees_are_refused() -> None:
    """Nothing is scored where a tree has no partner."""
    gold = tree("(S (NN rain))")

    with pytest.raises(ScoreError, match="2 gold trees but 1 predictions"):
        score_trees([gold, gold], [gold])
    with pytest.raises(ScoreError, match="nothing to score"):
        score_trees([], [])
    with pytest.raises(ValueError, match="1 gold trees but 2 lines"):
        score_trees([gold], [gold], lines=[1, 2])


def test_scores_are_plain_values_for_json() -> None:
    """Counts, percentages and states survive a round through JSON."""
    gold = [tree("(S (NP (NN rain)) (VP (VBZ falls)))")] * 2
    plain = score_trees(gold, [gold[0], None]).as_dict()

    assert json.loads(json.dumps(plain)) == plain
    assert (plain["total"]["f1"], plain["total"]["num_skipped"], plain["short"]["exact_match"]) == (
        100,
        1,
        100,
    )
    assert [one["status"] for one in plain["sentences"]] == ["valid", "skipped"]


def test_sentence_with_other_leaves(shared: Path) -> None:
    """A prediction that lacks a word is an error, and the numbers over the others are right."""
    scores, expected = case(shared, "S58-leaves-do-not-match")

    assert [one.line for one in scores.sentences if one.status is Status.ERROR] == expected[
        "skipped_sentences"
    ]
    assert numbers(scores) == expected["over_the_other_two"]


def test_standard_settings(shared: Path) -> None:
    """Punctuation, TOP and function tags are treated as everyone does."""
    scores, expected = case(shared, "S60-bracket-score-settings")

    assert numbers(scores) == next(iter(expected.values()))


def test_one_word(shared: Path) -> None:
    """Trees of one word, with TOP alone or of punctuation alone, are scored against themselves."""
    file = shared / "cases" / "S57-one-token" / "trees.txt"
    if not file.is_file():
        pytest.skip("the case S57 is not here")
    trees = [one.tree for one in read_trees(file)]
    scores = score_trees(trees, trees)

    assert [one.num_gold for one in scores.sentences] == [0, 0, 1]
    assert scores.total.f1 == 100
