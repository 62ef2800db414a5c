"""Pairs: one source text and its translation, read from two files or from one.

Line n of one file translates line n of the other; a file of pairs holds source, tab, target. All is
streamed: memory does not grow with the corpus.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, Protocol

from dragoman.errors import CorpusError, UsageError
from dragoman.text.lines import STANDARD_INPUT, read_lines

_NUM_FIRST_LINES = 5
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_LANGUAGES = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")
_NOT_LANGUAGES = frozenset(
    {"txt", "tsv", "csv", "tab", "src", "tgt", "trg", "ref", "hyp", "tok", "raw", "bpe"}
)


class Pair(NamedTuple):
    """One source text and its translation; neither holds a line feed."""

    source: str
    target: str


NumberedPair = tuple[int, Pair]
"""The number of the line where a pair stands, from 1, and the pair."""


class PairSource(Protocol):
    """Where pairs come from; every reading gives the same."""

    @property
    def names(self) -> str:
        """The files, as messages call them."""

    @property
    def unit(self) -> str:
        """What messages call one of the pairs: a pair, or a tree."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files, on whose content alone the pairs depend."""

    def numbered_pairs(self) -> Iterator[NumberedPair]:
        """Yield all pairs in order, blank sides included."""


@dataclass(frozen=True)
class Corpus:
    """Where pairs come from: two line-aligned files, or one file of pairs.

    Args:
        source: The source texts, one a line; or source and target of each pair, with a tab between.
        target: The target texts, or None where ``source`` is a file of pairs.
    """

    source: Path
    target: Path | None

    @property
    def names(self) -> str:
        """The files, as messages call them."""
        return str(self.source) if self.target is None else f"{self.source} and {self.target}"

    @property
    def unit(self) -> str:
        """What messages call one of the pairs."""
        return "pair"

    @property
    def files(self) -> tuple[Path, ...]:
        """The one file or both."""
        return (self.source,) if self.target is None else (self.source, self.target)

    def numbered_pairs(self) -> Iterator[NumberedPair]:
        """Yield all pairs with their line numbers, as ``pairs``."""
        return enumerate(self.pairs(), start=1)

    def pairs(self) -> Iterator[Pair]:
        """Yield all pairs in order, blank sides included.

        Further columns of a file of pairs are ignored; an empty line in it is a pair of two empty texts.

        Raises:
            CorpusError: A file cannot be read, the files differ in their number of lines (found at the
                end of the shorter), or a line of a file of pairs has no tab.
        """
        return self._tabbed_pairs() if self.target is None else self._aligned_pairs(self.target)

    def _aligned_pairs(self, target_path: Path) -> Iterator[Pair]:
        num_source = num_target = 0
        for source, target in zip_longest(read_lines(self.source), read_lines(target_path)):
            num_source += source is not None
            num_target += target is not None
            if source is not None and target is not None:
                yield Pair(source, target)
        if num_source != num_target:
            raise CorpusError(
                f"{self.source} has {num_source:,} lines but {target_path} has {num_target:,}; "
                "line n of one must translate line n of the other",
                hint=f"find where they part with 'paste {self.source} {target_path} | less'",
            )

    def _tabbed_pairs(self) -> Iterator[Pair]:
        for number, line in enumerate(read_lines(self.source), start=1):
            columns = line.split("\t", 2)
            if len(columns) < 2 and line:
                trees = "if this is a file of trees, learn to parse from it with '--task parsing'"
                texts = "give two files to read line n of one as the translation of line n of the other"
                raise CorpusError(
                    f"{self.source}, line {number:,}: no tab; "
                    "each line of a file of pairs is source, tab, target",
                    hint=trees if line.startswith("(") else texts,
                )
            yield Pair(columns[0], columns[1]) if line else Pair("", "")


@dataclass(frozen=True)
class CorpusReport:
    """What one reading of a corpus found."""

    num_pairs: int
    """All pairs, blank ones included."""

    num_empty: int
    """Pairs of which a side is empty or only white space; they are left out."""

    first_empty_lines: tuple[int, ...]
    """The first five line numbers of such pairs, from 1."""

    num_nul: int
    """Pairs that hold the character NUL; it is kept as a character like any other."""

    @property
    def num_usable(self) -> int:
        """Pairs with text on both sides."""
        return self.num_pairs - self.num_empty


def open_corpus(paths: Sequence[Path | str]) -> Corpus:
    """Return the corpus of one file of pairs or of two line-aligned files; nothing is read yet.

    Raises:
        UsageError: No path or more than two, or standard input, which cannot be read twice.
        CorpusError: A path is a pipe, which cannot be read twice.
    """
    if len(paths) not in {1, 2}:
        raise UsageError(
            f"{len(paths)} corpus files were given; a corpus is one file of pairs or two line-aligned files",
            hint="name two files such as 'train.en train.de', or one such as 'train.tsv'",
        )
    if any(str(path) == STANDARD_INPUT for path in paths):
        raise UsageError(
            "a corpus is read more than once and standard input only once", hint="write it to a file first"
        )
    for path in map(Path, paths):
        if path.is_fifo():
            raise CorpusError(
                f"{path} is a pipe; a corpus is read more than once", hint="write it to a file first"
            )
    source, target = Path(paths[0]), Path(paths[1]) if len(paths) == 2 else None
    return Corpus(source, target)


def check_corpus(corpus: PairSource) -> CorpusReport:
    """Read the whole corpus once, before any work, and report what it holds.

    Raises:
        CorpusError: Any fault of a file or line, unequal counts, no pairs at all, or no pair with text
            on both sides.
    """
    num_pairs = num_empty = num_nul = 0
    first_empty_lines: list[int] = []
    for number, pair in corpus.numbered_pairs():
        num_pairs += 1
        if _is_blank(pair):
            num_empty += 1
            if len(first_empty_lines) < _NUM_FIRST_LINES:
                first_empty_lines.append(number)
        num_nul += "\0" in pair.source or "\0" in pair.target
    if num_pairs == num_empty:
        fault = "no line" if num_pairs == 0 else f"{num_pairs:,} lines, and in each of them a side is blank"
        raise CorpusError(
            f"{corpus.names}: {fault}; a corpus needs pairs with text on both sides",
            hint="check that these are the files you meant",
        )
    return CorpusReport(num_pairs, num_empty, tuple(first_empty_lines), num_nul)


def usable_pairs(corpus: PairSource) -> Iterator[NumberedPair]:
    """Yield line number (from 1) and pair, without the pairs of which a side is blank.

    Raises:
        CorpusError: As ``Corpus.pairs``.
    """
    for number, pair in corpus.numbered_pairs():
        if not _is_blank(pair):
            yield number, pair


def languages_of(corpus: Corpus) -> tuple[str | None, str | None]:
    """Return the languages that the file names end in, or None for each that names none.

    ``train.en`` and ``train.de.gz`` give "en" and "de"; a file of pairs ``train.en-de.tsv`` gives both.
    """
    if corpus.target is not None:
        return _language(corpus.source), _language(corpus.target)
    for part in corpus.source.name.split(".")[1:]:
        if match := _LANGUAGES.fullmatch(part):
            return match[1], match[2]
    return None, None


def _language(path: Path) -> str | None:
    name = path.name.removesuffix(".gz").removesuffix(".txt")
    _, dot, suffix = name.rpartition(".")
    return suffix if dot and _LANGUAGE.fullmatch(suffix) and suffix not in _NOT_LANGUAGES else None


def _is_blank(pair: Pair) -> bool:
    return not pair.source or not pair.target or pair.source.isspace() or pair.target.isspace()
