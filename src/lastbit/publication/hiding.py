"""What [output] will hide of an answer: foreseen from the accuracy, before a row is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Final

from lastbit.exact.numbers import number
from lastbit.questions.presentation import interval_widths
from lastbit.questions.question import Accuracy
from lastbit.questions.rendering import sample_view
from lastbit.values.bounds import parse_bounds

if TYPE_CHECKING:
    from lastbit.questions.request import Request

COUNTS: Final = ("count", "histogram", "tables")
"""Questions whose numbers are those of people or rows."""


@dataclass(frozen=True)
class Hiding:
    """From which size on an answer is shown, and whether one of the usual size will be."""

    fewer_than: int | None
    """A number of fewer people is hidden, but for noise; None where nobody can say."""
    too_wide: bool
    """Whether the interval is too wide at the size that the study guesses."""


def foresee_hiding(request: Request, accuracy: Accuracy) -> Hiding:
    """Return what will be hidden of an answer that is as accurate as this.

    An interval is twice as wide as the accuracy, and wider where a bound may leave people out.
    """
    below, wider = request.values.get("hide_below"), request.values.get("hide_wider")
    sizes = [] if below is None else [number(below, "hide_below")]
    usual, too_wide = _guess_number(request, accuracy), False
    if request.kind.name in COUNTS and accuracy.meaning != Accuracy.meaning:  # items that nobody listed need as many
        sizes.append(accuracy.within)
    elif wider is not None and usual is not None:
        width, text = _foresee_width(request, accuracy), str(wider).strip()
        limit = number(text.removesuffix("%"), "hide_wider")
        if text.endswith("%"):
            limit /= 100
            sizes += [width / limit] if request.kind.name in COUNTS and limit > 0 else []
            limit *= abs(usual)
        too_wide = width > limit
    return Hiding(ceil(max(sizes)) if sizes else None, too_wide)


def _foresee_width(request: Request, accuracy: Accuracy) -> Fraction:
    """Return how wide an interval will be. For the people whom a bound leaves out a made-up answer shows it."""
    width = 2 * accuracy.within
    if request.kind.name not in COUNTS:
        return width
    table = sample_view(request.change(hide_below=None, hide_wider=None)).report.table
    widths = sorted(number(size, "width") for size in interval_widths(table) or () if size is not None)
    return max(width, widths[len(widths) // 2]) if widths else width


def _guess_number(request: Request, accuracy: Accuracy) -> Fraction | None:
    """Return a number of the usual size: people spread evenly, values in the middle. None where nobody can say."""
    kind = request.kind.name
    if kind in COUNTS and accuracy.meaning == Accuracy.meaning:
        return None if accuracy.total is None else accuracy.total / accuracy.groups
    if kind == "share":
        return Fraction(50)
    if kind == "mean" and isinstance(request.values.get("bounds"), tuple):
        return sum(parse_bounds(request["bounds"]), Fraction(0)) / 2
    return None
