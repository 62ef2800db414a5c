"""Dragoman: the Transformer of "Attention Is All You Need" as software to rely on.

What most programs need is here: ``from dragoman import Translator, Parser, train, evaluate``. Each name is
imported when it is first asked for, so that ``import dragoman`` costs nothing.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.parser import Parse, ParsedTree, Parser
    from dragoman.run import (
        EvaluateOptions,
        Evaluation,
        TrainOptions,
        evaluate,
        evaluate_parser,
        evaluate_trees,
        train,
    )
    from dragoman.run.explaining import Explainer
    from dragoman.translator import Translator
    from dragoman.trees import format_tree, read_trees
    from dragoman.visualize import draw_tree, tree_svg

__all__ = [
    "EvaluateOptions",
    "Evaluation",
    "Explainer",
    "Parse",
    "ParsedTree",
    "Parser",
    "TrainOptions",
    "Translator",
    "__version__",
    "draw_tree",
    "evaluate",
    "evaluate_parser",
    "evaluate_trees",
    "format_tree",
    "read_trees",
    "train",
    "tree_svg",
]

__version__ = "0.1.0"

_MODULES = {
    "EvaluateOptions": "dragoman.run",
    "Evaluation": "dragoman.run",
    "Explainer": "dragoman.run.explaining",
    "Parse": "dragoman.parser",
    "ParsedTree": "dragoman.parser",
    "Parser": "dragoman.parser",
    "TrainOptions": "dragoman.run",
    "Translator": "dragoman.translator",
    "draw_tree": "dragoman.visualize",
    "evaluate_parser": "dragoman.run",
    "evaluate_trees": "dragoman.run",
    "format_tree": "dragoman.trees",
    "read_trees": "dragoman.trees",
    "tree_svg": "dragoman.visualize",
}


class _Package(ModuleType):
    """The package, on which ``train`` and ``evaluate`` are always the functions.

    Two parts of the package bear these names too. The import system sets a part as an attribute as soon as
    any module of it is imported, which would hide the function; ``from dragoman.train.step import ...`` finds
    the part without that attribute.
    """

    def __getattr__(self, name: str) -> Any:
        """Import what the package offers by name."""
        if name not in _MODULES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(_MODULES[name]), name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})

    def _function(self, name: str) -> Any:
        return getattr(importlib.import_module("dragoman.run"), name)

    def _leave(self, part: ModuleType) -> None:
        """Accept what the import system sets, and keep the function."""

    train = property(lambda self: self._function("train"), _leave)
    evaluate = property(lambda self: self._function("evaluate"), _leave)


if not TYPE_CHECKING:
    sys.modules[__name__].__class__ = _Package
