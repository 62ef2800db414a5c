"""The tokenizer: text to tokens and back without loss.

Byte-pair encoding (Sennrich et al., 2016) with pieces shared by source and target, as in Vaswani et
al. (2017), §5.1. Four rules make ``decode(encode(text)) == text`` for every text:

1. One space is added before a text and taken off again, so that a word has the same pieces at the
   start of a text and inside it.
2. Nothing is normalized.
3. A character without a piece is spelled in bytes. So is a literal U+2581, which stands for the space
   inside pieces.
4. What a text spells never becomes a control token: "</s>" is four characters.

The ids are Marian's: end 0, unknown 1, padding last. A target that is no text, such as a tree, is written in
symbols, which have ids of their own in the same vocabulary.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import sentencepiece

from dragoman.errors import TokenizerError
from dragoman.text.dropout import MergeTable
from dragoman.text.ids import END, UNKNOWN
from dragoman.text.lines import lfs_pointer_message, lfs_pointer_size
from dragoman.text.training import MULTIPLE, SMALLEST_VOCABULARY, train_pieces

SPACE = "▁"
"""U+2581, which stands for the space inside a piece."""

_SYMBOL = re.compile(r"<\|(.+)\|>")
"""How the name of a symbol stands in the sentencepiece model, among the names of all pieces."""


class Tokenizer:
    """Pieces of words, numbered; made by ``train``, ``load`` or ``from_bytes``.

    Source: Vaswani et al. (2017), §5.1: byte-pair encoding, shared by source and target.

    Attributes:
        symbols: The token of each symbol that targets are written in; empty where targets are texts.
    """

    def __init__(self, model: bytes, processor: sentencepiece.SentencePieceProcessor) -> None:
        self._model = model
        self._processor = processor
        self._pieces = [processor.id_to_piece(token) for token in range(processor.get_piece_size())]
        self._bytes = [_piece_bytes(processor, token) for token in range(len(self._pieces))]
        self.symbols = {
            match[1]: token
            for token, piece in enumerate(self._pieces)
            if processor.is_control(token) and (match := _SYMBOL.fullmatch(piece))
        }
        for symbol, token in self.symbols.items():
            self._pieces[token] = symbol
        num_unused = -(len(self._pieces) + 1) % MULTIPLE
        self._pieces += ["<unused>"] * num_unused + ["<pad>"]
        self._bytes += [b""] * (num_unused + 1)
        self._literal_space = [processor.piece_to_id(f"<0x{byte:02X}>") for byte in SPACE.encode()]
        self._merges: MergeTable | None = None

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocabulary_size: int,
        *,
        max_sentences: int,
        seed: int,
        symbols: Sequence[str] = (),
    ) -> "Tokenizer":
        """Learn a tokenizer; the same arguments give the same bytes.

        Where the corpus cannot carry ``vocabulary_size`` the tokenizer has the largest multiple of 8
        that it can carry; compare ``Tokenizer.vocabulary_size`` and say so. No id is unused, but up to
        seven just before padding where a corpus carries fewer than 263 pieces.

        Args:
            texts: Source and target texts; read once.
            vocabulary_size: Ids wanted, with end, unknown and padding; a multiple of 8.
            max_sentences: Texts to learn from at most; from more, a sample is drawn.
            seed: Start of the sample's random choice.
            symbols: What targets that are no texts are written in; blank in none of them.

        Raises:
            TokenizerError: There is no text to learn from, or the size is no multiple of 8 or has no room
                for the symbols, the bytes and a few characters.
        """
        if vocabulary_size % MULTIPLE or vocabulary_size < SMALLEST_VOCABULARY:
            raise TokenizerError(
                f"a vocabulary of {vocabulary_size:,} cannot be: it must be a multiple of {MULTIPLE} and "
                f"hold the 256 bytes, end, unknown, padding and a few characters "
                f"({SMALLEST_VOCABULARY} or more)",
                hint=f"set model.vocabulary_size to {max(SMALLEST_VOCABULARY, -(-vocabulary_size // 8) * 8)}",
            )
        model = train_pieces(
            texts,
            vocabulary_size - 1,
            max_sentences=max_sentences,
            seed=seed,
            symbols=[f"<|{symbol}|>" for symbol in symbols],
        )
        return cls.from_bytes(model, "the new tokenizer")

    @classmethod
    def load(cls, path: Path | str) -> "Tokenizer":
        """Read a tokenizer from the file that holds its bytes.

        Raises:
            TokenizerError: The file cannot be read or is no tokenizer of this package.
        """
        try:
            model = Path(path).read_bytes()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise TokenizerError(
                f"{path} cannot be read: {reason}", hint="check the path of the model"
            ) from None
        return cls.from_bytes(model, str(path))

    @classmethod
    def from_bytes(cls, model: bytes, name: str) -> "Tokenizer":
        """Make a tokenizer of what ``to_bytes`` gave.

        Args:
            model: A serialized sentencepiece model.
            name: The file it comes from, for messages.

        Raises:
            TokenizerError: These are not the bytes of a tokenizer of this package.
        """
        promised = lfs_pointer_size(model[:1024])
        if promised is not None:
            message, hint = lfs_pointer_message(name, len(model), promised)
            raise TokenizerError(message, hint=hint)
        processor = sentencepiece.SentencePieceProcessor()
        try:
            processor.LoadFromSerializedProto(model)
        except RuntimeError:
            raise TokenizerError(
                f"{name} is no sentencepiece model ({len(model):,} bytes that cannot be parsed)",
                hint="copy it again from the model folder it belongs to",
            ) from None
        if not _is_ours(processor):
            raise TokenizerError(
                f"{name} is a sentencepiece model of another kind; a tokenizer needs </s> as piece 0, "
                "<unk> as piece 1, a piece for each byte, and no normalization",
                hint="use the tokenizer of a model that dragoman trained",
            )
        return cls(model, processor)

    def to_bytes(self) -> bytes:
        """Return the tokenizer as one serialized sentencepiece model."""
        return self._model

    def __reduce__(self) -> tuple[object, tuple[bytes, str]]:
        return (Tokenizer.from_bytes, (self._model, "the copied tokenizer"))

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, a multiple of 8: all pieces and padding."""
        return len(self._pieces)

    @property
    def end(self) -> int:
        """The token that ends a sentence."""
        return END

    @property
    def unknown(self) -> int:
        """The token of what has no piece; byte pieces make it needless and no text is encoded to it."""
        return UNKNOWN

    @property
    def padding(self) -> int:
        """The token that fills a batch, the last id."""
        return len(self._pieces) - 1

    @property
    def impossible(self) -> list[int]:
        """The tokens that no model may produce: unknown, unused, padding; beside symbols all pieces too."""
        if self.symbols:
            written = {END, *self.symbols.values()}
            return [token for token in range(self.vocabulary_size) if token not in written]
        return [UNKNOWN, *range(self._processor.get_piece_size(), self.vocabulary_size)]

    @property
    def spellings(self) -> Sequence[bytes]:
        """What each token adds to a text, in UTF-8; end, unknown, padding and symbols add nothing."""
        return self._bytes

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without an end; no text gives no tokens.

        Raises:
            ValueError: The text holds a lone surrogate, which UTF-8 cannot spell.
        """
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text, as ``encode`` would, but faster for many.

        Raises:
            ValueError: A text holds a lone surrogate, which UTF-8 cannot spell.
        """
        spelled = [f" {text}".encode() if text else b"" for text in texts]
        tokens: list[list[int]] = self._processor.encode(spelled, num_threads=1)
        for i, text in enumerate(texts):
            if SPACE in text:
                tokens[i] = self._encode_literal_space(text)
        return tokens

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each target: of symbols parted by spaces, where there are symbols.

        A symbol that is none of them becomes the unknown token.
        """
        if not self.symbols:
            return self.encode_all(texts)
        return [[self.symbols.get(symbol, UNKNOWN) for symbol in text.split(" ")] for text in texts]

    def _encode_literal_space(self, text: str) -> list[int]:
        """Encode a text that holds U+2581: its parts, with the bytes of the character between them."""
        first, *others = self._processor.encode(f" {text}".split(SPACE))
        tokens: list[int] = first
        for part in others:
            tokens += self._literal_space + part
        return tokens

    def encode_with_dropout(self, texts: Sequence[str], dropout: float, seed: int) -> list[list[int]]:
        """Return the tokens of each text after BPE-dropout: merges are left out at random.

        A function of its arguments alone, in any process; ``decode`` gives the texts back. Without
        dropout the result is that of ``encode_all``.

        Source: Provilkov et al. (2020), Algorithm 1.

        Args:
            texts: Source or target texts.
            dropout: Probability that a possible merge is left out in a round, below 1.
            seed: Start of the random choice, 0 or more.

        Raises:
            ValueError: A text holds a lone surrogate, or ``dropout`` is outside [0, 1).
        """
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout is {dropout}; it must be at least 0 and below 1")
        if self._merges is None:
            self._merges = MergeTable(self._processor)
        return self._merges.encode(texts, dropout, seed)

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of tokens; end, unknown, padding and symbols have none.

        Bytes that are not UTF-8, which only a model can put together, become U+FFFD.

        Raises:
            ValueError: A token is not in the vocabulary.
        """
        spelled = b"".join([self._bytes[token] for token in self._checked(tokens)])
        return spelled.decode("utf-8", errors="replace").removeprefix(" ")

    def pieces(self, tokens: Iterable[int]) -> list[str]:
        """Return the pieces of tokens, for display: U+2581 marks a space and <0x41> is a byte.

        Raises:
            ValueError: A token is not in the vocabulary.
        """
        return [self._pieces[token] for token in self._checked(tokens)]

    def tokens(self, pieces: Iterable[str]) -> list[int]:
        """Return the tokens of pieces as ``pieces`` gives them.

        Raises:
            ValueError: A piece is not in the vocabulary.
        """
        known = {piece: token for token, piece in enumerate(self._pieces)}
        pieces = list(pieces)
        if strange := next((piece for piece in pieces if piece not in known), None):
            raise ValueError(f"piece {strange!r} is not in the vocabulary of {len(self._pieces):,}")
        return [known[piece] for piece in pieces]

    def _checked(self, tokens: Iterable[int]) -> list[int]:
        tokens = list(tokens)
        for token in tokens:
            if not 0 <= token < len(self._pieces):
                raise ValueError(f"token {token} is not in the vocabulary of {len(self._pieces):,}")
        return tokens


def _piece_bytes(processor: sentencepiece.SentencePieceProcessor, token: int) -> bytes:
    """Return what a token adds to a text, as UTF-8."""
    if processor.is_control(token) or processor.is_unknown(token):
        return b""
    piece: str = processor.id_to_piece(token)
    if processor.is_byte(token):
        return bytes([int(piece[3:5], 16)])
    return piece.replace(SPACE, " ").encode()


def _is_ours(processor: sentencepiece.SentencePieceProcessor) -> bool:
    """Tell whether the model keeps the rules at the top of this file."""
    if processor.get_piece_size() < 2 or processor.eos_id() != 0 or processor.unk_id() != 1:
        return False
    if not all(processor.is_byte(processor.piece_to_id(f"<0x{byte:02X}>")) for byte in range(256)):
        return False
    probe = "  \uff21  \u212b "  # changed by every normalization but the identity
    return bool(processor.decode(processor.encode(probe)) == probe)
