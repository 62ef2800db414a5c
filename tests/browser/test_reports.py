"""The reports of repeated pieces in a real browser, light and dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_pages import Browser, browsing
from dragoman.reproduce import Request, reproduce

COLORS = "['color', 'backgroundColor'].map((name) => getComputedStyle(document.body)[name])"
STROKES = "[...document.querySelectorAll('.charts path')].map((one) => getComputedStyle(one).stroke)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as found:
        yield found


def test_a_report_is_drawn_light_and_dark(browser: Browser, tmp_path: Path) -> None:
    """It loads nothing, shows its tables and plots, and ink and paper change places."""
    reproduce(Request(what="table1", out=tmp_path / "out", scale="tiny"))
    found = {}
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        asked = browser.open(tmp_path / "out" / "report.html")
        found[scheme] = browser.run(COLORS)
        strokes = browser.run(STROKES)
        assert asked == []
        assert len(set(strokes)) > 3
        assert found[scheme][1] not in strokes

    assert browser.run("document.querySelectorAll('.charts svg').length") == 6
    assert browser.run("document.querySelectorAll('table').length") >= 5
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.problems == []
    assert sum(map(int, found["light"][1][4:-1].split(","))) > 600
    assert sum(map(int, found["dark"][1][4:-1].split(","))) < 200
