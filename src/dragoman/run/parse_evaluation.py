"""How good a parser's trees are, or those of any system, against gold trees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.errors import CorpusError, ScoreError, TreeError, UsageError
from dragoman.evaluate.bracket_report import evalb_report
from dragoman.evaluate.bracket_rules import COLLINS, Rules, read_rules
from dragoman.evaluate.brackets import Prediction
from dragoman.evaluate.parses import NO_TAGS, ParsingScores, score_parses
from dragoman.parser import TOO_LONG_HINT, Parse, Parser
from dragoman.run.evaluation import File
from dragoman.run.output import check_output, whole_file
from dragoman.run.translation import search_settings
from dragoman.text import STANDARD_INPUT, display_name, read_lines
from dragoman.translator import WINDOW
from dragoman.trees import (
    BadTree,
    NumberedTree,
    Tree,
    clean,
    format_tree,
    read_trees,
    rooted,
    scan_lines,
    scan_trees,
)

NO_RULES = "none"
"""In place of a file of parameters: the rules that EVALB has without one."""

_MAX_NAMED_LINES = 5


@dataclass(frozen=True, kw_only=True)
class EvaluateParserOptions:
    """How to evaluate a parser."""

    constrained: bool = True
    """Whether search is held to trees over the words of the sentence."""
    params: File | None = None
    """A file of parameters for EVALB, or ``NO_RULES``; left out, the rules are COLLINS."""
    output: Path | None = None
    """Where to keep the trees: one a line, and a blank line where there is none."""
    beam_size: int | None = None
    """Left out, the model's own, as the next two."""
    length_penalty: float | None = None
    batch_tokens: int | None = None
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""


@dataclass(frozen=True, kw_only=True)
class TreeEvaluation:
    """Scores of trees, and by which rules they are."""

    scores: ParsingScores

    rules: str
    """The rules by name: COLLINS, a file of parameters, or those of EVALB without one."""

    is_of_model: bool
    """Whether a model has just made the trees, whose lack of tags is then no surprise."""

    def lines(self) -> list[str]:
        """Return the report: the metrics, how many outputs are trees, and the rules."""
        tags = (
            [] if self.scores.predicts_tags else ["no tags are predicted; those of the gold trees are taken"]
        )
        return [*self.scores.lines(), *tags, f"brackets are counted as EVALB does; rules: {self.rules}"]

    def evalb_report(self) -> list[str]:
        """Return the lines that EVALB prints."""
        return evalb_report(self.scores.brackets)

    def notices(self) -> list[str]:
        """Return what makes the scores doubtful."""
        surprises = [] if self.scores.predicts_tags or self.is_of_model else [NO_TAGS]
        return surprises + self.scores.notices()

    def as_dict(self) -> dict[str, Any]:
        """Return everything, each sentence too, as plain values for JSON, at full precision."""
        return {"rules": self.rules} | self.scores.as_dict()


def evaluate_parser(
    model: Parser | File,
    trees: File,
    options: EvaluateParserOptions | None = None,
    *,
    notice: Callable[[str], None] = lambda _: None,
    parsed: Callable[[int, int], None] = lambda _done, _of: None,
) -> TreeEvaluation:
    """Parse the words of gold trees and score the trees that come out.

    The gold trees are cleaned as in training: no traces, function tags or indices, and TOP outermost.

    Args:
        model: A parser, or the folder of its model.
        trees: The gold trees, in Penn brackets.
        options: How to evaluate; to a parser that is given, ``constrained`` and ``device`` do nothing.
        notice: Is told of trees that are left out.
        parsed: Is told how many sentences are done, of how many.

    Raises:
        CorpusError: A file cannot be read as text, or a sentence is longer than the model can read.
        TreeError: Something is no tree, or the file holds none.
        ScoreError: No tree holds a word.
        BundleError: The folder does not hold a whole model.
        ConfigError: The file of parameters breaks its format.
        UsageError: An option breaks a rule, or the model was trained to translate.
    """
    options = options or EvaluateParserOptions()
    if options.output is not None:
        check_output(options.output, [Path(trees), *([Path(options.params)] if options.params else [])])
    name, rules = _rules(options.params)
    gold = _cleaned_trees(trees, notice)
    parsable = [(line, tree) for line, tree in gold if tree is not None]
    if not isinstance(model, Parser):
        model = Parser.load(model, device=options.device, constrained=options.constrained)
    _check_lengths(model, parsable, display_name(trees))
    right = [tree for _, tree in parsable]
    found = _parse(model, right, options, parsed)
    if options.output is not None:
        remaining = iter(found)
        written = [None if tree is None else next(remaining) for _, tree in gold]
        with whole_file(options.output) as file:
            file.writelines(f"{_line(prediction)}\n" for prediction in written)
    scores = score_parses(right, found, rules, lines=[line for line, _ in parsable])
    return TreeEvaluation(scores=scores, rules=name, is_of_model=True)


def evaluate_trees(gold: File, predicted: File, params: File | None = None) -> TreeEvaluation:
    """Score a file of trees, of this or of any other parser, against gold trees as EVALB does.

    The trees are taken as they are; what of them counts is a matter of the rules. If there are as many lines
    as gold trees, each line is a prediction, and a blank one stands for none; else each tree is one, on one
    line or over many. What is no tree is counted as an error and told.

    Args:
        gold: The right trees.
        predicted: The trees to be scored, in the order of the gold trees.
        params: A file of parameters for EVALB, or ``NO_RULES``; left out, the rules are COLLINS.

    Raises:
        CorpusError: A file cannot be read as text.
        TreeError: Among the gold trees is something that is none.
        ScoreError: The files hold different numbers of trees, or the words of too many differ.
        ConfigError: The file of parameters breaks its format.
        UsageError: Both files are standard input.
    """
    if str(gold) == str(predicted) == STANDARD_INPUT:
        raise UsageError("standard input can be read only once", hint="name a file in place of one '-'")
    name, rules = _rules(params)
    numbered = list(read_trees(gold))
    predictions = _predictions(predicted, gold, len(numbered))
    scores = score_parses(
        [one.tree for one in numbered], predictions, rules, lines=[one.line for one in numbered]
    )
    return TreeEvaluation(scores=scores, rules=name, is_of_model=False)


def _rules(params: File | None) -> tuple[str, Rules]:
    """Return the rules and their name."""
    if params is None:
        return "COLLINS", COLLINS
    if str(params) == NO_RULES:
        return "those of EVALB without a file of parameters", Rules()
    return display_name(params), read_rules(params)


def _cleaned_trees(path: File, notice: Callable[[str], None]) -> list[tuple[int, Tree | None]]:
    """Return the line of each gold tree and the tree as in training, or None where it holds no word."""
    numbered: list[NumberedTree] = []
    try:
        numbered.extend(read_trees(path))
    except TreeError as error:
        if numbered:
            raise
        raise TreeError(
            error.message,
            hint="a model that parses is scored on gold trees such as (S (NP (PRP I)) (VP (VBP see)))",
        ) from None
    cleaned = [(line, clean(tree)) for line, tree in numbered]
    without = [line for line, tree in cleaned if tree is None]
    if len(without) == len(cleaned):
        raise ScoreError(
            f"{display_name(path)}: no tree holds a word; there is nothing to parse",
            hint="name a file of gold trees with words",
        )
    if without:
        named = ", ".join(f"{line:,}" for line in without[:_MAX_NAMED_LINES])
        more = ", ..." if len(without) > _MAX_NAMED_LINES else ""
        notice(
            f"{display_name(path)}: left out {len(without):,} of {len(cleaned):,} trees, which hold no word "
            f"(line{'s' * (len(without) > 1)} {named}{more})"
        )
    return [(line, rooted(tree) if tree else None) for line, tree in cleaned]


def _parse(
    parser: Parser,
    trees: Sequence[Tree],
    options: EvaluateParserOptions,
    parsed: Callable[[int, int], None],
) -> list[Prediction]:
    """Return what the parser makes of the words of each tree."""
    changes = {
        "beam_size": options.beam_size,
        "length_penalty": options.length_penalty,
        "batch_tokens": options.batch_tokens,
        "n_best": 1,
    }
    config = search_settings(parser.config, changes)
    sentences = [_words(tree) for tree in trees]
    found: list[Prediction] = []
    for start in range(0, len(sentences), WINDOW):
        window = sentences[start : start + WINDOW]
        found += [_prediction(parse) for parse in parser.parse_window(window, config)]
        parsed(len(found), len(sentences))
    return found


def _check_lengths(parser: Parser, trees: Sequence[tuple[int, Tree]], name: str) -> None:
    """Refuse sentences that are longer than the model has learned, before any is parsed."""
    for line, tree in trees:
        if objection := parser.objection(_words(tree)):
            raise CorpusError(f"{name}, line {line:,}: {objection}", hint=TOO_LONG_HINT)


def _words(tree: Tree) -> list[str]:
    return [leaf.word for leaf in tree.leaves()]


def _prediction(parse: Parse) -> Prediction:
    """Return the best output of a sentence: a tree, or why it is none; then EVALB sees a blank line."""
    best = parse.alternatives[0]
    return best.tree or BadTree(0, TreeError(best.fault or ""))


def _line(prediction: Prediction) -> str:
    return format_tree(prediction) if isinstance(prediction, Tree) else ""


def _predictions(path: File, gold: File, num_gold: int) -> list[Prediction]:
    """Return the predictions in a file: one for each line, or one for each tree.

    Raises:
        ScoreError: Neither the lines nor the trees are as many as the gold trees.
    """
    lines, name = list(read_lines(path)), display_name(path)
    by_line = list(scan_lines(lines, name))
    while len(by_line) > num_gold and by_line[-1] is None:
        by_line.pop()
    if len(by_line) == num_gold:
        return [one.tree if isinstance(one, NumberedTree) else one for one in by_line]
    by_tree = list(scan_trees(lines, name))
    if len(by_tree) == num_gold:
        return [one.tree if isinstance(one, NumberedTree) else one for one in by_tree]
    raise ScoreError(
        f"{display_name(gold)} has {num_gold:,} trees but {name} has {len(by_tree):,} on {len(by_line):,} "
        "lines; prediction n must be of the sentence of gold tree n",
        hint="write one tree a line, in the order of the gold trees, and a blank line where there is none",
    )
