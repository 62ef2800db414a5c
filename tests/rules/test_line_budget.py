"""The core is read in an afternoon."""

import ast
from collections.abc import Callable

from rules.source_tree import Function, SourceFile, source_files

CORE = ("model/", "search/", "train/")
CORE_LINES, FILE_LINES, FUNCTION_LINES, PARAMETERS = 2_500, 400, 60, 6


def parameters(function: Function) -> int:
    """Count what a caller must understand; an instance or class that is bound is not counted."""
    given = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return len([argument for argument in given if argument.arg not in ("self", "cls")])


def is_command(function: Function) -> bool:
    """Whether click calls the function: it hands over one parameter for each option."""
    return any(".command" in ast.unparse(decorator) for decorator in function.decorator_list)


def functions_over(limit: int, measure: Callable[[Function], int]) -> list[str]:
    return [
        f"{file.name}:{function.lineno} {function.name} has {measure(function)}"
        for file in source_files()
        for function in file.functions()
        if measure(function) > limit
    ]


def core() -> list[SourceFile]:
    return [file for file in source_files() if file.name.startswith(CORE)]


def test_the_core_is_short() -> None:
    """The model, the search and the training hold at most 2,500 lines together."""
    assert sum(file.lines for file in core()) <= CORE_LINES


def test_no_file_is_long() -> None:
    """A file holds at most 400 lines."""
    assert [f"{file.name}: {file.lines}" for file in source_files() if file.lines > FILE_LINES] == []


def test_no_function_is_long() -> None:
    """A function holds at most 60 lines, its docstring included."""
    assert functions_over(FUNCTION_LINES, lambda function: function.end_lineno - function.lineno + 1) == []


def test_no_function_takes_many_parameters() -> None:
    """A function takes at most 6 parameters; a command takes one for each option."""
    assert (
        functions_over(PARAMETERS, lambda function: 0 if is_command(function) else parameters(function)) == []
    )
