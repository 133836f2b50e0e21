"""Charts as inline SVG: bars with their intervals, from left to right. They need no library, script or font.

Colours and sizes are attributes, which a style sheet may override by the classes: a chart looks right in a notebook, in
a report that is sent on, and on a page that allows no styles inside of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lastbit.output.grid import draw_grid
from lastbit.output.numbers import Interval, format_column
from lastbit.output.picture import EXPLANATION, UNCERTAIN, Panel, write_size
from lastbit.output.series import draw_series
from lastbit.output.svg import LINE, WIDE, break_label, tick_marks, to_float, write_svg, write_text
from lastbit.output.table import display_width, one_line

MOST_BARS: Final = 60
_ROW, _LETTER = 26, 7.2
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
        if panel.cells:
            svg, height = draw_grid(panel, top)
        else:
            svg, height = draw_series(panel, top) if panel.is_series else _panel(panel, rows, top)
        parts.append(svg)
        top += height
    return write_svg(parts, top, f"{title}: {', '.join(descriptions)}")


def draw_pairs(labels: Sequence[object], first: Sequence[Any], second: Sequence[Any], names: tuple[str, str]) -> str:
    """Draw two lists of numbers of the same labels in pairs of bars: the laws of two neighbours.

    >>> from fractions import Fraction
    >>> likely, rare = Fraction(2, 3), Fraction(1, 3)
    >>> draw_pairs(["0", "1"], [likely, rare], [rare, likely], ("a", "b")).count("<rect")
    6
    """
    short_labels = [break_label(one_line(label))[0] for label in labels[:MOST_BARS]]
    left, room = _room(short_labels, format_column([*first, *second]))
    most = max((to_float(value) for value in (*first, *second)), default=1.0) or 1.0
    parts, top = [], 26.0
    for place, name in enumerate(names):
        x = left + place * (room / 2)
        parts.append(f'<rect class="{_mark(place)}" x="{x:.1f}" y="6" width="12" height="12" fill="{_colour(place)}"/>')
        parts.append(write_text(x + 18, 16, name))
    for place, label in enumerate(short_labels):
        parts.append(write_text(left - 8, top + 16, label, "end", title=str(labels[place])))
        for which, numbers in enumerate((first, second)):
            long = max(0.0, to_float(numbers[place]) / most * room)
            mark = f'class="{_mark(which)}" fill="{_colour(which)}"'
            parts.append(f'<rect {mark} x="{left}" y="{top + 2 + 10 * which:.1f}" width="{long:.1f}" height="9"/>')
            parts.append(
                write_text(left + long + 4, top + 10.5 + 10 * which, format_column([numbers[place]])[0], size=9)
            )
        top += _ROW
    return write_svg(parts, top + 4, f"{names[0]} and {names[1]}")


def draw_budget(spent: Any, more: Any, limit: Any, label: str) -> str:
    """Draw a budget as one bar: what is spent, what one more release takes, and what is left.

    >>> draw_budget(1, 0.5, 3, "1 of 3 spent").count("<rect")
    3
    """
    whole = to_float(limit) or 1.0
    first = min(1.0, max(0.0, to_float(spent) / whole)) * WIDE
    second = min(WIDE - first, max(0.0, to_float(more) / whole) * WIDE)
    parts = [
        f'<rect class="left" width="{WIDE}" height="14" rx="4" fill="currentColor" fill-opacity="0.14"/>',
        f'<rect class="bar" width="{first:.1f}" height="14" rx="4" fill="{_BLUE}"/>',
        f'<rect class="bar other" x="{first:.1f}" width="{second:.1f}" height="14" fill="{_OTHER}"/>',
    ]
    return write_svg(parts, 14, label)


def _rows(panel: Panel) -> list[tuple[str, str, float | None, float, Interval | None]]:
    """Return for each bar its label, its number in words, its length, where it begins, and its interval."""
    n = min(len(panel.heights), MOST_BARS)
    intervals = [*panel.intervals, *[None] * n][:n]
    numbers = format_column(panel.heights[:n], intervals)
    return [
        (
            one_line(panel.labels[place]),
            numbers[place],
            None if panel.heights[place] is None else to_float(panel.heights[place]),
            to_float(panel.bottoms[place]) if place < len(panel.bottoms) else 0.0,
            intervals[place],
        )
        for place in range(n)
    ]


def _panel(panel: Panel, rows: list[Any], top: float) -> tuple[str, float]:
    lines = [break_label(label) for label, *_ in rows]
    sizes = list(map(write_size, panel.sizes[: len(rows)]))
    edge = max((len(text) for text in (*sizes, panel.size_name)), default=0) * 6.4 + 10 if sizes else 0.0
    left, room = _room([line for label in lines for line in label], [value for _, value, *_ in rows])
    room -= edge
    tall = max((len(label) for label in lines), default=1)
    height = max(_ROW, LINE * tall + 6)
    spots = [0.0]
    for _, _, long, start, interval in rows:
        spots += [] if long is None else [start, start + long]
        spots += [start + to_float(end) for end in interval or () if end is not None]
    low, high = 0.0 if panel.from_zero else min(spots), max(spots)
    high = high if panel.reach is None else max(high, to_float(panel.reach))
    reach = (high - low) or 1.0

    def x(value: float) -> float:
        return left + (value - low) / reach * room

    below = len(panel.heights) - len(rows)
    more = f" (the first {len(rows):,} of {len(panel.heights):,})" if below else ""
    name = ", ".join(filter(None, (panel.heading, panel.name)))
    parts = [write_text(left, top + 14, f"{name}{more}", weight="600")]
    if sizes:
        parts.append(write_text(WIDE - 2, top + 14, panel.size_name, "end", size=11))
    head, foot = top + 24, top + 24 + len(rows) * height
    for tick, words in tick_marks(low, high):
        parts.append(
            f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{head:.1f}" y2="{foot:.1f}" '
            'stroke="currentColor" stroke-opacity="0.18"/>'
        )
        parts.append(write_text(x(tick), foot + 14, words, "middle", size=10))
    for place, (label, value, long, start, interval) in enumerate(rows):
        y = head + place * height + (height - _ROW) / 2
        first = y + 17 - LINE * (len(lines[place]) - 1) / 2
        for number, line in enumerate(lines[place]):
            parts.append(write_text(left - 8, first + LINE * number, line, "end", title=label))
        far = x(0)
        if place < len(sizes):
            parts.append(write_text(WIDE - 2, y + 17, sizes[place], "end", size=11))
        if place < len(panel.reasons) and panel.reasons[place]:
            parts.append(_circle(x(max(low, 0.0)) + 8, y + 13, hollow=True))
            parts.append(write_text(x(max(low, 0.0)) + 18, y + 17, one_line(panel.reasons[place]), size=11))
            continue
        if long is not None and panel.is_points:
            far = x(start + long) + 5
        elif long is not None:
            a, b = sorted((x(start), x(start + long)))
            far = b
            parts.append(
                f'<rect class="bar" x="{a:.1f}" y="{y + 5:.1f}" width="{max(b - a, 1):.1f}" height="16" rx="2" '
                f'fill="{_BLUE}"/>'
            )
        noise = panel.noise[place] if place < len(panel.noise) else None
        if noise is not None:
            parts.append(_whisker(noise, start, x, (left, left + room), y + 13, width=5)[0])
        if interval is not None:
            whisker, end = _whisker(interval, start, x, (left, left + room), y + 13)
            parts.append(whisker)
            far = max(far, end)
        if long is not None and panel.is_points:
            parts.append(_circle(x(start + long), y + 13))
        parts.append(
            write_text(min(far + 6, WIDE - 4), y + 17, value, "start" if far + 6 < WIDE - 4 else "end", size=11)
        )
        if place in panel.doubts:
            parts.append(
                f'<line class="doubt" x1="{left}" x2="{left + room:.1f}" y1="{head + (place + 1) * height:.1f}" '
                f'y2="{head + (place + 1) * height:.1f}" stroke="currentColor" stroke-dasharray="5 4"/>'
            )
    parts.append(
        f'<line class="axis" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{head:.1f}" y2="{foot:.1f}" stroke="currentColor"/>'
    )
    explained = [EXPLANATION] if any(noise is not None for noise in panel.noise) else []
    for text in [*explained, *([UNCERTAIN] if panel.doubts else [])]:
        parts.append(write_text(left, foot + 30, text, size=10))
        foot += 16
    return "".join(parts), foot + 24 - top


def _circle(x: float, y: float, *, hollow: bool = False) -> str:
    fill = 'class="hollow" fill="none"' if hollow else f'class="bar" fill="{_BLUE}"'
    return f'<circle {fill} cx="{x:.1f}" cy="{y:.1f}" r="4.5" stroke="currentColor"/>'


def _whisker(
    interval: Interval, start: float, x: Any, edges: tuple[float, float], y: float, *, width: float = 1.5
) -> tuple[str, float]:
    """Return the interval of a bar. One without an end goes on to the edge of the chart."""
    ends = [
        edge if end is None else min(max(x(start + to_float(end)), edges[0]), edges[1])
        for end, edge in zip(interval, edges, strict=True)
    ]
    thin = width < 2
    caps = "".join(
        f"M{spot:.1f} {y - 5:.1f}v10" for spot, end in zip(ends, interval, strict=True) if end is not None and thin
    )
    path = f"M{ends[0]:.1f} {y:.1f}H{ends[1]:.1f}{caps}"
    return f'<path class="interval" d="{path}" fill="none" stroke="currentColor" stroke-width="{width}"/>', ends[1]


def _room(labels: Sequence[str], numbers: Sequence[str]) -> tuple[float, float]:
    """Return where the bars begin, and how long the longest may be."""
    left = min(max((display_width(label) for label in labels), default=0) * _LETTER + 14, 0.42 * WIDE)
    right = max((len(number) for number in numbers), default=0) * 6.4 + 16
    return round(left, 1), WIDE - left - right


def _mark(place: int) -> str:
    return "bar" if place == 0 else "bar other"


def _colour(place: int) -> str:
    return _BLUE if place == 0 else _OTHER
