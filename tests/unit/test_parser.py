"""Words in, trees out."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import SearchConfig
from dragoman.data import as_read, collate
from dragoman.errors import BundleError, CorpusError, UsageError
from dragoman.parser import Parser
from dragoman.parsing import leaves_of
from dragoman.text import Tokenizer
from dragoman.text.ids import END
from dragoman.train.loss import loss_sums
from dragoman.translator import Translator
from dragoman.trees import ANY_TAG, ROOT, linear, take_inventory, tree_of
from text_samples import sentences
from tiny_parsers import INVENTORY, tiny_parser

SENTENCES = [
    ["Boats", "sing", "."],
    [],
    ["no"],
    ["(", "really", ")", "\N{SNOWMAN}", "Xpd TTD"],
    ["the", "old", "river", "and", "the", "bridge", "near", "it"],
]
BRACKETS = ["()", "(", "[", "}", "-LRB-", "<|(NP|>", "</s>", ")S"]
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" "), min_size=1, max_size=5)


def assert_trees_over(parser: Parser, given: Sequence[Sequence[str]], config: SearchConfig) -> None:
    """Every alternative is a tree with one root, the words and allowed runs, and says the same twice."""
    for words, parse in zip(given, parser.parse(given, config), strict=True):
        assert parse.words == tuple(words)
        assert bool(parse.alternatives) == bool(words)
        for found in parse.alternatives:
            assert found.tree is not None
            inventory = take_inventory([found.tree])

            assert found.fault is None
            assert [leaf.word for leaf in found.tree.leaves()] == list(words)
            assert linear(found.tree, keep_tags=True) == list(found.symbols)
            assert tree_of(found.symbols, words) == found.tree
            assert found.tree.label == ROOT
            assert found.symbols.count(f"({ROOT}") == 1
            assert set(inventory.labels) <= set(INVENTORY.labels)
            assert set(inventory.tags) <= ({*INVENTORY.tags} if parser.keeps_tags else {ANY_TAG})
            assert inventory.longest_run <= INVENTORY.longest_run
            assert len(found.symbol_scores) == len(found.symbols) + 1


@pytest.mark.parametrize("beam_size", [1, 2, 4])
@pytest.mark.parametrize("keep_tags", [False, True])
def test_whatever_is_given_comes_back_as_trees(beam_size: int, keep_tags: bool) -> None:
    """Brackets, symbols by name, other scripts, spaces in a word: all of the n best are trees over them."""
    config = SearchConfig(beam_size=beam_size, n_best=beam_size, length_penalty=0.3, extra_length=12)

    assert_trees_over(tiny_parser(keep_tags=keep_tags), SENTENCES, config)


@pytest.mark.untraced
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    given=st.lists(
        st.lists(WORDS | st.sampled_from(BRACKETS), min_size=1, max_size=6), min_size=1, max_size=3
    ),
    beam_size=st.sampled_from([1, 2, 4]),
    seed=st.integers(1, 3),
    extra_length=st.integers(0, 20),
)
def test_any_words_and_any_weights_give_trees(
    given: list[list[str]], beam_size: int, seed: int, extra_length: int
) -> None:
    """Random words, weights, beams and limits end in nothing but trees."""
    config = SearchConfig(beam_size=beam_size, n_best=beam_size, extra_length=extra_length)

    assert_trees_over(tiny_parser(seed=seed), given, config)


@pytest.mark.untraced
@pytest.mark.parametrize("num_words", [1, 300])
def test_one_word_and_three_hundred_are_sentences(num_words: int) -> None:
    """The shortest sentence and one far longer than any that was seen have trees."""
    words = [f"{place}" for place in range(num_words)]

    assert_trees_over(tiny_parser(), [words], SearchConfig(beam_size=2, extra_length=6))


def test_a_blank_sentence_has_no_tree() -> None:
    """It keeps its place and costs nothing."""
    blank, whole = tiny_parser().parse([[], ["no"]])

    assert (blank.words, blank.alternatives, blank.tree) == ((), (), None)
    assert whole.tree == whole.alternatives[0].tree
    assert tiny_parser().parse([]) == []


def test_an_empty_word_is_misuse() -> None:
    """No tree has a leaf without a word, and no model is asked for one."""
    with pytest.raises(ValueError, match="a word is empty"):
        tiny_parser().parse([["a", ""]])


@pytest.mark.parametrize("batch_tokens", [1, 20, 4_096])
@pytest.mark.parametrize("constrained", [True, False])
@pytest.mark.parametrize("reads_words", [True, False])
def test_neighbors_change_nothing(batch_tokens: int, constrained: bool, reads_words: bool) -> None:
    """A sentence is parsed alike alone, in any batch, in any order, and as a stream."""
    parser = tiny_parser(constrained=constrained, reads_words=reads_words)
    config = replace(parser.config, batch_tokens=batch_tokens, n_best=2)
    alone = [parser.parse([words], config)[0] for words in SENTENCES]
    for several, expected in ((SENTENCES, alone), (SENTENCES[::-1], alone[::-1])):
        found = list(parser.parse_stream(iter(several), config))

        assert [[one.symbols for one in parse.alternatives] for parse in found] == [
            [one.symbols for one in parse.alternatives] for parse in expected
        ]


@pytest.mark.parametrize("length_penalty", [0.0, 0.3, 1.0])
def test_alternatives_are_different_and_the_best_is_first(length_penalty: float) -> None:
    """Scores never rise down the list, no tree comes twice, and the first is the same for any n."""
    parser = tiny_parser()
    several, one = (
        parser.parse(
            SENTENCES, SearchConfig(beam_size=4, n_best=n, length_penalty=length_penalty, extra_length=12)
        )
        for n in (4, 1)
    )
    for many, single in zip(several, one, strict=True):
        scores = [found.score for found in many.alternatives]

        assert scores == sorted(scores, reverse=True)
        assert len({found.symbols for found in many.alternatives}) == len(scores)
        assert many.tree == single.tree


@pytest.mark.parametrize("reads_words", [False, True])
@torch.inference_mode()
def test_scores_are_the_model_s_own(reads_words: bool) -> None:
    """The score of a symbol is its log-probability by the model that trains, whatever else was impossible."""
    words, parser = ["Boats", "sing", "."], tiny_parser(reads_words=reads_words)
    tokenizer, model = parser.bundle.tokenizer, parser.bundle.model
    [parse] = parser.parse([words], replace(parser.config, length_penalty=0.0))
    [found] = parse.alternatives
    [written] = tokenizer.encode_targets([" ".join(found.symbols)])
    batch = collate([(tokenizer.encode(" ".join(words)), written)], end=END, padding=model.padding)
    if reads_words:
        read_BT = as_read(batch.source_BS, batch.target_BT, leaves_of(tokenizer))
        batch = batch._replace(input_BT=torch.cat([batch.input_BT[:, :1], read_BT[:, :-1]], dim=1))

    assert found.score == pytest.approx(sum(found.symbol_scores))
    assert found.score == pytest.approx(-float(loss_sums(model, batch, 0.0, fast=False).plain))


def test_a_free_search_tells_why_an_output_is_no_tree() -> None:
    """Random weights write what is none: it has no tree, a reason, and its symbols all the same."""
    parses = tiny_parser(constrained=False).parse(SENTENCES)
    found = [parse.alternatives[0] for parse in parses if parse.words]

    assert [one.tree is None for one in found] == [one.fault is not None for one in found]
    assert any(one.tree is None for one in found)
    assert all("symbol" in one.fault for one in found if one.fault is not None)
    assert all(len(one.symbol_scores) >= len(one.symbols) for one in found)


def test_learned_positions_bound_a_sentence() -> None:
    """A sentence that has more pieces than learned positions is refused; the longest that fits is parsed."""
    parser = tiny_parser(positions="learned", max_positions=12)
    fits = ["."] * 4
    num_pieces = len(parser.bundle.tokenizer.encode(" ".join(fits)))
    with pytest.raises(CorpusError, match=r"pieces; the model has learned 12 positions, 3 of which"):
        parser.parse([["."] * 12])

    assert num_pieces + 3 <= 12
    assert_trees_over(parser, [fits], SearchConfig(beam_size=2))


def test_a_model_that_translates_does_not_parse_and_the_other_way_round() -> None:
    """Each task has its own door, and the message names it."""
    parser = tiny_parser()
    config = parser.bundle.config
    translating = replace(config, data=replace(config.data, task="translation"))
    with pytest.raises(UsageError, match="trained to translate"):
        Parser(replace(parser.bundle, config=translating))
    with pytest.raises(UsageError, match="trained to parse"):
        Translator(parser.bundle)


def test_a_tokenizer_without_symbols_is_refused() -> None:
    """A folder put together from two models is told as such."""
    parser = tiny_parser()
    plain = Tokenizer.train(iter(sentences(300)), 336, max_sentences=10_000, seed=1)
    with pytest.raises(BundleError, match="no symbols to write trees with"):
        Parser(replace(parser.bundle, tokenizer=plain))


def test_a_wish_to_stop_is_heard_between_batches() -> None:
    """What ``before_batch`` raises ends the parsing before the next sentences are searched."""
    heard = []

    def stop() -> None:
        heard.append(1)
        if len(heard) == 2:
            raise KeyboardInterrupt

    parser = Parser(tiny_parser().bundle, before_batch=stop)
    with pytest.raises(KeyboardInterrupt):
        parser.parse(SENTENCES, replace(parser.config, batch_tokens=1))

    assert len(heard) == 2
