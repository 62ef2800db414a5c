"""How outputs are chosen where it is not by plain search; no torch."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How outputs are drawn. Defaults are the model's own probabilities.

    Source: Fan et al. (2018) for ``top_k``; Holtzman et al. (2020), §3.1, for ``top_p``.

    Raises:
        ValueError: A number is outside its range.
    """

    count: int = 1
    """Samples of each sentence, drawn independently."""

    temperature: float = 1.0
    """Log-probabilities are divided by it; above 0, and below 1 for what is likelier."""

    top_k: int = 0
    """Only so many of the likeliest tokens are drawn from; 0 is all."""

    top_p: float = 1.0
    """Only the likeliest tokens that together reach this probability are drawn from; 1 is all."""

    seed: int = 0
    """Start of the random choice, below 2^64."""

    def __post_init__(self) -> None:
        rules = {
            "count": (1 <= self.count <= 10_000, "1 or more and at most 10,000"),
            "temperature": (0.0 < self.temperature < math.inf, "above 0"),
            "top_k": (self.top_k >= 0, "0 or more"),
            "top_p": (0.0 < self.top_p <= 1.0, "above 0 and at most 1"),
            "seed": (0 <= self.seed < 2**64, "0 or more and below 2^64"),
        }
        for name, (kept, rule) in rules.items():
            if not kept:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be {rule}")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is asked of outputs besides the settings of the search; the default asks nothing.

    Raises:
        ValueError: Two things exclude each other, or a number is outside its range.
    """

    sampling: Sampling | None = None
    """Draw outputs instead of searching for the likeliest."""

    diversity: float = 0.0
    """Search as many groups as there are results, which keep out of each other's way; in nats."""

    forbidden: tuple[str, ...] = ()
    """Phrases that no output contains as whole words."""

    least_risk: bool = False
    """Choose, among all outputs that are found, the one most like the others; the likeliest is left."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.diversity < math.inf:
            raise ValueError(f"diversity is {self.diversity}; it must be 0 or more, and finite")
        if self.sampling is not None and self.diversity:
            raise ValueError("outputs are drawn or searched diversely; both at once is not possible")
        if blank := [phrase for phrase in self.forbidden if not phrase.strip()]:
            raise ValueError(f"phrase {blank[0]!r} is blank; a forbidden phrase needs a character")

    @property
    def is_plain(self) -> bool:
        """Whether plain search finds what is asked for."""
        return self.sampling is None and not self.diversity and not self.forbidden


PLAIN = Choice()
