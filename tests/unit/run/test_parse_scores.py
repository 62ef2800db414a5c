"""Scores by which a parser is judged while it learns, and at the end."""

from collections.abc import Sequence

import pytest

from dragoman.evaluate.brackets import score_trees
from dragoman.parser import Parser
from dragoman.run.scoring import quick_scores, score_pairs
from dragoman.text import Pair
from dragoman.trees import Tree, linear, rooted, source_of, with_tags_of
from dragoman.trees.reader import parse_trees
from tiny_parsers import tiny_parser

pytestmark = pytest.mark.untraced  # sentences of one word each would do; what they run is watched elsewhere

GOLD = [
    *("(S (NP (NN boats)) (NN sing) (, .))", "(S (NN go))", "(S ('' a) (NP (NN b) (NN c)))"),
    *(f"(S (NP (NN boat{i}) (NN sings)) (NN here))" for i in range(12)),
]


def trees() -> list[Tree]:
    return [rooted(numbered.tree) for numbered in parse_trees(GOLD, "a test")]


def pairs_of(gold: Sequence[Tree]) -> list[Pair]:
    return [
        Pair(source_of([leaf.word for leaf in tree.leaves()]), " ".join(linear(tree, keep_tags=True)))
        for tree in gold
    ]


def parsed(parser: Parser, gold: Sequence[Tree]) -> list[Tree]:
    found = [parse.tree for parse in parser.parse([[leaf.word for leaf in tree.leaves()] for tree in gold])]
    return [tree for tree in found if tree]


@pytest.mark.parametrize("keep_tags", [False, True])
def test_brackets_are_compared_over_gold_tags(keep_tags: bool) -> None:
    """Whether tags are predicted or not, each sentence counts, by EVALB's own numbers on retagged trees."""
    parser, gold = tiny_parser(keep_tags=keep_tags), trees()
    found = parsed(parser, gold)
    retagged = [with_tags_of(tree, right) for tree, right in zip(found, gold, strict=True)]
    total = score_trees(gold, retagged).total
    tags = [
        one.tag == other.tag
        for right, tree in zip(gold, found, strict=True)
        for one, other in zip(right.leaves(), tree.leaves(), strict=True)
    ]
    scores, samples = quick_scores(parser.bundle, pairs_of(gold), lambda: None)

    assert (scores["f1"], scores["exact_match"]) == (total.f1, total.exact_match)
    assert total.num_valid == len(gold)
    assert scores.get("tagging_accuracy") == (100 * sum(tags) / len(tags) if keep_tags else None)
    assert [sample.kind for sample in samples] == ["tree"] * 3


def test_wrong_tags_end_no_run() -> None:
    """Words taken for punctuation spoil their sentences by EVALB's rules; they are told, not raised."""
    parser, gold = tiny_parser(keep_tags=True), trees()
    scores = score_pairs(parser.bundle, pairs_of(gold))

    assert scores.num_segments == len(gold)
    assert any("left out of the score" in notice for notice in scores.notices())


def test_a_wish_to_stop_is_heard_while_parsing() -> None:
    """What is called before each batch may end the scoring."""

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick_scores(tiny_parser().bundle, pairs_of(trees()), stop)
