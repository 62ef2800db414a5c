"""Scores of files, from Python."""

from pathlib import Path

import pytest

from dragoman.errors import CorpusError, ScoreError, UsageError
from dragoman.evaluate import compare, paper_bleu, score
from dragoman.run import EvaluateOptions, evaluate, evaluate_outputs

OUTPUTS = ["the cat sat on the mat", "a dog", "", "far-off sun shines on all of us"]
REFERENCES = ["the cat sat on a mat", "a dog barks", "now", "a far-off sun shines on all of us"]
OTHERS = ["a cat sat on the mat", "the dog", "yes", "the far-off sun shines on us all"]


def written(folder: Path, name: str, lines: list[str]) -> Path:
    """Write lines to a file and return it."""
    file = folder / name
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def test_files_score_as_their_lines_do(tmp_path: Path) -> None:
    """Scores, the paper's BLEU and the comparison are those of the lists of lines."""
    outputs, first = written(tmp_path, "out", OUTPUTS), written(tmp_path, "ref", REFERENCES)
    second = written(tmp_path, "ref2", OTHERS)
    found = evaluate_outputs(outputs, [first, second], EvaluateOptions(paper_bleu=True, baseline=second))
    sets = [REFERENCES, OTHERS]

    assert found.scores == score(OUTPUTS, sets)
    assert found.paper_bleu == paper_bleu(OUTPUTS, sets)
    assert found.comparison == compare(OTHERS, OUTPUTS, sets)


def test_the_report_has_what_was_asked_for(tmp_path: Path) -> None:
    """The lines and the JSON hold the scores, and the others only where they were asked for."""
    outputs, references = written(tmp_path, "out", OUTPUTS), written(tmp_path, "ref", REFERENCES)
    plain = evaluate_outputs(outputs, [references], EvaluateOptions(ter=False))
    full = evaluate_outputs(outputs, [references], EvaluateOptions(paper_bleu=True, baseline=references))

    assert [line.split()[0] for line in plain.lines()] == ["BLEU", "chrF2", "1"]
    assert [line.split()[0] for line in full.lines()] == [
        "BLEU",
        "chrF2",
        "TER",
        "BLEU",
        "1",
        "BLEU",
        "chrF2",
    ]
    assert (plain.as_dict()["paper_bleu"], plain.as_dict()["comparison"]) == (None, None)
    assert full.as_dict()["bleu"]["value"] == full.scores.bleu.value
    assert full.as_dict()["comparison"]["num_segments"] == 4


def test_unequal_counts_are_refused_before_any_work(tmp_path: Path) -> None:
    """Files and counts are named before the model is even looked for."""
    source, short = written(tmp_path, "source", OUTPUTS), written(tmp_path, "short", REFERENCES[:3])
    with pytest.raises(ScoreError, match=f"{source} has 4 lines but {short} has 3; ") as caught:
        evaluate(tmp_path / "no model", source, [short])

    assert caught.value.hint == f"find where they part with 'paste {source} {short} | less'"


def test_a_baseline_is_counted_too(tmp_path: Path) -> None:
    """Outputs of the other system must be as many."""
    source, short = written(tmp_path, "source", OUTPUTS), written(tmp_path, "short", REFERENCES[:3])
    with pytest.raises(ScoreError, match=f"{short} has 3"):
        evaluate_outputs(source, [source], EvaluateOptions(baseline=short))


def test_empty_files_are_refused(tmp_path: Path) -> None:
    """There is nothing to score in empty files."""
    empty = written(tmp_path, "empty", [])
    with pytest.raises(ScoreError, match=f"{empty} is empty"):
        evaluate_outputs(empty, [empty])
    with pytest.raises(UsageError, match="no reference was given"):
        evaluate_outputs(empty, [])


def test_a_file_of_pairs_needs_tabs(tmp_path: Path) -> None:
    """Without references the source must be pairs."""
    source = written(tmp_path, "source", OUTPUTS)
    with pytest.raises(CorpusError, match=f"{source}, line 1: no tab"):
        evaluate(tmp_path / "no model", source)


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    """At most one of the files may be standard input."""
    with pytest.raises(UsageError, match="standard input can be read only once"):
        evaluate(tmp_path / "no model", "-", ["-"])


def test_what_is_read_is_not_written(tmp_path: Path) -> None:
    """The translations may not replace a reference."""
    source = written(tmp_path, "source", OUTPUTS)
    with pytest.raises(UsageError, match="read as input"):
        evaluate(tmp_path / "no model", source, [source], EvaluateOptions(output=source))
