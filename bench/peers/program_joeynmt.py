"""Joey NMT's trainer on Multi30k, with its own reader, sampler and batches of tokens.

usage: python -m peers.program_joeynmt FOLDER SECONDS --report FILE

The settings are those of its example for transformers; bfloat16 as in ``rival_joeynmt.py``.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import joeynmt
from joeynmt.batch import Batch
from joeynmt.config import parse_global_args, set_validation_args
from joeynmt.prediction import prepare
from joeynmt.training import TrainManager

from peers.events import Events, parse
from peers.rival_joeynmt import AUTOCAST, configuration
from peers.sizes import SMALL


def data(folder: Path) -> dict[str, Any]:
    """Return the part of its configuration that tells of the corpus."""

    def side(language: str) -> dict[str, Any]:
        return {
            "lang": language,
            "level": "bpe",
            "tokenizer_type": "sentencepiece",
            "tokenizer_cfg": {"model_file": str(folder / "pieces.model")},
            "voc_file": str(folder / "pieces.txt"),
        }

    return {
        "train": str(folder / "train"),
        "dev": str(folder / "val"),
        "dataset_type": "plain",
        "src": side("en"),
        "trg": side("de"),
    }


class TimedManager(TrainManager):
    """Its trainer, watched; it takes an interrupt as the end of its training."""

    events: Events

    def _train_step(self, batch: Batch) -> tuple[float, int]:
        result: tuple[float, int] = super()._train_step(batch)
        self.events.stepped(batch.ntokens)
        if self.events.are_over:
            raise KeyboardInterrupt
        return result


def main() -> None:
    options = parse()
    out = Path(tempfile.mkdtemp())
    configured = configuration(SMALL, out, scheduling="noam", normalization="tokens", epochs=1_000)
    args = parse_global_args(configured | {"data": data(options.folder)}, mode="train")
    model, train_data, dev_data, _ = prepare(args, rank=0, mode="train")
    dev = set_validation_args(args.test)
    manager = TimedManager(0, model, out, args.device, 0, 0, AUTOCAST, args.seed, args.train, dev)
    manager.events = Events(options.seconds)
    manager.train_and_validate(train_data, dev_data)
    options.report.write_text(json.dumps(manager.events.report(joeynmt.__version__)), encoding="utf-8")


main()
