"""What a repeated piece of the paper has come to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

Cell = str | int | float | None


class Finding(NamedTuple):
    """A claim of the paper, and what was found here."""

    claim: str
    """What the paper says, with its section."""

    measured: str
    """What was measured, in words and numbers."""

    agrees: bool | None
    """Whether both agree; None where this cannot be told here."""

    @property
    def verdict(self) -> str:
        """The judgment in a word or two."""
        return {True: "agrees", False: "differs", None: "not told"}[self.agrees]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Numbers in rows."""

    name: str
    """A short name, which a file can bear."""
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def texts(self) -> list[list[str]]:
        """Return the cells for a reader."""
        return [[_text(cell) for cell in row] for row in self.rows]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A repeated piece of the paper."""

    title: str
    text: Sequence[str]
    """What was done, in paragraphs."""
    findings: Sequence[Finding]
    tables: Sequence[Table] = ()
    charts: Sequence[str] = ()
    """SVG elements."""
    files: tuple[tuple[str, str], ...] = ()
    """Names and SHA-256 of the data."""
    configurations: tuple[tuple[str, str], ...] = ()
    """Names of trainings, and all keys of each as TOML."""

    @property
    def agrees(self) -> bool:
        """Whether nothing differs from the paper."""
        return all(finding.agrees is not False for finding in self.findings)

    def unjudged(self) -> "Piece":
        """Return the piece without verdicts: of a rehearsal."""
        return replace(self, findings=[finding._replace(agrees=None) for finding in self.findings])

    def lines(self) -> list[str]:
        """Return the findings for a terminal."""
        rows = []
        for finding in self.findings:
            rows += [f"{finding.verdict:<8}  {finding.claim}", f"{'':<8}  {finding.measured}"]
        return rows


def _text(cell: Cell) -> str:
    """Return a number as short as a reader needs it."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if cell and (abs(cell) >= 1e6 or abs(cell) < 1e-3):
        return f"{cell:.3g}"
    return f"{cell:,.4g}"
