"""What counts when brackets are compared: the rules of EVALB, and a reader for its files of parameters.

EVALB (Sekine and Collins, 1997) is the program by which parsers are measured. A file of parameters is text:
each line a keyword and its value, as ``DELETE_LABEL TOP``; a line that begins with ``#`` is a comment.
"""

import difflib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import ConfigError
from dragoman.text import display_name, read_lines

_NUM_VALUES = {
    "DEBUG": 1,
    "MAX_ERROR": 1,
    "CUTOFF_LEN": 1,
    "LABELED": 1,
    "DELETE_LABEL": 1,
    "DELETE_LABEL_FOR_LENGTH": 1,
    "QUOTE_LABEL": 1,
    "EQ_LABEL": 2,
    "EQ_WORD": 2,
}
"""Every keyword of the format, and how many values stand after it."""

_WHOLE_NUMBERS = ("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED")
_MOST_DIGITS = 18


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How two trees are compared. The defaults are EVALB's where no file of parameters is given.

    Labels of brackets are compared without their function tags: ``NP-SBJ-1`` and ``NP=2`` are cut at the
    first hyphen or equals sign. Part-of-speech tags are compared whole.
    """

    labeled: bool = True
    """Whether brackets must agree in their labels, not in their words alone."""

    delete_labels: frozenset[str] = frozenset()
    """Labels that do not count: of a bracket it alone is left out, of a leaf its word is left out too."""

    delete_labels_for_length: frozenset[str] = frozenset()
    """Part-of-speech tags whose words do not count for the length of a sentence."""

    quote_labels: frozenset[str] = frozenset()
    """Tags between which a quotation mark may change. Where one tree leaves out a mark (its tag is deleted)
    and the other keeps it under another of these tags, it is put back before words are compared."""

    equal_labels: frozenset[tuple[str, str]] = frozenset()
    """Pairs of labels that are taken for one, in either order."""

    equal_words: frozenset[tuple[str, str]] = frozenset()
    """Pairs of words that are taken for one, in either order."""

    cutoff_length: int = 40
    """The longest sentence, in words, of the second summary."""

    max_errors: int = 10
    """How many predictions may have other words than their gold tree; more of them mean files that do not
    belong together. As in EVALB one more is let through: the second beyond this number ends the scoring."""

    def same_label(self, one: str, other: str) -> bool:
        """Whether two labels are equal or taken for one."""
        return one == other or (one, other) in self.equal_labels or (other, one) in self.equal_labels

    def same_word(self, one: str, other: str) -> bool:
        """Whether two words are equal or taken for one."""
        return one == other or (one, other) in self.equal_words or (other, one) in self.equal_words

    def deletes_bracket(self, label: str) -> bool:
        """Whether a bracket with this label, its function tags cut, is left out.

        A label that is taken for a deleted one is deleted too; a leaf's tag must be the deleted one itself.
        """
        return any(self.same_label(label, deleted) for deleted in self.delete_labels)


COLLINS = Rules(
    delete_labels=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
    delete_labels_for_length=frozenset({"-NONE-"}),
    equal_labels=frozenset({("ADVP", "PRT")}),
)
"""The rules of nearly all published scores, those of EVALB's file COLLINS.prm: punctuation, traces and TOP
do not count, ADVP and PRT are one."""


def read_rules(path: Path | str) -> Rules:
    """Read a file of parameters for EVALB.

    Unlike EVALB, which warns and goes on, this refuses a file with a line that it does not understand,
    because scores by other rules than the ones meant do not compare. ``DEBUG`` is accepted and changes
    nothing. A number that is given twice counts as given last; lists grow with each line.

    Raises:
        CorpusError: The file cannot be read as text.
        ConfigError: Lines break the format; all of them are told, each with its number and the reason.
    """
    name = display_name(path)
    given: defaultdict[str, list[list[str]]] = defaultdict(list)
    problems = []
    for number, line in enumerate(read_lines(path), start=1):
        keyword, *values = line.split() or ["#"]
        if keyword.startswith("#"):
            continue
        if problem := _problem(keyword, values):
            problems.append(f"  {name}:{number}  {keyword}: {problem}")
        given[keyword].append(values)
    if problems:
        count = "a problem" if len(problems) == 1 else f"{len(problems):,} problems"
        raise ConfigError(
            "\n".join([f"the file of parameters has {count}", *problems]),
            hint=f"the keywords are {', '.join(_NUM_VALUES)}; each line is one and its value",
        )

    def labels(keyword: str) -> frozenset[str]:
        return frozenset(label for (label,) in given[keyword])

    def pairs(keyword: str) -> frozenset[tuple[str, str]]:
        return frozenset((one, other) for one, other in given[keyword])

    def number_of(keyword: str, default: int) -> int:
        return int(given[keyword][-1][0]) if given[keyword] else default

    return Rules(
        labeled=bool(number_of("LABELED", 1)),
        delete_labels=labels("DELETE_LABEL"),
        delete_labels_for_length=labels("DELETE_LABEL_FOR_LENGTH"),
        quote_labels=labels("QUOTE_LABEL"),
        equal_labels=pairs("EQ_LABEL"),
        equal_words=pairs("EQ_WORD"),
        cutoff_length=number_of("CUTOFF_LEN", Rules.cutoff_length),
        max_errors=number_of("MAX_ERROR", Rules.max_errors),
    )


def _problem(keyword: str, values: list[str]) -> str | None:
    """Say what is wrong with a line of a file of parameters, or None where nothing is."""
    if keyword not in _NUM_VALUES:
        like = difflib.get_close_matches(keyword.upper(), _NUM_VALUES, n=1)
        return f"no such keyword{f'; did you mean {like[0]}?' if like else ''}"
    wanted = _NUM_VALUES[keyword]
    if len(values) != wanted:
        found = f"not {len(values)} ({' '.join(values)})" if values else "and there is none"
        return f"needs {'one value' if wanted == 1 else 'two values'}, {found}"
    (value, *_) = values
    if keyword in _WHOLE_NUMBERS:
        if not (value.isascii() and value.isdigit()):
            return f"must be a whole number, not {value}"
        if len(value) > _MOST_DIGITS:
            return f"must have at most {_MOST_DIGITS} digits, not {len(value):,}"
    if keyword == "LABELED" and int(value) > 1:
        return f"must be 0 (unlabeled) or 1 (labeled), not {value}"
    return None
