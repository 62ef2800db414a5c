"""What `compare` promises."""

import json
import os
import random

import numpy as np
import pytest
from sacrebleu import BLEU, CHRF
from sacrebleu.significance import PairedTest

from dragoman.errors import ScoreError
from dragoman.evaluate import compare, score

WORDS = [
    "the",
    "old",
    "new",
    "lamp",
    "river",
    "sings",
    "under",
    "bridge",
    "my",
    "brother",
    "in",
    "rain",
    "snow",
]


def sentences(seed: int, count: int = 40) -> list[str]:
    choice = random.Random(seed)
    return [" ".join(choice.choices(WORDS, k=choice.randint(5, 12))) + "." for _ in range(count)]


def spoil(texts: list[str], *, share: float, seed: int) -> list[str]:
    """Replace a share of the words by others."""
    choice = random.Random(seed)
    return [
        " ".join(choice.choice(WORDS) if choice.random() < share else word for word in text.split())
        for text in texts
    ]


REFERENCES = sentences(1)
GOOD = spoil(REFERENCES, share=0.1, seed=2)
BAD = spoil(REFERENCES, share=0.5, seed=3)
ALMOST_GOOD = spoil(REFERENCES, share=0.1, seed=4)


def test_a_large_difference_is_significant() -> None:
    """A system that is right far more often differs by more than chance; its score is that of `score`."""
    comparison = compare(BAD, GOOD, REFERENCES, num_samples=200)
    alone = score(GOOD, REFERENCES)

    assert comparison.bleu.p_value < 0.05
    assert comparison.chrf.p_value < 0.05
    assert comparison.bleu.system.value == pytest.approx(alone.bleu.value)
    assert comparison.chrf.system.value == pytest.approx(alone.chrf.value)


def test_a_system_does_not_differ_from_itself() -> None:
    """Equal outputs are never significantly different."""
    comparison = compare(GOOD, GOOD, REFERENCES, num_samples=50)

    assert (comparison.bleu.p_value, comparison.chrf.p_value) == (1.0, 1.0)
    assert comparison.bleu.baseline == comparison.bleu.system


def test_systems_of_equal_quality_do_not_differ() -> None:
    """Systems spoilt to the same degree are told apart by chance alone."""
    assert compare(ALMOST_GOOD, GOOD, REFERENCES, num_samples=200).bleu.p_value > 0.05


def test_changing_places_changes_no_p_value() -> None:
    """The test has two sides: which system is called the baseline does not matter."""
    one, other = (
        compare(BAD, GOOD, REFERENCES, num_samples=50),
        compare(GOOD, BAD, REFERENCES, num_samples=50),
    )

    assert (one.bleu.p_value, one.chrf.p_value) == (other.bleu.p_value, other.chrf.p_value)
    assert (one.bleu.baseline, one.bleu.system) == (other.bleu.system, other.bleu.baseline)


@pytest.mark.parametrize("seed", [0, 12_345])
def test_the_seed_decides_alone(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed gives the same comparison, whatever the environment and the global generators say."""
    first = compare(BAD, GOOD, REFERENCES, num_samples=50, seed=seed)
    monkeypatch.setenv("SACREBLEU_SEED", "none")
    np.random.default_rng().random()
    second = compare(BAD, GOOD, REFERENCES, num_samples=50, seed=seed)
    other = compare(BAD, GOOD, REFERENCES, num_samples=50, seed=seed + 1)

    assert first == second
    assert first.bleu.system.mean != other.bleu.system.mean


def test_the_process_is_left_as_it_was() -> None:
    """Neither the environment nor a global generator is touched."""
    environment, state, numpy_state = dict(os.environ), random.getstate(), np.random.get_state()[1].copy()
    compare(BAD, GOOD, REFERENCES, num_samples=10)

    assert dict(os.environ) == environment
    assert random.getstate() == state
    assert np.array_equal(np.random.get_state()[1], numpy_state)


def test_it_agrees_with_sacrebleu_s_own_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, intervals, p-values and signatures are those of sacrebleu run with the seed in its variable."""
    monkeypatch.setenv("SACREBLEU_SEED", "77")
    signatures, results = PairedTest(
        [("baseline", BAD), ("system", GOOD)],
        {"BLEU": BLEU(), "chrF2": CHRF()},
        [REFERENCES, ALMOST_GOOD],
        test_type="bs",
        n_samples=60,
    )()
    comparison = compare(BAD, GOOD, [REFERENCES, ALMOST_GOOD], num_samples=60, seed=77)

    for ours in (comparison.bleu, comparison.chrf):
        baseline, system = results[ours.name]
        assert ours.baseline == pytest.approx((baseline.score, baseline.mean, baseline.ci))
        assert ours.system == pytest.approx((system.score, system.mean, system.ci))
        assert ours.p_value == system.p_value
        assert ours.signature == str(signatures[ours.name])


def test_the_report_tells_both_systems_and_the_difference() -> None:
    """Each line holds both scores with intervals, the difference, the p-value and the signature."""
    comparison = compare(BAD, GOOD, REFERENCES, num_samples=50)
    line = comparison.lines()[0]
    bleu = comparison.bleu

    assert line.startswith("BLEU ")
    assert f"difference {bleu.system.value - bleu.baseline.value:+.2f}  p = {bleu.p_value:.4f}" in line
    assert "bs:50|seed:12345|" in line
    assert "±" in line


def test_the_dictionary_is_plain_too() -> None:
    """What goes to JSON comes back equal, with fields by name."""
    comparison = compare(BAD, GOOD, REFERENCES, num_samples=10)
    returned = json.loads(json.dumps(comparison.as_dict()))

    assert returned == comparison.as_dict()
    assert returned["chrf"]["system"]["half_width"] == comparison.chrf.system.half_width


def test_systems_of_other_lengths_are_refused() -> None:
    """A baseline with another number of outputs is refused with both counts."""
    with pytest.raises(ScoreError, match="39 outputs but the system 40"):
        compare(BAD[1:], GOOD, REFERENCES)


@pytest.mark.parametrize("arguments", [{"num_samples": 0}, {"seed": -1}])
def test_impossible_numbers_are_refused(arguments: dict[str, int]) -> None:
    """No samples, or a negative seed, are mistakes of the caller."""
    with pytest.raises(ValueError, match="num_samples"):
        compare(BAD, GOOD, REFERENCES, **arguments)


def test_a_text_for_a_list_is_refused() -> None:
    """One text in place of a list is a mistake of the caller, and the message names the argument."""
    with pytest.raises(TypeError, match="baseline"):
        compare("one text", GOOD, REFERENCES)
