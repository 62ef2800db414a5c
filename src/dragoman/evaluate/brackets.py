r"""The bracket score of parses: recall, precision, F1 and their company, by the rules of EVALB.

Brackets are compared by label and by the words they hold; part-of-speech tags are not brackets. Every count
is EVALB's own, so its table can be printed from them to the last digit. Numbers over a test set are taken
from its sums, not from the mean over sentences.

Words are compared as `Leaf` holds them: as typed, ``(`` and not ``-LRB-``. The reader of trees treats gold
and predicted trees alike, so words that are equal in the files, where EVALB compares them, are equal here;
two spellings of one word, as ``\/`` and ``/``, are equal here only. Tags are compared as they stand:
``-LRB-`` is a tag like any other. The words of ``EQ_WORD`` are words as typed.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any

from dragoman.errors import ScoreError
from dragoman.evaluate.bracket_rules import COLLINS, Rules
from dragoman.evaluate.bracket_spans import Span, flatten, restore_quotes, same_words
from dragoman.trees import BadTree, Leaf, Tree

_MAX_PLACES = 5

Prediction = Tree | BadTree | None
"""What a parser gives for a sentence: a tree, what should be one and is not, or nothing."""


class Status(IntEnum):
    """What became of a sentence, numbered as in EVALB's table."""

    VALID = 0

    ERROR = 1
    """The words that count differ, or the prediction is no tree; nothing of the sentence is counted."""

    SKIPPED = 2
    """There is no prediction, or none of its words count; nothing of the sentence is counted."""


@dataclass(frozen=True, kw_only=True)
class SentenceScores:
    """The counts of one sentence; all are 0 but its length unless it is valid."""

    line: int
    """Where the gold tree stands in its file, counting from 1."""

    length: int
    """Words of the gold tree, in EVALB's count: punctuation included, traces not."""

    status: Status = Status.VALID

    reason: str = ""
    """Why the sentence is an error or skipped."""

    num_matched: int = 0
    """Brackets that are in both trees."""

    num_gold: int = 0
    num_predicted: int = 0

    num_crossing: int = 0
    """Predicted brackets that overlap a gold bracket without one of the two holding the other."""

    num_words: int = 0
    """Words that count, punctuation left out."""

    num_correct_tags: int = 0

    @property
    def recall(self) -> float:
        """The share of gold brackets that were predicted, in percent; 0 where there is none."""
        return _percent(self.num_matched, self.num_gold)

    @property
    def precision(self) -> float:
        """The share of predicted brackets that are right, in percent; 0 where there is none."""
        return _percent(self.num_matched, self.num_predicted)

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision, in percent."""
        return _f1(self.recall, self.precision)

    @property
    def tagging_accuracy(self) -> float:
        """The share of words with the right part-of-speech tag, in percent."""
        return _percent(self.num_correct_tags, self.num_words)

    @property
    def is_exact(self) -> bool:
        """Whether the sentence is valid and its brackets are the gold ones, no more and no less."""
        return self.status is Status.VALID and self.num_matched == self.num_gold == self.num_predicted

    def as_dict(self) -> dict[str, Any]:
        """Return counts and percentages as plain values for JSON, the status by its name."""
        names = ("recall", "precision", "f1", "tagging_accuracy", "is_exact")
        return (
            asdict(self)
            | {"status": self.status.name.lower()}
            | {name: getattr(self, name) for name in names}
        )


@dataclass(frozen=True, kw_only=True)
class BracketSummary:
    """Sums over sentences; those of errors and skipped sentences hold nothing but their number."""

    num_sentences: int
    num_errors: int
    num_skipped: int
    num_matched: int
    num_gold: int
    num_predicted: int

    num_exact: int
    """Sentences all of whose brackets are right."""

    num_crossing: int
    num_no_crossing: int
    """Sentences without a crossing bracket."""

    num_two_or_fewer_crossing: int
    """Sentences with at most two crossing brackets."""

    num_words: int
    num_correct_tags: int

    @property
    def num_valid(self) -> int:
        """Sentences that are neither errors nor skipped; shares of sentences are shares of these."""
        return self.num_sentences - self.num_errors - self.num_skipped

    @property
    def recall(self) -> float:
        """The share of gold brackets that were predicted, in percent; 0 where there is none."""
        return _percent(self.num_matched, self.num_gold)

    @property
    def precision(self) -> float:
        """The share of predicted brackets that are right, in percent; 0 where there is none."""
        return _percent(self.num_matched, self.num_predicted)

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision, in percent."""
        return _f1(self.recall, self.precision)

    @property
    def exact_match(self) -> float:
        """The share of sentences all of whose brackets are right, in percent."""
        return _percent(self.num_exact, self.num_valid)

    @property
    def average_crossing(self) -> float:
        """Crossing brackets per sentence."""
        return self.num_crossing / self.num_valid if self.num_valid else 0.0

    @property
    def no_crossing(self) -> float:
        """The share of sentences without a crossing bracket, in percent."""
        return _percent(self.num_no_crossing, self.num_valid)

    @property
    def two_or_fewer_crossing(self) -> float:
        """The share of sentences with at most two crossing brackets, in percent."""
        return _percent(self.num_two_or_fewer_crossing, self.num_valid)

    @property
    def tagging_accuracy(self) -> float:
        """The share of words with the right part-of-speech tag, in percent."""
        return _percent(self.num_correct_tags, self.num_words)

    def as_dict(self) -> dict[str, Any]:
        """Return counts and percentages as plain values for JSON."""
        names = ("num_valid", "recall", "precision", "f1", "exact_match", "average_crossing", "no_crossing")
        more = ("two_or_fewer_crossing", "tagging_accuracy")
        return asdict(self) | {name: getattr(self, name) for name in (*names, *more)}


@dataclass(frozen=True, kw_only=True)
class BracketScores:
    """The scores of a set of predicted trees."""

    sentences: tuple[SentenceScores, ...]
    """One for each gold tree, in order."""

    total: BracketSummary
    """Over all sentences."""

    short: BracketSummary
    """Over the sentences of at most ``cutoff_length`` words."""

    cutoff_length: int

    def notices(self) -> list[str]:
        """Return a sentence for each kind of sentence that was left out; they are warnings, not results."""
        return [
            f"{len(places):,} of {len(self.sentences):,} sentences {what} and left out of the score: "
            + "; ".join(f"line {one.line:,} ({one.reason})" for one in places[:_MAX_PLACES])
            + ("; ..." if len(places) > _MAX_PLACES else "")
            for status, what in ((Status.ERROR, "are errors"), (Status.SKIPPED, "are skipped"))
            if (places := [one for one in self.sentences if one.status is status])
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, at full precision."""
        return {
            "total": self.total.as_dict(),
            "short": self.short.as_dict(),
            "cutoff_length": self.cutoff_length,
            "sentences": [sentence.as_dict() for sentence in self.sentences],
        }


def score_trees(
    gold: Sequence[Tree],
    predicted: Sequence[Prediction],
    rules: Rules = COLLINS,
    *,
    lines: Sequence[int] | None = None,
) -> BracketScores:
    """Score predicted trees against gold trees as EVALB does.

    A sentence is an error where its prediction is no tree, or where other words count than in the gold tree:
    they differ, or a tag makes a word of punctuation. A sentence without a prediction is skipped. Both are
    counted and told, and neither lowers a score. Where a tree has no bracket that counts, its scores are 0.

    Unlike EVALB, this goes on however many sentences are errors, unless the words themselves differ: more
    such sentences than the rules allow mean files that do not belong together.

    Source: Vaswani et al. (2017), §6.3, Table 4, whose F1 this is.

    Args:
        gold: The right trees.
        predicted: For each of them the tree to be scored.
        rules: What counts, and what is taken for equal.
        lines: Where each gold tree stands in its file, for messages and tables; else tree n stands at line n.

    Raises:
        ScoreError: There is nothing to score, the numbers of trees differ, or more predictions have other
            words than the rules allow.
        ValueError: ``lines`` is not as long as ``gold``.
    """
    if lines is not None and len(lines) != len(gold):
        raise ValueError(f"{len(gold)} gold trees but {len(lines)} lines")
    if len(gold) != len(predicted):
        raise ScoreError(
            f"{len(gold):,} gold trees but {len(predicted):,} predictions; "
            "prediction n must be of the sentence of gold tree n",
            hint="parse the sentences of the gold trees in order; a blank line stands for no prediction",
        )
    if not gold:
        raise ScoreError(
            "nothing to score: there are no gold trees and no predictions",
            hint="give at least one gold tree and its prediction",
        )
    sentences = []
    errors: list[SentenceScores] = []
    places = lines if lines is not None else range(1, len(gold) + 1)
    for line, tree, prediction in zip(places, gold, predicted, strict=True):
        sentences.append(_score_sentence(line, tree, prediction, rules))
        is_error = sentences[-1].status is Status.ERROR
        if is_error and isinstance(prediction, Tree) and not same_words(tree, prediction):
            errors.append(sentences[-1])
            if len(errors) > rules.max_errors + 1:
                _raise_too_many(errors, rules)
    return BracketScores(
        sentences=tuple(sentences),
        total=_summary(sentences),
        short=_summary([one for one in sentences if one.length <= rules.cutoff_length]),
        cutoff_length=rules.cutoff_length,
    )


def _score_sentence(line: int, gold: Tree, predicted: Prediction, rules: Rules) -> SentenceScores:
    """Count what two trees have in common."""
    right = flatten(gold, rules)
    length = sum(leaf.tag not in rules.delete_labels_for_length for leaf in right.leaves)

    def left_out(status: Status, reason: str) -> SentenceScores:
        return SentenceScores(line=line, length=length, status=status, reason=reason)

    if predicted is None:
        return left_out(Status.SKIPPED, "no tree")
    if isinstance(predicted, BadTree):
        has_words = any(leaf.tag not in rules.delete_labels for leaf in predicted.leaves)
        return left_out(Status.ERROR if has_words else Status.SKIPPED, predicted.error.message)
    found = flatten(predicted, rules)
    if not any(found.counts):
        return left_out(Status.SKIPPED, "no word of the tree counts")
    if sum(right.counts) != sum(found.counts):
        right, found = restore_quotes(right, found, rules)
    right_words, found_words = right.words(), found.words()
    if len(right_words) != len(found_words):
        reason = (
            f"the gold tree has {len(right.leaves)} leaves, {len(right_words)} of which count; "
            f"the prediction has {len(found.leaves)}, {len(found_words)} of which count"
        )
        return left_out(Status.ERROR, reason)
    words = list(zip(right_words, found_words, strict=True))
    if difference := _difference(words, rules):
        return left_out(Status.ERROR, difference)
    right_spans, found_spans = right.spans(rules), found.spans(rules)
    return SentenceScores(
        line=line,
        length=length,
        num_matched=_num_matched(right_spans, found_spans, rules),
        num_gold=len(right_spans),
        num_predicted=len(found_spans),
        num_crossing=_num_crossing(right_spans, found_spans),
        num_words=len(words),
        num_correct_tags=sum(rules.same_label(one.tag, other.tag) for one, other in words),
    )


def _difference(words: Iterable[tuple[Leaf, Leaf]], rules: Rules) -> str:
    """Say where the counted words of two trees first differ, or "" where they do not."""
    for number, (one, other) in enumerate(words, start=1):
        if not rules.same_word(one.word, other.word):
            return f"word {number} is {one.word!r} in the gold tree and {other.word!r} in the prediction"
    return ""


def _num_matched(gold: Iterable[Span], predicted: Iterable[Span], rules: Rules) -> int:
    """Count the gold brackets that find a partner; each takes the first one over its words that is left."""
    left: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for span in predicted:
        left[span.start, span.end].append(span.label)
    num_matched = 0
    for span in gold:
        labels = left[span.start, span.end]
        for i, label in enumerate(labels):
            if not rules.labeled or rules.same_label(span.label, label):
                del labels[i]
                num_matched += 1
                break
    return num_matched


def _num_crossing(gold: Iterable[Span], predicted: Iterable[Span]) -> int:
    """Count the predicted brackets that cross at least one gold bracket."""
    places = {(span.start, span.end) for span in gold}
    return sum(any(_cross(place, (span.start, span.end)) for place in places) for span in predicted)


def _cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two stretches of words overlap and neither holds the other."""
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def _summary(sentences: Sequence[SentenceScores]) -> BracketSummary:
    valid = [one for one in sentences if one.status is Status.VALID]
    return BracketSummary(
        num_sentences=len(sentences),
        num_errors=sum(one.status is Status.ERROR for one in sentences),
        num_skipped=sum(one.status is Status.SKIPPED for one in sentences),
        num_matched=sum(one.num_matched for one in valid),
        num_gold=sum(one.num_gold for one in valid),
        num_predicted=sum(one.num_predicted for one in valid),
        num_exact=sum(one.is_exact for one in valid),
        num_crossing=sum(one.num_crossing for one in valid),
        num_no_crossing=sum(one.num_crossing == 0 for one in valid),
        num_two_or_fewer_crossing=sum(one.num_crossing <= 2 for one in valid),
        num_words=sum(one.num_words for one in valid),
        num_correct_tags=sum(one.num_correct_tags for one in valid),
    )


def _raise_too_many(errors: Sequence[SentenceScores], rules: Rules) -> None:
    first = errors[0]
    raise ScoreError(
        f"the words of {len(errors):,} predictions differ from those of their gold trees, "
        f"and the rules allow {rules.max_errors + 1:,}; the first is at line {first.line:,}: {first.reason}",
        hint="score trees of the same sentences in order, or raise MAX_ERROR in a file of parameters",
    )


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def _f1(recall: float, precision: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
