"""Charts as inline SVG: bars with their intervals, from left to right. They need no library, script or font.

Colours and sizes are attributes, which a style sheet may override by the classes: a chart looks right in a notebook, in
a report that is sent on, and on a page that allows no styles inside of elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import Any, Final

from lastbit.output.numbers import Format, Interval, format_column
from lastbit.output.picture import Panel
from lastbit.output.table import display_width, one_line

MOST_BARS: Final = 60
_LONGEST: Final = 28
"""Characters of a label; a longer one ends with an ellipsis, and its title is whole."""
_WIDE, _ROW, _LETTER = 640, 26, 7.2
_FURTHEST: Final = 1e300
_BLUE, _OTHER = "#3b6fd4", "#c2570c"


def chart(panels: Sequence[Panel], title: str) -> str:
    """Draw the panels below each other, as one SVG element.

    >>> svg = chart([Panel("people", ["flu", "<b>"], [12, 5], "item", [(10, 14), None])], "two & more")
    >>> svg.startswith('<svg class="chart" role="img" aria-label="two &amp; more: flu 12, &lt;b&gt; 5"')
    True
    """
    parts, top, descriptions = [], 0.0, []
    for panel in panels:
        rows = _rows(panel)
        descriptions += [f"{label} {value}" for label, value, *_ in rows]
        svg, height = _panel(panel, rows, top)
        parts.append(svg)
        top += height
    return _svg(parts, top, f"{title}: {', '.join(descriptions)}")


def draw_pairs(labels: Sequence[object], first: Sequence[Any], second: Sequence[Any], names: tuple[str, str]) -> str:
    """Draw two lists of numbers of the same labels in pairs of bars: the laws of two neighbours.

    >>> likely, rare = Fraction(2, 3), Fraction(1, 3)
    >>> draw_pairs(["0", "1"], [likely, rare], [rare, likely], ("a", "b")).count("<rect")
    6
    """
    short_labels = [_shorten(one_line(label)) for label in labels[:MOST_BARS]]
    left, room = _room(short_labels, format_column([*first, *second]))
    most = max((_float(value) for value in (*first, *second)), default=1.0) or 1.0
    parts, top = [], 26.0
    for place, name in enumerate(names):
        x = left + place * (room / 2)
        parts.append(f'<rect class="{_mark(place)}" x="{x:.1f}" y="6" width="12" height="12" fill="{_colour(place)}"/>')
        parts.append(_text(x + 18, 16, name))
    for place, label in enumerate(short_labels):
        parts.append(_text(left - 8, top + 16, label, "end", title=str(labels[place])))
        for which, numbers in enumerate((first, second)):
            long = max(0.0, _float(numbers[place]) / most * room)
            mark = f'class="{_mark(which)}" fill="{_colour(which)}"'
            parts.append(f'<rect {mark} x="{left}" y="{top + 2 + 10 * which:.1f}" width="{long:.1f}" height="9"/>')
            parts.append(_text(left + long + 4, top + 10.5 + 10 * which, format_column([numbers[place]])[0], size=9))
        top += _ROW
    return _svg(parts, top + 4, f"{names[0]} and {names[1]}")


def draw_budget(spent: Any, more: Any, limit: Any, label: str) -> str:
    """Draw a budget as one bar: what is spent, what one more release takes, and what is left.

    >>> draw_budget(1, Fraction(1, 2), 3, "1 of 3 spent").count("<rect")
    3
    """
    whole = _float(limit) or 1.0
    first = min(1.0, max(0.0, _float(spent) / whole)) * _WIDE
    second = min(_WIDE - first, max(0.0, _float(more) / whole) * _WIDE)
    parts = [
        f'<rect class="left" width="{_WIDE}" height="14" rx="4" fill="currentColor" fill-opacity="0.14"/>',
        f'<rect class="bar" width="{first:.1f}" height="14" rx="4" fill="{_BLUE}"/>',
        f'<rect class="bar other" x="{first:.1f}" width="{second:.1f}" height="14" fill="{_OTHER}"/>',
    ]
    return _svg(parts, 14, label)


def _rows(panel: Panel) -> list[tuple[str, str, float | None, float, Interval | None]]:
    """Return for each bar its label, its number in words, its length, where it begins, and its interval."""
    n = min(len(panel.heights), MOST_BARS)
    intervals = [*panel.intervals, *[None] * n][:n]
    numbers = format_column(panel.heights[:n], intervals)
    return [
        (
            one_line(panel.labels[place]),
            numbers[place],
            None if panel.heights[place] is None else _float(panel.heights[place]),
            _float(panel.bottoms[place]) if place < len(panel.bottoms) else 0.0,
            intervals[place],
        )
        for place in range(n)
    ]


def _panel(panel: Panel, rows: list[Any], top: float) -> tuple[str, float]:
    short_labels = [_shorten(label) for label, *_ in rows]
    left, room = _room(short_labels, [value for _, value, *_ in rows])
    spots = [0.0]
    for _, _, long, start, interval in rows:
        spots += [] if long is None else [start, start + long]
        spots += [start + _float(end) for end in interval or () if end is not None]
    low, high = min(spots), max(spots)
    reach = (high - low) or 1.0

    def x(value: float) -> float:
        return left + (value - low) / reach * room

    below = len(panel.heights) - len(rows)
    more = f" (the first {len(rows):,} of {len(panel.heights):,})" if below else ""
    parts = [_text(left, top + 14, f"{panel.name}{more}", weight="600")]
    head, foot = top + 24, top + 24 + len(rows) * _ROW
    for tick, words in _ticks(low, high):
        parts.append(
            f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{head:.1f}" y2="{foot:.1f}" '
            'stroke="currentColor" stroke-opacity="0.18"/>'
        )
        parts.append(_text(x(tick), foot + 14, words, "middle", size=10))
    for place, (label, value, long, start, interval) in enumerate(rows):
        y = head + place * _ROW
        parts.append(_text(left - 8, y + 17, short_labels[place], "end", title=label))
        far = x(0)
        if long is not None:
            a, b = sorted((x(start), x(start + long)))
            far = b
            parts.append(
                f'<rect class="bar" x="{a:.1f}" y="{y + 5:.1f}" width="{max(b - a, 1):.1f}" height="16" rx="2" '
                f'fill="{_BLUE}"/>'
            )
        if interval is not None:
            whisker, end = _whisker(interval, start, x, (left, left + room), y + 13)
            parts.append(whisker)
            far = max(far, end)
        parts.append(_text(min(far + 6, _WIDE - 4), y + 17, value, "start" if far + 6 < _WIDE - 4 else "end", size=11))
    parts.append(
        f'<line class="axis" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{head:.1f}" y2="{foot:.1f}" stroke="currentColor"/>'
    )
    return "".join(parts), foot + 24 - top


def _whisker(interval: Interval, start: float, x: Any, edges: tuple[float, float], y: float) -> tuple[str, float]:
    """Return the interval of a bar. One without an end goes on to the edge of the chart."""
    ends = [
        edge if end is None else min(max(x(start + _float(end)), edges[0]), edges[1])
        for end, edge in zip(interval, edges, strict=True)
    ]
    caps = "".join(f"M{spot:.1f} {y - 5:.1f}v10" for spot, end in zip(ends, interval, strict=True) if end is not None)
    path = f"M{ends[0]:.1f} {y:.1f}H{ends[1]:.1f}{caps}"
    return f'<path class="interval" d="{path}" fill="none" stroke="currentColor" stroke-width="1.5"/>', ends[1]


def _room(labels: Sequence[str], numbers: Sequence[str]) -> tuple[float, float]:
    """Return where the bars begin, and how long the longest may be."""
    left = min(max((display_width(label) for label in labels), default=0) * _LETTER + 14, 0.42 * _WIDE)
    right = max((len(number) for number in numbers), default=0) * 6.4 + 16
    return round(left, 1), _WIDE - left - right


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return a few round numbers between the ends."""
    reach = high - low
    if reach <= 0 or not math.isfinite(reach):
        return []
    step = 10.0 ** math.floor(math.log10(reach / 4))
    step = next(step * factor for factor in (1, 2, 5, 10, 20) if reach / (step * factor) <= 5)
    first = math.ceil(low / step)
    ticks = [Fraction(str(step)) * place for place in range(first, math.floor(high / step) + 1)]
    form = Format.of(ticks)
    return [(float(tick), form.text(tick)) for tick in ticks]


def _text(
    x: float, y: float, words: str, anchor: str = "start", *, size: int = 12, weight: str = "", title: str = ""
) -> str:
    whole = f"<title>{escape(title)}</title>" if title and title != words else ""
    bold = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{bold}>{escape(words)}{whole}</text>'
    )


def _svg(parts: Sequence[str], height: float, label: str) -> str:
    return (
        f'<svg class="chart" role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDE} {height:.0f}" '
        f'width="{_WIDE}" height="{height:.0f}" font-family="system-ui, sans-serif" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


def _mark(place: int) -> str:
    return "bar" if place == 0 else "bar other"


def _colour(place: int) -> str:
    return _BLUE if place == 0 else _OTHER


def _shorten(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _float(value: Any) -> float:
    """Return a number as a float: where none is as large, the largest that is drawn."""
    try:
        return max(-_FURTHEST, min(_FURTHEST, float(value)))
    except OverflowError:
        return _FURTHEST if value > 0 else -_FURTHEST
