"""Whole programs on Multi30k: each with its own way from text to batches, in bfloat16, in turns."""

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import sentencepiece

from peers import multi30k
from peers.environment import PeerError
from peers.rivals import ENTRIES, make_environment, run_module
from peers.sizes import SMALL

PROGRAMS = ("dragoman", "dragoman-2", "joeynmt", "marian")


def measure_programs(names: list[str], runs: int, minutes: float, num_threads: int) -> dict[str, Any]:
    """Print real target pieces a second of each program and return every report."""
    if not multi30k.is_there():
        print(f"whole programs are left out: {multi30k.MISSING}")
        return {}
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in names if name in PROGRAMS}
    with tempfile.TemporaryDirectory() as folder:
        multi30k.unpack(Path(folder))
        learn_pieces(Path(folder))
        for run in range(runs):
            for name in list(reports):
                entry = ENTRIES[name]
                command = [f"peers.program_{entry.module}", folder, str(60 * minutes)]
                command += ["--ranks", str(entry.num_ranks)]
                try:
                    environment = make_environment(max(1, num_threads // entry.num_ranks))
                    reports[name].append(run_module(command, environment, is_peer=entry.is_peer))
                except PeerError as error:
                    print(f"left out: {entry.title}: {error}")
                    del reports[name]
            print(f"programs: run {run + 1} of {runs}", file=sys.stderr)
    print(f"\nwhole programs on Multi30k, {SMALL.name}, {SMALL.batch_tokens:,} positions a batch, ", end="")
    print(f"{minutes:g} minutes each, {runs} runs")
    print_programs(reports)
    return reports


def learn_pieces(folder: Path) -> None:
    """Give the peers a tokenizer of as many pieces as dragoman's, made by sentencepiece's own rules."""
    sentencepiece.SentencePieceTrainer.train(
        input=[str(folder / f"train.{language}") for language in ("en", "de")],
        model_prefix=str(folder / "pieces"),
        vocab_size=SMALL.vocabulary_size - 1,
        model_type="bpe",
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "pieces.model"))
    pieces = [processor.id_to_piece(token) for token in range(processor.get_piece_size())]
    (folder / "pieces.txt").write_text("\n".join(pieces[2:]) + "\n", encoding="utf-8")
    numbered = {piece: token for token, piece in enumerate([*pieces, "<pad>"])}
    (folder / "pieces.json").write_text(json.dumps(numbered), encoding="utf-8")


def print_programs(reports: dict[str, list[dict[str, Any]]]) -> None:
    """Print a line for each program."""
    speeds = {
        name: [report["target_tokens"] / report["seconds"] for report in found]
        for name, found in reports.items()
    }
    ours = [statistics.median(values) for name, values in speeds.items() if name.startswith("dragoman")]
    own = max(ours, default=None)
    for name, values in speeds.items():
        median, first = statistics.median(values), reports[name][0]
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        ratio = "" if own is None else f"  {own / median:5.2f} ×"
        pieces = first["target_tokens"] / first["steps"]
        title = f"{ENTRIES[name].title} {first['version']}"
        print(f"{title:<34} {median:>6,.0f} target pieces/s ({spread}), {pieces:,.0f} a step{ratio}")
