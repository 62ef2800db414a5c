"""What may be asked of outputs, and what excludes what."""

import math
from typing import Any

import pytest

from dragoman.choice import PLAIN, Choice, Sampling
from dragoman.config import SearchConfig
from dragoman.errors import UsageError
from dragoman.run.choices import check_choice, choose


def test_the_default_asks_nothing() -> None:
    """Plain search finds it; so it does what only changes the order of outputs."""
    nothing = choose(sampling={"count": None, "seed": None})

    assert nothing == PLAIN == Choice()
    assert PLAIN.is_plain
    assert Choice(least_risk=True).is_plain
    assert not any(
        choice.is_plain
        for choice in (Choice(sampling=Sampling()), Choice(diversity=0.1), Choice(forbidden=("x",)))
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"diversity": -0.1}, "diversity is -0.1; it must be 0 or more, and finite"),
        ({"diversity": math.inf}, "diversity is inf"),
        ({"diversity": math.nan}, "diversity is nan"),
        ({"diversity": 1.0, "sampling": Sampling()}, "both at once is not possible"),
        ({"forbidden": ("Haus", " ")}, "phrase ' ' is blank"),
    ],
)
def test_what_cannot_be_asked_is_refused(values: dict[str, Any], message: str) -> None:
    """As misuse, with the value."""
    with pytest.raises(ValueError, match=message):
        Choice(**values)


@pytest.mark.parametrize(
    ("beam_size", "n_best"),
    [(beam_size, n_best) for beam_size in range(1, 13) for n_best in range(1, beam_size + 1)],
)
def test_diverse_groups_share_the_beam(beam_size: int, n_best: int) -> None:
    """What is refused comes with sizes that are not."""
    choice, config = Choice(diversity=0.5), SearchConfig(beam_size=beam_size, n_best=n_best)
    if n_best > 1 and beam_size % n_best == 0:
        check_choice(choice, config)
        return
    with pytest.raises(UsageError) as caught:
        check_choice(choice, config)
    words = (caught.value.hint or "").split()
    groups, size = int(words[2]), int(words[4])

    assert words[1::2] == ["--n-best", "--beam-size"]
    check_choice(choice, SearchConfig(beam_size=size, n_best=groups))


def test_the_least_risk_needs_something_to_choose_from() -> None:
    """Two outputs at least, searched or drawn."""
    risk = {"least_risk": True}
    check_choice(Choice(**risk), SearchConfig(beam_size=2))
    check_choice(Choice(**risk, sampling=Sampling(count=2)), SearchConfig(beam_size=1))
    for choice, beam_size in ((Choice(**risk), 1), (Choice(**risk, sampling=Sampling()), 4)):
        with pytest.raises(UsageError, match="only one output to choose from"):
            check_choice(choice, SearchConfig(beam_size=beam_size))
