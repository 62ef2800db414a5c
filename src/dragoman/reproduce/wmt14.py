"""The paper's corpora, obtained: WMT 2014 for training, newstest 2013 and 2014 to choose and to score.

Training pairs come through mtdata, an optional package, which knows where each corpus lies and keeps what it
has downloaded; the test sets come through sacrebleu. Each step is made once: what is there is not obtained
again.

Source: Vaswani et al. (2017), §5.1 and §6.1.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from dragoman.errors import CorpusError, MissingDependencyError
from dragoman.reproduce.texts import Texts
from dragoman.storage.durable import replace_durably

LANGUAGES: Mapping[str, str] = {"de": "deu", "fr": "fra"}
"""Target languages of the paper, as mtdata writes them."""

CORPORA: Mapping[str, Sequence[str]] = {
    "de": (
        "Statmt-europarl_wmt13-7-deu-eng",
        "Statmt-commoncrawl_wmt13-1-deu-eng",
        "Statmt-news_commentary_wmt18-13-deu-eng",
    ),
    "fr": (
        "Statmt-europarl_wmt13-7-fra-eng",
        "Statmt-commoncrawl_wmt13-1-fra-eng",
        "OPUS-multiun-v1-eng-fra",
        "OPUS-news_commentary-v11-eng-fra",
        "OPUS-giga_fren-v2-eng-fra",
    ),
}
"""Training corpora. News Commentary is a later version than that of 2014, the nearest that mtdata has."""

TEST_SETS = {"dev": "wmt13", "test": "wmt14/full"}
"""sacrebleu's names of newstest 2013 and 2014."""

Run = Callable[[Sequence[str]], int]


def _run(command: Sequence[str]) -> int:
    return subprocess.run(command, check=False).returncode


def obtain(folder: Path, target: str, told: Callable[[str], None], *, run: Run | None = None) -> Texts:
    """Return the paper's texts, downloaded into a folder unless they are there.

    Args:
        folder: Made if it does not exist.
        target: ``de`` or ``fr``.
        told: Hears what is downloaded.
        run: Runs a command and returns its exit code; left out, as a process of its own.

    Raises:
        MissingDependencyError: mtdata is not installed.
        CorpusError: A download has failed.
    """
    train = [folder / f"train.{language}" for language in ("eng", LANGUAGES[target])]
    if not all(path.exists() for path in train):
        if find_spec("mtdata") is None:
            raise MissingDependencyError(
                "the paper's corpora are obtained by mtdata, which is not installed",
                hint="install it with 'pip install \"dragoman[wmt]\"', or name pairs by --corpus and --dev",
            )
        told(f"downloading {len(CORPORA[target])} corpora of WMT 2014, some gigabytes")
        pair, own = f"eng-{LANGUAGES[target]}", folder / "mtdata"  # stopped while it merges, it leaves parts
        command = [sys.executable, "-m", "mtdata", "get", "--langs", pair, "--out", str(own), "--merge"]
        code = (run or _run)([*command, "--train", *CORPORA[target]])
        merged = [own / path.name for path in train]
        if code or not all(path.exists() for path in merged):
            raise CorpusError(
                f"mtdata ended with {code} and has not written {merged[0]} and {merged[1]}",
                hint="look at what it said above; the same command goes on with what is missing",
            )
        for made, path in zip(merged, train, strict=True):
            made.replace(path)
    files = {part: [folder / f"{part}.{side}" for side in ("en", target)] for part in TEST_SETS}
    for part, paths in files.items():
        if not all(path.exists() for path in paths):
            told(f"downloading {TEST_SETS[part]}")
            _test_set(TEST_SETS[part], target, paths)
    return Texts(
        train=train,
        dev=files["dev"],
        tests=[files["test"]],
        about=f"WMT 2014, English to {'German' if target == 'de' else 'French'}",
        is_paper=True,
    )


def _test_set(name: str, target: str, paths: Sequence[Path]) -> None:
    from sacrebleu.utils import get_reference_files, get_source_file

    pair = f"en-{target}"
    try:
        found = [get_source_file(name, pair), *get_reference_files(name, pair)]
        for given, path in zip(found, paths, strict=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_durably(path, Path(given).read_bytes())
    except (OSError, SystemExit) as error:
        raise CorpusError(
            f"the test set {name} cannot be downloaded: {error}",
            hint="check the network, or name the pairs with --dev and --test",
        ) from error
