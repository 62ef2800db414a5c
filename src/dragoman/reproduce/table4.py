"""Table 4: constituency parsing, from a treebank alone and with trees that a machine has made."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dragoman.errors import UsageError
from dragoman.evaluate.bracket_rules import COLLINS
from dragoman.evaluate.parses import ParsingScores, score_parses
from dragoman.reproduce.findings import Cell, Finding, Piece, Table
from dragoman.reproduce.paper import TABLE4
from dragoman.reproduce.request import Request
from dragoman.reproduce.trainings import Trained, Training, configurations, train_all, training_chart
from dragoman.run import EvaluateParserOptions, evaluate_parser
from dragoman.storage.durable import checksum_of
from dragoman.trees import clean, read_trees, rooted
from dragoman.trees.baseline import right_branching

RECIPES = {"tiny": "parsing-small", "laptop": "auto", "small": "parsing", "full": "parsing"}

SETTINGS = {
    "tiny": (
        "model.vocabulary_size=400",
        "model.num_encoder_layers=1",
        "model.num_decoder_layers=1",
        "model.d_model=16",
        "model.d_ff=16",
        "train.max_steps=4",
        "train.batch_tokens=500",
        "train.validation_interval_steps=4",
        "train.validation_sentences=4",
        "search.beam_size=1",
        "search.extra_length=20",
    ),
    "laptop": (),
    "small": (),
    "full": (),
}

_SEMI_SUPERVISED = ("model.vocabulary_size=32000",)
"""What the semi-supervised setting has besides at the full scale: 32,000 pieces for 16,000 (§6.3)."""

_PRINTED = {"treebank": 91.3, "semi-supervised": 92.7}
"""F1 of the Transformer in the paper (Table 4)."""

_NUM_TEST_TREES = 2_416
"""Of section 23 of the Wall Street Journal, by which it is known."""

_NEAR = 0.5
"""F1 by which scores of the same treebank may differ and still agree."""


def repeat_table4(request: Request) -> Piece:
    """Train on a treebank, parse its test part, and set F1 beside the paper's.

    Source: Vaswani et al. (2017), §6.3 and Table 4.

    Raises:
        UsageError: No treebank is named, or not all of its parts.
    """
    if not (request.corpus and request.dev and request.test):
        raise UsageError(
            "table4 needs a treebank in three parts",
            hint="name them, as in --corpus train.mrg --dev dev.mrg --test test.mrg; MASC and CRAFT are "
            "free, the paper's is not",
        )
    for option, paths in (("--corpus", request.corpus), ("--dev", request.dev), ("--test", request.test)):
        if len(paths) > 1:
            raise UsageError(
                f"table4 takes one file of trees as {option}, not {len(paths)}",
                hint="join them first, as in: cat wsj_23*.mrg > test.mrg",
            )
    trainings = [_training(request, "treebank", ())]
    if request.silver:
        trainings.append(_training(request, "semi-supervised", request.silver))
    found = train_all(trainings, replace(request, jobs=1))
    scores: dict[str, ParsingScores] = {}
    for training in trainings:
        request.told(f"parsing {request.test[0].name}: {training.name}")
        options = EvaluateParserOptions(output=training.folder / "test.mrg")
        scores[training.name] = evaluate_parser(training.folder, request.test[0], options).scores
    chart = training_chart(trainings, "f1", "F1 of development trees")
    piece = replace(_piece(request, found, scores), charts=[chart], configurations=configurations(trainings))
    return piece.unjudged() if request.scale == "tiny" else piece


def _training(request: Request, name: str, silver: Sequence[Path]) -> Training:
    return Training(
        name=name,
        folder=request.out / "trainings" / name,
        corpus=request.corpus,
        dev=request.dev,
        silver=silver,
        recipe=RECIPES[request.scale],
        settings=[
            "data.task=parsing",
            "data.test_pairs=0",
            *SETTINGS[request.scale],
            *(_SEMI_SUPERVISED if silver and request.scale == "full" else ()),
            *request.settings,
        ],
    )


def _verdict(request: Request, name: str, scores: ParsingScores) -> bool | None:
    """Return whether F1 is what the paper prints; None where the treebank is not known to be the paper's."""
    if scores.well_formed < 100.0:
        return False
    is_paper = scores.brackets.total.num_sentences == _NUM_TEST_TREES
    if request.scale != "full" or request.settings or not is_paper:
        return None
    return abs(scores.brackets.total.f1 - _PRINTED[name]) <= _NEAR


def _baseline(path: Path) -> float:
    gold = [rooted(tree) for numbered in read_trees(path) if (tree := clean(numbered.tree)) is not None]
    return score_parses(gold, [right_branching(tree.leaves()) for tree in gold], COLLINS).brackets.total.f1


def _piece(request: Request, found: dict[str, Trained], scores: dict[str, ParsingScores]) -> Piece:
    treebank = request.test[0].name
    rows: list[list[Cell]] = [[one.parser, one.training, "WSJ section 23", one.f1, None] for one in TABLE4]
    rows.append(["right-branching baseline", "none", treebank, round(_baseline(request.test[0]), 2), None])
    findings = []
    for name, one in scores.items():
        total = one.brackets.total
        rows.append(["this program", name, treebank, round(total.f1, 2), round(found[name].minutes, 1)])
        left_out = total.num_sentences - total.num_valid
        also = f" ({one.f1_of_all:.2f} with the {left_out} that EVALB leaves out)" if left_out else ""
        findings.append(
            Finding(
                "the Transformer generalizes to constituency parsing with few changes (§6.3)",
                f"{name}: F1 {total.f1:.2f} on {treebank}{also}, exact match {total.exact_match:.2f} %, "
                f"{one.well_formed:.1f} % of the outputs are trees over their words; "
                f"{found[name].minutes:.0f} minutes of training. "
                "The paper's 91.3 and 92.7 are of the Wall Street Journal",
                _verdict(request, name, one),
            )
        )
    if len(scores) == 2:
        alone, mixed = (one.brackets.total.f1 for one in scores.values())
        findings.append(
            Finding(
                "machine-made trees beside the treebank help (Table 4: 91.3 and 92.7)",
                f"F1 {alone:.2f} without them and {mixed:.2f} with them",
                mixed > alone,
            )
        )
    paths = (*request.corpus, *request.dev, *request.test, *request.silver)
    return Piece(
        title="Table 4: constituency parsing",
        text=[
            f"Trained on {request.corpus[0].name}, chosen on {request.dev[0].name}, scored on {treebank} by "
            "the rules of EVALB with COLLINS.prm. Rows of another treebank than the paper's cannot be "
            "compared with its rows, only with the baseline.",
        ],
        findings=findings,
        tables=[
            Table(
                name="table4",
                title="Table 4, the paper's and ours",
                heads=["parser", "training", "test", "F1", "minutes"],
                rows=rows,
            )
        ],
        files=tuple((path.name, checksum_of(path)) for path in paths),
    )
