"""The page of an explanation in a real browser: what is drawn, and what clicks, hovering and keys do."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from browser_pages import Browser, browsing
from built_models import copy_weights, save
from dragoman.cli import main
from dragoman.config import SearchConfig
from dragoman.visualize.explanation_page import explanation_page
from explanations import made, uniform
from text_samples import sentences, trained

SOURCE = ("▁the", "▁old", "▁boat", "▁sinks", "</s>")
TARGET = ("▁das", "▁alte", "▁Boot", "</s>")
LINES = (
    "[...document.querySelectorAll('#lines line')].filter((line) => line.style.display !== 'none')"
    ".map((line) => ({ ...line.dataset }))"
)

WORDS = "[...document.querySelectorAll('#figure [data-side=\"%d\"]')].map((one) => one.textContent)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    """A page in which head 2 of the encoder's first layer joins each piece to the one behind it alone."""
    encoder = uniform(2, 3, 5, 5)
    encoder[0, 1] = np.roll(np.eye(5, dtype=np.float32), 1, axis=1)
    explanation = made(SOURCE, TARGET, encoder=encoder)
    path = tmp_path / "page.html"
    path.write_text(
        explanation_page(explanation, about="A model.", first=("encoder", 1, (1, 2, 3))), encoding="utf-8"
    )
    browser.problems.clear()
    assert browser.open(path) == []
    return browser


def test_all_is_drawn_without_a_network(page: Browser) -> None:
    """Words, heads, small squares, alignment, probabilities and the beam are there, and no error is."""
    counts = {
        selector: page.run(f"document.querySelectorAll('{selector}').length")
        for selector in (
            "#figure .word",
            "button.head",
            "#overview canvas",
            "#alignment rect",
            "#candidates tr",
            "#beam text",
        )
    }

    assert list(counts.values()) == [10, 3, 6, 20, 4, 4]
    assert page.problems == []


def test_a_click_on_a_head_takes_its_lines_away_and_brings_them_back(page: Browser) -> None:
    """Lines are those of the chosen heads, and the button says which are."""
    page.click("#head-2")
    without = {line["head"] for line in page.run(LINES)}
    pressed = page.run("document.getElementById('head-2').getAttribute('aria-pressed')")
    page.click("#head-2")

    assert without == {"1", "3"}
    assert pressed == "false"
    assert {line["head"] for line in page.run(LINES)} == {"1", "2", "3"}


def test_a_small_square_shows_its_head_alone(page: Browser) -> None:
    """What is drawn then is exactly what the weights say."""
    page.click("#small-1-2")
    found = [(line["head"], int(line["row"]), int(line["column"])) for line in page.run(LINES)]

    assert found == [("2", row, (row + 1) % 5) for row in range(5)]


def test_hovering_over_a_word_shows_its_lines_alone(page: Browser) -> None:
    """The lines of other words come back when the pointer leaves; weights are told in numbers."""
    page.click("#small-1-2")
    page.hover('#figure [data-side="0"][data-index="2"]')
    hovered = [(line["row"], line["column"]) for line in page.run(LINES)]
    values = page.run(
        "[...document.querySelectorAll('#figure .value')].map((one) => one.textContent).join('')"
    )
    page.hover("h1")

    assert hovered == [("2", "3")]
    assert values == "1.00"
    assert len(page.run(LINES)) == 5


def test_a_click_keeps_a_word(page: Browser) -> None:
    """It stays when the pointer leaves, until it is clicked again."""
    page.click("#small-1-2")
    page.click('#figure [data-side="1"][data-index="0"]')
    page.hover("h1")
    kept = page.run(LINES)
    page.click('#figure [data-side="1"][data-index="0"]')
    page.hover("h1")

    assert [(line["row"], line["column"]) for line in kept] == [("4", "0")]
    assert len(page.run(LINES)) == 5


def test_the_keyboard_does_the_same(page: Browser) -> None:
    """Arrow keys go from word to word, Enter keeps one and Escape lets it go."""
    page.click("#small-1-2")
    page.run('document.querySelector(\'#figure [data-side="0"][data-index="0"]\').focus()')
    page.press("ArrowDown")
    moved = [line["row"] for line in page.run(LINES)]
    page.press("Enter")
    page.hover("h1")
    kept = [line["row"] for line in page.run(LINES)]
    page.press("Escape")

    assert moved == kept == ["1"]
    assert len(page.run(LINES)) == 5


def test_kinds_and_layers_change_the_words_and_the_weights(page: Browser) -> None:
    """Cross-attention has the output on the left; the second layer looks everywhere alike."""
    page.click("#kind-cross")
    rows = page.run(WORDS % 0)
    page.click("#kind-encoder")
    page.click("#layer-2")
    page.click("#small-2-2")

    assert rows == ["das", "alte", "Boot", "</s>"]
    assert len(page.run(LINES)) == 25


def test_words_stay_words(browser: Browser, shared: Path, tmp_path: Path) -> None:
    """S61: markup in pieces shows as text; nothing of it becomes an element, and nothing runs."""
    case = json.loads((shared / "cases" / "S61-attention-html" / "case.json").read_text(encoding="utf-8"))
    explanation = made([*case["source"], "</s>"], [*case["target"], "</s>"])
    path = tmp_path / "page.html"
    path.write_text(
        explanation_page(explanation, about="A <b>model</b>.", first=("cross", 1, (1, 2, 3))),
        encoding="utf-8",
    )
    asked = browser.open(path)
    columns = browser.run(WORDS % 1)
    rows = browser.run("document.querySelectorAll('#figure [data-side=\"0\"]').length")
    strange = browser.run("document.querySelectorAll('img, b.model, script').length")

    assert asked == []
    assert rows == 5
    assert columns[:2] == ["<script>alert(1)</script>", "a&b"]
    assert len(columns) == 11
    assert all(text.strip() for text in columns)
    assert strange == 2  # the page's own data and script


def test_a_translation_of_markup_stays_words(browser: Browser, tmp_path: Path) -> None:
    """S61: a model that copies such a text is explained by the command, and the page shows it as it is."""
    text, page = "<script>alert(1)</script> a&b </td> <img src=x onerror=alert(2)>", tmp_path / "page.html"
    tokenizer = trained(sentences(100), 400)
    model = save(tmp_path / "model", tokenizer, copy_weights(tokenizer), SearchConfig(beam_size=1))
    code = main(["explain", str(model), text, "--output", str(page)])
    asked = browser.open(page)
    shown = browser.run("[...document.querySelectorAll('.sentence span')].map((one) => one.textContent)")
    strange = browser.run("document.querySelectorAll('img, script').length")

    assert (code, asked) == (0, [])
    assert shown == [text, text]
    assert strange == 2  # the page's own data and script
