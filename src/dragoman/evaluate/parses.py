"""Scores of a parser: brackets, and whether its outputs are trees at all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.evaluate.bracket_rules import COLLINS, Rules
from dragoman.evaluate.bracket_spans import flatten, same_words
from dragoman.evaluate.brackets import BracketScores, BracketSummary, Prediction, Status, score_trees
from dragoman.trees import ANY_TAG, EMPTY_TAG, Leaf, Tree, build, walk

NO_TAGS = "the predictions have no tags (XX alone): each word has been given the tag of the gold tree"
"""What is told where ``predicts_tags`` is False."""


@dataclass(frozen=True, kw_only=True)
class ParsingScores:
    """How good a set of predicted trees is."""

    brackets: BracketScores
    """Of the predictions that can be compared; errors and skipped sentences are left out, as EVALB does."""

    labeled: bool
    """Whether brackets had to agree in their labels."""

    num_segments: int
    """Sentences."""

    num_broken: int
    """Outputs that are no tree over the words of their sentence."""

    num_gold_left_out: int
    """Brackets of the gold trees of all sentences that are left out."""

    predicts_tags: bool
    """False where no prediction has tags: then each word has its gold tag, without which punctuation would
    not be told from words."""

    @property
    def f1(self) -> float:
        """The harmonic mean of labeled recall and precision, in percent."""
        return self.brackets.total.f1

    @property
    def f1_of_all(self) -> float:
        """F1 where what is left out counts as a tree without brackets, in percent.

        EVALB's own F1 is without such sentences, so that a parser gains by failing where it would be wrong.
        """
        total = self.brackets.total
        num_brackets = total.num_gold + self.num_gold_left_out + total.num_predicted
        return 200.0 * total.num_matched / num_brackets if num_brackets else 0.0

    @property
    def well_formed(self) -> float:
        """The share of outputs that are trees over the words of their sentence, in percent."""
        return 100.0 * (self.num_segments - self.num_broken) / self.num_segments

    def lines(self) -> list[str]:
        """Return the report: a table for all sentences and for the short ones, and what is no tree."""
        total, short = self.brackets.total, self.brackets.short
        heads = ("", "all sentences", f"at most {self.brackets.cutoff_length} words")
        rows = zip(self._rows(total), self._rows(short), strict=True)
        table = [heads, *((name, value, other) for (name, value), (_, other) in rows)]
        lines = [f"{name:<28}  {value:>13}  {other:>16}" for name, value, other in table]
        whole = self.num_segments - self.num_broken
        lines.append(f"{whole:,} of {self.num_segments:,} outputs are trees over their words")
        if total.num_valid < total.num_sentences:
            lines.append(f"F1 with what is left out as trees without brackets: {self.f1_of_all:.2f} %")
        return lines

    def notices(self) -> list[str]:
        """Return what makes the scores doubtful."""
        return self.brackets.notices()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, at full precision."""
        names = ("labeled", "num_segments", "num_broken", "well_formed", "f1_of_all", "predicts_tags")
        return {name: getattr(self, name) for name in names} | self.brackets.as_dict()

    def _rows(self, summary: BracketSummary) -> Iterator[tuple[str, str]]:
        """Yield the name and the value of each metric, as published tables have them."""
        labeled = "labeled " if self.labeled else "unlabeled "
        yield "sentences", f"{summary.num_sentences:,}"
        if self.brackets.total.num_errors:
            yield "  left out as errors", f"{summary.num_errors:,}"
        if self.brackets.total.num_skipped:
            yield "  skipped", f"{summary.num_skipped:,}"
        yield f"{labeled}recall, %", f"{summary.recall:.2f}"
        yield f"{labeled}precision, %", f"{summary.precision:.2f}"
        yield f"{labeled}F1, %", f"{summary.f1:.2f}"
        yield "exact match, %", f"{summary.exact_match:.2f}"
        yield "crossing brackets a sentence", f"{summary.average_crossing:.2f}"
        yield "no crossing brackets, %", f"{summary.no_crossing:.2f}"
        yield "two or fewer of them, %", f"{summary.two_or_fewer_crossing:.2f}"
        if self.predicts_tags:
            yield "tagging accuracy, %", f"{summary.tagging_accuracy:.2f}"


def score_parses(
    gold: Sequence[Tree],
    predicted: Sequence[Prediction],
    rules: Rules = COLLINS,
    *,
    lines: Sequence[int] | None = None,
) -> ParsingScores:
    """Score predicted trees by the rules of EVALB; predictions without any tags get those of the gold trees.

    Source: Vaswani et al. (2017), §6.3, Table 4.

    Args:
        gold: The right trees.
        predicted: For each of them the tree to be scored.
        rules: What counts, and what is taken for equal.
        lines: Where each gold tree stands in its file, for messages; else tree n stands at line n.

    Raises:
        ScoreError: As ``score_trees``.
    """
    trees = [tree for tree in predicted if isinstance(tree, Tree)]
    predicts_tags = not trees or any(leaf.tag != ANY_TAG for tree in trees for leaf in tree.leaves())
    if not predicts_tags and len(gold) == len(predicted):
        predicted = [
            _with_gold_tags(prediction, tree) if isinstance(prediction, Tree) else prediction
            for tree, prediction in zip(gold, predicted, strict=True)
        ]
    scores = score_trees(gold, predicted, rules, lines=lines)
    left_out = [
        (tree, prediction)
        for tree, prediction, sentence in zip(gold, predicted, scores.sentences, strict=True)
        if sentence.status is not Status.VALID
    ]
    return ParsingScores(
        brackets=scores,
        labeled=rules.labeled,
        num_segments=len(gold),
        num_broken=sum(
            not (isinstance(prediction, Tree) and same_words(tree, prediction))
            for tree, prediction in left_out
        ),
        num_gold_left_out=sum(len(flatten(tree, rules).spans(rules)) for tree, _ in left_out),
        predicts_tags=predicts_tags,
    )


def _with_gold_tags(prediction: Tree, gold: Tree) -> Tree:
    """Return a tree with the tags of the gold tree, unless it has another number of words."""
    tags = [leaf.tag for leaf in gold.leaves() if leaf.tag != EMPTY_TAG]
    if len(prediction.leaves()) != len(tags):
        return prediction
    left = iter(tags)
    retagged = build(
        Leaf(next(left), step.word) if isinstance(step, Leaf) else step for step in walk(prediction)
    )
    assert isinstance(retagged, Tree)
    return retagged
