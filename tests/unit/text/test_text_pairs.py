"""Pairs keep their partners, and what is wrong with a corpus is known before any work."""

import gzip
import os
from pathlib import Path

import pytest

from dragoman.errors import CorpusError, UsageError
from dragoman.text import Corpus, Pair, check_corpus, languages_of, open_corpus, usable_pairs


def written(tmp_path: Path, **files: bytes) -> list[Path]:
    paths = [tmp_path / name.replace("_", ".") for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content)
    return paths


def test_line_n_meets_line_n(tmp_path: Path) -> None:
    """Two files give pairs in order, whatever separators their texts hold."""
    paths = written(tmp_path, train_en="a\u2028x\r\nb\tc\n\n".encode(), train_de=gzip.compress(b"A\nB\nC"))

    assert list(open_corpus(paths).pairs()) == [("a\u2028x", "A"), ("b\tc", "B"), ("", "C")]


def test_a_file_of_pairs_gives_its_first_two_columns(tmp_path: Path) -> None:
    """Source, tab, target; further columns are ignored and an empty line is a pair of empty texts."""
    paths = written(tmp_path, pairs_tsv=b"a\tA\nb\tB\tmore\tand more\n\n\tD\n")

    assert list(open_corpus(paths).pairs()) == [("a", "A"), ("b", "B"), ("", ""), ("", "D")]


def test_a_line_without_a_tab_is_named(tmp_path: Path) -> None:
    """In a file of pairs, a line without a tab is reported with file and line."""
    (path,) = written(tmp_path, pairs_tsv=b"a\tA\nonly one side\n")
    with pytest.raises(CorpusError) as fault:
        check_corpus(open_corpus([path]))

    assert f"{path}, line 2: no tab" in fault.value.message


@pytest.mark.parametrize(("num_source", "num_target"), [(8, 7), (7, 8), (1_200, 0), (0, 3)])
def test_unequal_counts_are_one_message(tmp_path: Path, num_source: int, num_target: int) -> None:
    """Files of different length are refused with both names and both counts."""
    source, target = written(tmp_path, train_en=b"x\n" * num_source, train_de=b"y\n" * num_target)
    with pytest.raises(CorpusError) as fault:
        check_corpus(open_corpus([source, target]))

    assert f"{source} has {num_source:,} lines but {target} has {num_target:,};" in fault.value.message
    assert fault.value.hint


def test_blank_sides_are_counted_and_left_out(tmp_path: Path) -> None:
    """A pair with a blank side is counted, its line named, and the numbers of the others stay."""
    paths = written(
        tmp_path,
        train_en=b"a\n\nc\n \t\ne\nf\n\n\n\n",
        train_de="A\nB\n\u3000\nD\nE\0\nF\nG\nH\nI\n".encode(),
    )
    corpus = open_corpus(paths)
    report = check_corpus(corpus)

    assert (report.num_pairs, report.num_empty, report.num_nul) == (9, 6, 1)
    assert report.first_empty_lines == (2, 3, 4, 7, 8)
    assert list(usable_pairs(corpus)) == [(1, Pair("a", "A")), (5, Pair("e", "E\0")), (6, Pair("f", "F"))]


@pytest.mark.parametrize("content", [b"", b"\n\n \n"])
def test_a_corpus_without_text_is_refused(tmp_path: Path, content: bytes) -> None:
    """No pair with text on both sides means no corpus."""
    source, target = written(tmp_path, train_en=content, train_de=content)
    with pytest.raises(CorpusError) as fault:
        check_corpus(open_corpus([source, target]))

    assert f"{source} and {target}" in fault.value.message


@pytest.mark.parametrize("paths", [[], ["a", "b", "c"], ["-"], ["train.en", "-"]])
def test_a_corpus_is_one_file_or_two(paths: list[str]) -> None:
    """Any other number of files is misuse, and so is standard input, which reads once."""
    with pytest.raises(UsageError) as fault:
        open_corpus(paths)

    assert fault.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_corpus(tmp_path: Path) -> None:
    """A named pipe is refused at once, as it cannot be read twice."""
    os.mkfifo(tmp_path / "pipe.tsv")
    with pytest.raises(CorpusError, match=r"pipe\.tsv is a pipe"):
        open_corpus([tmp_path / "pipe.tsv"])


@pytest.mark.parametrize(
    ("paths", "languages"),
    [
        (["data/train.en", "data/train.de.gz"], ("en", "de")),
        (["train.pt-BR", "train.zh_Hant.txt"], ("pt-BR", "zh_Hant")),
        (["train.src", "train.tgt"], (None, None)),
        (["source.txt", "en"], (None, None)),
        (["train.en-de.tsv.gz"], ("en", "de")),
        (["pairs.tsv"], (None, None)),
    ],
)
def test_languages_come_from_suffixes(paths: list[str], languages: tuple[str | None, str | None]) -> None:
    """The suffix of a file names its language, if it looks like one."""
    assert languages_of(open_corpus(paths)) == languages


def test_names_are_for_messages() -> None:
    """A corpus is called by its files."""
    assert Corpus(Path("a.en"), Path("a.de")).names == "a.en and a.de"
    assert Corpus(Path("a.tsv"), None).names == "a.tsv"
