"""Which ids of a vocabulary are the symbols of linear trees."""

from collections.abc import Mapping
from dataclasses import dataclass

from dragoman.trees import ROOT, Bracket, is_bracket, symbol_of


@dataclass(frozen=True, kw_only=True)
class SymbolIds:
    """The ids with which trees are written, and the rules that go with them.

    Raises:
        ValueError: The ids contradict each other, or no tree can be written with them.
    """

    openings: tuple[int, ...]
    """The opening bracket of each label."""

    closings: tuple[int, ...]
    """The closing bracket of each label, in the order of ``openings``."""

    roots: tuple[int, ...]
    """Those of ``openings`` that may begin a tree."""

    inner: tuple[int, ...]
    """Those of ``openings`` that may stand inside a tree; none, and every tree is flat."""

    leaves: tuple[int, ...]
    """What stands for a word: one id for all tags, or one for each tag."""

    end: int
    """Ends a sentence."""

    longest_run: int
    """The most brackets that may open with no word between them; it limits unary chains as well."""

    def __post_init__(self) -> None:
        ids = (*self.openings, *self.closings, *self.leaves, self.end)
        if len(self.openings) != len(self.closings):
            raise ValueError(
                f"{len(self.openings):,} brackets open and {len(self.closings):,} close; "
                "each label has one of both"
            )
        if len(set(ids)) < len(ids):
            raise ValueError("an id stands for two symbols; each symbol has its own")
        if not self.roots or not set(self.roots) <= set(self.openings):
            raise ValueError(f"roots {self.roots} must be one or more of the brackets that open")
        if not set(self.inner) <= set(self.openings):
            raise ValueError(f"inner {self.inner} must be some of the brackets that open")
        if not self.leaves:
            raise ValueError("no id stands for a word")
        if self.longest_run < 1:
            raise ValueError(f"longest_run is {self.longest_run}; a tree needs at least 1")

    @classmethod
    def of(cls, ids: Mapping[str, int], *, longest_run: int, end: int) -> "SymbolIds":
        """Return the ids of a tokenizer's symbols, of which ``ROOT`` begins a tree and is nowhere inside.

        Args:
            ids: The id of each symbol.
            longest_run: The most brackets that may open with no word between them.
            end: The id that ends a sentence.

        Raises:
            ValueError: A bracket that opens has none that closes, or no tree can be written with these.
        """
        labels = [symbol[1:] for symbol in ids if symbol.startswith("(")]
        closings = [symbol_of(Bracket(label, opens=False)) for label in labels]
        if unclosed := [label for label, symbol in zip(labels, closings, strict=True) if symbol not in ids]:
            raise ValueError(f"no symbol closes ({', ('.join(unclosed)}")
        opening = {label: ids[symbol_of(Bracket(label, opens=True))] for label in labels}
        return cls(
            openings=tuple(opening.values()),
            closings=tuple(ids[symbol] for symbol in closings),
            roots=tuple(opening[label] for label in labels if label == ROOT),
            inner=tuple(opening[label] for label in labels if label != ROOT),
            leaves=tuple(token for symbol, token in ids.items() if not is_bracket(symbol)),
            end=end,
            longest_run=longest_run,
        )
