"""Lines in, trees out, and the share of outputs that are no trees."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from dragoman.config import SearchConfig
from dragoman.errors import CorpusError
from dragoman.parser import TOO_LONG_HINT, Parse, Parser

NumberedParse = tuple[int, Parse]
"""The number of a line, from 1, and its trees."""

_MAX_NAMED_LINES = 5


def parse_windows(
    parser: Parser,
    windows: Iterable[Sequence[str]],
    config: SearchConfig,
    words_of: Callable[[str], list[str]],
    name: str,
) -> Iterator[list[NumberedParse]]:
    """Yield the trees of each window with their line numbers, in order; no list is empty.

    Args:
        parser: The model.
        windows: Lines that are sorted by length together.
        config: Settings of the search.
        words_of: Returns the words of a line; a line without any has no tree.
        name: What messages call the file of the lines.

    Raises:
        CorpusError: A line is longer than the model has learned; those before it were yielded.
    """
    num_lines = 0
    for window in windows:
        sentences = [words_of(line) for line in window]
        objections = (parser.objection(words) for words in sentences)
        place, objection = next(
            ((place, found) for place, found in enumerate(objections) if found), (len(window), None)
        )
        if place:
            yield list(enumerate(parser.parse_window(sentences[:place], config), start=num_lines + 1))
        if objection:
            raise CorpusError(f"{name}, line {num_lines + place + 1:,}: {objection}", hint=TOO_LONG_HINT)
        num_lines += len(window)


class BrokenOutputs:
    """Counts the sentences whose best output is no tree over their words, which only a free search writes."""

    def __init__(self) -> None:
        self.num_outputs = 0
        """Sentences with words."""
        self.num_broken = 0
        """Those of them without a tree."""
        self._first: list[int] = []

    def count(self, numbered: Iterable[NumberedParse]) -> None:
        """Take in parses with their line numbers."""
        for number, parse in numbered:
            if not parse.words:
                continue
            self.num_outputs += 1
            if parse.tree is None:
                self.num_broken += 1
                self._first = [*self._first, number][:_MAX_NAMED_LINES]

    def report(self) -> str:
        """Return how many there were, their share, and the first lines."""
        if not self.num_broken:
            return f"0 of {self.num_outputs:,} outputs are no trees over their words"
        share = self.num_broken / self.num_outputs
        named = ", ".join(f"{number:,}" for number in self._first)
        num_more = self.num_broken - len(self._first)
        more = f" and {num_more:,} more" if num_more else ""
        return (
            f"{self.num_broken:,} of {self.num_outputs:,} outputs ({100 * share:.1f} %) are no trees "
            f"over their words: line{'s' * (self.num_broken > 1)} {named}{more}"
        )
