"""The native engine behind ``dragoman translate`` and ``evaluate``, and what is without it."""

import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest

from copying import Ended, Translate
from dragoman.cli import main
from dragoman.engine import build, is_there, library
from dragoman.engine.build import BuildError, library_name
from dragoman.quantized import can_quantize

pytestmark = pytest.mark.untraced

built = pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler")


@built
def test_a_translation_imports_no_torch(copy_model: Path) -> None:
    """Torch takes longer to import than all the rest takes together."""
    script = (
        "import sys, dragoman.cli\n"
        f"code = dragoman.cli.main(['translate', {str(copy_model)!r}])\n"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input="ba be bi\n", capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "ba be bi\n", "")


@pytest.mark.parametrize("without", ["a search in native code", "the engine"])
def test_what_needs_torch_imports_no_compiler_of_it(copy_model: Path, without: str) -> None:
    """``torch._dynamo`` takes seconds to import; torch itself brings ``torch.ao``, but no more than that."""
    script = (
        "import sys, torch\n"
        "before = {name for name in sys.modules if name.startswith('torch.ao')}\n"
        "import dragoman.searchers, dragoman.cli\n"
        f"if {without == 'the engine'}: dragoman.searchers.is_there = lambda: False\n"
        f"code = dragoman.cli.main(['translate', {str(copy_model)!r}, '--forbid', 'bo'])\n"
        "ao = {name for name in sys.modules if name.startswith('torch.ao')}\n"
        "sys.exit(code or 'torch._dynamo' in sys.modules or ao != before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input="ba be bi\n", capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "ba be bi\n")


@built
def test_bytes_translate_too(translate: Translate) -> None:
    """A model that is sure of itself gives the same with weights of 8 bits."""
    assert translate("--precision", "int8", text="ba be bi\n\nda\n") == Ended(0, ["ba be bi", "", "da"], "")


@built
@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_change_nothing(translate: Translate, threads: str) -> None:
    """Not even the last digit of a score."""
    text = "ba be bi\nda\ngu go do ba\nbi\n"
    one = translate("--format", "jsonl", "--threads", "1", text=text)

    assert translate("--format", "jsonl", "--threads", threads, text=text) == one


def test_without_the_engine_pytorch_translates(translate: Translate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same comes out, and one line says why it is slower and what helps."""
    right = translate(text="ba be bi\n\nda\n")
    monkeypatch.setattr("dragoman.searchers.is_there", lambda: False)
    found = translate(text="ba be bi\n\nda\n")

    assert found.lines == right.lines
    assert found.said.startswith("notice: ")
    assert "so PyTorch translates, which is slower; build it with 'dragoman build-engine'" in found.said
    assert found.said.count("\n") == 1


@pytest.mark.skipif(not can_quantize(), reason="torch has no exact products of bytes here")
def test_without_the_engine_pytorch_translates_in_bytes(
    translate: Translate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the engine does."""
    monkeypatch.setattr("dragoman.searchers.is_there", lambda: False)
    code, lines, said = translate("--precision", "int8", text="ba be bi\n\nda\n")

    assert (code, lines) == (0, ["ba be bi", "", "da"])
    assert said.startswith("notice: ")


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_other_precisions_need_the_engine(
    translate: Translate, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    """What PyTorch cannot do here is refused, with what helps."""
    monkeypatch.setattr("dragoman.searchers.is_there", lambda: False)
    monkeypatch.setattr("dragoman.quantized.can_quantize", lambda: False)
    code, lines, said = translate("--precision", precision, text="ba\n")

    assert (code, lines) == (2, [])
    assert f"--precision {precision}: " in said
    assert "dragoman build-engine" in said


@built
def test_packed_weights_alone_need_the_engine(
    translate: Translate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it the message says what they lack, which is no training."""
    folder = shutil.copytree(translate.model, tmp_path / "model")
    assert main(["pack", str(folder)]) == 0
    (folder / "model.safetensors").unlink()
    capsys.readouterr()
    monkeypatch.setattr("dragoman.searchers.is_there", lambda: False)
    translate.model = folder
    code, lines, said = translate("--precision", "int8", text="ba\n")

    assert (code, lines) == (2, [])
    assert f"{folder} holds weights packed for int8 alone, and " in said
    assert "dragoman build-engine" in said


def test_a_damaged_model_is_one_message(translate: Translate, tmp_path: Path) -> None:
    """The engine reads the same files as torch, and with the same care."""
    translate.model = shutil.copytree(translate.model, tmp_path / "model")
    weights = translate.model / "model.safetensors"
    content = weights.read_bytes()
    for damage, message in (
        (content[:-40], "is not a whole safetensors file"),
        (b"PK" + content, "a zip archive or PyTorch checkpoint"),
        (content[:-4] + b"\xff\xff\xff\x7f", "values that are not finite"),
    ):
        weights.write_bytes(damage)
        code, lines, said = translate(text="ba\n")

        assert (code, lines) == (1, [])
        assert message in said
        assert "Traceback" not in said


def test_a_compiler_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first error that it tells; without any compiler, how to name one."""
    (tmp_path / "broken").write_text("#!/bin/sh\necho 'x.cpp:1: error: no such thing' >&2\nexit 1\n")
    (tmp_path / "broken").chmod(0o755)
    monkeypatch.setenv("CXX", str(tmp_path / "broken"))
    with pytest.raises(BuildError, match=r"broken cannot compile the engine: .*no such thing"):
        build.build(tmp_path / "out")
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="no C\\+\\+ compiler was found"):
        build.build(tmp_path / "out")

    assert list((tmp_path / "out").iterdir()) == []


def test_the_engine_is_built_by_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Into the first place that can be written; without a compiler one message says what to install."""
    made = []

    def built_at(folder: Path) -> Path:
        made.append(folder)
        if len(made) == 1:
            raise PermissionError
        return folder / "libdragoman.so"

    monkeypatch.setattr(build, "build", built_at)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = main(["build-engine"])
    said = capsys.readouterr()

    assert (code, said.out) == (0, f"built {tmp_path / 'dragoman' / 'libdragoman.so'}\n")
    assert made == build.places()
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert main(["build-engine"]) == 1
    assert "no C++ compiler was found" in capsys.readouterr().err


@built
def test_a_damaged_library_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was cut short or changed is passed over for a whole one; none is better than a broken one."""
    whole = library.library_path()
    assert whole is not None
    folders = [tmp_path / name for name in ("cut", "changed", "whole")]
    content = whole.read_bytes()
    for folder, damaged in zip(
        folders, (content[:5_000], content[:9] + b"?" + content[10:], content), strict=True
    ):
        folder.mkdir()
        (folder / build.library_name()).write_bytes(damaged)
    monkeypatch.setattr(library, "places", lambda: folders)
    found = library.library_path.__wrapped__()
    monkeypatch.setattr(library, "places", lambda: folders[:2])

    assert found == folders[2] / build.library_name()
    assert library.library_path.__wrapped__() is None


def test_the_cache_of_the_user_is_an_absolute_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A relative XDG_CACHE_HOME would be another folder in every folder, so it does not count."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "here")

    assert build.places()[1] == tmp_path / ".cache" / "dragoman"


def test_an_unknown_device_is_told_before_its_precision(translate: Translate) -> None:
    """What is wrong is said, whatever the precision."""
    code, _, said = translate("--device", "tpu", "--precision", "int8", text="ba\n")

    assert code == 2
    assert "--device tpu: must be auto, cpu, cuda or cuda:N" in said


@built
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_translation(copy_model: Path, tmp_path: Path, number: int, code: int) -> None:
    """Soon, and without a traceback."""
    (tmp_path / "many").write_text("ba be bi bo bu da de\n" * 200_000, encoding="utf-8")
    running = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "dragoman",
            "translate",
            str(copy_model),
            str(tmp_path / "many"),
            "--beam-size",
            "50",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(4)
    running.send_signal(number)
    _, said = running.communicate(timeout=20)

    assert running.returncode == code
    assert "Traceback" not in said


@pytest.mark.full
def test_a_wheel_has_the_engine(root: Path, tmp_path: Path) -> None:
    """Built with a compiler it is a wheel of this platform that holds the library; any Python 3 takes it."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(root)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if "find a version" in ended.stderr or "onnection" in ended.stderr:
        pytest.skip("pip cannot reach its package index")
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")

    assert wheel.name.endswith(f"-py3-none-{platform}.whl")
    assert [name.rpartition("/")[2] for name in names if name.endswith(".so")] == [library_name()]
