"""``dragoman reproduce`` by the real command line."""

import signal
from pathlib import Path

import pytest

from dragoman.cli import main

pytestmark = pytest.mark.untraced


def test_a_piece_is_repeated_and_shown_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Findings and the first table go to standard output, what is done to standard error."""
    out = tmp_path / "found"
    codes = [main(["reproduce", "table1", "--scale", "tiny", "--out", str(out)])]
    first = capsys.readouterr()
    codes.append(main(["reproduce", "table1", "--scale", "tiny", "--out", str(out)]))
    second = capsys.readouterr()

    assert codes == [0, 0]
    assert "agrees    a layer of self-attention costs n² · d" in first.out
    assert f"written to {out / 'report.html'}" in first.err
    assert second.out == first.out
    assert second.err == f"\nfound in {out / 'report.html'}\n"


def test_parameters_are_printed_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """All twenty rows, without training anything."""
    code = main(["reproduce", "table3", "--params"])
    rows = capsys.readouterr().out.splitlines()

    assert code == 0
    assert len(rows) == 21
    assert rows[1].split() == ["base", "40,960", "65,073,152", "65.07", "65"]


def test_a_stop_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nobody is asked for it, as beside trainings in other processes."""

    def stopped(_: object) -> None:
        (tmp_path / "found").mkdir()
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("dragoman.reproduce.reproduce", stopped)
    code = main(["reproduce", "table1", "--scale", "tiny", "--out", str(tmp_path / "found")])

    assert code == 130
    assert capsys.readouterr().err == "\nstopped\nwhat is through is kept; the same command goes on\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["table7"], "'table7' is not one of"),
        (["checks", "--params"], "--params is for table3"),
        (["table3", "--params", "--corpus", "a.tsv"], "--params trains nothing"),
        (["table4", "--scale", "tiny"], "table4 needs a treebank in three parts"),
        (["checks", "--corpus", "a.tsv"], "checks trains nothing on a corpus"),
    ],
)
def test_misuse_is_one_message(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit code 2, and without a traceback."""
    out = [] if "--params" in words else ["--out", str(tmp_path / "x")]
    code = main(["reproduce", *words, *out])
    said = capsys.readouterr()

    assert code == 2
    assert message in said.err
    assert said.out == ""
