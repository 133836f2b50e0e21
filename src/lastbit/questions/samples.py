"""Made-up values of the shape that a question asks for. They depend on public options only, never on a table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lastbit.values.counts import Counts
from lastbit.values.unlisted import Unlisted

if TYPE_CHECKING:
    from lastbit.data.per_unit import Numbers

_ITEMS: Final = 100
"""How many items are made up where nobody listed the items."""

_NUMBERS: Final = 100_000
"""More made-up numbers than these show nothing new, and take time."""


def make_falling(units: int, n: int, worth: Fraction = Fraction(1)) -> list[int]:
    """Numbers of n items as they often fall: the second item has half of the first, the third a third.

    >>> make_falling(1000, 4)
    [400, 200, 133, 100]
    """
    return [int(Fraction(2 * units, 5) / place * worth) for place in range(1, n + 1)]


def make_counts(units: int, items: Sequence[Any], bounds: tuple[str, str] | None, **facts: Any) -> Counts:
    """Counts of public items, or sums where weights have bounds."""
    return Counts(items=items, values=np.array(make_falling(units, len(items), _worth(bounds))), **facts)


def make_unlisted(units: int, bounds: tuple[str, str] | None, **facts: Any) -> Unlisted:
    """Numbers of items with made-up names."""
    values = make_falling(units, _ITEMS, _worth(bounds))
    return Unlisted.of({f"item {place}": value for place, value in enumerate(values, start=1)}, **facts)


def make_bell(units: int, labels: Sequence[str], **facts: Any) -> Counts:
    """Counts of bins: few at both ends, most in the middle.

    >>> make_bell(100, ["a", "b", "c"]).values.tolist()
    [25, 50, 25]
    """
    n = len(labels)
    heights = [min(place, n + 1 - place) for place in range(1, n + 1)]
    values = np.array([units * height // sum(heights) for height in heights])
    return Counts(items=labels, values=values, **facts)


def make_numbers(units: int, bounds: tuple[str, str], step: Any, most: int = 1, groups: int = 1) -> Numbers:
    """One number for each unit, between the bounds: many small ones and few large ones."""
    from lastbit.data.per_unit import Numbers
    from lastbit.exact.numbers import number
    from lastbit.values.span import span

    low, high = span(bounds)
    n, grid = max(1, min(units, _NUMBERS)), Fraction(number(step, "resolution"))
    values = [low + (high - low) * Fraction(2 * place + 1, 2 * n) ** 2 for place in range(n)]
    steps = np.array([int(value / grid) for value in values], np.int64)
    return Numbers(steps, np.arange(n) % groups, (), grid, (low, high), most)


def _worth(bounds: tuple[str, str] | None) -> Fraction:
    """What a unit adds to an item: itself, or the middle of the bounds of a weight."""
    if bounds is None:
        return Fraction(1)
    from lastbit.values.span import span

    return Fraction(sum(span(bounds))) / 2
