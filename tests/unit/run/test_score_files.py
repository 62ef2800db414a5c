"""What ``evaluate_outputs`` promises about lines and files."""

import gzip
from pathlib import Path

import pytest

from dragoman.errors import CorpusError, ScoreError
from dragoman.evaluate import Scores, score
from dragoman.run import EvaluateOptions, evaluate_outputs

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases"

OUTPUTS = ["The kettle sings.", "Nine swans left the pond today.", "Nobody knows the old way home."]
REFERENCES = ["The kettle is singing.", "Nine swans left the pond today.", "No one knows the old way home."]


def score_files(output: Path, references: list[Path], **options: bool) -> Scores:
    return evaluate_outputs(output, references, EvaluateOptions(**options)).scores


def write(path: Path, lines: list[str]) -> Path:
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_files_score_as_their_lines(tmp_path: Path, suffix: str) -> None:
    """Files, packed or not, score as the lists of their lines do."""
    output = write(tmp_path / f"output{suffix}", OUTPUTS)
    references = [
        write(tmp_path / f"first{suffix}", REFERENCES),
        write(tmp_path / f"second{suffix}", OUTPUTS[::-1]),
    ]

    assert score_files(output, references) == score(OUTPUTS, [REFERENCES, OUTPUTS[::-1]])


def test_options_reach_the_scores(tmp_path: Path) -> None:
    """Tokenized and TER mean the same for files."""
    output = write(tmp_path / "output.txt", OUTPUTS)
    reference = write(tmp_path / "reference.txt", REFERENCES)
    scores = score_files(output, [reference], tokenized=True, ter=False)

    assert scores == score(OUTPUTS, REFERENCES, tokenized=True, ter=False)


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x0b", "\x0c", "\r"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, separator: str) -> None:
    """Characters that other readers take for the end of a line part no segment."""
    output = write(tmp_path / "output.txt", [f"one{separator}two", "three four"])
    reference = write(tmp_path / "reference.txt", ["one two", "three four"])

    assert score_files(output, [reference]).num_segments == 2


def test_unequal_counts_name_both_files(tmp_path: Path) -> None:
    """One message names every file that does not fit, with its count and that of the outputs."""
    output = write(tmp_path / "output.txt", OUTPUTS)
    good = write(tmp_path / "good.txt", REFERENCES)
    short = write(tmp_path / "short.txt", REFERENCES[:1])
    long = write(tmp_path / "long.txt", REFERENCES * 2)
    with pytest.raises(ScoreError) as caught:
        score_files(output, [good, short, long])

    assert f"{output} has 3 lines but {short} has 1 and {long} has 6" in caught.value.message
    assert str(good) not in caught.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is an error of the text, with its name."""
    output = write(tmp_path / "output.txt", OUTPUTS)
    with pytest.raises(CorpusError, match=r"missing\.txt"):
        score_files(output, [tmp_path / "missing.txt"])


def test_empty_files_are_refused(tmp_path: Path) -> None:
    """Two empty files have equal counts and still nothing to score."""
    output, reference = write(tmp_path / "output.txt", []), write(tmp_path / "reference.txt", [])
    with pytest.raises((ScoreError, CorpusError)):
        score_files(output, [reference])


def test_case_unequal_counts() -> None:
    """Outputs and references of 7 and 8 lines are refused with both names and both counts."""
    folder = CASES / "S05-unequal-counts"
    if not folder.is_dir():
        pytest.skip("the case S05 is not at hand")
    with pytest.raises(ScoreError) as caught:
        score_files(folder / "tgt.txt", [folder / "src.txt"])

    assert all(part in caught.value.message for part in ("tgt.txt has 7 lines", "src.txt has 8"))
    assert "\n" not in caught.value.message
