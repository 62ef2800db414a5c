"""Line charts as SVG: part of a page, without a library and without a network.

The colors ``--ink``, ``--faint`` and ``--line-0`` to ``--line-5`` are those of the page that shows them.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT = 520, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 26, 34
_LETTER, _NAME_ROW = 7, 16
"""Width of a letter, about, and height of a row of names below a chart."""

_MOST_POINTS = 300

MOST_LINES = 6
"""Of one chart: so many colors are far enough from each other."""

_LEAST_SPAN = 0.05
"""Of the greatest value: smaller differences are not blown up to the height of a chart."""

_MOST_MARKED = 60
"""Points of a line that are marked one by one, with their values to be read under the pointer."""


class Line(NamedTuple):
    """Points joined to a line."""

    name: str
    points: Sequence[tuple[float, float]]
    """x and y, finite, in the order of x."""


def line_chart(title: str, lines: Sequence[Line], *, x_name: str) -> str:
    """Return a chart as an SVG element, or nothing where no line has a point.

    Args:
        title: What stands above it, and is read aloud.
        lines: At most ``MOST_LINES``.
        x_name: What is counted from left to right.
    """
    lines = [Line(name, _thinned(points)) for name, points in lines if points]
    if not lines:
        return ""
    names = _places_of_names([line.name for line in lines]) if len(lines) > 1 else []
    bottom = _HEIGHT - _BOTTOM
    height = _HEIGHT + (_NAME_ROW * (names[-1][1] + 1) if names else 0)
    x_axis = _Axis.of([x for line in lines for x, _ in line.points], _LEFT, _WIDTH - _RIGHT)
    y_axis = _Axis.of([y for line in lines for _, y in line.points], bottom, _TOP)
    parts = [
        f'<svg role="img" viewBox="0 0 {_WIDTH} {height}" xmlns="http://www.w3.org/2000/svg">',
        f"<title>{escape(title)}</title>",
        f'<text x="{_LEFT}" y="15" fill="var(--ink)" font-weight="600">{escape(title)}</text>',
    ]
    for tick in y_axis.ticks():
        y = y_axis.place(tick)
        parts.append(
            f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="var(--faint)"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="var(--ink)">'
            f"{_number(tick)}</text>"
        )
    for tick in x_axis.ticks():
        x = x_axis.place(tick)
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - 18}" text-anchor="middle" fill="var(--ink)">'
            f"{_number(tick)}</text>"
        )
    parts.append(
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 3}" text-anchor="end" fill="var(--ink)">'
        f"{escape(x_name)}</text>"
    )
    for number, line in enumerate(lines):
        parts += _drawn(line, number, x_axis, y_axis)
    parts += [
        f'<text x="{x}" y="{_HEIGHT + 12 + _NAME_ROW * row}" fill="var(--line-{number})">'
        f"{escape(lines[number].name)}</text>"
        for number, (x, row) in enumerate(names)
    ]
    return "".join([*parts, "</svg>"])


class _Axis(NamedTuple):
    """Values, and where they stand."""

    low: float
    high: float
    first: float
    last: float

    @classmethod
    def of(cls, values: Sequence[float], first: float, last: float) -> "_Axis":
        low, high = min(values), max(values)
        lacking = max(_LEAST_SPAN * max(abs(low), abs(high)), 1e-9) - (high - low)
        if lacking > 0:
            low, high = low - lacking / 2, high + lacking / 2
        return cls(low, high, first, last)

    def place(self, value: float) -> float:
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)

    def ticks(self) -> list[float]:
        """Return three to eight round values."""
        most = (self.high - self.low) / 3
        unit = 10.0 ** math.floor(math.log10(most))
        step = max(unit * factor for factor in (0.5, 1, 2, 5) if unit * factor <= most)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(first, last + 1)]


def _places_of_names(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return where names stand below a chart, side by side in rows: x, and the row from 0."""
    places, x, row = [], _LEFT, 0
    for name in names:
        width = _LETTER * len(name) + 2 * _LETTER
        if x > _LEFT and x + width > _WIDTH:
            x, row = _LEFT, row + 1
        places.append((x, row))
        x += width
    return places


def _drawn(line: Line, number: int, x_axis: _Axis, y_axis: _Axis) -> list[str]:
    """Return a line with its marks."""
    color = f"var(--line-{number})"
    places = [(x_axis.place(x), y_axis.place(y)) for x, y in line.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    parts = [f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="1.6"/>']
    if len(places) <= _MOST_MARKED:
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}">'
            f"<title>{escape(line.name)} {_number(value)} at {_number(at)}</title></circle>"
            for (x, y), (at, value) in zip(places, line.points, strict=True)
        ]
    return parts


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points, or where they are too many the means of neighbors."""
    if len(points) <= _MOST_POINTS:
        return list(points)
    size = -(-len(points) // _MOST_POINTS)
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group)) for group in groups
    ]


def _number(value: float) -> str:
    """Return a number as short as a reader needs it."""
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
