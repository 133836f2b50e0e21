"""docs/pictures/neighbours.svg, from exact laws: `python -m tools.pages.neighbours > docs/pictures/neighbours.svg`."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import lastbit as lb

WITHOUT, WITH, SHOWN = 4, 5, range(10)
BLUE, ORANGE, INK, FAINT, CARD = "#3b6fd4", "#c2570c", "#1f2937", "#6b7280", "#f8f9fb"
_LEFT, _FLOOR, _TALL, _EACH, _BAR = 62, 236, 170, 62, 22
TITLE: Final = "What anybody can see, with one person and without"


def masses(people: int) -> list[Fraction]:
    """How likely each published number is when a count of so many people is released at epsilon 1."""
    law = lb.audit.law(lb.DiscreteLaplace(epsilon=1).program(people), tolerance="1/1000000000000")
    known = {outcome.values[0]: mass for outcome, mass in law.masses.items()}
    return [known[Fraction(number)] for number in SHOWN]


def _text(x: float, y: float, said: str, fill: str = INK, size: float = 14, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}" text-anchor="{anchor}">{said}</text>'


def _bar(x: float, mass: Fraction, most: Fraction, fill: str) -> str:
    height = float(mass / most) * _TALL
    return f'<rect x="{x:g}" y="{_FLOOR - height:.2f}" width="{_BAR}" height="{height:.2f}" rx="2" fill="{fill}"/>'


def picture() -> str:
    """The picture as SVG."""
    without, with_one = masses(WITHOUT), masses(WITH)
    most = max(*without, *with_one)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 316" width="720" height="316" role="img" '
        'aria-labelledby="t d" font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif">',
        f'<title id="t">{TITLE}</title>',
        '<desc id="d">Bars for the exact probability of each published number, for 4 people and for 5. No bar is more '
        "than e times as high as its neighbour.</desc>",
        f'<rect width="720" height="316" rx="12" fill="{CARD}"/>',
        _text(360, 30, f"{TITLE} (ε = 1)", size=16),
    ]
    for place, number in enumerate(SHOWN):
        x = _LEFT + place * _EACH
        parts += [_bar(x, without[place], most, BLUE), _bar(x + _BAR + 2, with_one[place], most, ORANGE)]
        parts.append(_text(x + _BAR + 1, _FLOOR + 20, str(number), FAINT, 13))
    parts.append(f'<line x1="50" y1="{_FLOOR}" x2="676" y2="{_FLOOR}" stroke="{FAINT}"/>')
    for x, fill, said in ((70, BLUE, f"{WITHOUT} people have it"), (250, ORANGE, f"{WITH} people: one more")):
        parts += [
            f'<rect x="{x}" y="46" width="13" height="13" rx="2" fill="{fill}"/>',
            _text(x + 20, 57.5, said, anchor="start", size=13),
        ]
    parts.append(_text(360, 282, "the published number, and how likely it is, exactly", FAINT, 13))
    parts.append(
        _text(
            360,
            304,
            "No bar is more than e^ε times as high as the other. So the number tells little about any one person.",
        )
    )
    return "\n".join([*parts, "</svg>"])


if __name__ == "__main__":
    print(picture())
