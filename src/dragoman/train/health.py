"""The health of a run: is its loss still going where it should?

A run is ill in two ways. It diverges: the loss is no longer finite, or it rises far above what was reached;
then the run goes back to a checkpoint and on with half the rate. Or it does not learn: after many steps it
knows no more than how often each piece occurs; then the user is told.
"""

from dataclasses import replace

from dragoman.errors import DivergedError
from dragoman.storage.progress import Health

MAX_SETBACKS = 3  # at an eighth of the rate, the rate is not the cause
MAX_SKIPPED_IN_ROW = 5  # so many different batches cannot all be foul: the parameters are the cause
_DECAY = 0.98  # the average looks back over about 50 steps
_FIRST_MEASURE = 50  # steps in the average before others are compared with it
_FIRST_JUDGED = 10  # steps in the average before it is compared itself, at first with the first loss
_LARGEST_FIRST_RISE = 4.0  # nats above that loss, which is one of random weights and scatters more
_LARGEST_RISE = 1.5  # nats; healthy runs rose by 0.2, a collapse to guessing by frequency costs 2 and more
_LARGEST_SURPRISE = 10.0  # nats above the average that a step counts at most, so one foul batch is no illness
_LEAST_GAIN = 0.1  # nats below guessing by frequency; less is not learning
_FEWEST_STEPS = 500  # before learning is judged


def after_step(health: Health, plain_loss: float, num_target_tokens: int) -> Health:
    """Return the health after an update whose loss, without label smoothing, was finite."""
    before = health.loss_average
    counted = plain_loss if before is None else min(plain_loss, before + _LARGEST_SURPRISE)
    health = replace(
        health,
        loss_sum=_DECAY * health.loss_sum + counted * num_target_tokens,
        piece_sum=_DECAY * health.piece_sum + num_target_tokens,
        num_judged=health.num_judged + 1,
        num_skipped_in_row=0,
    )
    average, lowest = health.loss_average, health.lowest_average
    if 1 < health.num_judged < _FIRST_MEASURE:
        return health
    if average is None or lowest is None or health.num_judged <= _FIRST_MEASURE:
        return replace(health, lowest_average=average)
    return replace(health, lowest_average=min(lowest, average))


def after_skip(health: Health) -> Health:
    """Return the health after an update was skipped because loss or gradient was not finite."""
    in_row = health.num_skipped_in_row + 1
    return replace(health, num_skipped=health.num_skipped + 1, num_skipped_in_row=in_row)


def has_diverged(health: Health) -> str | None:
    """Return in words why the run must go back, or None."""
    if health.num_skipped_in_row >= MAX_SKIPPED_IN_ROW:
        return f"{health.num_skipped_in_row} updates in a row were not finite"
    allowed = _LARGEST_RISE if health.num_judged >= _FIRST_MEASURE else _LARGEST_FIRST_RISE
    if health.rise > allowed and health.num_judged >= _FIRST_JUDGED:
        lowest = health.lowest_average or 0.0
        return f"the loss has risen from {lowest:.2f} to more than {lowest + allowed:.2f}"
    return None


def is_well(health: Health) -> bool:
    """Whether a checkpoint with this health is one to go back to: its loss has not begun to run away."""
    return health.num_skipped_in_row == 0 and health.rise <= _LARGEST_RISE / 3


def set_back(health: Health, saved: Health, step: int) -> Health:
    """Return the health after going back: averages of the checkpoint, counts of the run that has diverged.

    Args:
        health: Of the run that has diverged.
        saved: Of the checkpoint.
        step: Of the checkpoint.
    """
    return replace(
        saved,
        num_skipped=health.num_skipped,
        num_skipped_in_row=0,
        num_setbacks=health.num_setbacks + 1,
        setback_step=step,
    )


def give_up(reason: str, step: int, peak_rate: float) -> DivergedError:
    """Return the error that ends a run, of this greatest rate, which would go back once more than it may."""
    return DivergedError(
        f"step {step:,}: {reason}, after going back {MAX_SETBACKS} times "
        f"to an {0.5**-MAX_SETBACKS:.0f}th of the rate, which is {peak_rate:.1e} at its height",
        hint="train into a new folder with a lower rate, a longer warm-up or shorter gradients, as in "
        f"--set train.peak_rate={min(peak_rate / 20, 0.001):.1e} --set train.warmup_steps=4000 "
        "--set train.max_grad_norm=1; if that fails too, look for foul lines in the corpus",
    )


def explain_not_learning(
    health: Health, entropy: float, step: int, rate: float, warmup_steps: int
) -> str | None:
    """Return a notice if the average is no better than the entropy of the target pieces, in nats.

    Judged at one step: after twice the warm-up, and 500 steps at least. By then the rate has been near its
    height for as long as it rose.
    """
    average = health.loss_average
    if average is None or average < entropy - _LEAST_GAIN or step != max(_FEWEST_STEPS, 2 * warmup_steps):
        return None
    return (
        f"nothing is learned: after {step:,} steps the loss is {average:.2f} nats a piece, and guessing "
        f"pieces by how often they occur alone gives {entropy:.2f}. Likely causes: line n of one file does "
        "not translate line n of the other (look at both side by side: 'paste SOURCE TARGET | less'); "
        f"the rate, now {rate:.1e}, is too high (train into a new folder with "
        f"--set train.peak_rate={rate / 5:.1e} --set train.warmup_steps={2 * warmup_steps}), "
        f"or far too low (--set train.peak_rate={rate * 10:.1e})"
    )
