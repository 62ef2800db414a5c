"""Learn the pieces of a tokenizer: byte-pair encoding by sentencepiece, in this process and silent.

Four things are kept from the trainer, because it would skip, cut or refuse the text that holds them:
reserved characters, rare characters, sentences beyond a number, and sizes a corpus cannot carry. No
text is lost by it: whatever has no piece of its own is encoded as its UTF-8 bytes.
"""

import io
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import sentencepiece

from dragoman.errors import TokenizerError

NUM_FIXED_PIECES = 258
"""The end of a sentence, the unknown piece, and one piece for each byte."""

MULTIPLE = 8
"""Vocabulary sizes are multiples of this, which suits matrix products."""

SMALLEST_VOCABULARY = 264
"""The fixed pieces, padding and a few characters, as a multiple of 8."""

_COVERAGE = 0.9999
"""Share of all characters that get pieces of their own; the rest, the rarest, are spelled in bytes."""

_SHARE_OF_CHARACTERS = 0.75
"""Single characters take at most this share of the free pieces, so that longer pieces find room."""

_RESERVED = "\0\t\n\r\u2581\u2585"
"""Characters with a meaning of their own inside the trainer; texts are parted at them."""

_LONGEST_SENTENCE_BYTES = 2**30  # sentencepiece accepts no more; its default of 4,192 skips in silence
_CHUNK_CHARACTERS = 1 << 20


def train_pieces(
    texts: Iterable[str], num_pieces: int, *, max_sentences: int, seed: int, symbols: Sequence[str] = ()
) -> bytes:
    """Return a sentencepiece model of at most ``num_pieces`` pieces.

    It has fewer where the corpus cannot carry so many: no two pieces are left that stand side by side.

    Args:
        texts: What to learn from; read once.
        num_pieces: Pieces wanted, fixed ones included.
        max_sentences: Texts to learn from at most; from more, a sample is drawn.
        seed: Start of the sample's random choice.
        symbols: Pieces that no text is encoded to.

    Raises:
        TokenizerError: There is no text, or ``num_pieces`` has no room for any piece but the fixed.
    """
    smallest = smallest_vocabulary(len(symbols))
    if num_pieces < smallest - 1:
        fixed = f"{len(symbols):,} symbols of trees, the 256 bytes" if symbols else "the 256 bytes"
        raise TokenizerError(
            f"a vocabulary of {num_pieces + 1:,} is too small: {fixed}, end, unknown and padding "
            f"and a few characters need {smallest:,}",
            hint=f"set model.vocabulary_size to {smallest} or more",
        )
    sample = _sample((text for text in texts if text), max_sentences, seed)
    if not sample:
        raise TokenizerError(
            "there is no text to learn a tokenizer from: every line is empty",
            hint="check that the corpus files are the ones you meant",
        )
    num_fixed = NUM_FIXED_PIECES + len(symbols)
    room = num_pieces - num_fixed
    kept = _characters_to_keep(sample, max(1, int(room * _SHARE_OF_CHARACTERS)))
    pieces = _train(sample, kept, num_pieces, symbols)
    # Where the corpus carries fewer: the largest multiple of 8 that leaves no id unused, if there is one.
    lower = (_num_pieces(pieces) + 1) // MULTIPLE * MULTIPLE - 1
    if lower == _num_pieces(pieces) or lower < num_fixed + len(kept):
        return pieces
    return _train(sample, kept, lower, symbols)


def smallest_vocabulary(num_symbols: int) -> int:
    """Return the smallest vocabulary, padding included, that has room for so many symbols."""
    return -(-(SMALLEST_VOCABULARY + num_symbols) // MULTIPLE) * MULTIPLE


def _train(sample: list[str], kept: str, num_pieces: int, symbols: Sequence[str]) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_sentences(sample, kept),
        model_writer=model,
        model_type="bpe",
        vocab_size=num_pieces,
        hard_vocab_limit=False,
        character_coverage=1.0,
        byte_fallback=True,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        pad_id=-1,
        control_symbols=list(symbols),
        max_sentence_length=_LONGEST_SENTENCE_BYTES,
        num_threads=1,
        minloglevel=3,
    )
    return model.getvalue()


def _num_pieces(model: bytes) -> int:
    return int(sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size())


def _sample(texts: Iterable[str], size: int, seed: int) -> list[str]:
    """Return all texts, or ``size`` of them, each as likely as any other (Vitter's algorithm R)."""
    iterator = iter(texts)
    sample = list(islice(iterator, size))
    draw = random.Random(seed).randrange
    for number, text in enumerate(iterator, start=size + 1):
        place = draw(number)
        if place < size:
            sample[place] = text
    return sample


def _characters_to_keep(sample: list[str], most: int) -> str:
    """Return the characters that get a piece: the space, then the commonest, as far as they go."""
    count = np.zeros(0x110000, dtype=np.int64)
    for chunk in _chunks(sample):
        scalars = np.frombuffer(chunk.encode("utf-32-le"), dtype=np.uint32)
        found = np.bincount(scalars)
        count[: len(found)] += found
    count[[ord(character) for character in _RESERVED]] = 0
    space = ord(" ")
    count[space] = 0
    order = np.argsort(-count, kind="stable")[: most - 1]
    order = order[count[order] > 0]
    covered_before = np.cumsum(count[order]) - count[order]
    order = order[covered_before < _COVERAGE * count.sum()]
    return " " + "".join(map(chr, order.tolist()))


def _chunks(sample: list[str]) -> Iterator[str]:
    """Join texts to pieces of about a million characters, which numpy counts fast."""
    texts: list[str] = []
    size = 0
    for text in sample:
        texts.append(text)
        size += len(text)
        if size > _CHUNK_CHARACTERS:
            yield "".join(texts)
            texts, size = [], 0
    yield "".join(texts)


def _sentences(sample: list[str], kept: str) -> Iterator[str]:
    """Yield the texts as the trainer may see them: parted wherever a character has no piece.

    A text starts with one space, as in ``Tokenizer.encode``, so that its first word has the same
    pieces as inside a text.
    """
    without_piece = re.compile(f"[^{re.escape(kept)}]+")
    for text in sample:
        yield from filter(None, without_piece.split(f" {text}"))
