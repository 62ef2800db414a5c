"""A bar on standard error that counts lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def line_progress(title: str, *, shown: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that is told how many lines are done, of how many.

    Args:
        title: What stands before the bar.
        shown: Whether the results leave standard error free; nothing is shown unless it is a terminal.
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda _done, _of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)
