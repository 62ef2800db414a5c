"""What makes a trained model faster: weights that are packed once, and a shortlist of translations."""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from dragoman.engine import HINT, Precision, is_there, missing_notice, pack
from dragoman.errors import BundleError, CorpusError, UsageError
from dragoman.model_files import SHORTLIST, Outline
from dragoman.storage.durable import replace_durably
from dragoman.text import Tokenizer, open_corpus
from dragoman.text.lexicon import Ids, Pairs, count_lexicon

_MOST_PAIRS = 500_000
"""Pairs that are read; a shortlist is counted in no more."""


def pack_model(
    folder: Path,
    precision: Precision,
    corpus: Sequence[Path] = (),
    *,
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """Write packed weights beside a model, and a shortlist where there are pairs to count it in.

    Args:
        folder: The model.
        precision: What weights are rounded to.
        corpus: Pairs, in one file or two; none leaves the shortlist as it is.
        told: Is told of each file that was written.

    Raises:
        BundleError: The folder does not hold a whole model.
        CorpusError: The pairs cannot be read, or there are none.
        UsageError: The engine is not there, for which weights are packed; or the model writes no text.
    """
    outline = Outline.read(folder)
    if corpus and outline.config.data.task != "translation":
        raise UsageError(
            "a shortlist is for models that translate, and this one parses", hint="name no corpus"
        )
    if not is_there():
        raise UsageError(f"weights are packed for the engine, and {missing_notice()}", hint=HINT)
    pairs = _encoded(corpus, outline) if corpus else []
    if corpus and not pairs:
        names = " and ".join(map(str, corpus))
        raise CorpusError(f"{names}: no pair to count a shortlist in", hint="name the training pairs")
    path = pack(outline, precision)
    told(f"packed {path} ({path.stat().st_size / 2**20:,.0f} MiB)")
    if pairs:
        path = write_shortlist(folder, pairs, outline.tokenizer, seed=1)
        told(f"counted {path} in {len(pairs):,} pairs ({path.stat().st_size / 2**20:,.1f} MiB)")


def write_shortlist(folder: Path, pairs: Pairs, tokenizer: Tokenizer, *, seed: int) -> Path:
    """Count which pieces translate which in some pairs, write it beside a model, and return the path.

    Raises:
        BundleError: The folder cannot be written.
    """
    size = tokenizer.vocabulary_size
    lexicon = count_lexicon(pairs, source_size=size, target_size=size, seed=seed)
    path = folder / SHORTLIST
    try:
        replace_durably(path, lexicon.to_bytes())
    except OSError as error:
        raise BundleError(
            f"{path} cannot be written: {error.strerror}", hint="make room on the disk, then do it again"
        ) from error
    return path


def _encoded(corpus: Sequence[Path], outline: Outline) -> list[tuple[Ids, Ids]]:
    """Return the ids of the first pairs that are no longer than the model's limit."""
    tokenizer, limit = outline.tokenizer, outline.config.data.max_length
    pairs = list(islice(open_corpus(corpus).pairs(), _MOST_PAIRS))
    encoded = (tokenizer.encode_all([pair[side] for pair in pairs]) for side in (0, 1))
    return [
        (np.array(source), np.array(target))
        for source, target in zip(*encoded, strict=True)
        if 0 < len(source) < limit and 0 < len(target) < limit
    ]
