"""The learning rate over the steps."""

import math

from dragoman.config import TrainConfig


def learning_rate(step: int, config: TrainConfig, d_model: int) -> float:
    """Return the rate of a step, counted from 1.

    rate = d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5)

    ``peak_rate`` puts another factor in the place of d_model^-0.5, so that the rate at the end of the
    warm-up is ``peak_rate``. Unlike the paper, the last ``cooldown_share`` of the steps brings it to zero
    in a line.

    Source: Vaswani et al. (2017), §5.3, Eq. 3.
    """
    warmup = config.warmup_steps
    peak = config.peak_rate or 1.0 / math.sqrt(d_model * warmup)
    rate = peak * min(math.sqrt(warmup / step), step / warmup)
    cooldown_steps = round(config.cooldown_share * config.max_steps)
    if cooldown_steps:
        rate *= max(0.0, min(1.0, (config.max_steps + 1 - step) / cooldown_steps))
    return rate
