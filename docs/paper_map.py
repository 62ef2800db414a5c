"""The page that maps the paper to the code, made from the ``Source:`` lines of the docstrings."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PAPER = "Vaswani et al. (2017)"
SECTIONS = {
    "1": "Introduction",
    "2": "Background",
    "3": "Model Architecture",
    "3.1": "Encoder and Decoder Stacks",
    "3.2": "Attention",
    "3.2.1": "Scaled Dot-Product Attention",
    "3.2.2": "Multi-Head Attention",
    "3.2.3": "Applications of Attention in our Model",
    "3.3": "Position-wise Feed-Forward Networks",
    "3.4": "Embeddings and Softmax",
    "3.5": "Positional Encoding",
    "4": "Why Self-Attention",
    "5": "Training",
    "5.1": "Training Data and Batching",
    "5.2": "Hardware and Schedule",
    "5.3": "Optimizer",
    "5.4": "Regularization",
    "6": "Results",
    "6.1": "Machine Translation",
    "6.2": "Model Variations",
    "6.3": "English Constituency Parsing",
    "7": "Conclusion",
}
METHOD = (*(number for number in SECTIONS if re.match(r"[35]\.", number)), "6.1")
"""The sections that describe what is computed; each must be found in the code."""

_SECTION = re.compile(r"§(\d(?:\.\d)*)")


class Place(NamedTuple):
    """A part of the code that names a section of the paper."""

    name: str
    """Dotted name of the module, class or function."""

    summary: str
    """First sentence of its docstring."""

    sections: tuple[str, ...]
    """Numbers of the sections, as the docstring gives them."""


@cache
def places(package: Path) -> tuple[Place, ...]:
    """Return every part of the package whose docstring cites the paper, in the order of the files."""
    found = []
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for name, text in _docstrings(ast.parse(file.read_text(encoding="utf-8")), module):
            sections = cited(text)
            if sections:
                found.append(Place(name, " ".join(text.split("\n\n")[0].split()), sections))
    return tuple(found)


def cited(docstring: str) -> tuple[str, ...]:
    """Return the sections of the paper that a docstring's ``Source:`` paragraphs name.

    A semicolon parts the sources: sections after another author's name are that author's.
    """
    sections: list[str] = []
    for paragraph in docstring.split("\n\n"):
        if not paragraph.lstrip().startswith("Source:"):
            continue
        ours = False
        for clause in paragraph.split(";"):
            if "et al." in clause:
                ours = PAPER in clause
            if ours:
                sections += _SECTION.findall(clause)
    return tuple(dict.fromkeys(sections))


def _docstrings(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and the docstring of a module and of all that is defined in it."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        text = ast.get_docstring(node)
        if text:
            yield name, text
    for child in ast.iter_child_nodes(node):
        own = getattr(child, "name", None)
        is_scope = isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _docstrings(child, f"{name}.{own}" if is_scope else name)


def page(package: Path) -> str:
    """Return the page, in Markdown: each section of the paper with the code that is it."""
    found = places(package)
    lines = ["# From the paper to the code", ""]
    lines += ["Sections are those of *Attention Is All You Need* (arXiv:1706.03762, version 5).", ""]
    for number, title in SECTIONS.items():
        here = [place for place in found if number in place.sections]
        if here:
            lines += [f"## §{number} {title}", ""]
            lines += [f"- `{place.name}`: {place.summary}" for place in here] + [""]
    return "\n".join(lines)
