"""Translation by dragoman and by other programs, with the same weights and sources, in turns.

usage: ./run bench translation [--size small|base|all] [--runs 5] [--sentences N] [--threads 2]
                               [--rivals NAME,...] [--work NAME,...] [--json FILE]
       ./run bench translation --model DIR --source FILE --reference FILE [--length-penalty 1.0]

Without a model the weights are random, of the sizes in bench/peers/sizes.py, and outputs have 14 pieces. The
shortlist has 512 pieces and 128 random ones for each piece of a source, twice what captions give. With a
model, lines of text are translated, and BLEU stands beside the speed. Rivals take turns, each in a process of
its own that translates everything twice, of which the second time counts; medians over the runs.
CTranslate2 has as many workers of one thread as there are threads, which is its best setting here; one line
at a time, one thread.

Columns: sentences a second, median and spread; dragoman's int8 as a multiple of the rival; the most memory of
the process; BLEU of a model's outputs.
"""

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.model_files import SHORTLIST
from dragoman.text.lexicon import Lexicon
from peers.environment import PeerError, install
from peers.report import spoken_load
from peers.rivals import make_environment, run_module
from peers.sizes import SIZES, Size
from peers.translation_job import END, Job

LENGTH, MEAN_LENGTH = 14, 14

RIVALS = {
    "int8": ("dragoman int8", "dragoman", "int8"),
    "int8-shortlist": ("dragoman int8, shortlist", "dragoman", "int8"),
    "bfloat16": ("dragoman bfloat16", "dragoman", "bfloat16"),
    "float32": ("dragoman float32", "dragoman", "float32"),
    "pytorch": ("dragoman without its engine", "dragoman", "pytorch"),
    "pytorch-int8": ("dragoman int8 without its engine", "dragoman", "pytorch-int8"),
    "ct2-int8": ("CTranslate2 int8", "ctranslate2", "int8"),
    "ct2-int8-shortlist": ("CTranslate2 int8, shortlist", "ctranslate2", "int8"),
    "ct2-float32": ("CTranslate2 float32", "ctranslate2", "float32"),
    "marian": ("Hugging Face generate float32", "marian", "float32"),
}
"""Title, module and precision."""

WORK = {
    "beam": ("beam 4, 64 at once", 4, 64),
    "greedy": ("greedy, 128 at once", 1, 128),
    "beam-one": ("beam 4, one at a time", 4, 1),
    "greedy-one": ("greedy, one at a time", 1, 1),
}
"""Title, beam and batch."""

SLOW = ("pytorch", "marian")


def random_model(size: Size, folder: Path, num_sentences: int) -> None:
    """Write a model of random weights and sources of random pieces."""
    import torch
    from safetensors.torch import save_file

    from dragoman.config import read_config
    from dragoman.model import Transformer

    torch.manual_seed(1)
    settings = [f"model.vocabulary_size={size.vocabulary_size}"]
    config = read_config(recipe=size.name, file=None, settings=settings)
    model = Transformer(config.model)
    save_file(
        {name: tensor.contiguous() for name, tensor in model.state_dict().items()},
        folder / "model.safetensors",
    )
    (folder / "config.json").write_text(json.dumps({"model": asdict(config.model)}), encoding="utf-8")
    draw = random.Random(1)
    sources = [
        [
            *(
                draw.randrange(2, size.vocabulary_size - 1)
                for _ in range(max(4, round(draw.gauss(MEAN_LENGTH - 1, 4))))
            ),
            END,
        ]
        for _ in range(num_sentences)
    ]
    (folder / "sources.json").write_text(json.dumps(sources), encoding="utf-8")
    count = size.vocabulary_size
    targets = np.random.default_rng(1).integers(2, count - 1, 128 * count, dtype=np.int32)
    starts, frequent = np.arange(0, 128 * count + 1, 128), np.append(END, np.arange(2, 513))
    lexicon = Lexicon(starts.astype(np.int32), targets, frequent.astype(np.int32))
    (folder / SHORTLIST).write_bytes(lexicon.to_bytes())


def trained_model(model: Path, source: Path, folder: Path) -> None:
    """Copy a model's weights, and write the pieces of a text."""
    from dragoman.model_files import Outline
    from dragoman.text import read_lines

    for name in ("config.json", "model.safetensors", SHORTLIST):
        if (model / name).exists():
            shutil.copy(model / name, folder / name)
    tokenizer = Outline.read(model).tokenizer
    sources = [[*tokenizer.encode(line), END] for line in read_lines(source)]
    (folder / "sources.json").write_text(json.dumps(sources), encoding="utf-8")


def bleu(options: argparse.Namespace, outputs: list[list[int]]) -> float:
    from dragoman.evaluate import score
    from dragoman.model_files import Outline
    from dragoman.text import read_lines

    outline = Outline.read(options.model)
    hypotheses = [outline.tokenizer.decode(tokens) for tokens in outputs]
    tokenized = outline.config.data.tokenized
    found: float = score(
        hypotheses, list(read_lines(options.reference)), tokenized=tokenized, ter=False
    ).bleu.value
    return found


def measure(folder: Path, work: str, options: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    """Let the rivals take turns at one kind of work; one that fails is named and drops out."""
    _, beam_size, batch_size = WORK[work]
    every = json.loads((folder / "sources.json").read_text(encoding="utf-8"))
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in options.rivals}
    for run in range(options.runs):
        for name in list(reports):
            _, module, precision = RIVALS[name]
            few = every[: max(20, len(every) // (8 if name in SLOW else 1) // (8 if batch_size == 1 else 1))]
            job = Job(
                beam_size,
                batch_size,
                options.length_penalty,
                None if options.model else LENGTH,
                50,
                options.threads,
                precision,
                "shortlist" in name,
            )
            with tempfile.TemporaryDirectory() as own:
                for part in ("config.json", "model.safetensors", SHORTLIST):
                    (Path(own) / part).symlink_to(folder / part)
                (Path(own) / "job.json").write_text(json.dumps(asdict(job)), encoding="utf-8")
                (Path(own) / "sources.json").write_text(json.dumps(few if not options.model else every))
                try:
                    command = ["peers.translation_job", module, own]
                    threads = (
                        1 if module != "marian" and not precision.startswith("pytorch") else options.threads
                    )
                    report = run_module(command, make_environment(threads), is_peer=module != "dragoman")
                    report["speed"] = len(few if not options.model else every) / report["seconds"]
                    reports[name].append(report)
                except PeerError as error:
                    print(f"left out: {RIVALS[name][0]}: {error}")
                    del reports[name]
        print(f"{work}: run {run + 1} of {options.runs}, load {spoken_load()}", file=sys.stderr)
    return reports


def print_table(title: str, reports: dict[str, list[dict[str, Any]]], options: argparse.Namespace) -> None:
    print(f"\n{title}")
    speeds = {name: [report["speed"] for report in own] for name, own in reports.items()}
    ours = statistics.median(speeds["int8"]) if "int8" in speeds else None
    for name in sorted(speeds, key=lambda name: -statistics.median(speeds[name])):
        first, median = reports[name][0], statistics.median(speeds[name])
        ratio = "" if ours is None else f"{ours / median:6.2f} ×"
        quality = f"  BLEU {bleu(options, first['outputs']):.2f}" if options.model else ""
        print(
            f"{RIVALS[name][0] + ' ' + first['version']:<40} {median:>8,.1f} sentences/s "
            f"({min(speeds[name]):,.1f} to {max(speeds[name]):,.1f})  {ratio}  "
            f"{first['memory_mib']:,.0f} MiB{quality}"
        )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", choices=[*SIZES, "all"], default="small")
    parser.add_argument("--model", type=Path, help="a trained model, in place of random weights")
    parser.add_argument("--source", type=Path, help="with --model: lines to translate")
    parser.add_argument("--reference", type=Path, help="with --model: their translations")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="left out, 1,000 (small) or 300 (base)")
    parser.add_argument("--threads", type=int, default=2, help="of each rival")
    parser.add_argument("--length-penalty", type=float, default=1.0, help="0 is the same for all rivals")
    parser.add_argument("--rivals", default=",".join(RIVALS), help="comma-separated: %(default)s")
    parser.add_argument("--work", default=",".join(WORK), help="comma-separated: %(default)s")
    parser.add_argument("--json", type=Path, help="also write every figure of every run to this file")
    options = parser.parse_args()
    options.rivals, options.work = options.rivals.split(","), options.work.split(",")
    for given, known in ((options.rivals, RIVALS), (options.work, WORK)):
        if unknown := [name for name in given if name not in known]:
            parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    if options.model and not (options.source and options.reference):
        parser.error("--model needs --source and --reference")
    return options


def ready(names: list[str]) -> list[str]:
    standing = []
    for name in names:
        title, module, _ = RIVALS[name]
        try:
            if module != "dragoman":
                install(module)
            standing.append(name)
        except PeerError as error:
            print(f"left out: {title} cannot be installed: {error}")
    return standing


def main() -> None:
    options = parse()
    options.rivals = ready(options.rivals)
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, ", end="")
    print(f"threads of a rival: {options.threads}; load before: {spoken_load()}")
    found: dict[str, Any] = {}
    sizes = (
        [None] if options.model else list(SIZES.values()) if options.size == "all" else [SIZES[options.size]]
    )
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if size is None:
                trained_model(options.model, options.source, folder)
            else:
                random_model(size, folder, options.sentences or (1_000 if size.name == "small" else 300))
            title = str(options.model) if size is None else size.name
            for work in options.work:
                reports = measure(folder, work, options)
                print_table(f"{title}: {WORK[work][0]}", reports, options)
                found[f"{title} {work}"] = {
                    name: [{key: value for key, value in one.items() if key != "outputs"} for one in own]
                    for name, own in reports.items()
                }
    print(f"load after: {spoken_load()}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
