"""Table 3: variations of the Transformer, each a training of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean, stdev

import numpy as np
import torch
from numpy.typing import NDArray

from dragoman.config import read_config
from dragoman.model import Transformer
from dragoman.model.arithmetic import num_parameters
from dragoman.reproduce.corpus import given_or_generated
from dragoman.reproduce.findings import Cell, Finding, Piece, Table
from dragoman.reproduce.paper import TABLE3, Variation
from dragoman.reproduce.request import Request
from dragoman.reproduce.texts import Texts
from dragoman.reproduce.trainings import Trained, Training, configurations, shrunk, train_all
from dragoman.visualize.charts import Line, line_chart

Ranks = NDArray[np.float64]

CONFORMING_VOCABULARY, BIG_VOCABULARY = 40_960, 36_000
"""With them the counts of parameters round to the printed ones; the big row fits another one."""

FACTORS = {"tiny": 16, "laptop": 8, "small": 1, "full": 1}
"""By how much widths shrink."""

BASE = {
    "model.d_model": 512,
    "model.d_ff": 2048,
    "model.num_heads": 8,
    "model.d_k": 64,
    "model.d_v": 64,
}

SETTINGS = {
    "tiny": (
        "model.vocabulary_size=320",
        "train.max_steps=4",
        "train.warmup_steps=2",
        "train.batch_tokens=400",
        "train.validation_interval_steps=4",
        "train.validation_sentences=4",
        "search.beam_size=1",
        "search.extra_length=2",
    ),
    "laptop": (
        "model.vocabulary_size=4000",
        "train.max_steps=1500",
        "train.warmup_steps=300",
        "train.batch_tokens=2048",
        "train.validation_interval_steps=500",
    ),
    "small": (
        "model.vocabulary_size=16000",
        "train.max_steps=20000",
        "train.warmup_steps=2000",
        "train.validation_interval_steps=2000",
    ),
    "full": ("train.validation_interval_steps=5000", "train.validation_sentences=3000"),
}
"""Keys of every row, beside those of the row itself."""

BIG_TIMES = 3
"""How many times the steps of base the paper's big model makes (§5.2)."""

_LAPTOP_RATE = 0.004
"""Highest rate of the base model at the scale of a laptop; others have it by their width."""

_ALIKE, _ALIKE_OF_ONE = 0.01, 0.05
"""Shares of the perplexity: rows of several seeds, or of one, that are nearer are not told apart."""


def repeat_table3(request: Request) -> Piece:
    """Train every row and set it beside the paper's.

    Source: Vaswani et al. (2017), §6.2 and Table 3.
    """
    texts = given_or_generated(request)
    trainings = {
        (variation.name, seed): _training(request, texts, variation, seed)
        for variation in TABLE3
        for seed in range(1, request.seeds + 1)
    }
    found = train_all(list(trainings.values()), request)
    rows = [
        [found[trainings[variation.name, seed].name] for seed in range(1, request.seeds + 1)]
        for variation in TABLE3
    ]
    every = configurations(list(trainings.values()))
    piece = replace(_piece(request, texts, rows), configurations=every)
    return piece.unjudged() if request.scale == "tiny" else piece


def rate_for(scale: str, keys: Mapping[str, object]) -> list[str]:
    """Return the rate of a model where the scale has one: it falls with the root of d_model (§5.3, Eq. 3)."""
    if scale != "laptop":
        return []
    width = keys.get("model.d_model", BASE["model.d_model"])
    assert isinstance(width, int)
    return [f"train.peak_rate={_LAPTOP_RATE * (BASE['model.d_model'] / width) ** 0.5:.4f}"]


def big_steps(request: Request) -> list[str]:
    """Return the steps of the big model, three times those of base, unless all have what was asked for."""
    if any(setting.partition("=")[0].strip() == "train.max_steps" for setting in request.settings):
        return []
    base = read_config(recipe=None, file=None, settings=SETTINGS[request.scale]).train.max_steps
    return [f"train.max_steps={BIG_TIMES * base}"]


def parameter_table() -> Table:
    """Return the number of parameters of each row, counted on the model itself, beside the printed one."""
    rows: list[list[Cell]] = []
    for variation in TABLE3:
        vocabulary = BIG_VOCABULARY if variation.row == "big" else CONFORMING_VOCABULARY
        keys = {key: value for key, value in variation.keys.items() if key.startswith("model.")}
        settings = [f"model.vocabulary_size={vocabulary}", *shrunk(keys, 1)]
        with torch.device("meta"):
            model = Transformer(read_config(recipe=None, file=None, settings=settings).model)
        count = num_parameters(model)
        rows.append(
            [variation.row, variation.change, vocabulary, count, round(count / 1e6, 2), variation.millions]
        )
    return Table(
        name="parameters",
        title="Parameters of each row",
        heads=["row", "change", "vocabulary", "parameters", "millions", "printed"],
        rows=rows,
    )


def _training(request: Request, texts: Texts, variation: Variation, seed: int) -> Training:
    keys = BASE | {key: value for key, value in variation.keys.items() if key.startswith("model.")}
    settings = [*shrunk(keys, FACTORS[request.scale]), *SETTINGS[request.scale]]
    settings += rate_for(request.scale, keys)
    own = {key: value for key, value in variation.keys.items() if not key.startswith("model.")}
    if own.pop("train.max_steps", None):
        settings += big_steps(request)
    settings += [*shrunk(own, 1), "train.average_checkpoints=1", "data.test_pairs=0", f"train.seed={seed}"]
    name = f"{variation.name}, seed {seed}"
    return Training(
        name=name,
        folder=request.out / "trainings" / variation.name / f"seed-{seed}",
        corpus=texts.train,
        dev=texts.dev,
        settings=[*settings, *request.settings],
    )


def _piece(request: Request, texts: Texts, rows: Sequence[Sequence[Trained]]) -> Piece:
    perplexity = [mean(one.dev_scores["perplexity"] for one in seeds) for seeds in rows]
    bleu = [mean(one.dev_scores["bleu"] for one in seeds) for seeds in rows]
    spread = [_spread(seeds, "perplexity") for seeds in rows]
    printed = [variation.perplexity for variation in TABLE3]
    ranks = rank_correlation(perplexity, printed), rank_correlation(bleu, [one.bleu for one in TABLE3])
    places = [_ranks(values) for values in (printed, perplexity)]
    factor = FACTORS[request.scale]
    minutes = sum(one.minutes for seeds in rows for one in seeds)
    return Piece(
        title="Table 3: variations of the architecture",
        text=[
            f"Each row is the base model with one thing changed, trained from scratch on {texts.about}. It "
            "is scored on the development pairs by beam search, without averaging, as in the paper; the "
            f"perplexity is that of all of them, BLEU that of the first {_num_translated(request)}.",
            f"Widths are the paper's divided by {factor}, and the rate falls with the root of d_model (§5.3, "
            "Eq. 3)."
            if factor > 1
            else "Widths are the paper's.",
            f"The big model makes {BIG_TIMES} times the steps of the other rows."
            if big_steps(request)
            else "All rows make the same number of steps, the big model too.",
            f"Seeds of each row: {request.seeds}; {minutes:.0f} minutes of training in all. ± is the "
            "standard deviation over the seeds: rows that differ by less are not told apart, and of one seed "
            f"none that differ by less than {_ALIKE_OF_ONE:.0%} of the perplexity.",
        ],
        findings=[
            Finding(
                "the ranking of the rows by perplexity (Table 3)",
                f"rank correlation with the paper's {ranks[0]:.2f} by perplexity and {ranks[1]:.2f} by BLEU",
                ranks[0] > 0.5,
            ),
            *_letter_findings(perplexity, spread),
        ],
        tables=[
            _table(rows, perplexity, bleu, places),
            parameter_table(),
        ],
        charts=[_rank_chart(*places)],
        files=texts.checksums(),
    )


def _table(
    rows: Sequence[Sequence[Trained]],
    perplexity: Sequence[float],
    bleu: Sequence[float],
    places: Sequence[Ranks],
) -> Table:
    """Return the paper's numbers and ours, with the places by perplexity there and here."""
    return Table(
        name="table3",
        title="Table 3, the paper's and ours",
        heads=[
            *("row", "change", "PPL, paper", "BLEU, paper", "rank, paper"),
            *("PPL", "±", "rank", "BLEU", "±", "minutes"),
        ],
        rows=[
            [
                variation.row,
                variation.change,
                variation.perplexity,
                variation.bleu,
                float(places[0][i]),
                round(perplexity[i], 3),
                _rounded(_spread(rows[i], "perplexity"), 3),
                float(places[1][i]),
                round(bleu[i], 2),
                _rounded(_spread(rows[i], "bleu"), 2),
                round(mean(one.minutes for one in rows[i]), 1),
            ]
            for i, variation in enumerate(TABLE3)
        ],
    )


def _num_translated(request: Request) -> int:
    settings = [*SETTINGS[request.scale], *request.settings]
    return read_config(recipe="base", file=None, settings=settings).train.validation_sentences


def _rank_chart(paper: Ranks, here: Ranks) -> str:
    """Return a chart of the places by perplexity: the more of a line, the more alike both rankings are."""
    lines = [
        Line("here", sorted(zip(paper.tolist(), here.tolist(), strict=True))),
        Line("as in the paper", [(1.0, 1.0), (len(paper), len(paper))]),
    ]
    return line_chart("Place by perplexity, over the paper's", lines, x_name="place in the paper")


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _spread(seeds: Sequence[Trained], score: str) -> float | None:
    return stdev(one.dev_scores[score] for one in seeds) if len(seeds) > 1 else None


CLAIMS: Sequence[tuple[str, str, str]] = (
    ("a single head is worse than the best number of heads (row A)", "A-h1", "base"),
    ("too many heads are worse too (row A)", "A-h32", "base"),
    ("a smaller d_k hurts (row B)", "B-d_k16", "base"),
    ("fewer layers are worse (row C)", "C-N2", "C-N4"),
    ("a narrower model is worse (row C)", "C-d_model256", "base"),
    ("a narrower feed-forward network is worse (row C)", "C-d_ff1024", "C-d_ff4096"),
    ("dropout helps (row D)", "D-P_drop0.0", "base"),
    ("label smoothing hurts perplexity (row D)", "D-e_ls0.2", "D-e_ls0.0"),
)
"""What §6.2 says, and the two rows of which the first has the greater perplexity."""


def _letter_findings(perplexity: Sequence[float], spread: Sequence[float | None]) -> list[Finding]:
    place = {variation.name: i for i, variation in enumerate(TABLE3)}
    findings = []
    for claim, worse, better in CLAIMS:
        i, j = place[worse], place[better]
        alike = _ALIKE_OF_ONE if spread[i] is None else _ALIKE
        noise = max(spread[i] or 0.0, spread[j] or 0.0, alike * perplexity[j])
        gap = perplexity[i] - perplexity[j]
        told = None if abs(gap) <= noise else gap > 0
        measured = f"{worse} {perplexity[i]:.2f}, {better} {perplexity[j]:.2f}"
        findings.append(Finding(claim, measured + (", too near to be told" if told is None else ""), told))
    i, j = place["E-learned-positions"], place["base"]
    gap = abs(perplexity[i] / perplexity[j] - 1)
    findings.append(
        Finding(
            "learned positions do nearly as well as sinusoids (row E)",
            f"perplexity {perplexity[i]:.2f} and {perplexity[j]:.2f}",
            gap < 0.05,
        )
    )
    return findings


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Spearman's rank correlation; equal values share their mean rank, and with no order it is 0."""
    if min(len(set(one)), len(set(other))) < 2:
        return 0.0
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def _ranks(values: Sequence[float]) -> Ranks:
    """Return the place of each value from the lowest, 1; equal values share their mean place."""
    array = np.asarray(values, np.float64)
    return np.array([(array < value).sum() + ((array == value).sum() + 1) / 2 for value in array], np.float64)
