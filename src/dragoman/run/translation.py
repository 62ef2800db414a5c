"""Lines in, translations out, with a notice for every line that was cut."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import ValidationError

from dragoman.config import SearchConfig, explain
from dragoman.errors import UsageError
from dragoman.searchers import in_order
from dragoman.translator import Translation, Translator

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
        problems = [
            f"{_option(key)} {given[key]}: must be {explain(f'search.{key}')[0].type}" for key in keys
        ]
        raise UsageError("; ".join(problems), hint="see 'dragoman config explain search'")
    n_best = given.get("n_best", own.n_best)
    raise UsageError(
        f"--n-best {n_best}: greater than the beam size of {given.get('beam_size', own.beam_size)}; "
        "a search finds no more outputs than its beam holds",
        hint=f"add --beam-size {n_best}",
    )


def translate_lines(
    translator: Translator,
    windows: Iterable[Sequence[str]],
    config: SearchConfig,
    notice: Callable[[str], None],
    *,
    ordered: bool = True,
) -> Iterator[NumberedTranslation]:
    """Yield the translation of each line with its number, as soon as it and those before it are done.

    Args:
        translator: The model.
        windows: Lines that are translated together.
        config: Settings of the search.
        notice: Is told of each line that was translated in parts and, at the end, of cut outputs.
        ordered: Whether a line waits for those before it; else any line of a window that is done is next.
    """
    first, num_cut = 1, 0
    first_cut: list[int] = []
    for window in windows:
        found = translator.translate_each(window, config)
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
