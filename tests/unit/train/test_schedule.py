"""The learning rate."""

from itertools import pairwise

import pytest

from dragoman.config import TrainConfig
from dragoman.train.schedule import learning_rate


def papers(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5), Eq. 3."""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@pytest.mark.parametrize("step", [1, 2, 100, 3_999, 4_000, 4_001, 10_000, 100_000])
@pytest.mark.parametrize(("d_model", "warmup"), [(512, 4_000), (1_024, 4_000), (128, 400)])
def test_the_rate_is_the_papers(step: int, d_model: int, warmup: int) -> None:
    """Every step has the rate of Equation 3."""
    rate = learning_rate(step, TrainConfig(warmup_steps=warmup), d_model)

    assert rate == pytest.approx(papers(step, d_model, warmup), rel=1e-12)


def test_the_rate_peaks_at_the_end_of_the_warmup() -> None:
    """It rises in a line to the last step of the warm-up and falls after it."""
    config = TrainConfig(warmup_steps=50)
    rates = [learning_rate(step, config, 64) for step in range(1, 201)]
    rises = [after - before for before, after in pairwise(rates[:50])]

    assert max(rates) == rates[49] == pytest.approx((64 * 50) ** -0.5)
    assert rises == pytest.approx([rates[0]] * 49)
    assert rates[49:] == sorted(rates[49:], reverse=True)


def test_a_peak_that_is_named_is_reached() -> None:
    """``peak_rate`` scales the whole curve, so that the peak is the one named."""
    named, own = TrainConfig(warmup_steps=50, peak_rate=0.002), TrainConfig(warmup_steps=50)
    ratios = [learning_rate(step, named, 64) / learning_rate(step, own, 64) for step in (1, 50, 700)]

    assert learning_rate(50, named, 64) == pytest.approx(0.002)
    assert ratios == pytest.approx([ratios[0]] * 3)


def test_a_cooldown_falls_in_a_line_to_zero() -> None:
    """The last steps are scaled down evenly; the last one still moves, one more would not."""
    cooled = TrainConfig(warmup_steps=10, max_steps=100, cooldown_share=0.2)
    plain = TrainConfig(warmup_steps=10, max_steps=100)
    shares = [learning_rate(step, cooled, 64) / learning_rate(step, plain, 64) for step in range(79, 102)]

    assert shares == pytest.approx([1.0, 1.0, 1.0, *(n / 20 for n in range(19, -1, -1))])


@pytest.mark.parametrize(
    "config", [TrainConfig(), TrainConfig(warmup_steps=1), TrainConfig(cooldown_share=0.1)]
)
def test_no_step_stands_still(config: TrainConfig) -> None:
    """Every step from the first to the last has a rate above zero."""
    assert all(
        learning_rate(step, config, 512) > 0 for step in (1, 2, config.max_steps - 1, config.max_steps)
    )
