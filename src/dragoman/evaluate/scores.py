"""BLEU, chrF and TER of a system's outputs, each with the signature that makes it comparable.

The numbers are sacrebleu's, at full precision. What a number cannot tell is counted beside it: empty outputs,
cut outputs, empty references, and text that looks tokenized.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sacrebleu import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric

from dragoman.evaluate.segments import References, reference_sets

_MAX_PLACES = 5


@dataclass(frozen=True)
class Score:
    """One metric of a whole set of outputs."""

    name: str
    """The metric as it is written in reports, such as BLEU or chrF2."""

    value: float
    """From 0 to 100 at full precision, higher is better; TER is an error rate and may exceed 100."""

    signature: str
    """The settings and the version of sacrebleu; values compare only where their signatures are equal."""


class EmptyReference(NamedTuple):
    """The place of a reference without text; both numbers count from 1."""

    reference_set: int
    line: int


class SentenceScore(NamedTuple):
    """Scores of one output, each from 0 to 100."""

    bleu: float
    """BLEU over the orders the output is long enough for."""

    chrf: float


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of a set of outputs and what was noticed about them."""

    bleu: Score
    chrf: Score

    ter: Score | None
    """None where TER was not asked for."""

    num_segments: int
    num_reference_sets: int

    num_empty_hypotheses: int
    """Outputs without a visible character."""

    num_empty_references: int
    """References without a visible character, over all sets."""

    empty_references: tuple[EmptyReference, ...]
    """The first five of them."""

    num_cut: int | None
    """Outputs that the search cut at its length limit; None where the translator did not say."""

    looks_tokenized: bool
    """True where detokenized text was expected and most outputs end in a period that stands alone."""

    def lines(self, others: Sequence[Score] = ()) -> list[str]:
        """Return the report: a line for each metric to two decimals, and one with the counts of outputs.

        Args:
            others: More metrics of the same outputs, to stand below these.
        """
        metrics = [one for one in (self.bleu, self.chrf, self.ter, *others) if one is not None]
        width = max(len(one.name) for one in metrics)
        cut = "" if self.num_cut is None else f", {self.num_cut:,} cut at the length limit"
        return [
            *(f"{one.name:<{width}}  {one.value:6.2f}  {one.signature}" for one in metrics),
            f"{self.num_empty_hypotheses:,} of {self.num_segments:,} outputs are empty{cut}",
        ]

    def notices(self) -> list[str]:
        """Return a sentence for each thing that makes the scores doubtful; they are warnings, not results."""
        notices = []
        if self.num_empty_references:
            places = [
                f"line {place.line:,}"
                if self.num_reference_sets == 1
                else f"line {place.line:,} of set {place.reference_set}"
                for place in self.empty_references
            ]
            more = ", ..." if self.num_empty_references > len(places) else ""
            total = self.num_segments * self.num_reference_sets
            notices.append(
                f"{self.num_empty_references:,} of {total:,} references are empty "
                f"({', '.join(places)}{more}); they are scored as they are"
            )
        if self.looks_tokenized:
            notices.append(
                "most outputs end in a period that stands alone: detokenize them, or ask for tokenized BLEU"
            )
        return notices

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, scores at full precision."""
        return asdict(self) | {"empty_references": [place._asdict() for place in self.empty_references]}


def score(
    hypotheses: Sequence[str],
    references: References,
    *,
    tokenized: bool = False,
    ter: bool = True,
    num_cut: int | None = None,
) -> Scores:
    """Score outputs against one or several sets of references.

    Empty outputs score 0 in BLEU and chrF, and 100 in TER, where every word of the reference is an error.

    Args:
        hypotheses: The outputs, detokenized.
        references: One text for each output, or a list of such lists: one for each reference set.
        tokenized: The texts are tokens parted by whitespace; BLEU leaves them so, and its name says it.
        ter: Whether to measure TER as well, which takes about three times as long as the rest together
            (6 s for 3,000 sentences of news).
        num_cut: How many outputs the search cut at its limit, to be reported beside the scores.

    Raises:
        TypeError: An argument is not a list of texts, or references mix texts and lists.
        ScoreError: There is nothing to score, or a reference set is not as long as the outputs.
    """
    sets = reference_sets(hypotheses, references)
    bleu = BLEU(tokenize="none" if tokenized else "13a", force=True)
    empty_references = [
        EmptyReference(number, line)
        for number, one_set in enumerate(sets, start=1)
        for line, text in enumerate(one_set, start=1)
        if _is_empty(text)
    ]
    num_tokenized_ends = sum(text.rstrip().endswith(" .") for text in hypotheses)
    return Scores(
        bleu=corpus_score(bleu, hypotheses, sets, name="BLEU (tokenized)" if tokenized else "BLEU"),
        chrf=corpus_score(CHRF(), hypotheses, sets),
        ter=corpus_score(TER(), hypotheses, sets) if ter else None,
        num_segments=len(hypotheses),
        num_reference_sets=len(sets),
        num_empty_hypotheses=sum(map(_is_empty, hypotheses)),
        num_empty_references=len(empty_references),
        empty_references=tuple(empty_references[:_MAX_PLACES]),
        num_cut=num_cut,
        looks_tokenized=not tokenized and 2 * num_tokenized_ends > len(hypotheses),
    )


def corpus_score(
    metric: Metric, hypotheses: Sequence[str], sets: Sequence[Sequence[str]], *, name: str | None = None
) -> Score:
    """Return the score of checked texts with the signature that ``metric`` has after scoring them.

    It is read last because it holds the number of references, which a metric learns from the texts.
    """
    result = metric.corpus_score(hypotheses, sets)
    return Score(name or result.name, float(result.score), str(metric.get_signature()))


def sentence_scores(hypotheses: Sequence[str], references: References) -> list[SentenceScore]:
    """Score every output by itself, in order.

    BLEU of one sentence counts only the n-gram orders it is long enough for ("effective order"); the mean
    over the sentences is not the BLEU of the corpus.

    Raises:
        TypeError: An argument is not a list of texts, or references mix texts and lists.
        ScoreError: There is nothing to score, or a reference set is not as long as the outputs.
    """
    sets = reference_sets(hypotheses, references)
    bleu, chrf = BLEU(effective_order=True, force=True), CHRF()
    return [
        SentenceScore(
            bleu=float(bleu.sentence_score(hypothesis, texts).score),
            chrf=float(chrf.sentence_score(hypothesis, texts).score),
        )
        for hypothesis, *texts in zip(hypotheses, *sets, strict=True)
    ]


def _is_empty(text: str) -> bool:
    return not text.strip()
