"""A table of two columns as SVG: its numbers in cells, which are darker where a number is larger."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from textwrap import wrap
from typing import Any, Final

from lastbit.output.numbers import format_column
from lastbit.output.picture import Panel, grid_of, shade
from lastbit.output.svg import LINE, WIDE, break_label, write_text
from lastbit.output.table import display_width, one_line

_TALL: Final = 22
_LETTER: Final = 7.2
_DIGIT: Final = 6.4
_IN_A_LINE: Final = 100
"""Characters of a line of the legend."""
_SLANT: Final = 0.72


def draw_grid(panel: Panel, top: float) -> tuple[str, float]:
    """Draw the cells, and return the elements and their height. Columns that have no room stand below the others.

    >>> cells = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    >>> svg, height = draw_grid(Panel("people", ["a, x", "a, y", "b, x", "b, y"], [5, 8, 1, None], cells=cells), 0)
    >>> svg.count("<rect"), svg.count(">8<"), height > 40
    (4, 1, True)
    """
    down, across, places = grid_of(panel)
    numbers = format_column(panel.heights, panel.intervals)
    shades = shade(panel.heights)
    left = min(max(display_width(one_line(label)) for label in down) * _LETTER + 14, 0.42 * WIDE)
    widest = max((len(number) for number in numbers), default=0) * _DIGIT + 8
    wide = max(widest, 34.0)
    fit = max(1, int((WIDE - left) // wide))
    blocks = ceil(len(across) / fit)
    fit = ceil(len(across) / blocks)
    wide = min((WIDE - left) / fit, max(wide, 90.0))
    name = ", ".join(filter(None, (panel.heading, panel.name)))
    parts, y = [write_text(left, top + 14, name, weight="600")], top + 22
    for block in range(blocks):
        columns = across[block * fit : (block + 1) * fit]
        heads, tall = _draw_heads(columns, left, y, wide)
        parts.append(heads)
        y += tall
        for label in down:
            lines = break_label(one_line(label))
            high = max(_TALL, LINE * len(lines) + 4)
            first = y + high / 2 + 4 - LINE * (len(lines) - 1) / 2
            for number, line in enumerate(lines):
                parts.append(write_text(left - 8, first + LINE * number, line, "end", title=one_line(label)))
            for step, column in enumerate(columns):
                row = places.get((label, column))
                if row is None:
                    continue
                x = left + step * wide
                parts.append(
                    f'<rect class="cell" x="{x:.1f}" y="{y:.1f}" width="{wide - 1:.1f}" height="{high - 1:.1f}" '
                    f'fill="currentColor" fill-opacity="{shades[row]:.3f}"/>'
                )
                text = numbers[row] if panel.heights[row] is not None else "–"
                parts.append(write_text(x + wide / 2, y + high / 2 + 4, text, "middle", size=11))
            y += high
        y += 10
    for line in (line for text in panel.legend for line in wrap(text, _IN_A_LINE)):
        parts.append(write_text(0, y + 6, line, size=10))
        y += 15
    return "".join(parts), y + 8 - top


def _draw_heads(columns: Sequence[Any], left: float, y: float, wide: float) -> tuple[str, float]:
    """Return the labels above the columns, slanted where one is wider than its column, and their height."""
    labels = [one_line(column) for column in columns]
    longest = max(map(display_width, labels)) * _DIGIT
    middles = [left + (step + 0.5) * wide for step in range(len(labels))]
    if longest <= wide - 4:
        heads = [write_text(x, y + 12, label, "middle", size=11) for x, label in zip(middles, labels, strict=True)]
        return "".join(heads), 20.0
    tall = longest * _SLANT + 14
    # They lean to the left, so that the last one does not leave the picture.
    turned = [
        f'<g transform="translate({x:.1f} {y + tall - 6:.1f}) rotate(45)">{write_text(0, 0, label, "end", size=11)}</g>'
        for x, label in zip(middles, labels, strict=True)
    ]
    return "".join(turned), tall
