"""The only place where parts are put together: train, translate, evaluate as functions.

Each name is imported when it is first asked for, so that a translation need not import what training needs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.run.corpora import TrainingText
    from dragoman.run.evaluation import EvaluateOptions, Evaluation, evaluate, evaluate_outputs
    from dragoman.run.parse_evaluation import (
        EvaluateParserOptions,
        TreeEvaluation,
        evaluate_parser,
        evaluate_trees,
    )
    from dragoman.run.reporter import Reporter
    from dragoman.run.session import Outcome
    from dragoman.run.training import TrainOptions, train

__all__ = [
    "EvaluateOptions",
    "EvaluateParserOptions",
    "Evaluation",
    "Outcome",
    "Reporter",
    "TrainOptions",
    "TrainingText",
    "TreeEvaluation",
    "evaluate",
    "evaluate_outputs",
    "evaluate_parser",
    "evaluate_trees",
    "train",
]

_MODULES = {
    "EvaluateOptions": "dragoman.run.evaluation",
    "EvaluateParserOptions": "dragoman.run.parse_evaluation",
    "Evaluation": "dragoman.run.evaluation",
    "Outcome": "dragoman.run.session",
    "Reporter": "dragoman.run.reporter",
    "TrainOptions": "dragoman.run.training",
    "TrainingText": "dragoman.run.corpora",
    "TreeEvaluation": "dragoman.run.parse_evaluation",
    "evaluate": "dragoman.run.evaluation",
    "evaluate_outputs": "dragoman.run.evaluation",
    "evaluate_parser": "dragoman.run.parse_evaluation",
    "evaluate_trees": "dragoman.run.parse_evaluation",
    "train": "dragoman.run.training",
}


def __getattr__(name: str) -> Any:
    """Import what the package offers by name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
