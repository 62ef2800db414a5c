"""Scores that others published for the outputs of real systems come out again.

One system of each set in the ordinary run, all of them in the full one.
"""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.evaluate import score
from dragoman.run import EvaluateOptions, evaluate_outputs
from dragoman.text.lines import read_lines

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
BLEU = DATA / "bleu"


def expected(folder: str) -> list[dict[str, str]]:
    """Return the rows of a set's table of published scores; none where the set is not at hand."""
    table = BLEU / folder / "expected.tsv"
    if not table.is_file():
        return []
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def rows(folder: str, key: str, ordinary: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test on every row of a table; all but the one named ``ordinary`` only in the full run."""
    cases = [
        pytest.param(row, id=row[key], marks=() if row[key] == ordinary else pytest.mark.full)
        for row in expected(folder)
    ]
    missing = [pytest.param({}, id="missing", marks=pytest.mark.skip(f"the set {folder} is not at hand"))]
    return pytest.mark.parametrize("row", cases or missing)


@rows("wmt17-en-de", "system", ordinary="C-3MA.4959")
def test_wmt17(row: dict[str, str]) -> None:
    """BLEU agrees with mteval-v13a to 0.01, chrF to all its published digits, TER with tercom to three.

    The output of online-A begins with a byte-order mark. Here it belongs to no line; in the full-precision
    figure it is part of the first word.
    """
    folder = BLEU / "wmt17-en-de"
    tolerance = 0.0002 if row["system"] == "online-A.0" else 5e-7
    scores = evaluate_outputs(folder / f"{row['system']}.gz", [folder / "ref.de.gz"]).scores

    assert scores.num_segments == 3_004
    assert scores.bleu.value == pytest.approx(float(row["mteval-v13a_BLEU"]), abs=0.01)
    assert scores.bleu.value == pytest.approx(float(row["sacrebleu_13a_full"]), abs=tolerance)
    assert scores.ter is not None
    assert scores.ter.value / 100 == pytest.approx(float(row["tercom_TER"]), abs=0.0005)
    if row["chrF"] != "-":
        assert scores.chrf.value == pytest.approx(float(row["chrF"]), abs=0.00005)


@rows("wmt21-en-de", "system", ordinary="Facebook-AI")
def test_wmt21_with_one_and_three_references(row: dict[str, str]) -> None:
    """BLEU and chrF agree to every printed digit, with each reference and with all three."""
    folder = BLEU / "wmt21-en-de"
    output = folder / f"{row['system']}.gz"
    for letters in ("A", "C", "D", "ACD"):
        references = [folder / f"ref.{letter}.de.gz" for letter in letters]
        scores = evaluate_outputs(output, references, EvaluateOptions(ter=False)).scores
        column = "all" if letters == "ACD" else letters

        assert scores.bleu.value == pytest.approx(float(row[f"bleu-{column}"]), rel=1e-13)
        assert scores.chrf.value == pytest.approx(float(row[f"chrf-{column}"]), rel=1e-13)
        assert f"nrefs:{len(letters)}|" in scores.bleu.signature


@rows("wmt13-14", "file", ordinary="en-de.newstest2014.bergamot-base-memory.gz")
def test_wmt13_and_wmt14(row: dict[str, str]) -> None:
    """BLEU on the sets that the paper developed and tested on agrees to the one decimal that is published."""
    reference, _, order = row["reference"].partition(" reordered by ")
    if not (DATA / reference).is_file():
        pytest.skip("the news test sets are not at hand")
    references = list(read_lines(DATA / reference))
    if order:
        references = [references[int(n) - 1] for n in read_lines(DATA / "wmt-news" / order)]
    scores = score(list(read_lines(BLEU / "wmt13-14" / row["file"])), references, ter=False)

    assert f"{scores.bleu.value:.1f}" == row["published_BLEU(1 decimal)"]
    assert scores.bleu.value == pytest.approx(float(row["sacrebleu_13a_full"]), abs=5e-7)


def subwords_joined(text: str) -> str:
    return text.replace("@@ ", "")


def pieces_joined(text: str) -> str:
    return text.replace(" ", "").replace("\u2581", " ").strip()


def as_it_is(text: str) -> str:
    return text


JOINED = {
    "tfnmt.deen_ref_bpe": subwords_joined,
    "tfnmt.deen_ref_spm": pieces_joined,
}


@rows("tokenised", "hypothesis", ordinary="comparemt.ted.sys1.eng")
def test_tokenized_and_detokenized(row: dict[str, str]) -> None:
    """Tokenized BLEU agrees with multi-bleu, and BLEU of the detokenized outputs with its own figure.

    One publisher counts an empty line as one empty token; here it holds none, a difference of 0.001.
    """
    folder = BLEU / "tokenised"
    join = JOINED.get(row["reference"], as_it_is)
    references = [join(text) for text in read_lines(folder / row["reference"])]
    outputs = list(read_lines(folder / row["hypothesis"]))
    value = score(outputs, references, tokenized="detok" not in row["reference"], ter=False).bleu.value
    computed = row["computed"].split(" (")[-1].split()[0]

    assert value == pytest.approx(float(computed), abs=5e-10)
    if row["published"] != "-":
        digits = len(row["published"].partition(".")[2])
        assert value == pytest.approx(float(row["published"]), abs=max(0.5 * 10**-digits, 0.001))
