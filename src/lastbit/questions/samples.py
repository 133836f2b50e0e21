"""Made-up values of the shape that a question asks for. They depend on public options only, never on a table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lastbit.values.counts import Counts
from lastbit.values.ranked import RankedCounts, RankedUnlisted
from lastbit.values.unlisted import Unlisted

if TYPE_CHECKING:
    from lastbit.data.numbers import Numbers
    from lastbit.data.profiling import TableProfile
    from lastbit.questions.described_columns import DescribedColumn

_ITEMS: Final = 100
"""How many items are made up where nobody listed the items."""

_NUMBERS: Final = 100_000
"""More made-up numbers than these show nothing new, and take time."""


def make_falling_numbers(units: int, n: int, worth: Fraction = Fraction(1)) -> list[int]:
    """Return numbers of n items as they often fall: the second has half of the first, the third a third.

    >>> make_falling_numbers(1000, 4)
    [400, 200, 133, 100]
    """
    first = Fraction(2 * units, 5) * worth
    size, below = abs(first.numerator), first.denominator
    sign = -1 if first < 0 else 1
    return [sign * (size // (below * position)) for position in range(1, n + 1)]


def make_counts(units: int, items: Sequence[Any], bounds: tuple[str, str] | None, **facts: Any) -> Counts:
    """Return counts of public items, or sums where weights have bounds."""
    return Counts(items=items, values=np.array(make_falling_numbers(units, len(items), _worth(bounds))), **facts)


def make_unlisted_items(units: int, bounds: tuple[str, str] | None, **facts: Any) -> Unlisted:
    """Return numbers of items with made-up names."""
    values = make_falling_numbers(units, _ITEMS, _worth(bounds))
    return Unlisted.of({f"item {position}": value for position, value in enumerate(values, start=1)}, **facts)


def make_bin_counts(units: int, labels: Sequence[str], **facts: Any) -> Counts:
    """Return counts of bins: few at both ends, most in the middle.

    >>> make_bin_counts(100, ["a", "b", "c"]).values.tolist()
    [25, 50, 25]
    """
    n = len(labels)
    heights = [min(position, n + 1 - position) for position in range(1, n + 1)]
    values = np.array([units * height // sum(heights) for height in heights])
    return Counts(items=labels, values=values, **facts)


def rank_counts(counts: Counts) -> RankedCounts:
    """Return made-up counts as those of units with one item each."""
    steps = np.array([int(value) for value in counts.values], np.int64)
    n = len(counts.items)
    if counts.resolution == 1 and counts.monotone and counts.sensitivity == 1:
        return RankedCounts(counts.items, np.arange(n), np.ones(n, np.int64), np.maximum(steps, 0))
    facts: dict[str, Any] = {
        "sensitivity": counts.sensitivity,
        "monotone": counts.monotone,
        "resolution": counts.resolution,
    }
    return RankedCounts(
        counts.items,
        np.arange(n),
        np.ones(n, np.int64),
        np.ones(n, np.int64),
        steps.astype(object),
        lambda sums, most: Counts(items=counts.items, values=tuple(map(Fraction, sums)), most_items=most, **facts),
    )


def rank_unlisted_items(values: Unlisted) -> RankedUnlisted:
    """Return made-up numbers of items as those of units with one item each."""
    items, steps = values.highest()
    n = len(items)
    facts = {"sensitivity": values.sensitivity, "resolution": values.resolution}
    ones = np.ones(n, np.int64)
    return RankedUnlisted(items, np.arange(n), ones, ones, np.asarray(steps).astype(object), facts=facts)


def make_numbers(
    units: int, bounds: tuple[str, str], step: Any, most: int = 1, groups: int = 1, *, apart: bool = False
) -> Numbers:
    """Return one number for each unit, between the bounds: many small ones and few large ones."""
    from lastbit.data.numbers import Numbers
    from lastbit.exact.numbers import number
    from lastbit.values.bounds import parse_bounds

    low, high = parse_bounds(bounds)
    n, grid = max(1, min(units, _NUMBERS)), Fraction(number(step, "resolution"))
    start, slope = low / grid, (high - low) / grid / (4 * n * n)
    below = lcm(start.denominator, slope.denominator)
    first, more = int(start * below), int(slope * below)
    parts = [first + more * odd * odd for odd in range(1, 2 * n, 2)]
    steps = np.array([part // below if part >= 0 else -(-part // below) for part in parts], np.int64)
    ones = np.ones(n, np.int64)
    places, beyond = np.arange(n) % groups, np.zeros(n, np.int64)
    return Numbers(steps, places, (), grid, (low, high), most, ranks=ones, beyond=beyond, apart=apart)


def make_profile(units: int, columns: Sequence[DescribedColumn]) -> TableProfile:
    """Return what each unit has in these columns: two rows, of which one in ten has no value, and falling numbers."""
    from lastbit.data.profiles import ColumnProfile
    from lastbit.data.profiling import TableProfile, grid_of

    n = max(1, min(units, _NUMBERS))
    places = np.arange(n, dtype=np.int64)
    present = np.where(places % 10 == 0, 0, 2)
    fine = {column.name: column.step / grid_of(column.step) for column in columns if column.holds == "numbers"}
    # A step may be longer than 64 bits hold: the sample has numbers below it then.
    scales = {column.name: int(min(fine.get(column.name, 1), 1 << 40)) for column in columns}
    profiles = {name: ColumnProfile(present, places * scale) for name, scale in scales.items()}
    return TableProfile(np.full(n, 2, np.int64), profiles)


def _worth(bounds: tuple[str, str] | None) -> Fraction:
    """Return what a unit adds to an item: itself, or the middle of the bounds of a weight."""
    if bounds is None:
        return Fraction(1)
    from lastbit.values.bounds import parse_bounds

    return Fraction(sum(parse_bounds(bounds))) / 2
