"""Figures 3 to 5: what single heads look at."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dragoman.bundle import Bundle
from dragoman.model_search import choose_device
from dragoman.reproduce.corpus import given_or_generated
from dragoman.reproduce.findings import Finding, Piece, Table
from dragoman.reproduce.request import Request
from dragoman.reproduce.trainings import Training, configurations, train_all
from dragoman.run.explaining import Explainer
from dragoman.run.explanation_formats import formatted, view_of
from dragoman.storage.durable import checksum_of, replace_durably
from dragoman.text import read_lines
from dragoman.visualize.attention_figure import View, attention_svg
from dragoman.visualize.explanation import Explanation, Weights, far_reaching, shown, words_in

PAPER_SENTENCES = (
    "It is in this spirit that a majority of American governments have passed new laws since 2009 making the "
    "registration or voting process more difficult .",
    "The Law will never be perfect , but its application should be just - this is what we are missing , in "
    "my opinion .",
)
"""The sentences of the paper's figures, for a model that can read them."""

PAPER_WORDS = ("making", "its")
"""The words of them whose attention the paper draws; in other sentences any word is looked at."""

_RECIPES = {"tiny": "demo", "laptop": "demo", "small": "base", "full": "base"}

_NUM_SENTENCES = 3
_FEWEST_WORDS = 6
"""A shorter sentence has no distance."""

SETTINGS = {
    "tiny": ("train.max_steps=4", "train.validation_interval_steps=4", "model.vocabulary_size=320"),
    "laptop": (),
    "small": ("train.max_steps=20000",),
    "full": (),
}


class _Best(NamedTuple):
    """A word, and the head that says most about it."""

    word: str
    layer: int
    head: int
    value: float
    target: str


def repeat_figures(request: Request) -> Piece:
    """Explain some sentences, and find heads such as the paper shows.

    Source: Vaswani et al. (2017), Figures 3 to 5.
    """
    subject = _subject(request)
    model, sentences = subject.model, subject.sentences
    explainer = Explainer(Bundle.load(model, choose_device("auto")))
    findings: list[Finding] = []
    charts: list[str] = []
    rows: list[list[str | int | float | None]] = []
    for number, sentence in enumerate(sentences, start=1):
        request.told(f"explaining sentence {number} of {len(sentences)}")
        explanation = explainer.explain(sentence)
        view = view_of(explanation, kind="encoder", layer=None, heads=None, word=None)
        page = formatted(explanation, view, "html", about=explainer.about)
        assert isinstance(page, str)
        replace_durably(request.out / f"sentence-{number}.html", page.encode())
        far, sharp = _farthest(explanation), _sharpest(explanation)
        for name, best in (("far", far), ("sharp", sharp)):
            svg = attention_svg(explanation, View("encoder", best.layer, (best.head,), best.word))
            replace_durably(request.out / f"sentence-{number}-{name}.svg", svg.encode())
            charts.append(svg)
            rows.append([number, name, best.word, best.layer, best.head, best.value, best.target])
        findings += _findings(explanation, far, sharp)
    piece = Piece(
        title="Figures 3 to 5: what attention heads look at",
        text=[
            f"{explainer.about} Each sentence has a page of its own with all heads: "
            + ", ".join(f"sentence-{number}.html" for number in range(1, len(sentences) + 1))
            + ".",
            *(f"{number}. {sentence}" for number, sentence in enumerate(sentences, start=1)),
        ],
        findings=findings,
        tables=[
            Table(
                name="heads",
                title="The head that reaches farthest, and the one that is sharpest",
                heads=["sentence", "what", "word", "layer", "head", "pieces or weight", "most to"],
                rows=rows,
            )
        ],
        charts=charts,
        files=(("model.safetensors", checksum_of(model / "model.safetensors")), *subject.checksums),
        configurations=subject.configurations,
    )
    return piece.unjudged() if request.scale == "tiny" else piece


class _Subject(NamedTuple):
    """What is looked into."""

    model: Path
    sentences: Sequence[str]
    checksums: Sequence[tuple[str, str]] = ()
    """Names and SHA-256 of the files that it was trained on here."""
    configurations: tuple[tuple[str, str], ...] = ()
    """Of its training here."""


def _subject(request: Request) -> _Subject:
    """Return a model and sentences for it: given ones, or held-out ones of what it was trained on."""
    if request.model is not None:
        return _Subject(request.model, _long_enough(request.test[0]) if request.test else PAPER_SENTENCES)
    texts = given_or_generated(request)
    training = Training(
        name="the model of the figures",
        folder=request.out / "trainings" / "model",
        corpus=texts.train,
        dev=texts.dev,
        recipe=_RECIPES[request.scale],
        settings=["data.test_pairs=0", *SETTINGS[request.scale], *request.settings],
    )
    train_all([training], replace(request, jobs=1))
    is_paper = request.scale == "full" and not request.corpus
    sentences = PAPER_SENTENCES if is_paper else _long_enough((*texts.tests, texts.dev)[0][0])
    return _Subject(training.folder, sentences, texts.checksums(), configurations([training]))


def _long_enough(path: Path) -> list[str]:
    lines = [line.partition("\t")[0] for line in read_lines(path)]
    return sorted((line for line in lines if len(line.split()) >= _FEWEST_WORDS), key=len)[-_NUM_SENTENCES:]


def _words(explanation: Explanation) -> Sequence[str]:
    """Return the words that are looked at: those of the paper's figures where they come, or all."""
    words = words_in(explanation.source_pieces)[:-1]
    is_paper = explanation.source in PAPER_SENTENCES
    return [word for word in words if is_paper and word in PAPER_WORDS] or words


def _farthest(explanation: Explanation) -> _Best:
    found = []
    for word in _words(explanation):
        best = far_reaching(explanation, word)[0]
        found.append(_Best(word, best.layer, best.head, round(best.distance, 2), shown(best.target)))
    return max(found, key=lambda best: best.value)


def _sharpest(explanation: Explanation) -> _Best:
    """Return the head that puts most of a word's attention on a single other word of the sentence."""
    columns = explanation.columns("encoder")
    found = []
    for word in _words(explanation):
        rows = explanation.pieces_of(word, "encoder")
        weight_NHM = explanation.encoder[:, :, rows].mean(axis=2)
        weight_NHM[:, :, [*rows, len(columns) - 1]] = 0.0  # neither itself nor the end
        layer, head, place = np.unravel_index(int(weight_NHM.argmax()), weight_NHM.shape)
        value = round(float(weight_NHM[layer, head, place]), 3)
        found.append(_Best(word, int(layer) + 1, int(head) + 1, value, shown(columns[int(place)])))
    return max(found, key=lambda best: best.value)


def divergence(one: Weights, other: Weights) -> float:
    """Return the mean Jensen-Shannon divergence of two heads' rows (QM), in nats: 0 alike, ln 2 disjoint."""
    middle = (one + other) / 2

    def from_middle(weight_QM: Weights) -> float:
        log = np.log(np.where(weight_QM > 0, weight_QM, 1) / np.where(weight_QM > 0, middle, 1))
        return float((weight_QM * log).sum(axis=-1).mean())

    return (from_middle(one) + from_middle(other)) / 2


def _findings(explanation: Explanation, far: _Best, sharp: _Best) -> list[Finding]:
    layer = explanation.encoder[max(0, explanation.encoder.shape[0] - 2)]
    gaps = [divergence(layer[i], layer[j]) for i, j in combinations(range(len(layer)), 2)]
    quarter = len(explanation.source_pieces) / 4
    return [
        Finding(
            "heads follow long-distance dependencies (Figure 3)",
            f"from {far.word!r} head {far.head} of layer {far.layer} spans {far.value:.1f} pieces on "
            f"average, most to {far.target!r}",
            far.value >= quarter,
        ),
        Finding(
            "for some words the attention is very sharp (Figure 4)",
            f"head {sharp.head} of layer {sharp.layer} puts {sharp.value:.2f} of {sharp.word!r} on "
            f"{sharp.target!r}",
            sharp.value >= 0.5,
        ),
        Finding(
            "heads have learned different tasks (Figure 5)",
            f"two heads of a layer differ by {np.mean(gaps):.2f} nats on average, where 0.69 is all",
            bool(np.mean(gaps) > 0.1),
        )
        if gaps
        else Finding("heads have learned different tasks (Figure 5)", "a layer has a single head", None),
    ]
