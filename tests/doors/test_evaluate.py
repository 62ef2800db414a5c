"""``dragoman evaluate`` by the real command line."""

import json
from pathlib import Path

import pytest

from dragoman import EvaluateOptions, Translator, evaluate
from dragoman.cli import main
from dragoman.evaluate import score

pytestmark = pytest.mark.untraced

USAGE = (
    "evaluate takes MODEL SOURCE REFERENCE..., MODEL TREES, --hypothesis FILE REFERENCE..., "
    "or --gold TREES --predicted TREES"
)


class Evaluate:
    """Runs ``dragoman evaluate`` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error."""
        code = main(["evaluate", *map(str, words)])
        written = self._capsys.readouterr()
        return code, written.out, written.err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Evaluate:
    return Evaluate(capsys)


@pytest.fixture
def held_out(copy_model: Path) -> tuple[Path, Path]:
    """Source and reference of pairs that the model has never seen."""
    source, reference = sorted((copy_model / "held-out").glob("test.*"))
    return source, reference


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def test_a_model_is_scored_by_its_translations(
    run: Evaluate, copy_model: Path, held_out: tuple[Path, Path], tmp_path: Path
) -> None:
    """The scores are those of the translations, which can be kept; the report is on standard output alone."""
    kept = tmp_path / "kept.txt"
    code, out, err = run(copy_model, *held_out, "--output", kept)
    sources, references = map(lines, held_out)
    translations = [one.text for one in Translator.load(copy_model).translate(sources)]

    assert (code, err) == (0, "")
    assert lines(kept) == translations
    assert out.split("\n")[:-1] == score(translations, references, num_cut=0).lines()


def test_pairs_and_python_give_the_same(
    run: Evaluate, copy_model: Path, held_out: tuple[Path, Path], tmp_path: Path
) -> None:
    """Two files, one file of pairs, and the function from Python agree."""
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(
        "".join(f"{a}\t{b}\n" for a, b in zip(*map(lines, held_out), strict=True)), encoding="utf-8"
    )
    told: list[tuple[int, int]] = []
    found = evaluate(
        copy_model,
        held_out[0],
        [held_out[1]],
        EvaluateOptions(ter=False),
        translated=lambda done, of: told.append((done, of)),
    )
    as_json = [json.loads(run(copy_model, *files, "--no-ter", "--json")[1]) for files in (held_out, [pairs])]

    assert as_json[0] == as_json[1] == json.loads(json.dumps(found.as_dict()))
    assert told == [(line, 20) for line in range(1, 21)]


def test_options_of_the_search_are_used(run: Evaluate, copy_model: Path, held_out: tuple[Path, Path]) -> None:
    """A beam size out of range is refused, one within it is taken."""
    refused = run(copy_model, *held_out, "--beam-size", 0)
    taken = run(copy_model, *held_out, "--no-ter", "--beam-size", 1, "--length-penalty", 0)

    assert (refused[0], taken[0]) == (2, 0)
    assert refused[2].startswith("error: --beam-size 0: must be a whole number of at least 1")


@pytest.mark.parametrize("case", ["S53-references-the-wrong-way", "S55-empty-output"])
def test_outputs_have_the_scores_they_deserve(case: str, shared: Path, run: Evaluate) -> None:
    """Files of outputs have the BLEU and chrF that sacrebleu's own command gives."""
    folder = shared / "cases" / case
    expected = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    code, out, _ = run("--hypothesis", folder / "hyp.txt", folder / "ref.txt", "--json")
    found = json.loads(out)

    assert code == 0
    assert found["bleu"]["value"] == pytest.approx(expected["bleu"], abs=0.01)
    assert found["chrf"]["value"] == pytest.approx(expected["chrf2"], abs=0.01)


def test_empty_outputs_are_counted(shared: Path, run: Evaluate) -> None:
    """The report says how many outputs are empty."""
    folder = shared / "cases" / "S55-empty-output"
    code, out, _ = run("--hypothesis", folder / "hyp.txt", folder / "ref.txt")

    assert (code, out.split("\n")[-2]) == (0, "3 of 3 outputs are empty")


def test_empty_references_are_warned_of(shared: Path, run: Evaluate) -> None:
    """An empty line of a reference is named on standard error."""
    folder = shared / "cases" / "S54-empty-reference-line"
    expected = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    code, out, err = run("--hypothesis", folder / "hyp.txt", folder / "ref.txt", "--json")

    assert code == 0
    assert json.loads(out)["bleu"]["value"] == pytest.approx(expected["bleu_if_scored"], abs=0.01)
    assert "warning: 1 of 3 references are empty (line 2)" in err


def test_unequal_counts_name_files_and_counts(shared: Path, run: Evaluate, copy_model: Path) -> None:
    """Files of unequal length are refused, as outputs and as sources, without a traceback."""
    folder = shared / "cases" / "S05-unequal-counts"
    for words in (["--hypothesis", folder / "tgt.txt"], [copy_model, folder / "tgt.txt"]):
        code, out, err = run(*words, folder / "src.txt")

        assert (code, out) == (1, "")
        assert f"{folder / 'tgt.txt'} has 7 lines but {folder / 'src.txt'} has 8" in err


def test_a_baseline_is_compared(run: Evaluate, tmp_path: Path) -> None:
    """With a second system the report ends with both systems, the difference and its p-value."""
    for name, text in {"out": "a b c d e\n", "other": "a b c d f\n", "ref": "a b c d e\n"}.items():
        (tmp_path / name).write_text(text * 5, encoding="utf-8")
    code, out, _ = run(
        *(
            "--hypothesis",
            tmp_path / "out",
            "--baseline",
            tmp_path / "other",
            tmp_path / "ref",
            "--paper-bleu",
        )
    )
    report = out.split("\n")

    assert code == 0
    assert report[3].startswith("BLEU (tokenized, compounds split)  100.00")
    assert report[5].startswith("BLEU   baseline 66.87 (")
    assert " system 100.00 (" in report[5]
    assert " p = 0.0" in report[6]


def test_a_treebank_is_no_file_of_pairs(run: Evaluate, copy_model: Path, tmp_path: Path) -> None:
    """A model that translates, given trees, says what it takes and what scores trees."""
    trees = tmp_path / "gold.mrg"
    trees.write_text("(S (NP (PRP We)) (VP (VBP row)))\n", encoding="utf-8")
    code, out, err = run(copy_model, trees)

    assert (code, out) == (1, "")
    assert err.startswith(f"error: {trees}, line 1: no tab; ")
    assert "hint: if these are trees, score them with a model that parses, or as --gold" in err


def test_options_for_trees_are_refused(run: Evaluate, copy_model: Path) -> None:
    """A model that translates has no brackets to count."""
    code, out, err = run(copy_model, "a", "b", "--per-sentence")

    assert (code, out) == (2, "")
    assert err.startswith("error: --per-sentence is about trees, and the model translates")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("", f"{USAGE}; no file was named"),
        ("model", f"{USAGE}; one file alone cannot be scored"),
        ("--hypothesis out", f"{USAGE}; a REFERENCE is missing"),
        ("--hypothesis out . reference", ". is a folder; with --hypothesis only references are named"),
        (
            "--hypothesis out reference -o x",
            "--output keeps what a model writes, and --hypothesis scores texts",
        ),
        (
            "--hypothesis out reference --beam-size 2",
            "--beam-size is about a model's search, and --hypothesis",
        ),
        ("--hypothesis out reference --ensemble m", "--ensemble says which translations are chosen, and"),
        ("--hypothesis out reference --unconstrained", "--unconstrained is about a search for trees, and"),
        ("--hypothesis out reference --params none", "--params says how brackets of trees are counted, and"),
    ],
)
def test_files_that_make_no_sense_together(words: str, error: str, run: Evaluate) -> None:
    """A wrong choice of files gets a sentence, a hint and exit code 2."""
    code, out, err = run(*words.split())

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {error}")
    assert err.endswith("hint: see 'dragoman evaluate --help'\n")
