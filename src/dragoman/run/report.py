"""The report of a run: one HTML file that needs nothing else, made anew with each validation."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from dragoman.errors import CheckpointError
from dragoman.run.reporter import SCORE_NAMES, Sample
from dragoman.run.sheet import Sheet
from dragoman.storage.durable import replace_durably
from dragoman.storage.progress import Progress
from dragoman.visualize.charts import Line, line_chart

REPORT, HISTORY = "report.html", "training/history.jsonl"

Record = dict[str, Any]

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #24292f; --faint: #d8dee4; --line-0: #0a66c2;
  --line-1: #c2410c; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #d7dde3; --faint: #333b44;
  --line-0: #6cb6ff; --line-1: #f69d50; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 70rem; padding: 0 1rem; }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(24rem, 1fr)); }
svg { font-size: 12px; width: 100%; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--faint); padding: .15rem .8rem .15rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
.numbers td, .numbers th { text-align: right; white-space: nowrap; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


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
        metrics, validations = list(_records(out / "metrics.jsonl")), list(_records(out / HISTORY))
        page = _page(f"Training, {what}", metrics, validations, sheet, lines)
        replace_durably(out / REPORT, page.encode())
    except OSError as error:
        raise CheckpointError(
            f"{out / REPORT}: cannot write the report: {error.strerror}",
            hint="make room on the disk; then go on with --resume",
        ) from error


def _records(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


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
        _table([], sheet.rows()),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


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
    return _table(heads, rows, kind="numbers")


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
        yield _table([], [*rows, *reversed(changes)])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, kind: str = "") -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><tr>{head}</tr>{body}</table></div>'
