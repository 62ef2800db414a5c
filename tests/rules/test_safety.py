"""What the package must never do."""

import ast

from rules.source_tree import source_files

PICKLING = {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal"}
TORCH_FILES = {"torch.load", "torch.save"}


def calls() -> list[tuple[str, str, ast.Call]]:
    """Every call in the package: the file, what is called, and the call."""
    return [
        (file.name, ast.unparse(node.func), node)
        for file in source_files()
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Call)
    ]


def imported() -> list[tuple[str, str]]:
    """Every import in the package: the file and the first part of the module's name."""
    found = []
    for file in source_files():
        for node in ast.walk(file.tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found += [(file.name, name.partition(".")[0]) for name in names]
    return found


def has(call: ast.Call, keyword: str) -> bool:
    """Whether the call sets the keyword to True."""
    return any(given.arg == keyword and ast.unparse(given.value) == "True" for given in call.keywords)


def test_nothing_is_pickled() -> None:
    """A file that is opened can never run code: no module that pickles is imported."""
    assert [(file, name) for file, name in imported() if name in PICKLING] == []


def test_torch_files_are_read_by_importers_only() -> None:
    """Weights are safetensors; other projects' files are read with weights_only, in the importers alone."""
    found = [
        f"{file}:{call.lineno} {name}"
        for file, name, call in calls()
        if name in TORCH_FILES and not (file.startswith("interop/") and has(call, "weights_only"))
    ]

    assert found == []


def test_arrays_are_read_without_pickle() -> None:
    """Objects are not unpickled by numpy either."""
    assert [f"{file}:{call.lineno}" for file, _, call in calls() if has(call, "allow_pickle")] == []


def test_only_doors_print() -> None:
    """Results and progress are written by the command line; everything below returns values."""
    found = [f"{file}:{call.lineno}" for file, name, call in calls() if name == "print"]

    assert [place for place in found if not place.startswith("cli/")] == []


def test_lines_end_at_line_feeds_only() -> None:
    """str.splitlines also cuts at U+0085, U+2028 and form feeds, which are part of users' text."""
    found = [f"{file}:{call.lineno}" for file, name, call in calls() if name.endswith(".splitlines")]

    assert found == []
