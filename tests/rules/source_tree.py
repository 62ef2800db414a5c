"""The parsed files of the package, for the rules that read them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[2] / "src" / "dragoman"

Function = ast.FunctionDef | ast.AsyncFunctionDef


class SourceFile(NamedTuple):
    """One file of the package."""

    name: str
    """Path below the package, with slashes: ``model/attention.py``."""

    lines: int
    """Number of lines, blank ones and comments included."""

    tree: ast.Module
    """Its syntax tree."""

    def functions(self) -> Iterator[Function]:
        """Yield every function and method, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))


@cache
def source_files() -> tuple[SourceFile, ...]:
    """Return all files of the package in the order of their names."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.append(SourceFile(path.relative_to(SOURCE).as_posix(), text.count("\n"), ast.parse(text)))
    return tuple(found)
