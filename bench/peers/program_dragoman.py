"""``dragoman train`` on Multi30k; its steps are read from metrics.jsonl as they are written.

usage: python -m peers.program_dragoman FOLDER SECONDS [--ranks N] --report FILE
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dragoman import __version__
from peers.environment import PeerError, last_words
from peers.events import Events, parse
from peers.sizes import DROPOUT, SMALL

SETTINGS = {
    "model.dropout": DROPOUT,
    "train.precision": "bfloat16",
    "train.batch_tokens": SMALL.batch_tokens,
    "data.test_pairs": 0,
}
INTERVAL_SECONDS = 0.05


def watch(events: Events, command: list[str], metrics: Path) -> None:
    """Run the command until the time is over."""
    with tempfile.TemporaryFile("w+") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        while not metrics.exists() and process.poll() is None:
            time.sleep(INTERVAL_SECONDS)
        position = 0
        while not events.are_over and process.poll() is None:
            with metrics.open(encoding="utf-8") as file:
                file.seek(position)
                for line in iter(file.readline, ""):
                    if not line.endswith("\n"):
                        break
                    position += len(line.encode())
                    record = json.loads(line)
                    if "target_tokens" in record:
                        events.stepped(record["target_tokens"])
            time.sleep(INTERVAL_SECONDS)
        if not events.are_over:
            log.seek(0)
            raise PeerError(last_words(log.read()))
        process.send_signal(signal.SIGINT)


def main() -> None:
    options = parse()
    events, out = Events(options.seconds), Path(tempfile.mkdtemp()) / "model"
    corpus = [str(options.folder / f"train.{language}") for language in ("en", "de")]
    dev = [word for language in ("en", "de") for word in ("--dev", str(options.folder / f"val.{language}"))]
    settings = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "dragoman", "train", *corpus, *dev, "--out", str(out)]
    if options.ranks > 1:
        command += ["--ranks", str(options.ranks)]
    watch(events, [*command, "--recipe", SMALL.name, *settings], out / "metrics.jsonl")
    options.report.write_text(json.dumps(events.report(__version__)), encoding="utf-8")


main()
