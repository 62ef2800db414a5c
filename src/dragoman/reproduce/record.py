"""The folder of a repeated piece: a report, its tables as CSV, and all that it depends on."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from dragoman.errors import UsageError
from dragoman.reproduce.findings import Finding, Piece, Table
from dragoman.run.environment import read_environment
from dragoman.storage.durable import replace_durably
from dragoman.visualize.page import html_page, html_table

RESULT, REPORT, BEGUN = "result.json", "report.html", "request.json"


def claim(out: Path, settings: Mapping[str, Any]) -> None:
    """Make a folder the place of one request, or find that it is: nothing of anything else is overwritten.

    A request for more seeds goes on in the folder of one for fewer.

    Raises:
        UsageError: It is a file, holds something else or another request, or cannot be written.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: this is a file; a result is a folder", hint="name a new folder")
    note = out / BEGUN
    try:
        if note.exists():
            begun = json.loads(note.read_bytes())
            _check_same(out, begun, settings)
            if not _more_seeds(begun, settings):
                return
        elif out.is_dir() and any(out.iterdir()):
            raise UsageError(f"--out {out}: the folder is not empty", hint="name a new folder")
        out.mkdir(parents=True, exist_ok=True)
        replace_durably(note, (json.dumps(dict(settings), indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise UsageError(
            f"--out {out}: cannot be written: {(error.strerror or str(error)).lower()}",
            hint="name a folder that can be made",
        ) from error
    except ValueError as error:
        raise UsageError(f"--out {out}: {BEGUN} in it cannot be read", hint="name a new folder") from error


def unclaim(out: Path) -> None:
    """Free a folder in which nothing was done: of a request that cannot be."""
    with suppress(OSError):
        if [path.name for path in out.iterdir()] == [BEGUN]:
            (out / BEGUN).unlink()
            out.rmdir()


def write_record(out: Path, piece: Piece, settings: Mapping[str, Any]) -> None:
    """Write the folder; ``result.json`` comes last, so that a folder with it is whole.

    Args:
        out: The folder; made if it does not exist.
        piece: What was found.
        settings: What was asked for, by name.

    Raises:
        UsageError: A file cannot be written.
    """
    environment = asdict(read_environment())
    try:
        out.mkdir(parents=True, exist_ok=True)
        for table in piece.tables:
            replace_durably(out / f"{table.name}.csv", _csv(table).encode())
        replace_durably(out / REPORT, _page(piece, settings, environment).encode())
        content = {"settings": dict(settings), "environment": environment, "piece": asdict(piece)}
        replace_durably(out / RESULT, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise UsageError(
            f"--out {out}: cannot be written: {error.strerror}", hint="name a folder that can be made"
        ) from error


def read_record(out: Path, settings: Mapping[str, Any]) -> Piece | None:
    """Return what a folder holds, or None where it holds nothing that is finished, or fewer seeds.

    Raises:
        UsageError: It was made with other settings, or is no such folder.
    """
    path = out / RESULT
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_bytes())
        found, stored = content["piece"], content["settings"]
        piece = Piece(
            title=found["title"],
            text=found["text"],
            findings=[Finding(*finding) for finding in found["findings"]],
            tables=[Table(**table) for table in found["tables"]],
            charts=found["charts"],
            files=tuple((name, digest) for name, digest in found["files"]),
            configurations=tuple((name, toml) for name, toml in found.get("configurations", ())),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"--out {out}: {RESULT} in it cannot be read as a result", hint="name another folder"
        ) from error
    _check_same(out, stored, settings)
    return None if _more_seeds(stored, settings) else piece


def _more_seeds(stored: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    return bool(stored.get("seeds", 1) < settings.get("seeds", 1))


def _check_same(out: Path, stored: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    changed = {name: value for name, value in stored.items() if settings.get(name) != value}
    if _more_seeds(stored, settings):
        del changed["seeds"]
    if changed:
        spelled = ", ".join(f"{name}={value}" for name, value in changed.items())
        raise UsageError(
            f"--out {out}: the folder is that of another request ({spelled})",
            hint="name a new folder, or repeat that request in this one",
        )


def _csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.heads)
    writer.writerows(table.rows)
    return text.getvalue()


def _page(piece: Piece, settings: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    packages = environment["packages"]
    versions = {name: value for name, value in environment.items() if name != "packages"} | packages
    return html_page(
        piece.title,
        [
            f"<h1>{escape(piece.title)}</h1>",
            *(f"<p>{escape(text)}</p>" for text in piece.text),
            "<h2>What was found</h2>",
            html_table(
                ["the paper", "here", "verdict"],
                [[finding.claim, finding.measured, finding.verdict] for finding in piece.findings],
                kind="findings",
            ),
            '<div class="charts">',
            *piece.charts,
            "</div>",
            *(part for table in piece.tables for part in _section(table)),
            "<h2>What it depends on</h2>",
            html_table([], [[name, _spelled(value)] for name, value in settings.items() if value]),
            html_table([], [[name.replace("_", " "), _spelled(value)] for name, value in versions.items()]),
            html_table([], [[f"SHA-256 of {name}", digest] for name, digest in piece.files]),
            *(
                f"<details><summary>{escape(name)}: every key</summary><pre>{escape(toml)}</pre></details>"
                for name, toml in piece.configurations
            ),
        ],
    )


def _spelled(value: Any) -> str:
    return (", ".join(map(str, value)) or "none") if isinstance(value, list | tuple) else str(value)


def _section(table: Table) -> Sequence[str]:
    return (f"<h2>{escape(table.title)}</h2>", html_table(table.heads, table.texts(), kind="numbers"))
