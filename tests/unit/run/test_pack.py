"""A shortlist is written beside a model."""

from pathlib import Path

import numpy as np
import pytest

from dragoman.errors import BundleError
from dragoman.run.pack import write_shortlist
from dragoman.text import Tokenizer
from text_samples import sentences


def test_a_shortlist_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    """It names the file, whatever the system says of it."""
    tokenizer = Tokenizer.train(iter(sentences(300)), 336, max_sentences=10_000, seed=1)
    pairs = [(np.array(tokenizer.encode("The river")), np.array(tokenizer.encode("The bridge")))]
    with pytest.raises(BundleError, match=r"gone/shortlist\.safetensors cannot be written: No such file"):
        write_shortlist(tmp_path / "gone", pairs, tokenizer, seed=1)
