"""Lines in, translations out, with a notice for every line that was cut."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from dragoman.choice import PLAIN, Choice
from dragoman.config import SearchConfig, explain
from dragoman.config.sections import LARGEST
from dragoman.errors import CorpusError, UsageError
from dragoman.run.windows import check_input
from dragoman.searchers import in_order
from dragoman.text import STANDARD_INPUT, read_lines
from dragoman.translator import Text, Translation, Translator

NumberedTranslation = tuple[int, Translation]
"""The number of a line, from 1, and its translation."""

_MAX_NAMED_LINES = 5


def search_settings(own: SearchConfig, changes: Mapping[str, float | None]) -> SearchConfig:
    """Return a model's own search settings with some of them changed.

    Args:
        own: Those of the model.
        changes: New values by the names of the keys; None leaves the model's own.

    Raises:
        UsageError: Values that break a rule, all of them at once, named as the options of the command line.
    """
    given = {key: value for key, value in changes.items() if value is not None}
    try:
        return replace(own, **given)  # type: ignore[arg-type]  # pydantic checks each value
    except ValidationError as error:
        keys = [str(detail["loc"][0]) for detail in error.errors() if detail["loc"]]
    if keys:
        problems = [f"{_option(key)} {given[key]}: must be {_rule(key, given[key])}" for key in keys]
        raise UsageError("; ".join(problems), hint="see 'dragoman config explain search'")
    n_best = given.get("n_best", own.n_best)
    raise UsageError(
        f"--n-best {n_best}: greater than the beam size of {given.get('beam_size', own.beam_size)}; "
        "a search finds no more outputs than its beam holds",
        hint=f"add --beam-size {n_best}",
    )


def _rule(key: str, value: float) -> str:
    if isinstance(value, int) and value > LARGEST:
        return f"at most {LARGEST:,}"
    return explain(f"search.{key}")[0].type


def prefixed(windows: Iterable[Sequence[str]], file: Path | None) -> Iterator[list[Text]]:
    """Yield windows with what the translation of each line begins with.

    Args:
        windows: Lines that are translated together.
        file: Line n is how the translation of line n begins; None leaves all free, a blank line that one.

    Raises:
        CorpusError: The file cannot be read, or has another number of lines.
    """
    if file is None:
        yield from ([Text(line) for line in window] for window in windows)
        return
    prefixes, num_lines = read_lines(file), 0
    for window in windows:
        own = list(islice(prefixes, len(window)))
        num_lines += len(window)
        if len(own) < len(window):
            num_prefixes = num_lines - len(window) + len(own)
            raise _unequal(file, _lines(num_prefixes), f"{num_lines:,} or more")
        yield [Text(line, prefix if prefix.strip() else "") for line, prefix in zip(window, own, strict=True)]
    if next(prefixes, None) is not None:
        raise _unequal(file, "more lines", f"{num_lines:,}")


def check_prefixes(file: Path, num_lines: int | None) -> None:
    """Refuse a file of prefixes that cannot be one, before anything is translated.

    Args:
        file: Line n is how the translation of line n begins.
        num_lines: Of what is translated; None where they come as they are.

    Raises:
        CorpusError: It has another number of lines, or cannot be read.
        UsageError: It is standard input.
    """
    if str(file) == STANDARD_INPUT:
        raise UsageError("--prefix -: prefixes are read from a file", hint="write them to a file first")
    num_prefixes = check_input(file)
    if num_prefixes is not None and num_lines is not None and num_prefixes != num_lines:
        raise _unequal(file, _lines(num_prefixes), f"{num_lines:,}")


def _lines(number: int) -> str:
    return f"{number:,} line{'s' * (number != 1)}"


def _unequal(file: Path, prefixes: str, num_lines: str) -> CorpusError:
    return CorpusError(
        f"{file} has {prefixes} and the input {num_lines}; line n is how the translation of line n begins",
        hint="leave a line blank where the translation may begin as it likes",
    )


def translate_lines(
    translator: Translator,
    windows: Iterable[Sequence[Text]],
    config: SearchConfig,
    notice: Callable[[str], None],
    *,
    choice: Choice = PLAIN,
    ordered: bool = True,
) -> Iterator[NumberedTranslation]:
    """Yield the translation of each line with its number, as soon as it and those before it are done.

    Args:
        translator: The model.
        windows: Lines that are translated together.
        config: Settings of the search.
        notice: Is told of each line that was translated in parts and, at the end, of cut outputs.
        choice: What else is asked of outputs.
        ordered: Whether a line waits for those before it; else any line of a window that is done is next.
    """
    first, num_cut = 1, 0
    first_cut: list[int] = []
    for window in windows:
        found = translator.translate_each(window, config, choice, first=first - 1)
        for place, translation in enumerate(in_order(found)) if ordered else found:
            number = first + place
            if translation.num_parts > 1:
                notice(_parts_notice(number, translation, translator.max_source_length))
            if not translation.alternatives[0].finished:
                num_cut += 1
                first_cut = sorted([*first_cut, number])[:_MAX_NAMED_LINES]
            yield number, translation
        first += len(window)
    if num_cut:
        named = ", ".join(f"{number:,}" for number in first_cut)
        more = f" and {num_cut - len(first_cut):,} more" if num_cut > len(first_cut) else ""
        outputs = "1 output was" if num_cut == 1 else f"{num_cut:,} outputs were"
        notice(f"{outputs} cut at the length limit: line{'s' * (num_cut > 1)} {named}{more}")


def _parts_notice(number: int, translation: Translation, limit: int) -> str:
    return (
        f"line {number:,} has {translation.num_source_pieces:,} pieces, more than the {limit:,} the model "
        f"reads at once; it is translated in {translation.num_parts:,} parts"
    )


def _option(key: str) -> str:
    return "--" + key.replace("_", "-")
