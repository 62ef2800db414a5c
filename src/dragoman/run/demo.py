"""A first model in minutes: from pairs to translations that were never seen, and their scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from dragoman.config import read_config
from dragoman.errors import UsageError
from dragoman.evaluate import Scores, score
from dragoman.model_search import choose_device
from dragoman.run.demo_corpus import (
    NUM_GENERATED,
    DemoNote,
    chosen_pairs,
    create_folder,
    generated_pairs,
    new_note,
    read_note,
)
from dragoman.run.reporter import Reporter
from dragoman.run.session import Outcome
from dragoman.run.training import TrainOptions, train
from dragoman.text import Corpus, Pair, open_corpus, usable_pairs
from dragoman.translator import Translation, Translator

_RECIPE = "demo"
_OWN_FILES_SETTINGS = ("model.vocabulary_size=4000", "train.max_minutes=4")
"""Over the recipe: real text has more words than the grammar, and its lines may be of any length."""

_DRAWN_PIECES = range(6, 17)
"""Numbers of pieces, ends included, of which a picture is neither empty nor too large."""


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What a demo is made of."""

    corpus: Sequence[Path | str] = ()
    """One file of pairs or two line-aligned files; none for the generated corpus."""
    num_pairs: int | None = None
    """Training pairs to generate; left out, 30,000."""
    settings: Sequence[str] = ()
    """Single keys over the recipe, as ``train.max_steps=500``."""
    resume: bool = False
    """Go on with a demo that was interrupted."""
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""


class SentenceAttention(NamedTuple):
    """Where one translation looked in its source: the mean over the heads of one decoder layer."""

    source_pieces: Sequence[str]
    target_pieces: Sequence[str]
    layer: int
    """Counted from 1."""
    weights: Sequence[Sequence[float]]
    """For each target piece, its weight on each source piece."""


@dataclass(frozen=True, kw_only=True)
class DemoResult:
    """What a demo shows."""

    folder: Path
    model: Path
    """The model folder."""
    files: tuple[str, ...]
    """The user's files; none if the corpus was generated."""
    outcome: Outcome | None
    """How the training ended; None where a finished demo is shown again."""
    pairs: tuple[Pair, ...]
    """The held-out pairs."""
    translations: tuple[str, ...]
    """A translation for each of them."""
    exact_share: float
    """Share of the translations that equal their references, from 0 to 1."""
    scores: Scores
    attention: SentenceAttention | None
    """None if every held-out sentence is longer than the model reads at once."""


def run_demo(
    out: Path | str,
    options: DemoOptions | None = None,
    *,
    reporter: Reporter | None = None,
    stop_requested: Callable[[], bool] = lambda: False,
) -> DemoResult | None:
    """Train a small model, and judge it on pairs that it has never seen.

    A folder that holds a finished demo is not trained again: its model translates once more.

    Args:
        out: The demo's folder: new, empty, or that of an earlier demo of the same corpus.
        options: What the demo is made of.
        reporter: Hears what happens.
        stop_requested: Asked again and again; True saves and ends the run, which can then be resumed.

    Returns:
        The result, or None if a stop was requested before training ended.

    Raises:
        DragomanError: Anything a user can mend; see each kind.
    """
    options, reporter, out = options or DemoOptions(), reporter or Reporter(), Path(out)
    corpus = open_corpus(options.corpus) if options.corpus else None
    if corpus is not None and options.num_pairs is not None:
        raise UsageError(
            "--pairs is the number of pairs to generate, and files were given",
            hint="leave out --pairs or --corpus",
        )
    note = read_note(out)
    is_finished = (out / "model" / "config.json").exists()
    if note is not None:
        _check_same_demo(out, note, corpus, options, is_finished)
    else:
        note = _begin(out, corpus, options, reporter)
    outcome = None
    if not is_finished:
        outcome = train(
            note.paths(out, "train"),
            out / "model",
            TrainOptions(
                recipe=_RECIPE,
                settings=_settings(note),
                resume=options.resume,
                device=options.device,
            ),
            reporter=reporter,
            stop_requested=stop_requested,
        )
        if outcome.reason == "interrupted":
            return None
    return _judge(out, note, outcome, options.device, reporter)


def _begin(out: Path, corpus: Corpus | None, options: DemoOptions, reporter: Reporter) -> DemoNote:
    """Check what can be checked, generate or choose the pairs, and make the demo's folder."""
    num_generated = NUM_GENERATED if options.num_pairs is None else options.num_pairs
    note = new_note(corpus, num_generated, options.settings)
    choose_device(options.device)
    read_config(recipe=_RECIPE, file=None, settings=_settings(note))
    if corpus is None:
        reporter.stage(f"generating {num_generated:,} pairs")
        pairs = generated_pairs(num_generated)
    else:
        reporter.stage(f"reading {corpus.names}")
        pairs = chosen_pairs(corpus, reporter)
    create_folder(out, pairs, note)
    return note


def _settings(note: DemoNote) -> tuple[str, ...]:
    """Return the keys over the recipe; those that the user has set win."""
    return (*(_OWN_FILES_SETTINGS if note.files else ()), *note.settings)


def _check_same_demo(
    out: Path, note: DemoNote, corpus: Corpus | None, options: DemoOptions, is_finished: bool
) -> None:
    """Refuse a folder whose demo is another one, or is to be gone on with and was not asked to."""
    wanted = new_note(corpus, options.num_pairs or note.num_generated, options.settings or note.settings)
    if wanted != note:
        of = " and ".join(note.files) or f"{note.num_generated:,} generated pairs"
        with_settings = "".join(f" --set {setting}" for setting in note.settings)
        raise UsageError(
            f"--out {out}: the folder holds a demo of {of}{with_settings}, which is not what is asked for",
            hint="name a new folder by --out",
        )
    if not is_finished and not options.resume:
        raise UsageError(
            f"--out {out}: the folder holds a demo whose training has not ended",
            hint="go on with it by --resume, or name a new folder by --out",
        )


def _judge(out: Path, note: DemoNote, outcome: Outcome | None, device: str, reporter: Reporter) -> DemoResult:
    """Translate the held-out pairs and compare."""
    pairs = tuple(pair for _, pair in usable_pairs(open_corpus(note.paths(out, "test"))))
    translator = Translator.load(out / "model", device=device)
    reporter.stage(f"translating {len(pairs):,} held-out sentences")
    translations = translator.translate([pair.source for pair in pairs])
    texts = tuple(translation.text for translation in translations)
    references = [pair.target for pair in pairs]
    equal = [text == reference for text, reference in zip(texts, references, strict=True)]
    return DemoResult(
        folder=out,
        model=out / "model",
        files=note.files,
        outcome=outcome,
        pairs=pairs,
        translations=texts,
        exact_share=sum(equal) / len(equal),
        scores=score(
            texts,
            references,
            ter=False,
            num_cut=sum(not translation.alternatives[0].finished for translation in translations),
        ),
        attention=_attention(translator, translations, equal),
    )


def _attention(
    translator: Translator, translations: Sequence[Translation], equal: Sequence[bool]
) -> SentenceAttention | None:
    """Return the attention of the first right translation whose length suits a picture.

    Without one it is that of a wrong translation, and without any of such a length that of the shortest.
    Of the layers it is the one that looks at most source pieces: some layers attend to the end of the
    sentence alone, and show nothing.
    """
    ranked = []
    for i, (translation, is_equal) in enumerate(zip(translations, equal, strict=True)):
        sizes = translation.num_source_pieces, len(translation.alternatives[0].pieces) + 1
        suits = all(size in _DRAWN_PIECES for size in sizes)
        if translation.num_parts == 1:
            ranked.append((not suits, not is_equal, 0 if suits else sum(sizes), i))
    if not ranked:
        return None
    chosen = translations[min(ranked)[-1]]
    found = translator.attention(chosen.source, chosen.alternatives[0])
    layers: list[Tensor] = [weight_BHTS[0].mean(dim=0) for weight_BHTS in found.weights.cross]
    seen = [len(set(layer.argmax(dim=-1).tolist())) for layer in layers]
    best = seen.index(max(seen))
    return SentenceAttention(found.source_pieces, found.target_pieces, best + 1, layers[best].tolist())
