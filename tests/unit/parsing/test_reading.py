"""A decoder that reads words in place of leaves."""

import torch
from torch import Tensor

from dragoman.data import Leaves, as_read, pad
from dragoman.parsing import WordReader, leaves_of
from dragoman.text.ids import END
from dragoman.trees import is_bracket, source_of
from tiny_parsers import tokenizer_of


class Recorder:
    """Remembers what each row has read."""

    def __init__(self, num_rows: int) -> None:
        self.read: list[list[int]] = [[] for _ in range(num_rows)]

    def step(self, token_N: Tensor) -> Tensor:
        for row, token in zip(self.read, token_N.tolist(), strict=True):
            row.append(token)
        return torch.zeros(len(token_N), 4)

    def reorder(self, row_N: Tensor) -> None:
        self.read = [list(self.read[row]) for row in row_N.tolist()]


def test_leaves_are_the_symbols_that_are_no_brackets() -> None:
    """And a word begins at each piece that begins with a space, once in each word."""
    tokenizer = tokenizer_of(True)
    leaves = leaves_of(tokenizer)
    words = ["Boats", "▁", "\N{SNOWMAN}", "a b", "."]
    begun = leaves.begins_word_V[tokenizer.encode(source_of(words))]

    assert {symbol for symbol, token in tokenizer.symbols.items() if leaves.is_leaf_V[token]} == {
        symbol for symbol in tokenizer.symbols if not is_bracket(symbol)
    }
    assert int(leaves.is_leaf_V.sum()) == 3
    assert int(begun.sum()) == len(words)
    assert bool(begun[0])


def test_what_is_read_step_by_step_is_what_training_reads() -> None:
    """Rows that are copied, change places and leave go on with the words of their own sentence."""
    leaves = Leaves(torch.arange(40) == 3, torch.arange(40) >= 10, END)
    sources = [[10, 11], [12, 13, 14]]
    source_BS = pad(sources, end=END, padding=9)
    recorder = Recorder(4)
    reader = WordReader(recorder, source_BS, leaves, 2)
    reader.step(torch.tensor([9, 9, 9, 9]))
    reader.step(torch.tensor([1, 3, 3, 3]))
    reader.reorder(torch.tensor([1, 0, 3, 2]))
    reader.step(torch.tensor([3, 3, 1, 3]))
    reader.reorder(torch.tensor([3, 3]))
    reader.step(torch.tensor([3, 2]))
    written_BT = torch.tensor([[9, 3, 3, 3], [9, 3, 3, 2]])

    assert recorder.read == as_read(source_BS[[1, 1]], written_BT, leaves).tolist()
    assert recorder.read == [[9, 13, 14, END], [9, 13, 14, 2]]
