"""What is read off an explanation, and its page and figures as text."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from dragoman.errors import MissingDependencyError, UsageError
from dragoman.visualize.attention_figure import View, attention_png, attention_svg, head_color
from dragoman.visualize.explanation import align_words, far_reaching, shown, words_in, words_of
from dragoman.visualize.explanation_page import explanation_json, explanation_page, thousandths
from explanations import made, uniform

SOURCE = ("▁the", "▁sea", "gull", "▁fli", "es", "</s>")
TARGET = ("▁die", "▁Mö", "we", "▁fliegt", "</s>")


def test_words_are_put_together_from_pieces() -> None:
    """A sign of a space begins a word; the end of the sentence is one by itself."""
    assert words_of(SOURCE) == [0, 1, 1, 2, 2, 3]
    assert words_in(SOURCE) == ["the", "seagull", "flies", "</s>"]


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        ("▁boat", "boat"),
        ("<0xC3><0xA4>", "ä"),
        ("<0x0A>", "<0x0A>"),
        ("<0xC3>", "<0xC3>"),
        ("▁", "␣"),
        (" \t", "␣"),
        ("", "∅"),
        ("\u202eabc", "�abc"),
    ],
)
def test_every_piece_can_be_seen(piece: str, text: str) -> None:
    """Bytes are spelled where they spell something, and nothing is invisible or turns a page around."""
    assert shown(piece) == text


def test_the_head_that_spans_farthest_comes_first() -> None:
    """Distances are weighted by attention, over all pieces of the word; looking at the end is no distance."""
    encoder = uniform(2, 2, 6, 6)
    encoder[:] = np.eye(6, dtype=np.float32)
    encoder[1, 0, 3:5] = np.eye(6, dtype=np.float32)[[0, 0]]
    encoder[0, 1, 3:5] = np.eye(6, dtype=np.float32)[[5, 5]]
    far, *others = far_reaching(made(SOURCE, TARGET, encoder=encoder), "flies")

    assert (far.layer, far.head, far.target, far.weight) == (2, 1, "▁the", 1.0)
    assert far.distance == 3.5
    assert [one.distance for one in others] == [0.0, 0.0, 0.0]


def test_a_word_that_is_not_there_is_named_with_those_that_are() -> None:
    """The message tells the words of the sentence."""
    with pytest.raises(UsageError, match="the word 'boat' is not in the source") as error:
        far_reaching(made(SOURCE, TARGET), "boat")

    assert error.value.hint == "its words are the seagull flies"


def test_words_are_aligned_by_where_their_pieces_look() -> None:
    """Weights are summed over a source word and averaged over a target word; the end aligns nothing."""
    cross = np.zeros((2, 1, 5, 6), np.float32)
    cross[1, 0, 0] = [0.4, 0.3, 0.3, 0, 0, 0]  # the two halves of "seagull" together outweigh "the"
    cross[1, 0, 1] = [0.9, 0.1, 0, 0, 0, 0]
    cross[1, 0, 2] = [0, 0, 1, 0, 0, 0]
    cross[1, 0, 3] = [0, 0, 0, 0.1, 0.2, 0.7]
    found = made(SOURCE, TARGET, cross=cross, heads=1)

    assert align_words(found, layer=2) == [(1, 0), (1, 1)]


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.append(tag)


def page_of(source: tuple[str, ...], about: str = "A model.") -> str:
    return explanation_page(made(source, TARGET), about=about, first=("encoder", 1, (1,)))


def test_no_text_becomes_markup() -> None:
    """S61: a page about markup has the same elements as any other, and its data come back whole."""
    pieces = ("▁<script>alert(1)</script>", "▁</td>", "▁<!--", "▁a&b", '▁"', "</s>")
    plain, strange = (_Elements() for _ in range(2))
    plain.feed(page_of(SOURCE))
    page = page_of(pieces, about="<img src=x onerror=alert(2)>")
    strange.feed(page)
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)

    assert strange.names == plain.names
    assert json.loads(data)["kinds"]["encoder"]["rows"] == [shown(piece) for piece in pieces]


def test_each_head_has_a_color_of_its_own() -> None:
    """Also in a model of 32 heads, as in Table 3; the page and the figures have the same."""
    colors = [head_color(head) for head in range(32)]
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page_of(SOURCE))
    num_heads = made(SOURCE, TARGET).weights("encoder").shape[1]

    assert len(set(colors)) == 32
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in colors)
    assert json.loads(data)["colors"] == colors[:num_heads]


def test_a_page_asks_for_nothing() -> None:
    """It holds no address and forbids every load."""
    page = page_of(SOURCE)

    assert "default-src 'none'" in page
    assert re.findall(r"(?:src|href)=|@import|url\(", page) == []
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {
        "http://www.w3.org/2000/svg"
    }  # a name, not a place


def test_json_has_every_weight() -> None:
    """All numbers come back as they were."""
    explanation = made(SOURCE, TARGET)
    found = json.loads(explanation_json(explanation))

    assert found["source_pieces"] == list(SOURCE)
    assert found["attention"]["decoder"]["columns"] == ["<s>", *TARGET[:-1]]
    np.testing.assert_array_equal(
        np.asarray(found["attention"]["cross"]["weights"], np.float32), explanation.cross
    )


def test_a_figure_has_a_line_for_each_weight_of_its_heads() -> None:
    """Both rows of words stand in it, escaped; a word alone has its own lines."""
    explanation = made(("▁<b>", "▁sea", "gull", "</s>"), TARGET)
    whole = attention_svg(explanation, View("encoder", 1, (1, 3)))
    one = attention_svg(explanation, View("encoder", 1, (1,), "seagull"))

    assert whole.count("<line ") == 2 * 4 * 4
    assert one.count("<line ") == 2 * 4
    assert whole.count("&lt;b&gt;") == 2
    assert whole.startswith("<svg ")


def test_a_png_is_a_picture_of_the_same_size() -> None:
    """It is as wide as the SVG, in dots."""
    pytest.importorskip("matplotlib")
    explanation = made(SOURCE, TARGET)
    view = View("cross", 1, (1, 2))
    found = attention_png(explanation, view, dots_per_inch=72)
    width = int.from_bytes(found[16:20], "big")

    assert found.startswith(b"\x89PNG")
    assert f'width="{width}"' in attention_svg(explanation, view)


def test_without_matplotlib_a_png_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """And that SVG needs nothing."""
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingDependencyError, match="a PNG image needs matplotlib") as error:
        attention_png(made(SOURCE, TARGET), View("cross", 1, (1,)))

    assert "dragoman[plots]" in str(error.value.hint)
    assert "SVG" in str(error.value.hint)


@pytest.mark.parametrize("num_columns", [1, 3, 16, 600])
def test_the_rows_of_a_page_have_the_sum_one(num_columns: int) -> None:
    """S61: weights in thousandths are each near their own, and together exactly a thousand."""
    drawn = np.random.default_rng(num_columns).exponential(size=(2, 3, 5, num_columns))
    weights = (drawn / drawn.sum(axis=-1, keepdims=True)).astype(np.float32)
    equal = np.full((1, 1, 2, num_columns), 1 / num_columns, dtype=np.float32)
    for exact in (weights, equal):
        rounded = thousandths(exact)

        assert (rounded.sum(axis=-1) == 1_000).all()
        assert np.abs(rounded - exact * 1_000).max() < 1
