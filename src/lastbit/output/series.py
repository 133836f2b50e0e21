"""A series in time as SVG: a line through the numbers, a band for the intervals, a darker one for the noise alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, Final

from lastbit.output.numbers import Interval
from lastbit.output.picture import EXPLANATION, MOST_POINTS, Panel
from lastbit.output.svg import WIDE, tick_marks, to_float, write_text
from lastbit.output.table import one_line

_TALL: Final = 220
_BLUE: Final = "#3b6fd4"
_LETTER: Final = 6.5
_LINE: Final = 14
"""A slanted label takes so much of the axis."""


def draw_series(panel: Panel, top: float) -> tuple[str, float]:
    """Draw the numbers from left to right, and return the elements and their height.

    >>> svg, height = draw_series(Panel("people", ["2024-01", "2024-02"], [5, 8], "month", [(3, 7), (6, 10)]), 0)
    >>> svg.count("<polygon"), svg.count("<polyline"), height > 200
    (1, 1, True)
    """
    n = min(len(panel.heights), MOST_POINTS)
    values = [None if value is None else to_float(value) for value in panel.heights[:n]]
    bands = [_band(panel.intervals, n), _band(panel.noise, n)]
    spots = [0.0, *(value for value in values if value is not None)]
    spots += [end for band in bands for _, low, high in band for end in (low, high) if end is not None]
    low, high = min(spots), max(spots)
    reach = (high - low) or 1.0
    marks = tick_marks(low, high)
    left = max((len(words) for _, words in marks), default=1) * _LETTER + 12
    foot = top + 26 + _TALL
    labels = [one_line(label) for label in panel.labels[:n]]
    longest = max(map(len, labels), default=0)
    margin = 10 + min(longest, 12) * _LETTER / 2
    step = (WIDE - left - 10 - margin) / max(n - 1, 1)

    def x(place: float) -> float:
        return left + 10 + place * step

    def y(value: float) -> float:
        return foot - (value - low) / reach * _TALL

    more = f" (the first {n:,} of {len(panel.heights):,})" if len(panel.heights) > n else ""
    parts = [write_text(left, top + 14, f"{panel.name}{more}", weight="600")]
    for mark, words in marks:
        stroke = 'stroke="currentColor" stroke-opacity="0.18"'
        parts.append(f'<line class="grid" x1="{left:.1f}" x2="{WIDE}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" {stroke}/>')
        parts.append(write_text(left - 6, y(mark) + 4, words, "end", size=10))
    for band, opacity in zip(bands, ("0.18", "0.35"), strict=True):
        parts += [_draw_band(run, x, y, (low, high), opacity) for run in _runs(band)]
    for run in _runs([(place, value, value) for place, value in enumerate(values) if value is not None]):
        points = " ".join(f"{x(place):.1f},{y(value or 0):.1f}" for place, value, _ in run)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{_BLUE}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(place):.1f}" cy="{y(value or 0):.1f}" r="3" fill="{_BLUE}"/>' for place, value, _ in run
        ]
    slanted = longest * _LETTER > step
    # Where labels would lie on each other, only some of the points have one.
    every = ceil(_LINE / step) if slanted and step else 1
    for place, label in list(enumerate(labels))[::every]:
        parts.append(_label(x(place), foot + 16, label, slanted=slanted))
    foot += 22 + (longest * _LETTER * 0.72 if slanted else 0)
    if bands[1]:
        parts.append(write_text(left, foot + 10, EXPLANATION, size=10))
        foot += 18
    return "".join(parts), foot + 6 - top


Point = tuple[int, float | None, float | None]


def _band(intervals: Sequence[Interval | None], n: int) -> list[Point]:
    return [
        (place, None if ends[0] is None else to_float(ends[0]), None if ends[1] is None else to_float(ends[1]))
        for place, ends in enumerate(intervals[:n])
        if ends is not None
    ]


def _runs(points: Sequence[Point]) -> list[list[Point]]:
    """Return points in runs of neighbours: where a number is missing, a line ends."""
    runs: list[list[Point]] = []
    for point in points:
        if runs and runs[-1][-1][0] == point[0] - 1:
            runs[-1].append(point)
        else:
            runs.append([point])
    return runs


def _draw_band(run: Sequence[Point], x: Any, y: Any, edges: tuple[float, float], opacity: str) -> str:
    """Draw one band. An interval without an end goes on to the edge of the chart."""
    above = [(place, edges[1] if high is None else high) for place, _, high in run]
    below = [(place, edges[0] if low is None else low) for place, low, _ in run]
    points = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in (*above, *reversed(below)))
    return f'<polygon class="band" points="{points}" fill="currentColor" fill-opacity="{opacity}"/>'


def _label(x: float, y: float, label: str, *, slanted: bool) -> str:
    if not slanted:
        return write_text(x, y, label, "middle", size=10)
    turned = write_text(0, 0, label, "end", size=10)
    return f'<g transform="translate({x:.1f} {y - 4:.1f}) rotate(-45)">{turned}</g>'
