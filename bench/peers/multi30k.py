"""Multi30k, English to German, where it lies beside the repository; nothing of it is kept here."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.text import Tokenizer, open_corpus, usable_pairs
from peers.environment import ROOT

FOLDER = ROOT.parent / "shared" / "data" / "multi30k" / "raw"
MISSING = f"Multi30k is not there: {FOLDER.name}/train.en.gz and train.de.gz are looked for in {FOLDER}"


def is_there() -> bool:
    """Return whether the corpus can be read."""
    return all((FOLDER / f"train.{language}.gz").exists() for language in ("en", "de"))


def unpack(folder: Path) -> None:
    """Write training and validation text as plain files into a folder."""
    for language in ("en", "de"):
        with (
            gzip.open(FOLDER / f"train.{language}.gz") as packed,
            (folder / f"train.{language}").open("wb") as plain,
        ):
            shutil.copyfileobj(packed, plain)
        shutil.copy(FOLDER / f"val.{language}", folder / f"val.{language}")


def piece_lengths(vocabulary_size: int) -> npt.NDArray[np.int64]:
    """Return lengths of source and target of every training pair (pairs × 2) in pieces, ends included."""
    corpus = open_corpus([FOLDER / f"train.{language}.gz" for language in ("en", "de")])
    pairs = [pair for _, pair in usable_pairs(corpus)]
    texts = [text for pair in pairs for text in (pair.source, pair.target)]
    tokenizer = Tokenizer.train(texts, vocabulary_size, max_sentences=len(texts), seed=1)
    lengths = [len(tokens) + 1 for tokens in tokenizer.encode_all(texts)]
    return np.array(lengths, np.int64).reshape(-1, 2)
