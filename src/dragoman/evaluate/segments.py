"""What may be scored: outputs, and sets of references as long as they are."""

from collections.abc import Sequence

from dragoman.errors import ScoreError

References = Sequence[str] | Sequence[Sequence[str]]
"""One reference for each output, or several sets of them; each set is as long as the outputs."""


def reference_sets(hypotheses: Sequence[str], references: References) -> list[Sequence[str]]:
    """Return the references as a list of sets, each exactly as long as ``hypotheses``.

    The metrics pair outputs and references up to the shorter of the two, so that sets laid out the wrong way
    (a list for each sentence) would score the first sentences alone. Lengths are therefore compared here.

    Raises:
        TypeError: ``hypotheses`` is not a sequence of str, or ``references`` mixes texts and sets.
        ScoreError: There is nothing to score, or lengths differ.
    """
    check_texts(hypotheses, "hypotheses")
    if isinstance(references, str) or not isinstance(references, Sequence):
        raise TypeError(f"references must be a list of texts or of lists, not {type(references).__name__}")
    if not hypotheses or not references:
        raise ScoreError(
            f"nothing to score: {len(hypotheses):,} outputs and {len(references):,} references",
            hint="give at least one output and its reference",
        )
    texts = [one for one in references if isinstance(one, str)]
    if texts and len(texts) < len(references):
        raise TypeError("references mixes texts and lists; give texts, or one list for each reference set")
    sets: list[Sequence[str]] = [texts] if texts else [one for one in references if not isinstance(one, str)]
    for number, one_set in enumerate(sets, start=1):
        check_texts(one_set, f"reference set {number}")
        if len(one_set) != len(hypotheses):
            raise ScoreError(
                f"{len(hypotheses):,} outputs but {len(one_set):,} references in set {number} of "
                f"{len(sets):,}; text n of every set must translate the source of output n",
                hint="give one list for each reference set, as long as the outputs, not one for each output",
            )
    return sets


def check_texts(texts: Sequence[str], name: str) -> None:
    """Raise a TypeError that calls the argument ``name`` unless ``texts`` is a sequence of str."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise TypeError(f"{name} must be a list of texts, not {type(texts).__name__}")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a list of texts, but item {position} is {type(text).__name__}")
