"""The only place where parts are put together: train, translate, evaluate as functions."""

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
