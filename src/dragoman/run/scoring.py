"""Scores of a model on pairs whose target is known: by translating, or by parsing."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from dragoman.bundle import Bundle
from dragoman.evaluate import Scores, score
from dragoman.evaluate.bracket_rules import COLLINS
from dragoman.evaluate.parses import ParsingScores, score_parses
from dragoman.parser import Parse, Parser
from dragoman.run.reporter import Sample
from dragoman.text import Pair
from dragoman.translator import Translator
from dragoman.trees import Tree, format_tree, tree_of_pair, with_tags_of

_NUM_SAMPLES = 3


def score_pairs(bundle: Bundle, pairs: Sequence[Pair]) -> Scores | ParsingScores:
    """Return all scores of a model's outputs for the sources against the targets."""
    if bundle.config.data.task == "parsing":
        gold, parses = _parsed(bundle, pairs, lambda: None)
        rules = replace(COLLINS, max_errors=len(gold))  # what cannot be scored is told, and ends no run
        return score_parses(gold, [parse.tree for parse in parses], rules)
    translations = Translator(bundle).translate([pair.source for pair in pairs])
    return score(
        [translation.text for translation in translations],
        [pair.target for pair in pairs],
        tokenized=bundle.config.data.tokenized,
        num_cut=sum(not translation.alternatives[0].finished for translation in translations),
    )


def quick_scores(
    bundle: Bundle, pairs: Sequence[Pair], before_batch: Callable[[], None]
) -> tuple[dict[str, float], list[Sample]]:
    """Return the scores by which checkpoints are judged, and a few of the outputs.

    The scores are ``bleu`` and ``chrf``; of parsing ``f1``, ``exact_match`` and, where tags are predicted,
    ``tagging_accuracy``; all of them are percentages. Brackets are compared over gold tags in any case: by
    EVALB's rules a wrong tag can turn a word into punctuation, and its sentence would not be scored at all.

    Args:
        bundle: The model.
        pairs: At least one.
        before_batch: Called before each batch; what it raises ends the scoring.
    """
    if bundle.config.data.task == "parsing":
        return _quick_parsing_scores(bundle, pairs, before_batch)
    sources = [pair.source for pair in pairs]
    hypotheses = [one.text for one in Translator(bundle, before_batch=before_batch).translate(sources)]
    found = score(
        hypotheses, [pair.target for pair in pairs], tokenized=bundle.config.data.tokenized, ter=False
    )
    samples = [
        Sample(pair.source, pair.target, hypothesis)
        for pair, hypothesis in zip(pairs[:_NUM_SAMPLES], hypotheses, strict=False)
    ]
    return {"bleu": found.bleu.value, "chrf": found.chrf.value}, samples


def _quick_parsing_scores(
    bundle: Bundle, pairs: Sequence[Pair], before_batch: Callable[[], None]
) -> tuple[dict[str, float], list[Sample]]:
    gold, parses = _parsed(bundle, pairs, before_batch)
    found = [parse.tree for parse in parses]
    retagged = [tree and with_tags_of(tree, right) for tree, right in zip(found, gold, strict=True)]
    total = score_parses(gold, retagged).brackets.total
    scores = {"f1": total.f1, "exact_match": total.exact_match}
    if bundle.config.data.keep_tags:
        scores["tagging_accuracy"] = _tagging_accuracy(gold, found)
    samples = [
        Sample(pair.source, format_tree(right), format_tree(tree) if tree else "", "tree")
        for pair, right, tree in zip(pairs[:_NUM_SAMPLES], gold, found, strict=False)
    ]
    return scores, samples


def _tagging_accuracy(gold: Sequence[Tree], found: Sequence[Tree | None]) -> float:
    """Return the share of words with the right tag, in percent, punctuation included."""
    tags = [
        (one.tag, other.tag)
        for right, tree in zip(gold, found, strict=True)
        if tree is not None
        for one, other in zip(right.leaves(), tree.leaves(), strict=True)
    ]
    return 100.0 * sum(one == other for one, other in tags) / max(len(tags), 1)


def _parsed(
    bundle: Bundle, pairs: Sequence[Pair], before_batch: Callable[[], None]
) -> tuple[list[Tree], list[Parse]]:
    """Return the right trees of pairs, and what the model makes of their words.

    A sentence that is too long for its learned positions has no tree.
    """
    parser = Parser(bundle, before_batch=before_batch)
    sentences = [pair.source.split(" ") for pair in pairs]
    parses = parser.parse([[] if parser.objection(words) else words for words in sentences])
    return [tree_of_pair(pair) for pair in pairs], parses
