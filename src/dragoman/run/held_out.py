"""The files of development and test pairs that were split off, in the folder ``held-out`` of a run."""

import json
from collections.abc import Sequence
from pathlib import Path

from dragoman.run.corpora import TrainingText
from dragoman.storage.durable import replace_durably
from dragoman.text import NumberedPair
from dragoman.trees import format_tree, tree_of_pair

Languages = tuple[str | None, str | None]
"""Source and target language; None where nobody has named it."""

_TREES = "mrg"
"""Ending of a file of held-out trees."""


def write_held_out(folder: Path, text: TrainingText, task: str, languages: Languages) -> None:
    """Write the pairs, or trees, that were split off; OSError where they cannot be written."""
    for name, pairs, is_split in (
        ("dev", text.dev, text.dev_is_split),
        ("test", text.test, text.test_is_split),
    ):
        if is_split and task == "parsing":
            _write_trees(folder, name, pairs)
        elif is_split:
            _write_pairs(folder, name, pairs, languages)


def held_out_test_files(out: Path) -> tuple[Path, ...] | None:
    """Return source and target file of the test pairs, or the file of trees, if they were split off."""
    found = sorted((out / "held-out").glob("test.*")) if (out / "held-out").is_dir() else []
    if found == [out / "held-out" / f"test.{_TREES}"]:
        return (found[0],)
    if len(found) != 2:
        return None
    order = json.loads((out / "held-out" / "order.json").read_text(encoding="utf-8"))
    return out / "held-out" / f"test.{order[0]}", out / "held-out" / f"test.{order[1]}"


def _write_pairs(folder: Path, name: str, pairs: Sequence[NumberedPair], languages: Languages) -> None:
    """Write pairs as two line-aligned files."""
    folder.mkdir(exist_ok=True)
    source, target = suffixes(languages)
    for suffix, texts in (
        (source, [pair.source for _, pair in pairs]),
        (target, [pair.target for _, pair in pairs]),
    ):
        content = "".join(f"{text}\n" for text in texts)
        replace_durably(folder / f"{name}.{suffix}", content.encode())
    replace_durably(folder / "order.json", json.dumps([source, target]).encode())


def _write_trees(folder: Path, name: str, pairs: Sequence[NumberedPair]) -> None:
    """Write pairs of a treebank as trees, one a line, with their tags."""
    folder.mkdir(exist_ok=True)
    content = "".join(f"{format_tree(tree_of_pair(pair))}\n" for _, pair in pairs)
    replace_durably(folder / f"{name}.{_TREES}", content.encode())


def suffixes(languages: Languages) -> tuple[str, str]:
    """Return the endings of the two files of pairs."""
    source, target = languages
    if source is None or target is None or source == target:
        return "source", "target"
    return source, target
