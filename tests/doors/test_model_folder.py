"""A model folder that is not whole, or not what it seems, by the real command line."""

import json
import shutil
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from copying import Translate

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 310432126\n"

pytestmark = pytest.mark.untraced


def copied(model: Path, folder: Path) -> Path:
    """Return a copy of a model without what only training needs."""
    ignored = shutil.ignore_patterns("training", "held-out")
    return Path(shutil.copytree(model, folder / "model", ignore=ignored))


def damage(name: str, content: bytes | None) -> ParameterSet:
    return pytest.param(name, content, id=f"{name}-{(content or b'missing')[:7]!r}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        damage("model.safetensors", None),
        damage("model.safetensors", b""),
        damage("model.safetensors", b"\xff" * 8 + b"{}"),
        damage("model.safetensors", b"PK\x03\x04 zip"),
        damage("model.safetensors", b"\x80\x02pickle"),
        damage(
            "model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 310432126\n"
        ),
        damage("config.json", b"{"),
        damage("tokenizer.model", b"pieces"),
    ],
)
def test_damaged_model_is_named(
    name: str, content: bytes | None, copy_model: Path, tmp_path: Path, translate: Translate
) -> None:
    """A model folder in which a file is missing or not what it should be is refused with its name."""
    translate.model = copied(copy_model, tmp_path)
    file = translate.model / name
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    ended = translate(text="ba\n")

    assert (ended.code, ended.lines) == (1, [])
    assert ended.said.startswith("error: ")
    assert str(file) in ended.said
    assert "Traceback" not in ended.said


@pytest.mark.parametrize(
    "case",
    [
        "S14-lfs-pointer/model.safetensors",
        "S43-pickle-canary/checkpoint.pt",
        "S43-pickle-canary/checkpoint_zip.pt",
        "S43-pickle-canary/model.pkl",
        "S44-safetensors-bad/good.safetensors",
        "S44-safetensors-bad/header-2e63.safetensors",
        "S44-safetensors-bad/header-longer-than-file.safetensors",
        "S44-safetensors-bad/truncated.safetensors",
        "S44-safetensors-bad/offsets-past-end.safetensors",
        "S44-safetensors-bad/empty.safetensors",
        "S44-safetensors-bad/seven-bytes.safetensors",
    ],
)
def test_foreign_weights_are_refused(
    case: str,
    shared: Path,
    copy_model: Path,
    tmp_path: Path,
    translate: Translate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Weights that are pickles, pointers, broken or of another model are named, and nothing in them runs."""
    monkeypatch.chdir(tmp_path)
    translate.model = copied(copy_model, tmp_path)
    shutil.copyfile(shared / "cases" / case, translate.model / "model.safetensors")
    ended = translate(text="ba\n")

    assert (ended.code, ended.lines) == (1, [])
    assert ended.said.startswith(f"error: {translate.model / 'model.safetensors'}")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_sizes_that_disagree_are_both_named(copy_model: Path, tmp_path: Path, translate: Translate) -> None:
    """A vocabulary of another size than the weights is refused with both sizes and both files."""
    translate.model = copied(copy_model, tmp_path)
    config = translate.model / "config.json"
    about = json.loads(config.read_text(encoding="utf-8"))
    size = about["model"]["vocabulary_size"]
    about["model"]["vocabulary_size"] = size + 8
    config.write_text(json.dumps(about), encoding="utf-8")
    ended = translate(text="ba\n")

    assert ended.code == 1
    assert f"{size} pieces" in ended.said
    assert f"model.vocabulary_size = {size + 8}" in ended.said
    assert str(config) in ended.said
    assert str(translate.model / "tokenizer.model") in ended.said
