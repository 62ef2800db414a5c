"""What is read in place of leaves."""

from pathlib import Path

import pytest
import torch

from dragoman.data import EncodedCorpus, Leaves, as_read, encode_corpus, first_pieces, gather
from dragoman.text import Pair

END, OPENS, CLOSES, LEAF, TAG, PADDING = 0, 1, 2, 3, 4, 39
"""Ids below 10 are symbols; from 10 on, even ids begin words and odd ones go on with them."""

LEAVES = Leaves(
    is_leaf_V=torch.tensor([token in (LEAF, TAG) for token in range(40)]),
    begins_word_V=torch.tensor([10 <= token < PADDING and token % 2 == 0 for token in range(40)]),
    end=END,
)


def test_the_first_piece_of_each_word_is_found() -> None:
    """Whatever else belongs to a word, and the end after the last one."""
    source_BS = torch.tensor([[10, 11, 12, 14, 13, END], [16, 15, 17, END, PADDING, PADDING]])

    assert first_pieces(source_BS, LEAVES).tolist() == [[10, 12, 14, END], [16, END, END, END]]


def test_a_leaf_reads_the_word_that_follows() -> None:
    """After the last word comes the end; brackets, ends and padding are read as they are."""
    source_BS = torch.tensor([[10, 11, 12, 14, END], [16, 17, END, PADDING, PADDING]])
    target_BT = torch.tensor(
        [
            [OPENS, LEAF, OPENS, TAG, LEAF, CLOSES, CLOSES, END],
            [OPENS, TAG, CLOSES, END, PADDING, PADDING, PADDING, PADDING],
        ]
    )

    assert as_read(source_BS, target_BT, LEAVES).tolist() == [
        [OPENS, 12, OPENS, 14, END, CLOSES, CLOSES, END],
        [OPENS, END, CLOSES, END, PADDING, PADDING, PADDING, PADDING],
    ]


def test_more_leaves_than_words_read_the_end() -> None:
    """As a free search may write them."""
    read = as_read(torch.tensor([[10, END]]), torch.tensor([[LEAF, LEAF, LEAF]]), LEAVES)

    assert read.tolist() == [[END, END, END]]


@pytest.fixture
def corpus(tmp_path: Path) -> EncodedCorpus:
    pairs = [(1, Pair("10 11 12", "1 3 4 2")), (2, Pair("14", "1 4 2"))]

    def encode(texts: list[str]) -> list[list[int]]:
        return [[int(number) for number in text.split()] for text in texts]

    return encode_corpus(
        pairs, (encode, encode), tmp_path / "c.bin", key="a", max_length=9, vocabulary_size=40
    )


def test_a_batch_reads_words_and_writes_leaves(corpus: EncodedCorpus) -> None:
    """Only what the decoder reads is another; targets and counts stay, and so does padding."""
    plain = gather(corpus, [0, 1], end=END, padding=PADDING)  # type: ignore[arg-type]
    corpus.leaves = LEAVES
    reading = gather(corpus, [0, 1], end=END, padding=PADDING)  # type: ignore[arg-type]

    assert plain.input_BT.tolist() == [[PADDING, 1, 3, 4, 2], [PADDING, 1, 4, 2, PADDING]]
    assert reading.input_BT.tolist() == [[PADDING, 1, 12, END, 2], [PADDING, 1, END, 2, PADDING]]
    assert torch.equal(reading.target_BT, plain.target_BT)
    assert torch.equal(reading.source_BS, plain.source_BS)
    assert reading.num_target_tokens == plain.num_target_tokens
