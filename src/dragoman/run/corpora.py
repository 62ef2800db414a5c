"""The text of a run: training, development and test pairs, and the tokenizer."""

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.config import DataConfig
from dragoman.data import EncodeAll, EncodedCorpus, encode_corpus
from dragoman.errors import CorpusError
from dragoman.run.reporter import Reporter
from dragoman.storage.durable import checksum_of
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
    named_files: Mapping[str, str]
    """Development and test files by their option; empty where none were named."""
    files: Mapping[str, str]
    """SHA-256 of each file of pairs, by its path."""

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
    parts = [
        f"{_pairs(len(lines))} for {what}{f' of the {wanted:,} asked for' if len(lines) < wanted else ''}"
        for lines, wanted, what in (
            (held_out.dev, num_dev, "development"),
            (held_out.test, num_test, "the final test"),
        )
        if wanted
    ]
    if parts:
        few = len(held_out.dev) < num_dev or len(held_out.test) < num_test
        why = "; each is at most a twentieth of the corpus" if few else ""
        reporter.notice(f"held out {' and '.join(parts)}{why}")
    if held_out.dropped:
        reporter.notice(f"left out {len(held_out.dropped):,} pairs that share a text with a held-out pair")
    if num_pairs == len(left_out):
        raise CorpusError(
            f"{corpus.names}: no pair is left for training", hint="set data.dev_pairs=0 and data.test_pairs=0"
        )
    chosen = {
        line: pair for line, pair in usable_pairs(corpus) if line in held_out.dev or line in held_out.test
    }
    checksums = {str(path): checksum_of(path) for one in (corpus, dev, test) if one for path in one.files}
    return TrainingText(
        corpus,
        left_out,
        tuple(usable_pairs(dev)) if dev else tuple((line, chosen[line]) for line in sorted(held_out.dev)),
        tuple(usable_pairs(test)) if test else tuple((line, chosen[line]) for line in sorted(held_out.test)),
        bool(held_out.dev),
        bool(held_out.test),
        num_pairs - len(left_out),
        _digest([checksums[str(path)] for path in corpus.files], left_out),
        {"--dev": dev.names if dev else "", "--test": test.names if test else ""},
        checksums,
    )


def encode(
    text: TrainingText, tokenizer: Tokenizer, config: DataConfig, folder: Path, reporter: Reporter
) -> EncodedCorpus:
    """Return the encoded training pairs, made once and kept in ``folder``.

    Raises:
        CorpusError: Every pair is over the length limit.
    """
    corpus = _encoded(text.training_pairs(), text.digest, tokenizer, config, folder / "train.bin")
    if corpus.num_too_long:
        reporter.notice(
            f"left out {_pairs(corpus.num_too_long)} of more than {config.max_length} pieces "
            f"({_lines(corpus.first_too_long, corpus.num_too_long)})"
        )
    if len(corpus) == 0:
        raise CorpusError(
            f"{text.corpus.names}: every pair is longer than {config.max_length} pieces",
            hint="set data.max_length higher, or cut the texts into sentences",
        )
    return corpus


def encode_with_dropout(
    text: TrainingText,
    tokenizer: Tokenizer,
    config: DataConfig,
    folder: Path,
    seed: tuple[int, int],
    busy: Callable[[], None],
) -> EncodedCorpus:
    """Return the training pairs of one epoch, encoded with BPE-dropout.

    Args:
        text: The pairs.
        tokenizer: Encodes them.
        config: The share of merges that are left out.
        folder: Where the file of this epoch takes the place of the one before.
        seed: Seed of the run and epoch, on which alone the pieces depend.
        busy: Called every some thousand texts; what it raises ends the encoding.
    """
    chunks = itertools.count()

    def encode_all(texts: list[str]) -> list[list[int]]:
        busy()
        state = np.random.SeedSequence([*seed, next(chunks)]).generate_state(1, np.uint64)
        return tokenizer.encode_with_dropout(texts, config.bpe_dropout, int(state[0]))

    digest = repr((text.digest, config.bpe_dropout, seed))
    return _encoded(text.training_pairs(), digest, tokenizer, config, folder / "epoch.bin", encode_all)


def encode_dev(
    text: TrainingText, tokenizer: Tokenizer, config: DataConfig, folder: Path, reporter: Reporter
) -> EncodedCorpus | None:
    """Return the encoded development pairs, or None where there are none."""
    if not text.dev:
        return None
    digest = hashlib.sha256(repr(text.dev).encode()).hexdigest()
    dev = _encoded(text.dev, digest, tokenizer, config, folder / "dev.bin")
    if dev.num_too_long:
        reporter.notice(
            f"left out {dev.num_too_long:,} of {len(text.dev):,} development pairs of more than "
            f"{config.max_length} pieces ({_lines(dev.first_too_long, dev.num_too_long)})"
        )
    return dev if len(dev) else None


def _encoded(
    pairs: Iterable[NumberedPair],
    digest: str,
    tokenizer: Tokenizer,
    config: DataConfig,
    path: Path,
    encode_all: EncodeAll | None = None,
) -> EncodedCorpus:
    """Return the encoded pairs, made again where they, the tokenizer or the limit have changed."""
    pieces = hashlib.sha256(tokenizer.to_bytes()).hexdigest()
    return encode_corpus(
        pairs,
        encode_all or tokenizer.encode_all,
        path,
        key=hashlib.sha256(repr((digest, pieces, config.max_length)).encode()).hexdigest(),
        max_length=config.max_length,
        vocabulary_size=tokenizer.vocabulary_size,
    )


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


def _pairs(count: int) -> str:
    return f"{count:,} {'pair' if count == 1 else 'pairs'}"


def _lines(first: tuple[int, ...] | list[int], count: int) -> str:
    """Return the first line numbers, as in "line 7" or "lines 3, 8, 9, ..."."""
    numbers = ", ".join(f"{line:,}" for line in first)
    return f"line{'s' if count > 1 else ''} {numbers}{', ...' if count > len(first) else ''}"


def _digest(checksums: Iterable[str], left_out: frozenset[int]) -> str:
    digest = hashlib.sha256(repr(sorted(left_out)).encode())
    for checksum in checksums:
        digest.update(bytes.fromhex(checksum))
    return digest.hexdigest()
