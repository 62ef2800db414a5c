"""The health of a run: what is an illness, what is not, and what is said."""

import json
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace

import pytest

from dragoman.errors import DivergedError
from dragoman.storage.progress import Health
from dragoman.train.health import (
    MAX_SETBACKS,
    MAX_SKIPPED_IN_ROW,
    after_skip,
    after_step,
    explain_not_learning,
    give_up,
    has_diverged,
    is_well,
    set_back,
)


def history(losses: Iterable[float], pieces: int = 100) -> list[Health]:
    """Return the health after each step of a curve; a loss that is not finite is a skipped update."""
    health, found = Health(), []
    for loss in losses:
        health = after_step(health, loss, pieces) if math.isfinite(loss) else after_skip(health)
        found.append(health)
    return found


def falling(steps: int, first: float = 9.0, last: float = 2.0) -> list[float]:
    """Return a curve as training makes them: steep, then flat."""
    return [last + (first - last) * math.exp(-5 * step / steps) for step in range(steps)]


def noisy(curve: list[float], scatter: float, seed: int = 1) -> list[float]:
    draw = random.Random(seed)
    return [max(0.0, loss + draw.gauss(0.0, scatter)) for loss in curve]


def hump(steps: int) -> list[float]:
    """Return the rise of one nat for a hundred steps that a warm-up which is too fast makes."""
    return [loss + math.exp(-(((step - 200) / 50) ** 2)) for step, loss in enumerate(falling(steps))]


HEALTHY: dict[str, Callable[[], list[float]]] = {
    "smooth": lambda: falling(1_000),
    "single sentences": lambda: noisy(falling(5_000), 2.0),
    "learned by heart": lambda: noisy(falling(3_000, last=0.0), 0.5),
    "hump of the warm-up": lambda: noisy(hump(1_000), 0.3),
    "one foul batch": lambda: [*falling(500), 1e9, *falling(500, first=2.0)],
    "worse and worse by one nat": lambda: [*falling(500), *(2 + step / 1_000 for step in range(1_000))],
    "every third update is not finite": lambda: [
        math.inf if step % 3 == 0 else loss for step, loss in enumerate(falling(500))
    ],
}


@pytest.mark.parametrize("name", HEALTHY)
def test_ordinary_curves_are_no_divergence(name: str) -> None:
    """Scatter, humps, single outliers and single skipped updates never send a run back."""
    assert [reason for health in history(HEALTHY[name]()) if (reason := has_diverged(health))] == []


@pytest.mark.parametrize("collapsed", [4.5, 6.9, 1e30])
def test_a_loss_that_runs_away_is_told_soon(collapsed: float) -> None:
    """A loss that jumps up and stays there is a divergence within a hundred steps, told in numbers."""
    reasons = map(has_diverged, history([*falling(500), *[collapsed] * 100]))
    found = [(step, reason) for step, reason in enumerate(reasons) if reason]

    assert found[0][0] >= 500
    assert found[0][1].startswith("the loss has risen from 2.0")


@pytest.mark.parametrize("first", [0, 1, 5, 20, 45])
def test_a_loss_that_explodes_at_once_is_told_before_it_can_become_the_measure(first: int) -> None:
    """A rate that is far too high shows in the first steps: they are compared with the loss of the first."""
    curve = [*falling(500)[: first + 1], *[70_000.0] * 60]
    reasons = map(has_diverged, history(curve))
    found = [(step, reason) for step, reason in enumerate(reasons) if reason]

    assert found[0][0] <= first + 12
    assert found[0][1].startswith("the loss has risen from ")
    assert not is_well(history(curve[: found[0][0]])[-1])


def test_updates_that_are_not_finite_in_a_row_are_a_divergence() -> None:
    """Five skipped updates in a row send a run back; one that is made between them does not."""
    row = [math.nan] * MAX_SKIPPED_IN_ROW
    broken = history([2.0, *row])[-1]

    assert has_diverged(broken) == "5 updates in a row were not finite"
    assert has_diverged(history([*row[1:], 2.0, *row[1:]])[-1]) is None
    assert broken.num_skipped == MAX_SKIPPED_IN_ROW


def test_the_average_is_that_of_all_pieces() -> None:
    """A step counts as much as it has pieces, so a step of one sentence does not move the average."""
    health = after_step(after_step(Health(), 3.0, 1_000), 9.0, 10)

    assert health.loss_average == pytest.approx((3.0 * 0.98 * 1_000 + 9.0 * 10) / (0.98 * 1_000 + 10))
    assert Health().loss_average is None


def test_a_checkpoint_of_a_running_away_loss_is_not_one_to_go_back_to() -> None:
    """Well is a checkpoint before the rise, and ill one in its middle, before the alarm."""
    states = history([*falling(500), *[7.0] * 15])

    assert is_well(states[499])
    assert not is_well(states[-1])
    assert has_diverged(states[-1]) is None


def test_each_setback_halves_the_rate_and_keeps_the_counts() -> None:
    """Going back takes the averages of the checkpoint, the counts of the run and half the rate."""
    saved = history(falling(300))[-1]
    ill = replace(history([*falling(300), *[math.nan] * 5])[-1], num_setbacks=1)

    assert set_back(ill, saved, 300) == replace(saved, num_skipped=5, num_setbacks=2, setback_step=300)
    assert [replace(saved, num_setbacks=n).rate_factor for n in range(MAX_SETBACKS + 1)] == [
        *(1.0, 0.5, 0.25, 0.125)
    ]
    assert has_diverged(set_back(ill, saved, 300)) is None


def test_health_survives_json() -> None:
    """Written to a checkpoint and read again it is the same to the last digit."""
    health = history(noisy(falling(200), 0.7))[-1]

    assert Health(**json.loads(json.dumps(asdict(health)))) == health


def test_the_end_is_an_error_that_says_what_was_tried() -> None:
    """A run that diverges once too often ends with the reason, the attempts and a command."""
    error = give_up("the loss has risen from 2.31 to more than 3.81", 1_200, 0.05)

    assert isinstance(error, DivergedError)
    assert error.message == (
        "step 1,200: the loss has risen from 2.31 to more than 3.81, after going back 3 times to an 8th of "
        "the rate, which is 5.0e-02 at its height"
    )
    assert "--set train.peak_rate=1.0e-03" in str(error.hint)
    assert "--set train.max_grad_norm=1" in str(error.hint)


def told(average: float, *, step: int = 500, warmup_steps: int = 100, entropy: float = 6.0) -> str | None:
    health = Health(loss_sum=average, piece_sum=1.0)
    return explain_not_learning(health, entropy, step=step, rate=5e-3, warmup_steps=warmup_steps)


def test_a_run_that_learns_nothing_is_told_with_causes() -> None:
    """A loss that is no better than guessing by frequency is explained, with commands that can be typed."""
    notice = str(told(5.95))

    assert "after 500 steps the loss is 5.95 nats a piece" in notice
    assert "gives 6.00" in notice
    assert "--set train.peak_rate=1.0e-03 --set train.warmup_steps=200" in notice
    assert "paste SOURCE TARGET" in notice


def test_learning_is_judged_late_and_once() -> None:
    """Nothing is said of a run that learns, is young, is in its warm-up, or was judged already."""
    assert told(5.85) is None
    assert told(6.5, step=499) is None
    assert told(6.5, step=501) is None
    assert told(6.5, step=1_999, warmup_steps=1_000) is None
    assert told(6.5, step=2_000, warmup_steps=1_000) is not None
    assert told(math.inf, step=900) is None
