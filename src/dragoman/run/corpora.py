"""The text of a run: training, development and test pairs."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from dragoman.config import DataConfig
from dragoman.errors import CorpusError, TreeError, UsageError
from dragoman.run.reporter import Reporter
from dragoman.storage.durable import checksum_of
from dragoman.text import (
    HeldOut,
    NumberedPair,
    Pair,
    PairSource,
    check_corpus,
    normalized,
    open_corpus,
    read_lines,
    split_held_out,
    usable_pairs,
)
from dragoman.trees import (
    ANY_TAG,
    Inventory,
    Treebank,
    has_tags,
    read_treebank,
    take_inventory,
    tree_of_pair,
)


@dataclass(frozen=True)
class TrainingText:
    """Checked corpora, with development and test pairs split off where none were named."""

    corpus: PairSource
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
    """SHA-256 of the corpus and of what was split off or left out."""
    named_files: Mapping[str, str]
    """Development and test files by their option; empty where none were named."""
    files: Mapping[str, str]
    """SHA-256 of each file of pairs, by its path."""
    silver: PairSource | None = None
    """Further training pairs, whose targets a machine has made."""
    silver_left_out: frozenset[int] = frozenset()
    """Lines of them that share a text with a held-out pair."""

    def training_pairs(self) -> Iterator[NumberedPair]:
        """Yield line number and pair of all that training may see."""
        return (pair for pair in usable_pairs(self.corpus) if pair[0] not in self.held_out_lines)

    def silver_pairs(self) -> Iterator[NumberedPair]:
        """Yield line number and pair of all that training may see of what a machine has made."""
        pairs = usable_pairs(self.silver) if self.silver else iter(())
        return (pair for pair in pairs if pair[0] not in self.silver_left_out)

    def texts(self) -> Iterator[str]:
        """Yield all sources and targets of training, for the tokenizer."""
        for pair in self._all_pairs():
            yield pair.source
            yield pair.target

    def sources(self) -> Iterator[str]:
        """Yield all sources of training, for the tokenizer of a model whose targets are no texts."""
        return (pair.source for pair in self._all_pairs())

    def inventory(self) -> Inventory:
        """Return what the trees of a treebank are made of."""
        return take_inventory(map(tree_of_pair, self._all_pairs()))

    def _all_pairs(self) -> Iterator[Pair]:
        return (pair for _, pair in chain(self.training_pairs(), self.silver_pairs()))


class Sources(NamedTuple):
    """What a run was given to read."""

    corpus: PairSource
    dev: PairSource | None = None
    test: PairSource | None = None
    silver: PairSource | None = None


def open_pairs(paths: Sequence[Path | str], config: DataConfig) -> PairSource:
    """Return the pairs of two files or of one, or those of a treebank where the task is parsing.

    Raises:
        UsageError: The files are too many, too few, or standard input.
        CorpusError: A file is a pipe, or a treebank cannot be read.
        TreeError: A treebank holds what is no tree.
    """
    if config.task == "parsing" and len(paths) > 1:
        names = " ".join(map(str, paths))
        raise UsageError(
            f"{names}: {len(paths)} files, and parsing is learned from one file of trees",
            hint=f"join them by 'cat {names} > all.mrg', and name that file",
        )
    corpus = open_corpus(paths)
    if config.task == "translation":
        return corpus
    treebank = _open_treebank(corpus.source)
    if config.keep_tags and not any(has_tags(pair.target) for _, pair in treebank.pairs):
        raise TreeError(
            f"{treebank.names}: every tag is {ANY_TAG}, as a parser writes that predicts none, and "
            "data.keep_tags asks for tags",
            hint="parse with a model that was trained with data.keep_tags=true, or leave the key out",
        )
    return treebank


def _open_treebank(path: Path) -> Treebank:
    """Return a treebank; what holds text and no trees is told as such."""
    try:
        return read_treebank(path)
    except TreeError as error:
        told = (line.lstrip() for line in read_lines(path) if line.strip() and not line.startswith("#"))
        if next(told, "(").startswith("("):
            raise
        raise TreeError(
            f"{error.message}; a file of trees holds such as (S (NP (PRP I)) (VP (VBP see)))",
            hint="name a file of trees; to learn to translate from text, leave '--task parsing' out, or the "
            "parser of --from",
        ) from error


def read_text(given: Sources, config: DataConfig, seed: int, reporter: Reporter) -> TrainingText:
    """Check every file before any work, and split off development and test pairs that were not named.

    Of the silver pairs those are left out that share a text with a development or test pair.

    Raises:
        CorpusError: A file cannot be used, or nothing is left to train on.
    """
    corpus, dev, test, silver = given
    num_pairs, *_ = [_checked(one, reporter) for one in given if one is not None]
    num_dev = 0 if dev is not None else config.dev_pairs
    num_test = 0 if test is not None else config.test_pairs
    told_apart = usable_pairs(corpus)
    if config.task == "parsing":  # many trees of different sentences are alike
        told_apart = ((line, Pair(pair.source, pair.source)) for line, pair in told_apart)
    held_out = split_held_out(told_apart, num_dev, num_test, seed)
    left_out = held_out.dev | held_out.test | held_out.dropped
    _tell_held_out(held_out, num_dev, num_test, corpus.unit, reporter)
    if num_pairs == len(left_out):
        raise CorpusError(
            f"{corpus.names}: no {corpus.unit} is left for training",
            hint="set data.dev_pairs=0 and data.test_pairs=0",
        )
    chosen = {
        line: pair for line, pair in usable_pairs(corpus) if line in held_out.dev or line in held_out.test
    }
    dev_pairs, test_pairs = (
        tuple(usable_pairs(named)) if named else tuple((line, chosen[line]) for line in sorted(split))
        for named, split in ((dev, held_out.dev), (test, held_out.test))
    )
    for named, pairs in ((dev, dev_pairs), (test, test_pairs)):
        if named is not None:
            _tell_known(named, pairs, corpus, reporter)
    silver_left_out = _shared(silver, (*dev_pairs, *test_pairs), reporter) if silver else frozenset()
    checksums = {str(path): checksum_of(path) for one in given if one for path in one.files}
    seen = [checksums[str(path)] for one in (corpus, silver) if one for path in one.files]
    return TrainingText(
        corpus,
        left_out,
        dev_pairs,
        test_pairs,
        bool(held_out.dev),
        bool(held_out.test),
        num_pairs - len(left_out),
        _digest(seen, (left_out, silver_left_out) if silver_left_out else (left_out,)),
        {
            option: named.names if named else ""
            for option, named in (("--dev", dev), ("--test", test), ("--silver", silver))
        },
        checksums,
        silver,
        silver_left_out,
    )


def _tell_known(
    named: PairSource, held_out: Sequence[NumberedPair], corpus: PairSource, reporter: Reporter
) -> None:
    """Say how many development or test pairs of a file have a source that training sees, in any spelling."""
    sources = {normalized(pair.source) for _, pair in held_out}
    known = {text for _, pair in usable_pairs(corpus) if (text := normalized(pair.source)) in sources}
    number = sum(normalized(pair.source) in known for _, pair in held_out)
    if number:
        what = "source" if corpus.unit == "pair" else "sentence"
        reporter.notice(
            f"{named.names}: the {what} of {number:,} of {counted(len(held_out), corpus.unit)} is in the "
            "training corpus too; scores on them say little of new text"
        )


def _shared(silver: PairSource, held_out: Sequence[NumberedPair], reporter: Reporter) -> frozenset[int]:
    """Return the lines of silver pairs that share a text with a held-out one, whatever its spelling.

    Of trees it is the sentence that counts, since many trees of different sentences are alike.
    """
    count = 1 if silver.unit == "tree" else 2
    texts = [{normalized(pair[side]) for _, pair in held_out} for side in range(count)]
    lines = frozenset(
        line
        for line, pair in usable_pairs(silver)
        if any(normalized(pair[side]) in known for side, known in enumerate(texts))
    )
    if lines:
        shared = "text" if silver.unit == "pair" else "sentence"
        told = f"{counted(len(lines), silver.unit)} that share a {shared} with a held-out {silver.unit}"
        if all(line in lines for line, _ in usable_pairs(silver)):
            raise CorpusError(
                f"{silver.names}: holds nothing but {told}",
                hint="leave --silver out, or name a file of other sentences",
            )
        reporter.notice(f"{silver.names}: left out {told}")
    return lines


def _tell_held_out(held_out: HeldOut, num_dev: int, num_test: int, unit: str, reporter: Reporter) -> None:
    """Say how many pairs are held out, which may be fewer than were asked for, and left out for them."""
    parts = [
        f"{counted(len(lines), unit)} for {what}"
        f"{f' of the {wanted:,} asked for' if len(lines) < wanted else ''}"
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
        shared = "text" if unit == "pair" else "sentence"
        reporter.notice(
            f"left out {len(held_out.dropped):,} {unit}s that share a {shared} with a held-out {unit}"
        )


def _checked(corpus: PairSource, reporter: Reporter) -> int:
    """Return the number of usable pairs of a corpus, and say what is left out or odd."""
    report = check_corpus(corpus)
    if report.num_empty:
        blank = "pairs with a blank side" if corpus.unit == "pair" else "trees without words"
        reporter.notice(
            f"{corpus.names}: left out {report.num_empty:,} of {report.num_pairs:,} {blank} "
            f"({line_numbers(report.first_empty_lines, report.num_empty)})"
        )
    if report.num_nul:
        unit = corpus.unit
        reporter.notice(f"{corpus.names}: {report.num_nul:,} {unit}s hold the character NUL; it is kept")
    return report.num_usable


def counted(number: int, unit: str) -> str:
    """Return a number of things, as in "1 pair" or "2,000 pairs"."""
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def line_numbers(first: tuple[int, ...] | list[int], count: int) -> str:
    """Return the first line numbers, as in "line 7" or "lines 3, 8, 9, ..."."""
    numbers = ", ".join(f"{line:,}" for line in first)
    return f"line{'s' if count > 1 else ''} {numbers}{', ...' if count > len(first) else ''}"


def _digest(checksums: Iterable[str], left_out: Iterable[frozenset[int]]) -> str:
    digest = hashlib.sha256("".join(repr(sorted(lines)) for lines in left_out).encode())
    for checksum in checksums:
        digest.update(bytes.fromhex(checksum))
    return digest.hexdigest()
