"""How good a model's translations are, or those of any system, against references."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.choice import PLAIN, Choice
from dragoman.config import SearchConfig
from dragoman.errors import CorpusError, ScoreError, UsageError
from dragoman.evaluate import Comparison, Score, Scores, compare, paper_bleu, score
from dragoman.run.choices import check_choice
from dragoman.run.formats import one_line
from dragoman.run.output import check_output, whole_file
from dragoman.run.translation import search_settings, translate_lines
from dragoman.text import STANDARD_INPUT, Corpus, Pair, display_name, read_lines
from dragoman.translator import WINDOW, Text, Translator

File = Path | str


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """How to evaluate."""

    tokenized: bool | None = None
    """The texts are tokens parted by spaces, and BLEU counts them as they are; left out, as the model was
    trained."""
    ter: bool = True
    """Whether to measure TER, which takes about three times as long as the rest together."""
    paper_bleu: bool = False
    """Whether to add the paper's BLEU: tokens as they stand, compounds split."""
    baseline: File | None = None
    """Outputs of another system; the difference is tested by paired bootstrap resampling."""
    output: Path | None = None
    """Where to keep the translations."""
    beam_size: int | None = None
    """Left out, the model's own, as the next two."""
    length_penalty: float | None = None
    batch_tokens: int | None = None
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""
    precision: str = "auto"
    """``float32``, or on a processor ``bfloat16`` or ``int8``; ``auto`` is float32."""
    threads: int | None = None
    """Of the processor; left out, all that there are."""
    shortlist: bool | None = None
    """Whether only likely translations of the pieces of a source may come; left out, the model's own."""
    choice: Choice = PLAIN
    """What else is asked of outputs."""
    others: Sequence[File] = ()
    """Models that translate together with this one."""


@dataclass(frozen=True)
class Evaluation:
    """Scores, and what was asked for beside them."""

    scores: Scores
    paper_bleu: Score | None
    comparison: Comparison | None

    def lines(self) -> list[str]:
        """Return the report: each metric with its signature, counts of outputs, and the comparison."""
        others = [self.paper_bleu] if self.paper_bleu else []
        return self.scores.lines(others) + (self.comparison.lines() if self.comparison else [])

    def notices(self) -> list[str]:
        """Return what makes the scores doubtful."""
        return self.scores.notices()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, scores at full precision."""
        paper = self.paper_bleu
        return self.scores.as_dict() | {
            "paper_bleu": paper and {"name": paper.name, "value": paper.value, "signature": paper.signature},
            "comparison": self.comparison and self.comparison.as_dict(),
        }


def evaluate(
    model: Translator | File,
    source: File,
    references: Sequence[File] = (),
    options: EvaluateOptions | None = None,
    *,
    notice: Callable[[str], None] = lambda _: None,
    translated: Callable[[int, int], None] = lambda _done, _of: None,
) -> Evaluation:
    """Translate a file and score the translations.

    Args:
        model: A translator, or the folder of its model.
        source: The texts, one a line; without references, a file of pairs: source, tab, reference.
        references: One file for each reference set; line n of each translates line n of the source.
        options: How to evaluate.
        notice: Is told of long lines and cut outputs.
        translated: Is told how many lines are done, of how many.

    Raises:
        ScoreError: The files differ in their number of lines, or are empty; found before any work.
        CorpusError: A file cannot be read as lines of UTF-8.
        BundleError: The folder does not hold a whole model.
        UsageError: An option breaks a rule.
    """
    options = options or EvaluateOptions()
    _check_paths([source, *references], options)
    sources, sets, baseline = _read_all(source, references, options.baseline)
    translator = model if isinstance(model, Translator) else _load(model, options)
    config = _search_config(translator.config, options)
    hypotheses: list[str] = []
    num_cut = 0
    check_choice(options.choice, config)
    windows = [list(map(Text, sources[i : i + WINDOW])) for i in range(0, len(sources), WINDOW)]
    for number, one in translate_lines(translator, windows, config, notice, choice=options.choice):
        hypotheses.append(one_line(one.text))
        num_cut += not one.alternatives[0].finished
        translated(number, len(sources))
    if options.output is not None:
        with whole_file(options.output) as file:
            file.writelines(f"{text}\n" for text in hypotheses)
    trained_tokenized = translator.bundle.config.data.tokenized
    tokenized = trained_tokenized if options.tokenized is None else options.tokenized
    scores = score(hypotheses, sets, tokenized=tokenized, ter=options.ter, num_cut=num_cut)
    return _with_extras(scores, hypotheses, sets, baseline, options)


def _load(model: File, options: EvaluateOptions) -> Translator:
    return Translator.load(
        model,
        device=options.device,
        precision=options.precision,
        threads=options.threads,
        others=options.others,
    )


def evaluate_outputs(
    hypothesis: File, references: Sequence[File], options: EvaluateOptions | None = None
) -> Evaluation:
    """Score a file of outputs, of this or of any other system.

    Args:
        hypothesis: The outputs, one a line.
        references: One file for each reference set.
        options: How to evaluate; what concerns translating is not looked at.

    Raises:
        ScoreError: The files differ in their number of lines, or are empty.
        CorpusError: A file cannot be read as lines of UTF-8.
        UsageError: There is no reference.
    """
    if not references:
        raise UsageError("no reference was given; outputs are scored against at least one")
    options = options or EvaluateOptions()
    _check_paths([hypothesis, *references], options)
    hypotheses, sets, baseline = _read_all(hypothesis, references, options.baseline)
    scores = score(hypotheses, sets, tokenized=bool(options.tokenized), ter=options.ter)
    return _with_extras(scores, hypotheses, sets, baseline, options)


def _with_extras(
    scores: Scores,
    hypotheses: Sequence[str],
    sets: Sequence[Sequence[str]],
    baseline: Sequence[str] | None,
    options: EvaluateOptions,
) -> Evaluation:
    return Evaluation(
        scores,
        paper_bleu(hypotheses, sets) if options.paper_bleu else None,
        None if baseline is None else compare(baseline, hypotheses, sets),
    )


def _check_paths(files: Sequence[File], options: EvaluateOptions) -> None:
    read = [*files, *([options.baseline] if options.baseline is not None else [])]
    if sum(str(file) == STANDARD_INPUT for file in read) > 1:
        raise UsageError("standard input can be read only once", hint="name a file in place of one '-'")
    if options.output is not None:
        check_output(options.output, [Path(file) for file in read if str(file) != STANDARD_INPUT])


def _read_all(
    first: File, references: Sequence[File], baseline: File | None
) -> tuple[list[str], list[list[str]], list[str] | None]:
    """Return the lines of all files, equal in number."""
    if references:
        texts, sets = list(read_lines(first)), [list(read_lines(file)) for file in references]
    else:
        pairs = _pairs(first)
        texts, sets = [pair.source for pair in pairs], [[pair.target for pair in pairs]]
    others = list(zip(references, sets, strict=False))
    outputs = None if baseline is None else list(read_lines(baseline))
    if baseline is not None and outputs is not None:
        others.append((baseline, outputs))
    parted = {file: len(lines) for file, lines in others if len(lines) != len(texts)}
    if parted:
        counts = " and ".join(f"{display_name(file)} has {count:,}" for file, count in parted.items())
        raise ScoreError(
            f"{display_name(first)} has {len(texts):,} lines but {counts}; "
            "line n of each must belong to the same sentence",
            hint=f"find where they part with 'paste {first} {next(iter(parted))} | less'",
        )
    if not texts:
        raise ScoreError(
            f"{display_name(first)} is empty: there is nothing to score", hint="name a file with text"
        )
    return texts, sets, outputs


def _pairs(file: File) -> list[Pair]:
    """Return the pairs in a file.

    Raises:
        CorpusError: A line holds no pair; where the file holds trees, the hint says so.
    """
    try:
        return list(Corpus(Path(file), None).pairs())
    except CorpusError as error:
        if str(file) == STANDARD_INPUT or not next(read_lines(file), "").lstrip().startswith("("):
            raise
        raise CorpusError(
            f"{error.message}; and the model translates",
            hint="if these are trees, score them with a model that parses, or as --gold with --predicted",
        ) from None


def _search_config(own: SearchConfig, options: EvaluateOptions) -> SearchConfig:
    changes = {
        "beam_size": options.beam_size,
        "length_penalty": options.length_penalty,
        "batch_tokens": options.batch_tokens,
        "n_best": 1,
        "shortlist": options.shortlist,
    }
    return search_settings(own, changes)
