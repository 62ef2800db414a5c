"""Dragoman: the Transformer of "Attention Is All You Need" as software to rely on.

What most programs need is here: ``from dragoman import Translator, train, evaluate``. Each name is imported
when it is first asked for, so that ``import dragoman`` costs nothing.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.run import EvaluateOptions, Evaluation, TrainOptions, evaluate, train
    from dragoman.translator import Translator

__all__ = ["EvaluateOptions", "Evaluation", "TrainOptions", "Translator", "__version__", "evaluate", "train"]

__version__ = "0.1.0"

_MODULES = {
    "EvaluateOptions": "dragoman.run",
    "Evaluation": "dragoman.run",
    "TrainOptions": "dragoman.run",
    "Translator": "dragoman.translator",
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
