"""Options that say how translations are chosen, shared by commands."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dragoman.choice import Choice

_Function = Callable[..., Any]
_PATH = click.Path(path_type=Path)


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions:
    """What was asked for; the names are those of the options."""

    forbid: tuple[str, ...]
    forbid_from: Path | None
    sample: int | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int | None
    diversity: float | None
    mbr: bool
    shortlist: bool | None
    ensemble: tuple[Path, ...]

    def choice(self) -> "Choice":
        """Return how outputs are chosen.

        Raises:
            UsageError: A value breaks a rule.
        """
        from dragoman.run.choices import choose

        return choose(
            forbidden=self.forbid,
            forbidden_file=self.forbid_from,
            sampling={
                "count": self.sample,
                "temperature": self.temperature,
                "top_k": self.top_k,
                "top_p": self.top_p,
                "seed": self.seed,
            },
            diversity=self.diversity,
            least_risk=self.mbr,
        )

    def check_one_result(self) -> None:
        """Refuse what gives several translations of a line.

        Raises:
            UsageError: With what would give one.
        """
        from dragoman.errors import UsageError

        if self.diversity is not None:
            raise UsageError(
                "--diversity: one translation of each line is scored", hint="leave --diversity out"
            )
        if self.sample is not None and self.sample > 1 and not self.mbr:
            raise UsageError(
                f"--sample {self.sample}: one translation of each line is scored",
                hint="draw one by --sample 1, or choose among those drawn with --mbr",
            )

    def num_results(self, n_best: int | None) -> int:
        """Return how many translations of each line there are at most.

        Raises:
            UsageError: Fewer or more are wanted than are drawn.
        """
        if n_best is not None and self.sample is not None and not self.mbr:
            from dragoman.errors import UsageError

            raise UsageError(
                f"--n-best {n_best} with --sample {self.sample}: all that are drawn are written",
                hint="leave --n-best out, or choose among those drawn with --mbr",
            )
        return n_best or (1 if self.mbr else self.sample) or 1


_OPTIONS = (
    click.option(
        "--ensemble",
        multiple=True,
        type=_PATH,
        metavar="MODEL",
        help="A further model, of the same tokenizer, that chooses each piece with MODEL; may be repeated.",
    ),
    click.option(
        "--shortlist/--no-shortlist",
        default=None,
        help="Only likely translations of the pieces of a line may come; faster, and nearly as good.",
    ),
    click.option("--mbr", is_flag=True, help="Of all found, choose the one most like the others (chrF)."),
    click.option(
        "--diversity",
        type=float,
        metavar="NATS",
        help="With --n-best: groups of hypotheses that keep out of each other's way; 0.5 is a good start.",
    ),
    click.option("--seed", type=int, help="Start of every random choice of --sample; left out, 0."),
    click.option("--top-p", type=float, help="With --sample: draw from the likeliest that reach this share."),
    click.option("--top-k", type=int, help="With --sample: draw from so many of the likeliest pieces."),
    click.option(
        "--temperature", type=float, help="With --sample: below 1 for likelier pieces; left out, 1."
    ),
    click.option(
        "--sample", type=int, metavar="N", help="Draw N translations of each line, instead of searching."
    ),
    click.option("--forbid-from", type=_PATH, metavar="FILE", help="Phrases as for --forbid, one a line."),
    click.option(
        "--forbid",
        multiple=True,
        metavar="PHRASE",
        help="A word or phrase that no translation contains as whole words; may be repeated.",
    ),
)


def choice_options(function: _Function) -> _Function:
    """Add the options of ``ChoiceOptions``, passed on together as ``choices``."""
    names = [field.name for field in fields(ChoiceOptions)]

    @wraps(function)
    def gathered(**values: Any) -> Any:
        choices = ChoiceOptions(**{name: values.pop(name) for name in names})
        return function(choices=choices, **values)

    for option in _OPTIONS:
        gathered = option(gathered)
    return gathered
