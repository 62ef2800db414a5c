"""One thing has one name, and a name says what the thing is."""

import ast
import re
from pathlib import Path

from rules.source_tree import source_files

VAGUE = re.compile(r"(^|_)(utils?|helpers?|common|misc|managers?)($|_)")
OTHER_NAMES = {
    "src": "source",
    "tgt": "target",
    "trg": "target",
    "hyp": "hypothesis",
    "inp": "source",
    "enc_out": "memory",
    "src_attn": "cross_attention",
    "hidden_size": "d_model",
    "n_head": "num_heads",
    "gpu_id": "rank",
    "tok": "token",
    "idx": "token",
}


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def test_no_file_has_a_vague_name(root: Path) -> None:
    """A module is named for its content, never utils, helpers, common or manager."""
    files = [path for folder in ("src", "tests", "docs", "bench") for path in (root / folder).rglob("*.py")]

    assert [path.name for path in files if VAGUE.search(path.stem) or VAGUE.search(path.parent.name)] == []


def test_no_definition_has_a_vague_name() -> None:
    """A class or function is named for what it is or does."""
    found = [
        f"{file.name}:{node.lineno} {node.name}"
        for file in source_files()
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and VAGUE.search(snake(node.name))
    ]

    assert found == []


def test_one_thing_has_one_name() -> None:
    """The names on the right of the style's table are not used."""
    found = [
        f"{file.name}:{node.lineno} {name}; say {OTHER_NAMES[name]}"
        for file in source_files()
        for node in ast.walk(file.tree)
        if (name := getattr(node, "arg", None) or getattr(node, "id", None)) in OTHER_NAMES
    ]

    assert found == []
