"""Line charts: whole, readable SVG, whatever is drawn."""

import math
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.visualize.charts import Line, line_chart

SVG = "{http://www.w3.org/2000/svg}"
FINITE = st.floats(-1e12, 1e12, allow_nan=False)


def path_of(chart: str) -> list[tuple[float, float]]:
    """Return the places of the first line."""
    element = next(path for path in ElementTree.fromstring(chart).iter(f"{SVG}path") if path.get("fill"))
    return [
        (float(x), float(y)) for x, y in (place.split() for place in str(element.get("d"))[1:].split("L"))
    ]


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=20))
def test_every_line_stays_inside_its_chart(points: list[tuple[float, float]]) -> None:
    """Whatever the numbers, the chart is XML, and no point lies outside of it."""
    places = path_of(line_chart("t", [Line("n", sorted(points))], x_name="step"))

    assert len(places) == len(points)
    assert all(0 <= x <= 520 and 0 <= y <= 240 for x, y in places)


def test_greater_values_stand_higher_and_later_ones_to_the_right() -> None:
    """The picture shows the order of the numbers."""
    places = path_of(line_chart("t", [Line("n", [(1, 5.0), (2, 3.0), (3, 9.0)])], x_name="step"))

    assert sorted(x for x, _ in places) == [x for x, _ in places]
    assert places[2][1] < places[0][1] < places[1][1]


@given(st.tuples(FINITE, FINITE))
@example((0.0, 5e-324))
@example((0.0, 0.3))
def test_every_axis_has_some_numbers(values: tuple[float, float]) -> None:
    """Between two values lie three to eight round numbers, as a reader needs them."""
    chart = line_chart("t", [Line("n", [(1, values[0]), (2, values[1])])], x_name="step")
    texts = [element.get("text-anchor") for element in ElementTree.fromstring(chart).iter(f"{SVG}text")]

    assert 3 <= texts.count("middle") <= 8
    assert 3 <= texts.count("end") - 1 <= 8


def test_many_points_become_means() -> None:
    """A long run is drawn with some hundred points, each the mean of neighbors."""
    points = [(float(step), math.sin(step / 50)) for step in range(6_000)]
    places = path_of(line_chart("t", [Line("n", points)], x_name="step"))

    assert 200 <= len(places) <= 300


def test_what_is_named_is_escaped() -> None:
    """Names are text and never markup."""
    chart = line_chart("<b>&", [Line("<i>", [(1, 2.0)]), Line('"', [(1, 3.0)])], x_name="</svg>")

    assert ElementTree.fromstring(chart).findtext(f"{SVG}title") == "<b>&"


@pytest.mark.parametrize("lines", [[], [Line("n", [])]])
def test_nothing_is_drawn_of_nothing(lines: list[Line]) -> None:
    """Where there is no point there is no chart."""
    assert line_chart("t", lines, x_name="step") == ""
