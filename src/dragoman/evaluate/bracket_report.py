"""Bracket scores as EVALB prints them, so that programs which read its output can read ours."""

from dragoman.evaluate.brackets import BracketScores, BracketSummary, SentenceScores

_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag",
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
)
_RULE = "=" * 76


def evalb_report(scores: BracketScores) -> list[str]:
    """Return the lines that EVALB prints: a row for each sentence, the sums, and both summaries.

    The layout is that of its version of 2006, which prints the F-measure. A row begins with the line of the
    gold tree, then its length and status: 0 valid, 1 error, 2 skipped. Where EVALB divides nothing by nothing
    and prints ``nan``, this prints 0.
    """
    return [
        *_HEAD,
        _RULE,
        *(_row(sentence) for sentence in scores.sentences),
        _RULE,
        _sums(scores.total),
        "=== Summary ===",
        *_summary("All", scores.total),
        *_summary(f"len<={scores.cutoff_length}", scores.short),
    ]


def _row(one: SentenceScores) -> str:
    return (
        f"{one.line:4}  {one.length:3}    {one.status:d}  {one.recall:6.2f} {one.precision:6.2f}"
        f"   {one.num_matched:3}    {one.num_gold:3}  {one.num_predicted:3}    {one.num_crossing:3}"
        f"   {one.num_words:4}  {one.num_correct_tags:4}   {one.tagging_accuracy:6.2f}"
    )


def _sums(total: BracketSummary) -> str:
    return (
        f"                {total.recall:6.2f} {total.precision:6.2f} {total.num_matched:6} "
        f"{total.num_gold:5} {total.num_predicted:5}  {total.num_crossing:5}"
        f"  {total.num_words:5} {total.num_correct_tags:5}   {total.tagging_accuracy:6.2f}"
    )


def _summary(title: str, sums: BracketSummary) -> list[str]:
    counts = (
        ("Number of sentence", sums.num_sentences),
        ("Number of Error sentence", sums.num_errors),
        ("Number of Skip  sentence", sums.num_skipped),
        ("Number of Valid sentence", sums.num_valid),
    )
    values = (
        ("Bracketing Recall", sums.recall),
        ("Bracketing Precision", sums.precision),
        ("Bracketing FMeasure", sums.f1),
        ("Complete match", sums.exact_match),
        ("Average crossing", sums.average_crossing),
        ("No crossing", sums.no_crossing),
        ("2 or less crossing", sums.two_or_fewer_crossing),
        ("Tagging accuracy", sums.tagging_accuracy),
    )
    return [
        "",
        f"-- {title} --",
        *(f"{name:<25} = {count:6}" for name, count in counts),
        *(f"{name:<25} = {value:6.2f}" for name, value in values),
    ]
