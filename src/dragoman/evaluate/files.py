"""Scores of files: one line is one segment."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.errors import ScoreError
from dragoman.evaluate.scores import Scores, score
from dragoman.text.lines import read_lines


def score_files(
    hypothesis: Path,
    references: Sequence[Path],
    *,
    tokenized: bool = False,
    ter: bool = True,
    num_cut: int | None = None,
) -> Scores:
    """Score the lines of a file against those of one or several reference files, ``.gz`` as well.

    Args:
        hypothesis: The outputs, one a line.
        references: One file for each reference set.
        tokenized: The files hold tokens parted by whitespace; see `score`.
        ter: Whether to measure TER as well, the slowest of the metrics.
        num_cut: How many outputs the search cut at its limit, to be reported beside the scores.

    Raises:
        ScoreError: A reference file has another number of lines than the outputs, or there are none.
        CorpusError: A file cannot be read as lines of UTF-8.
    """
    outputs = list(read_lines(hypothesis))
    sets = [list(read_lines(reference)) for reference in references]
    unequal = [
        f"{reference} has {len(lines):,}"
        for reference, lines in zip(references, sets, strict=True)
        if len(lines) != len(outputs)
    ]
    if unequal:
        raise ScoreError(
            f"{hypothesis} has {len(outputs):,} lines but {' and '.join(unequal)}; "
            "line n of each reference must translate the source of output line n",
            hint="translate the source of these references again, so that every line has its output",
        )
    return score(outputs, sets, tokenized=tokenized, ter=ter, num_cut=num_cut)
