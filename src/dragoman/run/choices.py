"""How translations are chosen, from what a user asks for."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from dragoman.choice import Choice, Sampling
from dragoman.config import SearchConfig
from dragoman.errors import UsageError
from dragoman.text import read_lines

_HINT = "see 'dragoman translate --help'"


def choose(
    *,
    forbidden: Sequence[str] = (),
    forbidden_file: Path | None = None,
    sampling: Mapping[str, float | None],
    diversity: float | None = None,
    least_risk: bool = False,
) -> Choice:
    """Return how outputs are chosen.

    Args:
        forbidden: Phrases that no output contains.
        forbidden_file: More of them, one a line; blank lines are none.
        sampling: What ``Sampling`` takes, None where it is left out; without a count nothing is drawn.
        diversity: Of groups of hypotheses, in nats.
        least_risk: Whether the output most like the others is chosen.

    Raises:
        UsageError: A value breaks a rule, or belongs to what was not asked for.
        CorpusError: The file cannot be read.
    """
    named = [] if forbidden_file is None else filter(None, map(str.strip, read_lines(forbidden_file)))
    if any(not phrase.strip() for phrase in forbidden):
        raise UsageError("--forbid: the phrase is blank", hint="name a word, as in --forbid Haus")
    try:
        return Choice(
            sampling=_sampling(sampling),
            diversity=diversity or 0.0,
            forbidden=(*forbidden, *named),
            least_risk=least_risk,
        )
    except ValueError as error:
        name, _, rest = str(error).partition(" ")
        if name == "outputs":
            raise UsageError("--diversity and --sample exclude each other", hint="leave one out") from None
        option = "sample" if name == "count" else name.replace("_", "-")
        raise UsageError(f"--{option} {rest}", hint=_HINT) from None


def _sampling(values: Mapping[str, float | None]) -> Sampling | None:
    given = {name: value for name, value in values.items() if value is not None}
    if "count" in given:
        return Sampling(**given)  # type: ignore[arg-type]  # it checks each
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"{options}: nothing is drawn", hint="add --sample 1")
    return None


def check_choice(choice: Choice, config: SearchConfig) -> None:
    """Refuse what the settings of the search do not allow.

    Raises:
        UsageError: With settings that would.
    """
    if choice.diversity and (config.n_best == 1 or config.beam_size % config.n_best):
        groups = max(2, config.n_best)
        size = groups * max(2, config.beam_size // groups)
        raise UsageError(
            f"--diversity with --n-best {config.n_best} and a beam size of {config.beam_size}: as many "
            "groups as results, two or more, share the beam equally",
            hint=f"add --n-best {groups} --beam-size {size}",
        )
    num_found = choice.sampling.count if choice.sampling else config.beam_size
    if choice.least_risk and num_found < 2:
        raise UsageError(
            "--mbr: there is only one output to choose from", hint="add --beam-size 8, or --sample 32"
        )
