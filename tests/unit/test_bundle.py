"""The model folder."""

import json
import resource
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

from dragoman.bundle import Bundle, read_tensors
from dragoman.config import Config, DataConfig, SearchConfig
from dragoman.errors import BundleError, DragomanError
from dragoman.text import Tokenizer
from dragoman.translator import Translator
from text_samples import sentences, trained
from tiny_models import tiny_model


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(300), 320)


def bundle_of(tokenizer: Tokenizer, **changes: Any) -> Bundle:
    model = tiny_model(dtype=torch.float32, vocabulary_size=tokenizer.vocabulary_size, **changes)
    search = SearchConfig(beam_size=3, extra_length=4, n_best=2)
    return Bundle(Config(model=model.config, data=DataConfig(), search=search), tokenizer, model, "en", "de")


@pytest.fixture
def saved(tmp_path: Path, tokenizer: Tokenizer) -> Path:
    bundle_of(tokenizer).save(tmp_path / "model", "# A card\n")
    return tmp_path / "model"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "pre", "attention_bias": True, "output_bias": True, "embeddings": "separate"},
        {"positions": "learned", "max_positions": 64, "embeddings": "target"},
        {"positions": "table", "max_positions": 64, "embeddings": "target", "source_vocabulary_size": 320},
    ],
)
def test_a_model_comes_back_as_it_was(tmp_path: Path, tokenizer: Tokenizer, changes: dict[str, Any]) -> None:
    """Configuration, languages, weights and translations are the same after saving and loading."""
    bundle = bundle_of(tokenizer, **changes)
    bundle.save(tmp_path / "model", "# A card\n")
    loaded = Bundle.load(tmp_path / "model")
    texts = sentences(5, seed=9)

    assert (loaded.config, loaded.source_language, loaded.target_language) == (bundle.config, "en", "de")
    torch.testing.assert_close(loaded.model.state_dict(), bundle.model.state_dict(), rtol=0, atol=0)
    assert not loaded.model.training
    assert Translator(loaded).translate(texts) == Translator(bundle).translate(texts)


def test_the_folder_holds_four_files(saved: Path, tokenizer: Tokenizer) -> None:
    """Nothing but configuration, tokenizer, weights and card; a tied tensor lies there once."""
    names = sorted(path.name for path in saved.iterdir())
    stored = safetensors.torch.load_file(saved / "model.safetensors")

    assert names == ["README.md", "config.json", "model.safetensors", "tokenizer.model"]
    assert sum("VD" in name for name in stored) == 1


def test_saving_twice_gives_the_same_bytes(saved: Path, tokenizer: Tokenizer) -> None:
    """A model saved over itself is the same file by file."""
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    Bundle.load(saved).save(saved, "# A card\n")

    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_loading_draws_no_random_number(saved: Path) -> None:
    """A program's own random numbers are the same whether it loads a model in between or not."""
    before = torch.random.get_rng_state()
    Bundle.load(saved)

    assert torch.equal(torch.random.get_rng_state(), before)


def test_every_value_lives_as_long_as_the_model(saved: Path) -> None:
    """Weights are in memory: the folder can go away while the model is used."""
    translator = Translator.load(saved)
    before = translator.translate(["The boats."])
    shutil.rmtree(saved)

    assert translator.translate(["The boats."]) == before


def refusal(folder: Path) -> DragomanError:
    """Return the error with which a folder is refused; it is one line, at once, in little memory."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(DragomanError) as fault:
        Bundle.load(folder)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes
    assert time.monotonic() - start < 30  # far more than it takes, for a busy machine
    assert "\n" not in fault.value.message
    return fault.value


@pytest.mark.parametrize("name", ["config.json", "tokenizer.model", "model.safetensors"])
@pytest.mark.parametrize(
    "content", [b"", b"\0" * 7, b"\xff\xfe\0\0" * 9, b"[1, 2]", b'{"format": {}}', b"[" * 100_000]
)
def test_files_of_something_else_are_refused(saved: Path, name: str, content: bytes) -> None:
    """Whatever lies in the place of a file, the message names that file."""
    (saved / name).write_bytes(content)

    assert name in refusal(saved).message


@pytest.mark.parametrize("name", ["config.json", "tokenizer.model", "model.safetensors"])
def test_a_missing_file_is_named(saved: Path, name: str) -> None:
    """A folder that lacks a file is refused with the file's name and a hint."""
    (saved / name).unlink()
    fault = refusal(saved)

    assert name in fault.message
    assert fault.hint


@pytest.mark.parametrize("name", ["config.json", "tokenizer.model", "model.safetensors"])
def test_a_cut_file_is_refused(saved: Path, name: str) -> None:
    """A file whose end is missing is refused at whatever place it was cut."""
    whole = (saved / name).read_bytes()
    for share in (0.1, 0.5, 0.9, 0.999):
        (saved / name).write_bytes(whole[: int(share * len(whole))])

        assert name in refusal(saved).message


def test_no_folder_is_a_plain_error(tmp_path: Path) -> None:
    """A path that does not exist, and one that is a file, are told apart."""
    (tmp_path / "file").write_text("text")

    assert "does not exist" in refusal(tmp_path / "nowhere").message
    assert "is a file" in refusal(tmp_path / "file").message


@pytest.mark.parametrize(
    ("name", "pointer"),
    [
        ("model.safetensors", "model.safetensors"),
        ("tokenizer.model", "source.spm"),
        ("config.json", "dict.txt"),
    ],
)
def test_pointers_of_git_lfs_are_recognized(shared: Path, saved: Path, name: str, pointer: str) -> None:
    """S14: a pointer is named as such, with its size, the size expected and how to fetch the file."""
    shutil.copyfile(shared / "cases" / "S14-lfs-pointer" / pointer, saved / name)
    fault = refusal(saved)

    assert all(part in fault.message for part in (name, "Git LFS", "134", "310,432,126"))
    assert "git lfs pull" in (fault.hint or "")


def test_another_vocabulary_is_refused(saved: Path, tokenizer: Tokenizer) -> None:
    """S41: a tokenizer of another size is refused with both sizes and both names."""
    other = trained(sentences(300), 304)
    (saved / "tokenizer.model").write_bytes(other.to_bytes())
    message = refusal(saved).message

    assert other.vocabulary_size != tokenizer.vocabulary_size
    assert all(part in message for part in ("tokenizer.model", "config.json"))
    assert all(str(one.vocabulary_size) in message for one in (other, tokenizer))


def test_an_embedding_of_another_size_is_refused(saved: Path) -> None:
    """S41: weights with a row too few are refused with both shapes and both names."""
    change(saved, "embedding.weight_VD", lambda tensor: tensor[:-1])
    message = refusal(saved).message

    assert "embedding.weight_VD has shape [319, 16], expected [320, 16]" in message
    assert "model.safetensors" in message
    assert "config.json" in message


def change(folder: Path, name: str, into: Any) -> None:
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    tensors[name] = into(tensors[name]).contiguous()
    safetensors.torch.save_file(tensors, folder / "model.safetensors")


def with_nan(tensor: Tensor) -> Tensor:
    tensor = tensor.clone()
    tensor.view(-1)[3] = torch.nan
    return tensor


@pytest.mark.parametrize(
    ("into", "said"),
    [
        (with_nan, "not finite"),
        (lambda tensor: tensor[None], "shape"),
        (lambda tensor: tensor[:0], "shape"),
        (lambda tensor: (tensor * 100).to(torch.int32), "int32"),
        (lambda tensor: tensor.to(torch.complex64), "complex64"),
    ],
)
def test_weights_that_are_no_weights_are_refused(saved: Path, into: Any, said: str) -> None:
    """Values that are not finite, shapes and types that do not fit are named with their tensor."""
    name = "encoder.0.feed_forward.inner.weight"
    change(saved, name, into)
    message = refusal(saved).message

    assert name in message
    assert said in message


def test_names_must_be_those_of_the_model(saved: Path) -> None:
    """A tensor that is missing and one that is unknown are both named."""
    tensors = safetensors.torch.load_file(saved / "model.safetensors")
    tensors["surprise"] = tensors.pop("decoder.0.feed_forward.inner.bias")
    safetensors.torch.save_file(tensors, saved / "model.safetensors")
    message = refusal(saved).message

    assert "decoder.0.feed_forward.inner.bias is missing" in message
    assert "surprise is unknown" in message


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_floating_formats_are_read(saved: Path, dtype: torch.dtype) -> None:
    """Weights that were stored shorter or longer are computed with in float32."""
    tensors = safetensors.torch.load_file(saved / "model.safetensors")
    safetensors.torch.save_file(
        {name: one.to(dtype) for name, one in tensors.items()}, saved / "model.safetensors"
    )
    model = Bundle.load(saved).model

    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.model", "config.json"])
@pytest.mark.parametrize("pickle", ["checkpoint.pt", "checkpoint_zip.pt", "model.pkl"])
def test_no_code_of_a_model_file_ever_runs(
    shared: Path, saved: Path, monkeypatch: pytest.MonkeyPatch, name: str, pickle: str
) -> None:
    """S43: a pickle in the place of any file is refused by name, and what it would do is not done."""
    monkeypatch.chdir(saved.parent)
    shutil.copyfile(shared / "cases" / "S43-pickle-canary" / pickle, saved / name)

    assert name in refusal(saved).message
    assert not list(saved.parent.rglob("*CANARY*"))


def test_pickles_are_called_pickles(shared: Path) -> None:
    """S43: the message says what the file is, and that no code of model files is run."""
    for pickle, kind in (
        ("checkpoint.pt", "pickle"),
        ("checkpoint_zip.pt", "zip archive"),
        ("model.pkl", "pickle"),
    ):
        with pytest.raises(BundleError, match=rf"{pickle} is a {kind}.*runs no code"):
            read_tensors(shared / "cases" / "S43-pickle-canary" / pickle)


def test_a_good_file_is_read(shared: Path) -> None:
    """S44: the good file holds one tensor of 7 × 4 halves."""
    tensors = read_tensors(shared / "cases" / "S44-safetensors-bad" / "good.safetensors")

    assert list(tensors) == ["embed.weight"]
    assert torch.equal(tensors["embed.weight"], torch.full((7, 4), 0.5))


@pytest.mark.parametrize(
    "name",
    ["header-2e63", "header-longer-than-file", "truncated", "offsets-past-end", "empty", "seven-bytes"],
)
def test_bad_safetensors_are_refused(shared: Path, saved: Path, name: str) -> None:
    """S44: lengths and offsets that lie are refused with the file's name and the reason."""
    shutil.copyfile(
        shared / "cases" / "S44-safetensors-bad" / f"{name}.safetensors", saved / "model.safetensors"
    )
    message = refusal(saved).message

    assert "model.safetensors is not a whole safetensors file" in message


def header(tensors: str, size: int) -> bytes:
    return len(tensors).to_bytes(8, "little") + tensors.encode() + b"\0" * size


def test_what_the_reader_of_safetensors_lets_pass_is_refused(saved: Path) -> None:
    """Names that come twice, and thousands of empty entries, do not become a model."""
    entry = '"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}'
    empty = ", ".join(
        f'"e{i}": {{"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}' for i in range(20_000)
    )
    for content in (header(f"{{{entry}, {entry}}}", 4), header(f"{{{empty}}}", 0)):
        (saved / "model.safetensors").write_bytes(content)

        assert "model.safetensors" in refusal(saved).message


@pytest.mark.parametrize(
    "changes",
    [
        {"num_encoder_layers": 2_000_000_000},
        {"d_ff": 2_000_000_000},
        {"d_model": 2_000_000_000, "d_ff": 2_000_000_000},
        {"num_heads": 2_000_000_000, "d_k": 2_000_000_000},
        {"positions": "learned", "max_positions": 2_000_000_000},
    ],
)
def test_a_configuration_of_monstrous_size_is_refused(saved: Path, changes: dict[str, Any]) -> None:
    """Sizes that the weights do not have cost neither memory nor time."""
    about = json.loads((saved / "config.json").read_text())
    about["model"] |= changes
    (saved / "config.json").write_text(json.dumps(about))

    assert "config.json" in refusal(saved).message


def test_no_good_file_is_taken_for_a_pickle(tmp_path: Path) -> None:
    """A header's length may begin with the byte of pickles, or with the letters of zip archives."""
    for length in (0x80, 0x480, 0x4B50):
        entry = '{"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
        (tmp_path / "x").write_bytes(header(entry.ljust(length), 4))

        assert read_tensors(tmp_path / "x")["x"].tolist() == [0.0]


@pytest.mark.parametrize("version", [0, 2, "1", None, [1]])
def test_another_format_is_refused(saved: Path, version: object) -> None:
    """A folder of another format says which it is and which is read."""
    about = json.loads((saved / "config.json").read_text())
    (saved / "config.json").write_text(json.dumps(about | {"format": version}))

    assert f"has format {version!r}" in refusal(saved).message


def test_a_wrong_key_of_a_configuration_is_named(saved: Path) -> None:
    """A key that does not exist or has a wrong value is refused with file and key."""
    about = json.loads((saved / "config.json").read_text())
    for section, key, value in (
        ("model", "d_modle", 3),
        ("model", "norm", "middle"),
        ("search", "beam_size", 0),
    ):
        changed = about | {section: about[section] | {key: value}}
        (saved / "config.json").write_text(json.dumps(changed))
        with pytest.raises(DragomanError, match=key) as fault:
            Bundle.load(saved)

        assert "config.json" in str(fault.value)


def test_a_folder_that_cannot_be_written_is_a_plain_error(tmp_path: Path, tokenizer: Tokenizer) -> None:
    """Where a file stands in the way, saving is refused with the folder's name."""
    (tmp_path / "model").write_text("a file")
    with pytest.raises(BundleError, match="model: cannot write the model"):
        bundle_of(tokenizer).save(tmp_path / "model", "# A card\n")
