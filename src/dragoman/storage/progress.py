"""How far a run has come, as a checkpoint holds it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Health:
    """What is remembered of the losses; a part of each checkpoint, so that a resumed run judges equally."""

    loss_sum: float = 0.0
    """Plain loss over all target pieces, in nats; older steps count less and less."""
    piece_sum: float = 0.0
    """Target pieces, weighted in the same way."""
    num_judged: int = 0
    """Steps in these sums."""
    lowest_average: float | None = None
    """The lowest average so far, in nats per target piece; until there are steps enough, the first loss."""
    num_skipped: int = 0
    """Updates that were skipped because loss or gradient was not finite."""
    num_skipped_in_row: int = 0
    """Those since the last update that was made."""
    num_setbacks: int = 0
    """Times the run went back to a checkpoint."""
    setback_step: int | None = None
    """The step of the checkpoint it went back to last."""

    @property
    def loss_average(self) -> float | None:
        """The moving average of the plain loss, in nats per target piece."""
        return self.loss_sum / self.piece_sum if self.piece_sum else None

    @property
    def rate_factor(self) -> float:
        """What the learning rate is multiplied by: a half for each setback."""
        return 0.5**self.num_setbacks

    @property
    def rise(self) -> float:
        """How far the average stands above its lowest, in nats."""
        average, lowest = self.loss_average, self.lowest_average
        return 0.0 if average is None or lowest is None else average - lowest


@dataclass(frozen=True)
class Progress:
    """How far a run has come; all that is needed, besides tensors, to go on exactly."""

    step: int = 0
    """Updates made."""

    epoch: int = 0
    """The current epoch, counted from 0."""

    step_in_epoch: int = 0
    """Updates made of the current epoch."""

    num_target_tokens: int = 0
    """Target pieces seen."""

    num_source_tokens: int = 0
    """Source pieces seen."""

    num_positions: int = 0
    """Source and target positions computed; what is more than the pieces is padding."""

    flops: float = 0.0
    """Floating-point operations executed, padding and backward passes included."""

    seconds: float = 0.0
    """Time trained, validations included."""

    best_score: float | None = None
    """The best development score so far, greater is better."""

    best_step: int | None = None
    """Where it was reached."""

    num_worse: int = 0
    """Validations since then."""

    num_cuts: int = 0
    """Times that micro-batches were halved because memory did not suffice; they stay so."""

    health: Health = field(default_factory=Health)
    """What is remembered of the losses."""
