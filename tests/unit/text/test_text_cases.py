"""The reference cases of reading and tokenizing, each an input that failed elsewhere."""

import time
from pathlib import Path

import pytest

from dragoman.errors import CorpusError, TokenizerError
from dragoman.text import Tokenizer, check_corpus, open_corpus, read_lines, usable_pairs
from text_samples import sentences, trained


@pytest.fixture
def cases(shared: Path) -> Path:
    return shared / "cases"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(500))


def assert_exact(tokenizer: Tokenizer, lines: list[str]) -> None:
    """Every line comes back, and none holds a control token."""
    encoded = tokenizer.encode_all(lines)
    control = {tokenizer.end, tokenizer.unknown, tokenizer.padding}

    assert [tokenizer.decode(tokens) for tokens in encoded] == lines
    assert not control & {token for tokens in encoded for token in tokens}


@pytest.mark.parametrize(
    "case", ["S01-line-separators", "S02-lone-cr", "S03-crlf-one-side", "S04-bom-source"]
)
def test_tagged_pairs_stay_together(cases: Path, case: str) -> None:
    """S01 to S04: eight pairs, each source beside the target of its tag, whatever separators they hold."""
    corpus = open_corpus([cases / case / "src.txt", cases / case / "tgt.txt"])
    tags = [(pair.source.split()[0], pair.target.split()[0]) for _, pair in usable_pairs(corpus)]

    assert tags == [(f"l{n}", f"l{n}") for n in range(1, 9)]
    assert check_corpus(corpus).num_pairs == 8
    assert not any(side.endswith("\r") or "\ufeff" in side for pair in corpus.pairs() for side in pair)


def test_unequal_files_are_refused(cases: Path) -> None:
    """S05: one message with both names and both counts."""
    source, target = (cases / "S05-unequal-counts" / name for name in ("src.txt", "tgt.txt"))
    with pytest.raises(CorpusError) as fault:
        check_corpus(open_corpus([source, target]))

    assert f"{source} has 8 lines but {target} has 7" in fault.value.message


@pytest.mark.parametrize(
    ("name", "num_lines"),
    [
        ("S06-blank-lines-translate/src.txt", 9),
        ("S07-final-newline/no-final-newline.txt", 3),
        ("S07-final-newline/one.txt", 3),
        ("S07-final-newline/two-blank-at-end.txt", 5),
        ("S08-long-line-in-the-middle/src.txt", 5),
        ("S09-two-thousand-lines/src.txt", 2_000),
        ("S18-joiners/text.txt", 5),
        ("S49-emoji-in-the-middle/text.txt", 5),
    ],
)
def test_files_have_their_lines(cases: Path, tokenizer: Tokenizer, name: str, num_lines: int) -> None:
    """S06 to S09, S18, S49: the number of lines is exact, and each comes back from its tokens."""
    lines = list(read_lines(cases / name))

    assert len(lines) == num_lines
    assert_exact(tokenizer, lines)


@pytest.mark.parametrize(
    "name", ["S16-literal-at-at", "S17-literal-block", "S22-literal-specials", "S50-placeholders"]
)
def test_marks_in_a_text_are_text(cases: Path, tokenizer: Tokenizer, name: str) -> None:
    """S16, S17, S22, S50: what looks like a mark of some tool is text, before and after training on it."""
    lines = list(read_lines(cases / name / "text.txt"))

    assert_exact(tokenizer, lines)
    assert_exact(trained(lines * 50, 400), lines)


@pytest.mark.parametrize("case", ["S11-marker-characters", "S19-nul-bytes"])
def test_odd_characters_are_read_learned_and_kept(cases: Path, case: str) -> None:
    """S11, S19: six pairs, a tokenizer from them, and every text comes back; NUL is kept and counted."""
    corpus = open_corpus([cases / case / "src.txt", cases / case / "tgt.txt"])
    texts = [side for pair in corpus.pairs() for side in pair]
    report = check_corpus(corpus)

    assert (report.num_pairs, report.num_empty) == (6, 0)
    assert report.num_nul == (2 if "nul" in case else 0)
    assert_exact(trained(texts, 8_000), texts)


@pytest.mark.parametrize(
    "name", ["dict.txt", "source.spm", "model.bin", "model.safetensors", "pytorch_model.bin"]
)
def test_pointers_are_told(cases: Path, name: str) -> None:
    """S14: as a text or a tokenizer, a Git LFS pointer is named, with both sizes and what fetches it."""
    path = cases / "S14-lfs-pointer" / name
    with pytest.raises(CorpusError) as as_text:
        list(read_lines(path))
    with pytest.raises(TokenizerError) as as_tokenizer:
        Tokenizer.load(path)

    for fault in (as_text.value, as_tokenizer.value):
        assert f"{path} is a Git LFS pointer of 134 bytes" in fault.message
        assert "310,432,126 bytes expected" in fault.message
        assert fault.hint == "fetch the file with 'git lfs pull'"


@pytest.mark.parametrize("vocabulary_size", [8_000, 32_000])
def test_a_tiny_corpus_gets_what_it_can_carry(cases: Path, vocabulary_size: int) -> None:
    """S20: the vocabulary is smaller than asked, and says so."""
    folder = cases / "S20-tiny-corpus-big-vocab"
    texts = [side for pair in open_corpus([folder / "src.txt", folder / "tgt.txt"]).pairs() for side in pair]
    tokenizer = trained(texts, vocabulary_size)

    assert tokenizer.vocabulary_size == 264
    assert_exact(tokenizer, texts)


@pytest.mark.untraced
def test_one_enormous_line_costs_little(cases: Path) -> None:
    """S21: a line of 70,000 characters is read, learned from and encoded in seconds."""
    folder = cases / "S21-one-line-of-70000-characters"
    corpus = open_corpus([folder / "src.txt", folder / "tgt.txt"])
    texts = [side for pair in corpus.pairs() for side in pair]
    start = time.monotonic()
    tokenizer = trained(texts, 8_000)
    with_dropout = tokenizer.encode_with_dropout(texts, 0.1, seed=1)

    assert check_corpus(corpus).num_pairs == 50
    assert_exact(tokenizer, texts)
    assert [tokenizer.decode(tokens) for tokens in with_dropout] == texts
    assert time.monotonic() - start < 10
