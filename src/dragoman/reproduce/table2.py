"""Table 2: translation, its quality and what training costs."""

from collections.abc import Mapping, Sequence

from dragoman.config import read_config
from dragoman.evaluate import Score
from dragoman.reproduce.corpus import Texts, given_or_generated
from dragoman.reproduce.findings import Cell, Finding, Piece, Table
from dragoman.reproduce.paper import TABLE2
from dragoman.reproduce.request import Request
from dragoman.reproduce.table3 import BASE, FACTORS, SETTINGS
from dragoman.reproduce.trainings import Trained, Training, shrunk, train_all
from dragoman.run import EvaluateOptions, Evaluation, evaluate

BIG = {
    "model.d_model": 1024,
    "model.d_ff": 4096,
    "model.num_heads": 16,
    "model.d_k": 64,
    "model.d_v": 64,
    "model.dropout": 0.3,
}
"""The big model, of which §5.4 and §6.1 say that its dropout is 0.3 but for English to French, 0.1."""

_AVERAGED = {"base": 5, "big": 20}
"""Checkpoints that are averaged (§6.1)."""


def repeat_table2(request: Request) -> Piece:
    """Train the base and the big model, score them on the test pairs, and price the training.

    Source: Vaswani et al. (2017), §6.1 and Table 2.
    """
    texts = given_or_generated(request)
    trainings = [
        _training(request, texts, name, keys) for name, keys in (("base", BASE), ("big", BASE | BIG))
    ]
    found = train_all(trainings, request)
    evaluations = {}
    for training in trainings:
        request.told(f"scoring the {training.name} model on {len(texts.test)} test files")
        source, *references = texts.test
        options = EvaluateOptions(paper_bleu=True, ter=False, output=training.folder / "test.out")
        evaluations[training.name] = evaluate(training.folder, source, references, options)
    piece = _piece(request, texts, found, evaluations)
    return piece.unjudged() if request.scale == "tiny" else piece


def _training(request: Request, texts: Texts, name: str, keys: Mapping[str, object]) -> Training:
    settings = [
        *shrunk(keys, FACTORS[request.scale]),
        *SETTINGS[request.scale],
        *(["train.max_steps=300000"] if name == "big" and request.scale == "full" else []),
        f"train.average_checkpoints={_AVERAGED[name]}",
        "data.test_pairs=0",
    ]
    if texts.tokenized:
        settings.append("data.tokenized=true")
    return Training(
        name=name,
        folder=request.out / "trainings" / name,
        corpus=texts.train,
        dev=texts.dev,
        settings=[*settings, *request.settings],
    )


def _piece(
    request: Request, texts: Texts, found: dict[str, Trained], evaluations: dict[str, Evaluation]
) -> Piece:
    rows: list[list[Cell]] = [
        [one.model, one.bleu_de, one.bleu_fr, one.cost_de, one.cost_fr, None, None, None] for one in TABLE2
    ]
    findings = []
    for name, trained in found.items():
        paper, bleu = _both_scores(evaluations[name])
        cost = float(f"{trained.paper_flops:.2g}")
        ours = f"this program ({name}), {texts.about}"
        rows.append([ours, None, None, None, None, round(paper.value, 2), round(bleu.value, 2), cost])
        findings.append(
            Finding(
                f"the {name} Transformer (§6.1)",
                f"BLEU {paper.value:.2f} over tokens with compounds split, {bleu.value:.2f} by sacreBLEU; "
                f"{trained.minutes:.1f} minutes, {trained.paper_flops:.2e} operations as the paper counts, "
                f"{trained.flops:.2e} executed",
                None,
            )
        )
    base, big = (evaluations[name].scores.bleu.value for name in ("base", "big"))
    findings.append(
        Finding(
            "the big model translates better than the base model (Table 2)",
            f"BLEU {big:.2f} and {base:.2f}",
            big > base,
        )
    )
    return Piece(
        title="Table 2: translation, and the cost of training",
        text=_about(request, texts, evaluations),
        findings=findings,
        tables=[
            Table(
                name="table2",
                title="Table 2, the paper's rows and ours",
                heads=[
                    "model",
                    "EN-DE",
                    "EN-FR",
                    "cost EN-DE",
                    "cost EN-FR",
                    "BLEU here, tokens",
                    "sacreBLEU here",
                    "cost here",
                ],
                rows=rows,
            )
        ],
        files=texts.checksums(),
    )


def _both_scores(evaluation: Evaluation) -> tuple[Score, Score]:
    """Return BLEU as the paper has it, and sacreBLEU."""
    assert evaluation.paper_bleu is not None
    return evaluation.paper_bleu, evaluation.scores.bleu


def _about(request: Request, texts: Texts, evaluations: dict[str, Evaluation]) -> Sequence[str]:
    paper, bleu = _both_scores(evaluations["base"])
    config = read_config(recipe="base", file=None, settings=()).search
    factor = FACTORS[request.scale]
    return [
        f"Both models are trained on {texts.about}, with checkpoints averaged as in the paper (5 and 20), "
        f"and translate the test pairs with a beam of {config.beam_size} and α = {config.length_penalty}.",
        f"Widths are the paper's divided by {factor}." if factor > 1 else "Widths are the paper's.",
        f"BLEU over tokens has the signature {paper.signature}; sacreBLEU {bleu.signature}. The "
        "paper's scores are of newstest2014, so rows of other texts cannot be compared with them.",
        "The cost is priced as in the paper, time times the operations a second that the device sustains "
        "(§6.1), and beside it the operations that were executed.",
    ]
