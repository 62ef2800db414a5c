"""Whether one system is better than another, or only luckier with the sentences of the test set.

Paired bootstrap resampling: the same sentences are drawn again and again, with replacement, for both systems
(Koehn, 2004, "Statistical Significance Tests for Machine Translation Evaluation").
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sacrebleu import BLEU, CHRF
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import Result, _paired_bs_test

from dragoman.errors import ScoreError
from dragoman.evaluate.segments import References, check_texts, reference_sets


class ResampledScore(NamedTuple):
    """A score and how far other sentences of the same kind might have moved it."""

    value: float
    """The score of the outputs as they are."""

    mean: float
    """The mean over the samples."""

    half_width: float
    """The 95 % confidence interval reaches this far below and above the mean."""


@dataclass(frozen=True)
class MetricComparison:
    """Two systems under one metric."""

    name: str
    baseline: ResampledScore
    system: ResampledScore

    p_value: float
    """How likely so large a difference, in either direction, would be if the systems were equally good."""

    signature: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two systems under BLEU and chrF."""

    bleu: MetricComparison
    chrf: MetricComparison
    num_segments: int

    num_samples: int
    """How often the test set was drawn again."""

    seed: int

    def lines(self) -> list[str]:
        """Return the report: for each metric both systems, the difference and its p-value."""
        return [
            f"{one.name:<5}  baseline {_interval(one.baseline)}  system {_interval(one.system)}  "
            f"difference {one.system.value - one.baseline.value:+.2f}  p = {one.p_value:.4f}  {one.signature}"
            for one in (self.bleu, self.chrf)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, scores at full precision."""
        metrics = {
            key: asdict(one) | {"baseline": one.baseline._asdict(), "system": one.system._asdict()}
            for key, one in (("bleu", self.bleu), ("chrf", self.chrf))
        }
        return asdict(self) | metrics


def compare(
    baseline: Sequence[str],
    system: Sequence[str],
    references: References,
    *,
    num_samples: int = 1_000,
    seed: int = 12_345,
) -> Comparison:
    """Test whether ``system`` differs from ``baseline`` by more than the choice of sentences explains.

    The samples depend on ``seed`` and the number of segments alone. sacrebleu's entry point reads a seed from
    the environment, and takes 0 for none at all; so its test is called directly, with the seed.

    Memory grows with samples × segments, 72 bytes for each: 216 MB for 3,000 segments and 1,000 samples.

    Args:
        baseline: Outputs of the first system, detokenized.
        system: Outputs of the second, for the same sources in the same order.
        references: As for `score`.
        num_samples: How often to draw the test set again; the smallest p-value is 1 / (num_samples + 1).
        seed: Of the draws; not negative.

    Raises:
        TypeError: An argument is not a list of texts, or references mix texts and lists.
        ValueError: ``num_samples`` is below 1 or ``seed`` below 0.
        ScoreError: There is nothing to score, or lengths differ.
    """
    if num_samples < 1 or seed < 0:
        raise ValueError(f"num_samples must be 1 or more and seed 0 or more, not {num_samples} and {seed}")
    check_texts(baseline, "baseline")
    check_texts(system, "system")
    if len(baseline) != len(system):
        raise ScoreError(
            f"the baseline has {len(baseline):,} outputs but the system {len(system):,}; "
            "output n of both must translate the same source",
            hint="translate the same source with both systems",
        )
    sets = reference_sets(system, references)
    metrics: tuple[Metric, ...] = (BLEU(force=True), CHRF())
    bleu, chrf = (_compare_by(metric, (baseline, system), sets, num_samples, seed) for metric in metrics)
    return Comparison(bleu=bleu, chrf=chrf, num_segments=len(system), num_samples=num_samples, seed=seed)


def _compare_by(
    metric: Metric,
    systems: tuple[Sequence[str], Sequence[str]],
    sets: Sequence[Sequence[str]],
    num_samples: int,
    seed: int,
) -> MetricComparison:
    """Compare the outputs of a baseline and a system by one metric.

    The baseline is also tested against itself, only to have its interval from the same samples.
    """
    statistics = metric._extract_corpus_statistics(systems[0], sets)
    total = metric._aggregate_and_compute(statistics)
    of_baseline, of_system = (
        _paired_bs_test(
            {total.name: (statistics, Result(total.score))},
            "",
            outputs,
            sets,
            {total.name: metric},
            n_samples=num_samples,
            seed=seed,
        )[1][total.name]
        for outputs in systems
    )
    signature = metric.get_signature()
    signature.update("bs", num_samples)
    signature.update("seed", str(seed))
    # sacrebleu counts the samples that deviate by more than the difference. Of two equal systems none does,
    # which would give them the smallest p-value there is; but no difference is never a significant one.
    p_value = 1.0 if of_system.score == of_baseline.score else _number(of_system.p_value)
    return MetricComparison(
        total.name, _resampled(of_baseline), _resampled(of_system), p_value, str(signature)
    )


def _resampled(result: Result) -> ResampledScore:
    return ResampledScore(float(result.score), _number(result.mean), _number(result.ci))


def _number(value: float | None) -> float:
    """Return a value that a paired bootstrap test always gives, though its type leaves it open."""
    assert value is not None, "a paired bootstrap test gave no value"
    return float(value)


def _interval(one: ResampledScore) -> str:
    return f"{one.value:.2f} ({one.mean:.2f} ± {one.half_width:.2f})"
