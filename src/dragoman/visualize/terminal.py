"""Attention drawn with characters: for any terminal, without color, and for files."""

from collections.abc import Iterable, Sequence

from dragoman.visualize.cells import cell_len, shortened, visible

SHADES = ((0.6, "█"), (0.4, "▓"), (0.2, "▒"), (0.05, "░"))
"""The character of a weight of at least so much; a smaller weight stays blank."""

LEGEND = "  ".join(f"{shade}{shade} {limit:.0%}" for limit, shade in reversed(SHADES)) + " and more"
"""What the shades mean, in one line."""

_LABEL_CELLS = 16
"""Widest label of a row, in cells of the terminal."""
_COLUMN_CELLS = 2
"""Cells of one column: about as wide as a line is high, and enough for the widest character."""


def draw_attention(
    source_pieces: Sequence[str],
    target_pieces: Sequence[str],
    weights: Iterable[Iterable[float]],
    *,
    width: int = 80,
) -> list[str]:
    """Return a picture of which source pieces each target piece looks at.

    There is a row for each target piece and a column for each source piece, whose letters stand one below
    the other; ``SHADES`` says how dark a weight is. Where the columns do not fit into the width, the
    picture goes on below with the next ones.

    Args:
        source_pieces: Labels of the columns.
        target_pieces: Labels of the rows.
        weights: For each target piece a weight from 0 to 1 for each source piece: lists, an array or a
            tensor; those of several heads must be averaged before.
        width: Cells of a line; at least one column is drawn even where it does not fit.

    Raises:
        ValueError: The weights are not as many as the pieces.
    """
    rows = [[float(weight) for weight in row] for row in weights]
    if len(rows) != len(target_pieces) or any(len(row) != len(source_pieces) for row in rows):
        raise ValueError(
            f"weights must have {len(target_pieces)} rows of {len(source_pieces)}, one for each piece"
        )
    labels = [shortened(visible(piece), _LABEL_CELLS) for piece in target_pieces]
    margin = max(map(cell_len, labels), default=0)
    columns = [_letters(visible(piece)) for piece in source_pieces]
    num_fitting = max(1, (width - margin - 1) // _COLUMN_CELLS)
    lines = []
    for first in range(0, len(columns), num_fitting):
        chosen = slice(first, first + num_fitting)
        lines += [""] if first else []
        lines += [" " * (margin + 1) + line for line in _head(columns[chosen])]
        lines += [
            " " * (margin - cell_len(label)) + label + " " + "".join(map(_shade, row[chosen]))
            for label, row in zip(labels, rows, strict=True)
        ]
    return [line.rstrip() for line in lines]


def _shade(weight: float) -> str:
    """Return the two characters of a weight."""
    return _COLUMN_CELLS * next((shade for limit, shade in SHADES if weight >= limit), " ")


def _head(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines in which each label runs downwards, ending right above its column."""
    height = max(map(len, columns))
    padded = [[""] * (height - len(letters)) + list(letters) for letters in columns]
    return [
        "".join(letter + " " * (_COLUMN_CELLS - cell_len(letter)) for letter in line)
        for line in zip(*padded, strict=True)
    ]


def _letters(label: str) -> list[str]:
    """Return the letters of a label, each with the marks that are drawn over it."""
    letters: list[str] = []
    for character in label:
        if letters and cell_len(character) == 0 and cell_len(letters[-1] + character) <= _COLUMN_CELLS:
            letters[-1] += character
        else:
            letters.append(character)
    return letters
