"""Table 2: translation, its quality and what training costs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from dragoman.config import read_config
from dragoman.errors import UsageError
from dragoman.evaluate import Score, paper_bleu
from dragoman.model_files import load_config
from dragoman.reproduce.corpus import given_or_generated
from dragoman.reproduce.findings import Cell, Finding, Piece, Table
from dragoman.reproduce.paper import TABLE2
from dragoman.reproduce.request import Request
from dragoman.reproduce.table3 import BASE, FACTORS, SETTINGS, big_steps, rate_for
from dragoman.reproduce.texts import Texts
from dragoman.reproduce.trainings import Trained, Training, configurations, shrunk, train_all, training_chart
from dragoman.run import EvaluateOptions, evaluate
from dragoman.text import languages_of, open_corpus, read_lines

BIG = {
    "model.d_model": 1024,
    "model.d_ff": 4096,
    "model.num_heads": 16,
    "model.d_k": 64,
    "model.d_v": 64,
    "model.dropout": 0.3,
}
"""The big model (Table 3)."""

_FULL = {"de": (), "fr": ("model.vocabulary_size=32000",)}
"""What both models have besides at the full scale, by target language: pieces to French (§5.1)."""

_FULL_BIG: Mapping[str, Sequence[str]] = {"de": (), "fr": ("model.dropout=0.1",)}
"""What the big model has besides at the full scale, by target language (§6.1)."""

_AVERAGED = {"base": 5, "big": 20}
"""Checkpoints that are averaged (§6.1)."""

_FULL_INTERVAL = {"base": 1_500, "big": 600}
"""Steps between checkpoints at the full scale: ten minutes of the paper's training (§5.2 and §6.1)."""

_NO_TOKENS = 'BLEU over tokens is missing, because sacremoses is not installed (pip install "dragoman[wmt]")'

_NEAR = 0.5
"""BLEU by which scores of the same test set may differ and still agree."""


def repeat_table2(request: Request) -> Piece:
    """Train the base and the big model, score them on each set of test pairs, and price the training.

    Source: Vaswani et al. (2017), §6.1 and Table 2.

    Raises:
        UsageError: A corpus is named and no test pairs.
    """
    texts = given_or_generated(request)
    if not texts.tests:
        raise UsageError(
            "table2 scores its models on test pairs", hint="name them by --test, in the form of --dev"
        )
    if find_spec("sacremoses") is None:
        request.told(f"{_NO_TOKENS}; sacreBLEU is counted in any case")
    trainings = [
        _training(request, texts, name, keys) for name, keys in (("base", BASE), ("big", BASE | BIG))
    ]
    found = train_all(trainings, request)
    scored = {}
    for training in trainings:
        request.told(f"scoring the {training.name} model")
        scored[training.name] = [
            _score(training, number, name, test, request.target if texts.is_paper else None)
            for number, (name, test) in enumerate(zip(texts.test_names(), texts.tests, strict=True), start=1)
        ]
    chart = training_chart(trainings, "perplexity", "Perplexity of the development pairs")
    piece = replace(
        _piece(request, texts, found, scored), charts=[chart], configurations=configurations(trainings)
    )
    return piece.unjudged() if request.scale == "tiny" else piece


class _Scored(NamedTuple):
    """Scores of a model on a set of test pairs."""

    test: str
    """What the set is called."""
    bleu: Score
    """sacreBLEU."""
    paper: Score | None
    """BLEU over tokens, compounds split; None where text cannot be cut into tokens."""

    def __str__(self) -> str:
        """Return the scores in words."""
        tokens = f"BLEU {self.paper.value:.2f} over tokens with compounds split, " if self.paper else ""
        return f"{self.test}: {tokens}{self.bleu.value:.2f} by sacreBLEU"


def _score(training: Training, number: int, name: str, test: Sequence[Path], target: str | None) -> _Scored:
    """Translate a set of test pairs and score it; the language is named, or the suffix of the corpus."""
    tokenized = load_config(training.folder).data.tokenized
    output = training.folder / f"test-{number}.out"
    source, *references = test
    options = EvaluateOptions(paper_bleu=tokenized, ter=False, output=output)
    evaluation = evaluate(training.folder, source, references, options)
    if tokenized:
        return _Scored(name, evaluation.scores.bleu, evaluation.paper_bleu)
    language = target or languages_of(open_corpus(training.corpus))[1]
    right = [pair.target for pair in open_corpus(test).pairs()]
    paper = _paper_bleu(list(read_lines(output)), right, language or "en")
    return _Scored(name, evaluation.scores.bleu, paper)


def _paper_bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Score | None:
    """Return BLEU as the paper has it: over Moses tokens, with compounds split.

    Without sacremoses, which cuts text into such tokens, there is none.

    Source: Vaswani et al. (2017), Table 2, as the authors' program scored it.
    """
    if find_spec("sacremoses") is None:
        return None
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer, tokenizer = MosesPunctNormalizer(language), MosesTokenizer(language)

    def tokens(text: str) -> str:
        found: str = tokenizer.tokenize(normalizer.normalize(text), return_str=True, escape=False)
        return found

    return paper_bleu([*map(tokens, hypotheses)], [*map(tokens, references)])


def _training(request: Request, texts: Texts, name: str, keys: Mapping[str, object]) -> Training:
    settings = [
        *shrunk(keys, FACTORS[request.scale]),
        *SETTINGS[request.scale],
        *rate_for(request.scale, keys),
        *(_FULL[request.target] if request.scale == "full" else ()),
        *(_FULL_BIG[request.target] if name == "big" and request.scale == "full" else ()),
        *(big_steps(request) if name == "big" else ()),
        *(["train.average_always=true"] if request.scale == "full" else ()),
        f"train.average_checkpoints={_AVERAGED[name]}",
        "data.test_pairs=0",
    ]
    settings.append(f"train.validation_interval_steps={_interval(request, name, settings)}")
    return Training(
        name=name,
        folder=request.out / "trainings" / name,
        corpus=texts.train,
        dev=texts.dev,
        settings=[*settings, *request.settings],
    )


def _interval(request: Request, name: str, settings: Sequence[str]) -> int:
    """Return the steps between checkpoints: so few that those that are averaged are late ones."""
    config = read_config(recipe="base", file=None, settings=[*settings, *request.settings]).train
    steps = config.max_steps // max(30, 3 * config.average_checkpoints)
    return max(1, min(steps, _FULL_INTERVAL[name]) if request.scale == "full" else steps)


def _piece(
    request: Request, texts: Texts, found: Mapping[str, Trained], scored: Mapping[str, Sequence[_Scored]]
) -> Piece:
    rows: list[list[Cell]] = [
        [one.model, "newstest2014", one.bleu_de, one.bleu_fr, one.cost_de, one.cost_fr, None, None, None]
        for one in TABLE2
    ]
    findings = []
    for name, trained in found.items():
        cost = float(f"{trained.paper_flops:.2g}")
        ours: list[Cell] = [f"this program ({name}), {texts.about}"]
        for test, bleu, paper in scored[name]:
            tokens = None if paper is None else round(paper.value, 2)
            rows.append([*ours, test, None, None, None, None, tokens, round(bleu.value, 2), cost])
        findings.append(
            Finding(
                f"the {name} Transformer (§6.1)",
                f"{'; '.join(map(str, scored[name]))}; "
                f"kept: {trained.kept or 'not noted'}; {trained.minutes:.1f} minutes of training, "
                f"{trained.paper_flops:.2e} operations as the paper counts, {trained.flops:.2e} executed",
                _as_printed(request, texts, name, scored[name][0]),
            )
        )
    base, big = (scored[name][0].bleu.value for name in ("base", "big"))
    findings.append(
        Finding(
            "the big model translates better than the base model (Table 2)",
            f"BLEU {big:.2f} and {base:.2f} on {scored['base'][0].test}",
            big > base,
        )
    )
    return Piece(
        title="Table 2: translation, and the cost of training",
        text=_about(request, texts, scored["base"][0]),
        findings=findings,
        tables=[
            Table(
                name="table2",
                title="Table 2, the paper's rows and ours",
                heads=[
                    "model",
                    "scored on",
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


def _as_printed(request: Request, texts: Texts, name: str, scored: _Scored) -> bool | None:
    """Return whether BLEU is what the paper prints; None where texts, keys or scores are others."""
    if not texts.is_paper or request.settings or scored.paper is None:
        return None
    row = TABLE2[-1 if name == "big" else -2]
    printed = row.bleu_de if request.target == "de" else row.bleu_fr
    assert printed is not None
    return abs(scored.paper.value - printed) <= _NEAR


def _about(request: Request, texts: Texts, scored: _Scored) -> Sequence[str]:
    config = read_config(recipe="base", file=None, settings=()).search
    factor = FACTORS[request.scale]
    better = " where it is at least as good on the development pairs as the best of them"
    where = "" if request.scale == "full" else better
    paper = f"BLEU over tokens has the signature {scored.paper.signature}" if scored.paper else _NO_TOKENS
    return [
        f"Both models are trained on {texts.about}. The mean of the last checkpoints, in the paper 5 and 20 "
        f"of them, is kept{where}. Both translate the test pairs with a beam of {config.beam_size} and α = "
        f"{config.length_penalty}.",
        f"Widths are the paper's divided by {factor}." if factor > 1 else "Widths are the paper's.",
        f"{paper}; sacreBLEU has {scored.bleu.signature}. The paper's scores are of newstest2014, so rows of "
        "other texts cannot be compared with them.",
        "The cost is priced as in the paper, time times the operations a second that the device sustains "
        "(§6.1), and beside it the operations that were executed.",
    ]
