"""Whatever a decoder prefers, constrained search ends in trees over the words."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import SearchConfig
from dragoman.trees import Leaf, Tree, linear, take_inventory
from search_tables import END, START, random_table, token_scores
from tree_tables import (
    IDS,
    NAMES,
    Table,
    keeps_the_rules,
    named,
    run_trees,
    stubborn_table,
    symbol_ids,
    torn_table,
)

pytestmark = pytest.mark.untraced  # the tables are slow enough
often = settings(max_examples=40, deadline=None, derandomize=True)
seeds = st.integers(0, 10**6)
CHILDREN = st.recursive(
    st.sampled_from([Leaf("XX", "yes"), Leaf("NN", "dogs")]),
    lambda children: st.builds(
        Tree, st.sampled_from(["S", "NP", "TOP"]), st.lists(children, min_size=1, max_size=4).map(tuple)
    ),
    max_leaves=12,
)
TREES = st.builds(Tree, st.sampled_from(["S", "TOP"]), st.lists(CHILDREN, min_size=1, max_size=3).map(tuple))
SENTENCES = st.lists(
    st.tuples(st.integers(1, 12), st.integers(3, 30)).map(lambda drawn: (drawn[0], sum(drawn))),
    min_size=1,
    max_size=3,
)
"""Words and limit of some sentences; the tightest limit holds one tree alone."""
TABLES = (
    seeds.map(lambda seed: random_table(seed, len(NAMES), holes=False))
    | seeds.map(lambda seed: random_table(seed, len(NAMES), ties=True, holes=False))
    | st.builds(stubborn_table, seeds, st.sampled_from(range(len(NAMES))))
    | seeds.map(torn_table)
)


@often
@given(
    table=TABLES,
    sentences=SENTENCES,
    beam_size=st.integers(1, 21),
    n_best=st.integers(1, 21),
    alpha=st.sampled_from([-0.6, 0.0, 0.3, 2.0]),
    rules=st.fixed_dictionaries(
        {
            "longest_run": st.integers(1, 4),
            "inner": st.sets(st.sampled_from([IDS["(S"], IDS["(NP"], IDS["(TOP"]])).map(tuple),
        }
    ),
)
def test_every_hypothesis_is_a_tree_over_the_words(
    table: Table,
    sentences: list[tuple[int, int]],
    beam_size: int,
    n_best: int,
    alpha: float,
    rules: dict[str, Any],
) -> None:
    """All that is found has ended, is a tree with one leaf a word, and has the decoder's own scores."""
    config = SearchConfig(beam_size=beam_size, n_best=min(n_best, beam_size), length_penalty=alpha)
    symbols = symbol_ids(**rules)
    numbered = [(number, *sentence) for number, sentence in enumerate(sentences)]
    for (number, words, limit), found in zip(
        numbered, run_trees(table, numbered, config, symbols), strict=True
    ):
        assert found
        for hypothesis in found:
            assert hypothesis.finished
            assert keeps_the_rules(hypothesis.tokens, words, limit, symbols)
            assert list(hypothesis.token_scores) == token_scores(table, number, hypothesis)


@often
@given(table=TABLES, sentences=SENTENCES, beam_size=st.sampled_from([1, 4, 7]))
def test_the_batch_changes_nothing(table: Table, sentences: list[tuple[int, int]], beam_size: int) -> None:
    """Sentences of different lengths are given the same trees together as alone."""
    config = SearchConfig(beam_size=beam_size, n_best=beam_size, length_penalty=0.3)
    numbered = [(number, *sentence) for number, sentence in enumerate(sentences)]
    alone = [run_trees(table, [sentence], config)[0] for sentence in numbered]

    assert run_trees(table, numbered, config) == alone


@often
@given(tree=TREES, spare=st.integers(0, 9), beam_size=st.integers(1, 5))
def test_no_tree_is_out_of_reach(tree: Tree, spare: int, beam_size: int) -> None:
    """Any tree is written by a table that prefers it, under the tightest rules that the tree keeps."""
    symbols = linear(tree, keep_tags=True)
    right = (START, *(IDS[symbol] for symbol in symbols), END)

    def table(sentence: int, history: tuple[int, ...]) -> list[float]:
        place = len(history)
        wanted = right[place] if history == right[:place] and place < len(right) else IDS["▁a"]
        return [math.log(0.9 if token == wanted else 0.1 / (len(NAMES) - 1)) for token in range(len(NAMES))]

    sentence = (0, len(tree.leaves()), len(right) - 1 + spare)
    rules = symbol_ids(longest_run=take_inventory([tree]).longest_run)
    [found] = run_trees(table, [sentence], SearchConfig(beam_size=beam_size, length_penalty=0.0), rules)

    assert named(found[0].tokens) == symbols
    assert found[0].log_probability == pytest.approx((len(right) - 1) * math.log(0.9))
