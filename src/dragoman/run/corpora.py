"""The text of a run: training, development and test pairs, and the tokenizer."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.config import DataConfig
from dragoman.data import EncodedCorpus, encode_corpus
from dragoman.errors import CorpusError
from dragoman.run.reporter import Reporter
from dragoman.text import Corpus, Pair, Tokenizer, check_corpus, split_held_out, usable_pairs

NumberedPair = tuple[int, Pair]


@dataclass(frozen=True)
class TrainingText:
    """Checked corpora, with development and test pairs split off where none were named."""

    corpus: Corpus
    held_out_lines: frozenset[int]
    """Lines of the corpus that training leaves out."""
    dev: tuple[NumberedPair, ...]
    test: tuple[NumberedPair, ...]
    dev_is_split: bool
    """Whether the development pairs come from the corpus itself."""
    test_is_split: bool
    """Whether the test pairs do."""
    num_training_pairs: int
    digest: str
    """SHA-256 of the corpus and of what was split off."""

    def training_pairs(self) -> Iterator[NumberedPair]:
        """Yield line number and pair of all that training may see."""
        return (pair for pair in usable_pairs(self.corpus) if pair[0] not in self.held_out_lines)

    def texts(self) -> Iterator[str]:
        """Yield all sources and targets of training, for the tokenizer."""
        for _, pair in self.training_pairs():
            yield pair.source
            yield pair.target


def read_text(
    corpus: Corpus,
    dev: Corpus | None,
    test: Corpus | None,
    config: DataConfig,
    seed: int,
    reporter: Reporter,
) -> TrainingText:
    """Check every file before any work, and split off development and test pairs that were not named.

    Raises:
        CorpusError: A file cannot be used, or nothing is left to train on.
    """
    num_pairs = _checked(corpus, reporter)
    for other in (dev, test):
        if other is not None:
            _checked(other, reporter)
    num_dev = 0 if dev is not None else config.dev_pairs
    num_test = 0 if test is not None else config.test_pairs
    held_out = split_held_out(usable_pairs(corpus), num_dev, num_test, seed)
    left_out = held_out.dev | held_out.test | held_out.dropped
    if held_out.dev or held_out.test:
        reporter.notice(
            f"held out {len(held_out.dev):,} pairs for development "
            f"and {len(held_out.test):,} for the final test"
        )
    if held_out.dropped:
        reporter.notice(f"left out {len(held_out.dropped):,} pairs that share a text with a held-out pair")
    if num_pairs == len(left_out):
        raise CorpusError(
            f"{corpus.names}: no pair is left for training", hint="set data.dev_pairs=0 and data.test_pairs=0"
        )
    chosen = {
        line: pair for line, pair in usable_pairs(corpus) if line in held_out.dev or line in held_out.test
    }
    return TrainingText(
        corpus,
        left_out,
        tuple(usable_pairs(dev)) if dev else tuple((line, chosen[line]) for line in sorted(held_out.dev)),
        tuple(usable_pairs(test)) if test else tuple((line, chosen[line]) for line in sorted(held_out.test)),
        bool(held_out.dev),
        bool(held_out.test),
        num_pairs - len(left_out),
        _digest(corpus, left_out),
    )


def encode(
    text: TrainingText, tokenizer: Tokenizer, config: DataConfig, folder: Path, reporter: Reporter
) -> EncodedCorpus:
    """Return the encoded training pairs, made once and kept in ``folder``.

    Raises:
        CorpusError: Every pair is over the length limit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    corpus = encode_corpus(
        text.training_pairs(),
        tokenizer.encode_all,
        folder / "train.bin",
        key=_key(text.digest, tokenizer, config.max_length),
        max_length=config.max_length,
        vocabulary_size=tokenizer.vocabulary_size,
    )
    if corpus.num_too_long:
        reporter.notice(
            f"left out {corpus.num_too_long:,} pairs of more than {config.max_length} pieces "
            f"({_lines(corpus.first_too_long, corpus.num_too_long)})"
        )
    if len(corpus) == 0:
        raise CorpusError(
            f"{text.corpus.names}: every pair is longer than {config.max_length} pieces",
            hint="set data.max_length higher, or cut the texts into sentences",
        )
    return corpus


def encode_with_dropout(
    text: TrainingText, tokenizer: Tokenizer, config: DataConfig, folder: Path, seed: int
) -> EncodedCorpus:
    """Return the training pairs of one epoch, encoded with BPE-dropout; a function of the seed alone."""
    seeds = iter(range(seed * 2**20, (seed + 1) * 2**20))
    return encode_corpus(
        text.training_pairs(),
        lambda texts: tokenizer.encode_with_dropout(texts, config.bpe_dropout, next(seeds)),
        folder / "epoch.bin",
        key=_key(text.digest, tokenizer, config.max_length, config.bpe_dropout, seed),
        max_length=config.max_length,
        vocabulary_size=tokenizer.vocabulary_size,
    )


def encode_dev(
    text: TrainingText, tokenizer: Tokenizer, config: DataConfig, folder: Path, reporter: Reporter
) -> EncodedCorpus | None:
    """Return the encoded development pairs, or None where there are none."""
    if not text.dev:
        return None
    pairs_digest = hashlib.sha256(repr(text.dev).encode()).hexdigest()
    dev = encode_corpus(
        text.dev,
        tokenizer.encode_all,
        folder / "dev.bin",
        key=_key(pairs_digest, tokenizer, config.max_length),
        max_length=config.max_length,
        vocabulary_size=tokenizer.vocabulary_size,
    )
    if dev.num_too_long:
        reporter.notice(
            f"left out {dev.num_too_long:,} of {len(text.dev):,} development pairs of more than "
            f"{config.max_length} pieces ({_lines(dev.first_too_long, dev.num_too_long)})"
        )
    return dev if len(dev) else None


def _checked(corpus: Corpus, reporter: Reporter) -> int:
    """Return the number of usable pairs of a corpus, and say what is left out or odd."""
    report = check_corpus(corpus)
    if report.num_empty:
        reporter.notice(
            f"{corpus.names}: left out {report.num_empty:,} of {report.num_pairs:,} pairs with a blank side "
            f"({_lines(report.first_empty_lines, report.num_empty)})"
        )
    if report.num_nul:
        reporter.notice(f"{corpus.names}: {report.num_nul:,} pairs hold the character NUL; it is kept")
    return report.num_pairs - report.num_empty


def _lines(first: tuple[int, ...] | list[int], count: int) -> str:
    """Return the first line numbers, as in "line 7" or "lines 3, 8, 9, ..."."""
    numbers = ", ".join(f"{line:,}" for line in first)
    return f"line{'s' if count > 1 else ''} {numbers}{', ...' if count > len(first) else ''}"


def _digest(corpus: Corpus, left_out: frozenset[int]) -> str:
    digest = hashlib.sha256(repr(sorted(left_out)).encode())
    for path in (corpus.source, corpus.target):
        if path is not None:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _key(digest: str, tokenizer: Tokenizer, *others: object) -> str:
    pieces = hashlib.sha256(tokenizer.to_bytes()).hexdigest()
    return hashlib.sha256(repr((digest, pieces, *others)).encode()).hexdigest()
