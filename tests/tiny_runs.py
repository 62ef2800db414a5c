"""Runs of training that take less than a second: their corpus, their settings, and what they must share."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dragoman.run import Outcome, Reporter, TrainOptions, train
from dragoman.run.reporter import Plan
from text_samples import sentences

SETTINGS = (
    "model.vocabulary_size=320",
    "model.num_encoder_layers=1",
    "model.num_decoder_layers=1",
    "model.d_model=16",
    "model.d_ff=32",
    "model.num_heads=2",
    "model.d_k=8",
    "model.d_v=8",
    "data.dev_pairs=6",
    "data.test_pairs=4",
    "train.precision=float32",
    "train.max_steps=12",
    "train.warmup_steps=5",
    "train.batch_tokens=1200",
    "train.micro_batch_tokens=1200",
    "train.validation_interval_steps=4",
    "train.validation_sentences=4",
    "train.average_checkpoints=3",
    "search.beam_size=2",
    "search.extra_length=2",
)

DEMO_SETTINGS = (
    *(f"model.{key}" for key in ("vocabulary_size=320", "num_encoder_layers=1", "num_decoder_layers=1")),
    *(f"model.{key}" for key in ("d_model=16", "d_ff=16", "num_heads=2", "d_k=8", "d_v=8")),
    *(f"train.{key}" for key in ("max_steps=6", "warmup_steps=2", "cooldown_share=0.2", "precision=float32")),
    *("train.validation_interval_steps=3", "search.beam_size=1", "search.extra_length=1"),
)
"""Settings of a demo that takes a second and learns nothing."""


def write_corpus(folder: Path, number: int = 130, seed: int = 1) -> list[Path]:
    """Write pairs whose target is the source with its words in another order; return both files."""
    sources = sentences(number, seed)
    targets = [" ".join(reversed(text.rstrip(".").split())).lower() + " !" for text in sources]
    paths = [folder / "corpus.en", folder / "corpus.xx"]
    for path, texts in zip(paths, (sources, targets), strict=True):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return paths


class Recorder(Reporter):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.steps: list[int] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def stepped(self, progress: Any, result: Any, rate: float) -> None:
        self.steps.append(progress.step)


class Plans(Recorder):
    """Remembers what was planned as well."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Plan] = []

    def planned(self, plan: Plan) -> None:
        self.seen.append(plan)


class stop_after:  # noqa: N801  # read as a function where it is used
    """A wish to stop that is uttered after so many steps; ``tiny_run`` lets it see them."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self) -> bool:
        return self._left <= 0

    def watch(self, reporter: Reporter) -> None:
        """Count the steps that a reporter hears of."""
        stepped = reporter.stepped

        def count(*of_a_step: Any) -> None:
            self._left -= 1
            stepped(*of_a_step)

        setattr(reporter, "stepped", count)  # noqa: B010  # mypy knows no method that is replaced


def tiny_run(
    corpus: Sequence[Path],
    out: Path,
    *settings: str,
    stop: Callable[[], bool] = lambda: False,
    reporter: Reporter | None = None,
    **options: Any,
) -> Outcome:
    """Train with the tiny settings and others; a resumed run has its own."""
    if not options.get("resume"):
        settings, options = (*SETTINGS, *settings), {"recipe": "tiny"} | options
    chosen, reporter = TrainOptions(settings=settings, **options), reporter or Reporter()
    if isinstance(stop, stop_after):
        stop.watch(reporter)
    return train(corpus, out, chosen, reporter=reporter, stop_requested=stop)


def remains(out: Path) -> dict[str, bytes]:
    """Return what two equal runs must share byte for byte: all but times, which no two runs share."""
    found = {}
    for path in sorted(out.rglob("*")):
        if not path.is_file() or path.name in ("README.md", "report.html", "history.jsonl", "epoch.bin"):
            continue
        content = path.read_bytes()
        if path.name == "progress.json":
            content = json.dumps(json.loads(content) | {"seconds": 0}).encode()
        if path.name == "checkpoints.json":  # the whole list, and that of each checkpoint
            listed = json.loads(content)["checkpoints"]
            for entry in listed:
                entry["checksums"].pop("progress.json")
            content = json.dumps(listed).encode()
        found[str(path.relative_to(out))] = content
    return found
