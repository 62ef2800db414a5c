"""``dragoman pack`` by the real command line, and ``dragoman translate`` of what it has written."""

import json
import shutil
from pathlib import Path

import pytest

from copying import SYLLABLES, Ended, Translate
from dragoman.cli import main
from dragoman.engine import engine_name, is_there
from dragoman.run import TrainOptions, train
from grammar_trees import write_treebank

pytestmark = [
    pytest.mark.untraced,
    pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler"),
]

TEXT = "ba be bi\n\nda\ngu go do ba\nbi\n"

PRECISIONS = ["int8", *(["bfloat16"] if engine_name() == "avx512bf16" else [])]


class Pack(Translate):
    """Runs ``dragoman pack`` in this process with one model."""

    command = "pack"


@pytest.fixture
def model(copy_model: Path, tmp_path: Path) -> Path:
    """A copy of the model, to be changed."""
    return Path(shutil.copytree(copy_model, tmp_path / "model"))


@pytest.fixture
def pack(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pack:
    return Pack(model, monkeypatch, capsys)


@pytest.fixture
def translate_it(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Translate:
    return Translate(model, monkeypatch, capsys)


@pytest.fixture
def files(copy_model: Path) -> list[Path]:
    """The pairs that the model was trained with."""
    return [copy_model.with_name(name) for name in ("lines.in", "lines.out")]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_packed_model_translates_the_same(
    pack: Pack, translate_it: Translate, model: Path, precision: str
) -> None:
    """Without its own weights too, where its precision is taken by itself; one line says what was done."""
    options = ("--format", "jsonl", "--precision", precision)
    right = translate_it(*options, text=TEXT)
    ended = pack("--precision", precision)
    beside = translate_it(*options, text=TEXT)
    (model / "model.safetensors").unlink()
    alone = translate_it("--format", "jsonl", text=TEXT)

    assert (ended.code, ended.said) == (0, "")
    assert [line.partition(" (")[0] for line in ended.lines] == [
        f"packed {model}/engine-{precision}.safetensors"
    ]
    assert right.code == 0
    assert beside == alone == right


def test_float32_tells_what_is_missing(pack: Pack, translate_it: Translate, model: Path) -> None:
    """A folder of packed weights alone cannot translate with others."""
    assert pack().code == 0
    (model / "model.safetensors").unlink()
    code, lines, said = translate_it("--precision", "float32", text=TEXT)

    assert (code, lines) == (2, [])
    assert said.startswith(
        f"error: --precision float32: {model} holds weights that are packed for int8 alone"
    )
    assert "Traceback" not in said


def test_damaged_packed_weights_are_one_message(pack: Pack, translate_it: Translate, model: Path) -> None:
    """It names the file and the command that packs again, which helps."""
    assert pack().code == 0
    path = model / "engine-int8.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-100] + bytes([content[-100] ^ 1]) + content[-99:])
    code, lines, said = translate_it("--precision", "int8", text=TEXT)
    again = pack("--precision", "int8")

    assert (code, lines) == (1, [])
    assert said == (
        f"error: {path} is damaged: its content is not what was packed\n"
        f"hint: pack them again: dragoman pack {model} --precision int8\n"
    )
    assert again.code == 0
    assert translate_it("--precision", "int8", text=TEXT).code == 0


def test_pairs_give_a_shortlist(pack: Pack, translate_it: Translate, model: Path, files: list[Path]) -> None:
    """Counted in two files of lines; a model that copies needs no piece that is not on it."""
    (model / "shortlist.safetensors").unlink()
    without = translate_it("--shortlist", text=TEXT)
    ended = pack(*files)

    assert (without.code, without.lines) == (1, [])
    assert without.said == (
        f"error: {model}/shortlist.safetensors is not there; a shortlist is counted in pairs, and this model "
        f"has none\nhint: count it: dragoman pack {model} SOURCE TARGET\n"
    )
    assert (ended.code, ended.said) == (0, "")
    assert ended.lines[1].startswith(f"counted {model}/shortlist.safetensors in 1,200 pairs (")
    assert translate_it("--shortlist", text=TEXT) == Ended(0, TEXT.splitlines(), "")


def test_a_training_counts_the_shortlist(translate: Translate) -> None:
    """A model that was trained here translates with it at once."""
    assert translate("--shortlist", text=TEXT) == Ended(0, TEXT.splitlines(), "")


def test_a_shortlist_is_what_pairs_say(
    pack: Pack, translate_it: Translate, model: Path, tmp_path: Path
) -> None:
    """After pairs of other syllables the model can write only those of the pairs, and the line's own."""
    for name in ("other.in", "other.out"):
        (tmp_path / name).write_text("ga ge\n" * 10 + "gi\n" * 5, encoding="utf-8")
    assert pack(tmp_path / "other.in", tmp_path / "other.out").code == 0
    ended = translate_it("--shortlist", "--format", "jsonl", text=TEXT)
    written = {piece for line in ended.lines for piece in json.loads(line)["alternatives"][0]["pieces"]}

    assert ended.code == 0
    assert written <= {"▁ga", "▁ge", "▁gi", *(f"▁{word}" for word in TEXT.split())}


def test_no_corpus_leaves_the_shortlist(pack: Pack, model: Path) -> None:
    """As it was."""
    before = (model / "shortlist.safetensors").read_bytes()
    ended = pack()

    assert (ended.code, len(ended.lines)) == (0, 1)
    assert (model / "shortlist.safetensors").read_bytes() == before


@pytest.mark.parametrize("content", ["", "\n\n\n", "ba " * 100 + "\n"])
def test_pairs_that_are_none_are_one_message(pack: Pack, tmp_path: Path, content: str) -> None:
    """Empty files, blank lines and lines that are too long leave nothing to count, and the old list stays."""
    before = (pack.model / "shortlist.safetensors").read_bytes()
    files = [tmp_path / "none.in", tmp_path / "none.out"]
    for file in files:
        file.write_text(content, encoding="utf-8")
    ended = pack(*files)

    assert ended.code == 1
    assert ended.said.startswith(f"error: {files[0]}")
    assert ended.said.count("\n") == 2
    assert (pack.model / "shortlist.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ("/nowhere/a /nowhere/b", 1, "/nowhere/a: no such file"),
        ("--precision float32", 2, "'float32' is not one of 'int8', 'bfloat16'"),
        ("a b c", 2, "files"),
    ],
)
def test_mistakes_are_told_in_words(pack: Pack, words: str, code: int, error: str) -> None:
    """One message with a hint, and no traceback."""
    ended = pack(*words.split())

    assert (ended.code, ended.said.count("\n")) == (code, 2)
    assert ended.said.startswith("error: ")
    assert error in ended.said


def test_files_that_do_not_match_are_one_message(pack: Pack, tmp_path: Path) -> None:
    """Line n of one translates line n of the other, or none does."""
    (tmp_path / "a").write_text("ba\nbe\n", encoding="utf-8")
    (tmp_path / "b").write_text("ba\n", encoding="utf-8")
    ended = pack(tmp_path / "a", tmp_path / "b")

    assert ended.code == 1
    assert ended.said.startswith(f"error: {tmp_path / 'a'} has 2 lines but {tmp_path / 'b'} has 1")


def test_a_folder_that_is_no_model_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As for every other command."""
    code, said = main(["pack", str(tmp_path)]), capsys.readouterr()

    assert (code, said.out) == (1, "")
    assert said.err.startswith(f"error: {tmp_path}/config.json cannot be read: ")


def test_without_the_engine_nothing_is_packed(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    """One message says what is missing and how to get it."""
    monkeypatch.setattr("dragoman.run.pack.is_there", lambda: False)
    ended = pack()

    assert (ended.code, ended.lines) == (2, [])
    assert "error: weights are packed for the engine, and " in ended.said
    assert "dragoman build-engine" in ended.said


def test_a_parser_has_no_shortlist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs for a model that parses are refused, and nothing is written."""
    treebank = write_treebank(tmp_path / "trees.mrg", number=150)
    settings = ["data.task=parsing", "data.dev_pairs=6", "data.test_pairs=6", "model.vocabulary_size=400"]
    settings += ["model.d_model=16", "model.d_ff=16", "train.max_steps=2", "train.batch_tokens=800"]
    settings += ["train.validation_interval_steps=2", "train.average_checkpoints=1", "search.beam_size=1"]
    settings += ["train.micro_batch_tokens=800", "search.extra_length=1", "train.warmup_steps=1"]
    train([treebank], tmp_path / "model", TrainOptions(recipe="tiny", settings=settings, device="cpu"))
    capsys.readouterr()
    code = main(["pack", str(tmp_path / "model"), str(treebank)])
    said = capsys.readouterr()

    assert (code, said.out) == (2, "")
    assert said.err == (
        "error: a shortlist is for models that translate, and this one parses\nhint: name no corpus\n"
    )
    assert not list((tmp_path / "model").glob("engine-*"))


def test_syllables_are_pieces(translate: Translate) -> None:
    """What the tests above take for granted: each syllable is one piece."""
    ended = translate("--format", "jsonl", text="".join(f"{one}\n" for one in SYLLABLES))

    assert [json.loads(line)["num_source_pieces"] for line in ended.lines] == [2] * len(SYLLABLES)
