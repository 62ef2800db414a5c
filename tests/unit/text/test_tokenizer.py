"""The tokenizer: exact, silent, the same everywhere, and never at a loss for a corpus."""

import hashlib
import io
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import sentencepiece

from dragoman.errors import TokenizerError
from dragoman.text import Tokenizer
from dragoman.text.training import NUM_FIXED_PIECES
from text_samples import sentences, trained


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(500))


def test_ids_are_marians(tokenizer: Tokenizer) -> None:
    """End is 0, unknown 1, padding last, and every other id is a piece."""
    names = tokenizer.pieces(range(tokenizer.vocabulary_size))

    assert tokenizer.vocabulary_size == 400
    assert (tokenizer.end, tokenizer.unknown, tokenizer.padding) == (0, 1, 399)
    assert [names[0], names[1], names[-1]] == ["</s>", "<unk>", "<pad>"]
    assert len(set(names)) == 400
    assert "<unused>" not in names


def test_a_word_has_the_same_pieces_everywhere(tokenizer: Tokenizer) -> None:
    """At the start of a text a word is encoded as inside it."""
    assert tokenizer.encode("river river") == tokenizer.encode("river") * 2


def test_no_text_gives_no_tokens(tokenizer: Tokenizer) -> None:
    """The empty text is the empty list, and back."""
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == ""
    assert tokenizer.encode_all([]) == []
    assert tokenizer.encode_all(["", "a", ""]) == [[], tokenizer.encode("a"), []]


def test_control_tokens_have_no_text(tokenizer: Tokenizer) -> None:
    """End, unknown and padding are left out of the text, wherever they stand."""
    end, unknown, padding = tokenizer.end, tokenizer.unknown, tokenizer.padding
    tokens = tokenizer.encode("A boat")

    assert tokenizer.decode([unknown, *tokens[:1], padding, *tokens[1:], end, padding]) == "A boat"


def test_bytes_that_are_no_utf_8_become_a_mark(tokenizer: Tokenizer) -> None:
    """A model may put bytes together that are no text; the text says so and goes on."""
    euro = [token for token in tokenizer.encode("€") if tokenizer.pieces([token])[0].startswith("<0x")]

    assert tokenizer.decode(euro) == "€"
    assert tokenizer.decode([*euro[:2], *tokenizer.encode("boat")]) == "\ufffd boat"


@pytest.mark.parametrize("token", [-1, 400])
def test_a_token_outside_the_vocabulary_is_misuse(tokenizer: Tokenizer, token: int) -> None:
    """Ids below 0 and from the vocabulary size on have no piece."""
    with pytest.raises(ValueError, match="not in the vocabulary of 400"):
        tokenizer.decode([token])


def test_a_lone_surrogate_is_misuse(tokenizer: Tokenizer) -> None:
    """No UTF-8 text holds one, so it is refused and not changed in silence."""
    with pytest.raises(ValueError, match="surrogates not allowed"):
        tokenizer.encode("\ud800")
    with pytest.raises(ValueError, match="surrogates not allowed"):
        tokenizer.encode_with_dropout(["\ud800"], 0.1, seed=1)


def test_training_is_the_same_byte_for_byte() -> None:
    """The same texts and seed give the same tokenizer in every process."""
    program = (
        "import sys, hashlib\n"
        "from dragoman.text import Tokenizer\n"
        "texts = sys.stdin.read().split('\\n')\n"
        "tokenizer = Tokenizer.train(iter(texts), 400, max_sentences=200, seed=1)\n"
        "print(hashlib.sha256(tokenizer.to_bytes()).hexdigest())"
    )
    here = Tokenizer.train(iter(sentences(500)), 400, max_sentences=200, seed=1)
    there = subprocess.run(
        [sys.executable, "-c", program],
        input="\n".join(sentences(500)),
        capture_output=True,
        text=True,
        check=True,
    )

    assert there.stdout.strip() == hashlib.sha256(here.to_bytes()).hexdigest()
    assert there.stderr == ""


def test_the_seed_draws_the_sample() -> None:
    """From more sentences than wanted the seed chooses; with all of them it changes nothing."""

    def model(max_sentences: int, seed: int) -> bytes:
        return Tokenizer.train(sentences(500), 400, max_sentences=max_sentences, seed=seed).to_bytes()

    assert model(40, seed=1) != model(40, seed=2)
    assert model(500, seed=1) == model(500, seed=2)


@pytest.mark.parametrize("vocabulary_size", [8_000, 32_000])
def test_a_corpus_that_cannot_carry_the_size_lowers_it(vocabulary_size: int) -> None:
    """The size is the largest multiple of 8 that the corpus carries, without an unused id."""
    tokenizer = trained(sentences(20), vocabulary_size)
    larger = trained(sentences(20), tokenizer.vocabulary_size + 8)

    assert tokenizer.vocabulary_size < vocabulary_size
    assert tokenizer.vocabulary_size % 8 == 0
    assert larger.to_bytes() == tokenizer.to_bytes()
    assert "<unused>" not in tokenizer.pieces(range(tokenizer.vocabulary_size))


@pytest.mark.parametrize(
    "texts", [["a"], [" "], ["\0"], ["\u2581\u2585"], ["\r", "\t"], ["a", "b", "", "ab"]]
)
def test_the_smallest_corpora_give_a_tokenizer(texts: list[str]) -> None:
    """One character is enough; ids that no piece takes lie before padding and have no text."""
    tokenizer = trained(texts, 8_000)
    pieces = tokenizer.pieces(range(tokenizer.vocabulary_size))
    unused = [token for token, piece in enumerate(pieces) if piece == "<unused>"]

    assert tokenizer.vocabulary_size == 264
    assert unused == list(range(263 - len(unused), 263))
    assert tokenizer.decode([*unused, *tokenizer.encode(texts[0])]) == texts[0]


@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_no_text_trains_no_tokenizer(texts: list[str]) -> None:
    """Without a character there is nothing to learn, and the message says so."""
    with pytest.raises(TokenizerError, match="no text to learn a tokenizer from") as fault:
        trained(texts)

    assert fault.value.hint


@pytest.mark.parametrize("vocabulary_size", [16, 256, 401])
def test_sizes_that_cannot_be_are_refused(vocabulary_size: int) -> None:
    """Less than the bytes, or no multiple of 8, is refused with a size that can be."""
    with pytest.raises(TokenizerError) as fault:
        trained(sentences(20), vocabulary_size)

    assert fault.value.hint == f"set model.vocabulary_size to {max(264, -(-vocabulary_size // 8) * 8)}"


def test_more_characters_than_pieces_leaves_the_commonest() -> None:
    """Ten thousand characters and a small vocabulary: the common ones have pieces, the others bytes."""
    rare = [chr(0x4E00 + n) for n in range(10_000)]
    tokenizer = trained([*sentences(100), *rare], 400)

    assert tokenizer.vocabulary_size == 400
    assert len(tokenizer.encode("river")) < len("river")
    assert all(tokenizer.decode(tokenizer.encode(text)) == text for text in rare)


TROUBLE = ["\0", "\t", "\r", "\n", "\u2581", "\u2585", "</s>", "<unk>", "<0x41>", "<pad>", "\u2047", "\ufeff"]


@pytest.mark.parametrize("trouble", TROUBLE)
def test_trouble_in_every_sentence_hides_none(trouble: str) -> None:
    """Words beside a character that the trainer reserves are learned like others."""
    texts = [f"{trouble}{text.replace(' ', f' {trouble} ', 1)}{trouble}" for text in sentences(300)]
    tokenizer = trained(texts, 400)

    assert tokenizer.vocabulary_size == 400
    assert len(tokenizer.encode("kitchen river")) <= 4
    assert all(tokenizer.decode(tokenizer.encode(text)) == text for text in texts)


def test_bytes_and_files_keep_the_tokenizer(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Written and read, or copied to another process, it gives the same tokens."""
    path = tmp_path / "tokenizer.model"
    path.write_bytes(tokenizer.to_bytes())
    tokens = tokenizer.encode("A boat under the bridge")

    for copy in (Tokenizer.load(path), pickle.loads(pickle.dumps(tokenizer))):
        assert copy.encode("A boat under the bridge") == tokens
        assert copy.to_bytes() == tokenizer.to_bytes()
        assert copy.vocabulary_size == tokenizer.vocabulary_size


def foreign_model(**settings: object) -> bytes:
    """Return a sentencepiece model of other rules than ours."""
    model = io.BytesIO()
    ours = {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity"}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(100)),
        model_writer=model,
        vocab_size=400,
        minloglevel=3,
        **(ours | settings),
    )
    return model.getvalue()


LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab12\nsize 12345678\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no sentencepiece model"),
        (b"not a model at all", "no sentencepiece model"),
        (LFS_POINTER, "Git LFS pointer of 73 bytes, not the file itself (12,345,678 bytes expected)"),
        (foreign_model(), "of another kind"),
        (foreign_model(eos_id=0, unk_id=1, bos_id=-1, byte_fallback=False), "of another kind"),
        (foreign_model(eos_id=0, unk_id=1, bos_id=-1), "of another kind"),
        (
            foreign_model(
                eos_id=0,
                unk_id=1,
                bos_id=-1,
                add_dummy_prefix=False,
                remove_extra_whitespaces=False,
                normalization_rule_name="nfkc",
            ),
            "of another kind",
        ),
    ],
    ids=["empty", "text", "lfs", "other-ids", "no-bytes", "spaces", "nfkc"],
)
def test_a_file_of_another_kind_is_no_tokenizer(tmp_path: Path, content: bytes, words: str) -> None:
    """Whatever would not keep our promises is refused with the file's name and a hint."""
    path = tmp_path / "tokenizer.model"
    path.write_bytes(content)
    with pytest.raises(TokenizerError) as fault:
        Tokenizer.load(path)

    assert str(path) in fault.value.message
    assert words in fault.value.message
    assert fault.value.hint


def test_a_cut_model_is_refused(tokenizer: Tokenizer) -> None:
    """Half of a tokenizer is none."""
    model = tokenizer.to_bytes()
    with pytest.raises(TokenizerError):
        Tokenizer.from_bytes(model[: len(model) // 2], "half.model")


def test_a_missing_tokenizer_is_named(tmp_path: Path) -> None:
    """A path without a file behind it is reported."""
    with pytest.raises(TokenizerError, match=r"absent\.model cannot be read: no such file"):
        Tokenizer.load(tmp_path / "absent.model")


def test_all_characters_of_a_small_corpus_have_pieces(tokenizer: Tokenizer) -> None:
    """What occurs often is never spelled in bytes."""
    tokens = {token for text in sentences(50) for token in tokenizer.encode(text)}

    assert min(tokens) >= NUM_FIXED_PIECES
