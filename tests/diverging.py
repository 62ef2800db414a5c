"""Runs that diverge on purpose."""

from typing import Any

import pytest
import torch

from dragoman.model import Transformer
from dragoman.storage.progress import Progress
from dragoman.train import loop
from dragoman.train.step import StepResult


def poison(monkeypatch: pytest.MonkeyPatch, *, from_step: int, num_setbacks: int) -> None:
    """Let no gradient be finite from a step on, until the run has gone back so many times."""
    make, train_step, now = loop._make, loop.train_step, [Progress()]

    def remember(run: Any, progress: Progress, *rest: Any) -> Any:
        now[0] = progress
        return make(run, progress, *rest)

    def step(model: Transformer, *rest: Any) -> StepResult:
        if now[0].step + 1 < from_step or now[0].health.num_setbacks >= num_setbacks:
            return train_step(model, *rest)
        weight = model.encoder[0].feed_forward.inner.weight
        before = weight.detach().clone()
        with torch.no_grad():
            weight.fill_(torch.nan)
            with torch.enable_grad():
                result = train_step(model, *rest)
            weight.copy_(before)
        return result

    monkeypatch.setattr(loop, "_make", remember)
    monkeypatch.setattr(loop, "train_step", step)
