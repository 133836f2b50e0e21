"""The elements of charts: text, tick marks, and the SVG element around them. Every text is escaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from textwrap import wrap
from typing import Any, Final

from lastbit.output.numbers import Format

WIDE: Final = 640
LINE: Final = 15
"""The height of a line of a label."""
_FURTHEST: Final = 1e300
_LONGEST: Final = 300
"""Characters of a label: of a longer one the end is in its title only."""
_IN_A_LINE: Final = 28


def break_label(text: str) -> list[str]:
    """Return a label in lines, with nothing left out unless it is very long.

    >>> break_label("diseases of the musculoskeletal system"), break_label("x" * 30)[1]
    (['diseases of the', 'musculoskeletal system'], 'xx')
    """
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return wrap(short, _IN_A_LINE) or [""]


def tick_marks(low: float, high: float) -> list[tuple[float, str]]:
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


def write_text(
    x: float, y: float, words: str, anchor: str = "start", *, size: int = 12, weight: str = "", title: str = ""
) -> str:
    """Return a text element; `title` is what a pointer over it shows, where that is more."""
    whole = f"<title>{escape(title)}</title>" if title and title != words else ""
    bold = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{bold}>{escape(words)}{whole}</text>'
    )


def write_svg(parts: Sequence[str], height: float, label: str) -> str:
    """Return the SVG element around the parts of a chart."""
    return (
        f'<svg class="chart" role="img" aria-label="{escape(label)}" viewBox="0 0 {WIDE} {height:.0f}" '
        f'width="{WIDE}" height="{height:.0f}" font-family="system-ui, sans-serif" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


def to_float(value: Any) -> float:
    """Return a number as a float: where none is as large, the largest that is drawn."""
    try:
        return max(-_FURTHEST, min(_FURTHEST, float(value)))
    except OverflowError:
        return _FURTHEST if value > 0 else -_FURTHEST
