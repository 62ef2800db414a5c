"""The report of a run: one HTML file that needs nothing else, made anew with each validation."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from dragoman.errors import CheckpointError
from dragoman.run.metrics import whole_records
from dragoman.run.reporter import SCORE_NAMES, Sample
from dragoman.run.sheet import Sheet
from dragoman.storage.durable import replace_durably
from dragoman.storage.progress import Progress
from dragoman.visualize.charts import Line, line_chart
from dragoman.visualize.page import html_page, html_table

REPORT, HISTORY = "report.html", "training/history.jsonl"

Record = dict[str, Any]


def history_record(progress: Progress, samples: Sequence[Sample], validation_seconds: float) -> Record:
    """Return what the report tells of a validation beside its scores, times included."""
    return {
        "step": progress.step,
        "seconds": progress.seconds,
        "validation_seconds": validation_seconds,
        "source_tokens": progress.num_source_tokens,
        "target_tokens": progress.num_target_tokens,
        "positions": progress.num_positions,
        "samples": [list(sample) for sample in samples],
    }


def write_report(out: Path, sheet: Sheet, lines: Sequence[str], what: str) -> None:
    """Write the report of a run as it stands.

    Args:
        out: The model folder; its metrics and its history, the records of ``history_record``, are read.
        sheet: What the run depends on.
        lines: How it stands, in words.
        what: What it learns, as in "en to de".

    Raises:
        CheckpointError: The file cannot be written.
    """
    try:
        metrics, validations = list(whole_records(out / "metrics.jsonl")), list(whole_records(out / HISTORY))
        page = _page(f"Training, {what}", metrics, validations, sheet, lines)
        replace_durably(out / REPORT, page.encode())
    except OSError as error:
        raise CheckpointError(
            f"{out / REPORT}: cannot write the report: {error.strerror}",
            hint="make room on the disk; then go on with --resume",
        ) from error


def _page(
    title: str,
    metrics: Sequence[Record],
    validations: Sequence[Record],
    sheet: Sheet,
    lines: Sequence[str],
) -> str:
    scores = {record["step"]: record["validation"] for record in metrics if "validation" in record}
    speeds = list(_speeds(validations))
    body = [
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(line)}</p>" for line in lines),
        '<div class="charts">',
        *_charts(metrics, scores, speeds),
        "</div>",
        "<h2>Validations</h2>",
        _validation_table(scores, speeds),
        "<h2>Outputs over time</h2>",
        *_samples(validations),
        "<h2>Reproducibility</h2>",
        "<p>Trained once more with all of this alike, the model has the same bytes on a processor.</p>",
        html_table([], sheet.rows()),
    ]
    return html_page(title, body)


def _speeds(validations: Sequence[Record]) -> Iterator[Record]:
    """Yield target pieces a second of training and the share of padding, in percent, between validations."""
    before: Mapping[str, float] = {"seconds": 0, "source_tokens": 0, "target_tokens": 0, "positions": 0}
    for record in validations:
        change = {name: record[name] - value for name, value in before.items()}
        seconds = change["seconds"] - record["validation_seconds"]
        if seconds > 0 and change["positions"] > 0:
            pieces = change["source_tokens"] + change["target_tokens"]
            yield {
                "step": record["step"],
                "speed": change["target_tokens"] / seconds,
                "padding": 100 * (1 - pieces / change["positions"]),
            }
        before = {name: record[name] for name in before}


def _charts(
    metrics: Sequence[Record], scores: Mapping[int, Mapping[str, float]], speeds: Sequence[Record]
) -> Iterator[str]:
    steps = [record for record in metrics if "plain_loss" in record]

    def scored(name: str) -> list[tuple[float, float]]:
        return [(step, found[name]) for step, found in scores.items() if name in found]

    loss = [
        Line("training", [(record["step"], record["plain_loss"]) for record in steps]),
        Line("development", scored("loss")),
    ]
    yield line_chart("Loss, nats per target piece", loss, x_name="step")
    rates = [(record["step"], record["rate"]) for record in steps]
    yield line_chart("Learning rate", [Line("rate", rates)], x_name="step")
    names = list(dict.fromkeys(name for found in scores.values() for name in found if name != "loss"))
    for name in names:
        shown = SCORE_NAMES.get(name, name)
        yield line_chart(f"Development {shown}", [Line(shown, scored(name))], x_name="step")
    for key, name in (("speed", "Target pieces a second"), ("padding", "Padding, % of all positions")):
        points = [(record["step"], record[key]) for record in speeds]
        yield line_chart(name, [Line(name, points)], x_name="step")


def _validation_table(scores: Mapping[int, Mapping[str, float]], speeds: Sequence[Record]) -> str:
    names = list(dict.fromkeys(name for found in scores.values() for name in found))
    of_step = {record["step"]: record for record in speeds}
    rows = []
    for step, found in scores.items():
        numbers = [f"{found[name]:.2f}" if name in found else "" for name in names]
        speed = of_step.get(step)
        others = [f"{speed['speed']:,.0f}", f"{speed['padding']:.1f}"] if speed else ["", ""]
        rows.append((f"{step:,}", *numbers, *others))
    heads = ["step", *(SCORE_NAMES.get(name, name) for name in names), "pieces/s", "padding %"]
    return html_table(heads, rows, kind="numbers")


def _samples(validations: Sequence[Record]) -> Iterator[str]:
    """Yield each sample with its translations, the newest first; one that did not change is shown once."""
    if not validations:
        return
    for number, (source, reference, *_) in enumerate(validations[-1]["samples"]):
        rows = [("source", source), ("reference", reference)]
        before = None
        changes = []
        for record in validations:
            if number < len(record["samples"]) and record["samples"][number][2] != before:
                before = record["samples"][number][2]
                changes.append((f"step {record['step']:,}", before))
        yield html_table([], [*rows, *reversed(changes)])
