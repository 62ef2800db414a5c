"""Where a filter writes its results."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def results_to(output: Path | None) -> Iterator[TextIO]:
    """Open the file of the results, or standard output."""
    from dragoman.run.output import whole_file

    if output is None:
        yield sys.stdout
        return
    with whole_file(output) as file:
        yield file
