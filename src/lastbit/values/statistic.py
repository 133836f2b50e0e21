"""Sums, means, variances and histograms without rounding, with the sensitivity they really have.

Added up in floating point, a sum depends on the order of the records and on what it rounded away, and one person can
move it by more than the bounds say (Casacuberta et al. 2022). Here every record is clamped to public bounds, floored to
a grid and added in integers. The rule is public and total: a missing record is left out, and infinities count as the
bound on their side. Both bounds must be on the grid, so that flooring leaves the sensitivity alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Final, Literal

import numpy as np

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, flag, positive
from lastbit.values.adjacency import Adjacency, parse_adjacency
from lastbit.values.bins import MISSING_BIN, BinLabels, Bins
from lastbit.values.bounds import parse_bounds as parse_bounds
from lastbit.values.centred_squares import add_centred_squares
from lastbit.values.counts import Counts
from lastbit.values.grid import Grid, Steps
from lastbit.values.known import Known, lies_on, steps_off
from lastbit.values.missing import (
    LEAVE_OUT,
    Missing,
    can_be_missing,
    missing_among,
    numbers_of,
    step_of_missing,
    whole_flat,
)
from lastbit.values.raw import is_missing
from lastbit.values.sum_rule import SumRule
from lastbit.values.sum_rule import ends as ends
from lastbit.values.sum_rule import steps_above as steps_above

_BLOCK: Final = 1 << 13
_LIMB: Final = 24
"""2^13 products of two limbs of 24 bits add up below 2^62."""


@dataclass(frozen=True, eq=False)
class Statistic(Known):
    """A private value, or a row of them, with how far one person can move it: for a mechanism, not for publication.

    `values` is a number, or an array or a tuple of numbers; numbers between two steps of the resolution are floored.
    For several numbers the sensitivity adds up the moves of all of them. A mechanism refuses a `Statistic` whose
    sensitivity is above its own.

    >>> exact_sum([1, 2, 3], bounds=(0, 10))
    Statistic(sensitivity=Fraction(10, 1), resolution=Fraction(1, 1), monotone=True, adjacency='add-remove')
    """

    values: Any = field(repr=False)
    sensitivity: Fraction
    resolution: Fraction
    """The grid the values are on: it divides the sensitivity."""
    monotone: bool = False
    adjacency: Adjacency = "add-remove"
    """What one person may change: "replace" where the number of records is public. A Ledger charges by it."""
    above: int | None = field(default=None, repr=False)
    """How many steps the exact values may lie above these; 1 for fractions and floats, where nobody says."""
    _crossed: int = field(init=False, repr=False)
    """How many steps more than the sensitivity one person can move values that were floored here, all together."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "monotone", flag(self.monotone, "monotone"))
        parse_adjacency(self.adjacency, monotone=self.monotone)
        sensitivity = positive(self.sensitivity, "sensitivity", "It is how far one person can move the values.")
        grid = Grid(self.resolution)
        grid.count(sensitivity, "sensitivity")
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, "resolution", grid.resolution)
        raw, single = (self.values, False) if isinstance(self.values, Rational) else as_list(self.values)
        floored = self.above is None and not lies_on(raw, grid)
        object.__setattr__(self, "above", steps_off(self.above, raw, grid))
        values = grid.floor(raw)
        # Each of several values may be floored across one step more than it moves; one value moves by whole steps.
        several = floored and not single and not isinstance(values, Rational)
        object.__setattr__(self, "_crossed", max(0, len(values) - 1) if several else 0)
        object.__setattr__(self, "values", values[0] if single else values)

    @property
    def each(self) -> Fraction:
        """The sensitivity: one value may take all of it."""
        return self.sensitivity

    @property
    def total(self) -> Fraction:
        """The sensitivity; more where several values were floored, each by itself."""
        return self.sensitivity + self._crossed * self.resolution


def exact_sum(
    values: Any,
    *,
    bounds: tuple[Number, Number],
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    replaces: bool = False,
) -> Statistic:
    """Return the sum of records, each clamped to the bounds; the sum is floored to a multiple of the resolution.

    A missing record (None, NaN, text) is left out of the sum; with `missing="lowest"` it counts as the lower bound,
    with a number between the bounds as that number. One person adds or removes a record, or `replaces` one when the
    number of records is public: then a record that is there may become one that is missing. Fastest are bounds from
    zero up, and resolutions that are binary, or decimal down to 1/10000.

    Each record loses less than 2^-32 of a step before, or more where a bound is beyond 2^29 steps: intervals allow for
    that, with up to 2^32 records.

    >>> import lastbit as lb
    >>> total = exact_sum([0.6, 7.2, float("nan"), 1e300], bounds=(0, 10), resolution="1/4")
    >>> total.values, total.sensitivity
    (Fraction(71, 4), Fraction(10, 1))
    >>> noisy = lb.DiscreteLaplace(epsilon=1, sensitivity=10, resolution="1/4").release(total)
    """
    adjacency, rule = _adjacency_of(replaces), SumRule.of(bounds, resolution)
    grid, least, most = rule.grid, rule.least, rule.most
    counted_as = step_of_missing(missing, grid, least, most)
    furthest = rule.furthest
    if adjacency == "replace":
        # Who has a number may have none, and bring nothing.
        widest, absent = (most - least) * grid.resolution, counted_as is None and can_be_missing(values)
        furthest = max(widest, furthest) if absent else widest
    total, _, whole = rule.add(values, counted_as)
    same_way = adjacency == "add-remove" and (least >= 0 or most <= 0)
    exact = Fraction(total * grid.numerator, grid.denominator)
    return _state(exact, furthest, grid.resolution, same_way, adjacency, 0 if whole else rule.above)


def _state(
    value: Fraction, sensitivity: Fraction, resolution: Fraction, monotone: bool, adjacency: Adjacency, above: int
) -> Statistic:
    """Return a number that was floored already, with facts that follow from a rule: nothing is checked again."""
    made = Statistic.__new__(Statistic)
    facts = {"values": value, "sensitivity": sensitivity, "resolution": resolution, "monotone": monotone}
    made.__dict__.update(facts, adjacency=adjacency, above=above, _crossed=0)
    return made


def exact_mean(
    values: Any, *, bounds: tuple[Number, Number], resolution: Number = 1, missing: Missing | None = None
) -> Statistic:
    """Return the mean of a public number of records, of which one
    person replaces one. For a private number: `NoisyMean`.

    The mean divides by the public number, so no record can be left out: one who may have a number or none would move
    the mean of the others by too much. An array of whole numbers has no missing records. For any other type say what a
    missing record counts as, `missing="lowest"` or a number; or use `NoisyMean`, which leaves it out.

    >>> mean = exact_mean(np.array([1, 2, 6]), bounds=(0, 10))
    >>> mean.values, mean.sensitivity, mean.resolution
    (Fraction(3, 1), Fraction(10, 3), Fraction(1, 3))
    >>> exact_mean([1.5, None, 6], bounds=(0, 10), missing=5).values
    Fraction(4, 1)
    """
    rule = SumRule.of(bounds, resolution)
    counted_as = _step_for_missing(values, missing, rule)
    n = _count(values, least=1)
    unit = rule.grid.resolution / n
    total, _, whole = rule.add(values, counted_as)
    furthest = (rule.most - rule.least) * unit
    return Statistic(total * unit, furthest, unit, adjacency="replace", above=0 if whole else rule.above)


def exact_variance(
    values: Any, *, bounds: tuple[Number, Number], resolution: Number = 1, missing: Missing | None = None
) -> Statistic:
    """Return the sample variance (over n - 1) of a public number of records, of which one person replaces one.

    Its sensitivity is (upper - lower)²/n: the rest may all be at one bound, and one record move to the other. Records
    are floored to the resolution, each for itself, and an interval is for the variance of the floored records: with a
    range R and a step s, that of the records as they are is at most (R + s/2)·s/2·n/(n - 1) away. So choose a fine
    resolution. Of missing records the same is true as for `exact_mean`.

    >>> variance = exact_variance(np.array([1, 2, 6]), bounds=(0, 10))
    >>> variance.values, variance.sensitivity
    (Fraction(7, 1), Fraction(100, 3))
    """
    rule = SumRule.of(bounds, resolution)
    grid, least, most = rule.grid, rule.least, rule.most
    counted_as = _step_for_missing(values, missing, rule)
    n = _count(values, least=2)
    total = squares = 0
    for block in _blocks(values):
        steps = np.clip(grid.steps(block), least, most)
        steps[missing_among(block)] = counted_as
        first, second = _moments(steps - least, (most - least).bit_length())
        total, squares = total + first, squares + second
    unit = grid.resolution**2 / (n * (n - 1))
    furthest = Fraction((most - least) ** 2 * (n - 1)) * unit
    return Statistic((n * squares - total**2) * unit, furthest, unit, adjacency="replace", above=0)


@dataclass(frozen=True, eq=False)
class MeanSums(Statistic):
    """The two sums behind a mean, as `mean_sums` gives them, with the bounds of the numbers."""

    bounds: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    floored: Fraction = Fraction(0)
    """How far a number may lie from the exact one; 0 where the numbers, and so their total, are exact."""


def mean_sums(
    values: Any,
    *,
    bounds: tuple[Number, Number],
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    replaces: bool = False,
) -> MeanSums:
    """Return the two sums behind the mean of a private number of units, for `NoisyMean`: one number for each unit.

    The first is the total less the midpoint of the bounds for each unit; the second is half the range for each unit.
    A unit whose number is missing is in neither, so that the mean divides by those who have a number. One unit comes or
    goes; one that `replaces` another moves no more, even where a number becomes missing.

    >>> mean_sums([1, 2, 6, None], bounds=(0, 10)).values
    (Fraction(-6, 1), Fraction(15, 1))
    """
    rule = SumRule.of(bounds, resolution)
    counted_as = step_of_missing(missing, rule.grid, rule.least, rule.most)
    total, units, whole = rule.add(values, counted_as)
    return centred_sums(
        total * rule.grid.resolution,
        units,
        bounds=bounds,
        resolution=resolution,
        floored=Fraction(0) if whole else rule.fine.resolution,
        replaces=replaces,
    )


def squares_about_centre(values: Any, bounds: tuple[Fraction, Fraction], resolution: Fraction) -> Fraction:
    """Return the squares of how far records lie from the middle of the bounds, added up; missing ones are left out.

    Each record is clamped and floored as for `mean_sums`.

    >>> squares_about_centre([1, 2, 60, None], (Fraction(0), Fraction(10)), Fraction(1))
    Fraction(50, 1)
    """
    rule, flat, total = SumRule.of(bounds, resolution), numbers_of(values), Fraction(0)
    grid = rule.grid if whole_flat(values, flat, rule.grid) else rule.fine
    least, most = (int(end / grid.resolution) for end in bounds)
    for block in _blocks(values):
        steps = grid.steps(block)[~missing_among(block)].clip(least, most)
        (own,) = add_centred_squares(steps, np.zeros(len(steps), np.int64), 1, grid.resolution, bounds)
        total += own
    return total


def centred_sums(
    total: Fraction,
    units: int,
    *,
    bounds: tuple[Number, Number],
    resolution: Number = 1,
    floored: Fraction = Fraction(0),
    most: int = 1,
    replaces: bool = False,
) -> MeanSums:
    """Return `mean_sums` from the exact total of numbers within the bounds, and the number of units that have a number.

    `floored` says how far a number may lie from the exact one; 0 where numbers and total are exact. One unit has at
    `most` so many numbers.

    >>> centred_sums(Fraction(9), 3, bounds=(0, 10)).sensitivity
    Fraction(10, 1)
    """
    low, high = parse_bounds(bounds)
    values = total - (low + high) / 2 * units, (high - low) / 2 * units
    step = Grid(resolution).resolution
    return MeanSums(
        values, most * (high - low), step / 2, False, _adjacency_of(replaces), 0, bounds=(low, high), floored=floored
    )


def histogram(
    values: Any,
    *,
    bounds: tuple[Number, Number] | None = None,
    bins: int | None = None,
    edges: Sequence[Number] | None = None,
    missing: Missing | Literal["bin"] = LEAVE_OUT,
    replaces: bool = False,
) -> Counts:
    """Return how many records fall into each of the equal, half-open bins between the bounds, or between given edges.

    Records outside count in the first or the last bin, the upper bound itself in the last. The items of the counts are
    the bins. A missing record is left out; with `missing="bin"` it counts in a last bin, "missing"; with "lowest", in
    the first; with a number, where that number is. One person adds or removes a record; one who `replaces` a record
    moves two bins.

    >>> counts = histogram([0.1, 0.1, 0.9, 5, float("nan")], bounds=(0, 1), bins=2, missing="bin")
    >>> counts.values, counts.items
    (array([2, 2, 1]), ('0 to 0.5', '0.5 to 1', 'missing'))
    """
    adjacency, all_bins = _adjacency_of(replaces), Bins.of(bounds=bounds, bins=bins, edges=edges)
    own_bin = missing == "bin"
    counted_as = None if own_bin or missing == LEAVE_OUT else all_bins.place_of_missing(missing)
    counts = all_bins.count(numbers_of(values))
    if counted_as is not None:
        counts[counted_as] += counts[-1]
    return Counts(
        items=BinLabels(all_bins, (MISSING_BIN,) if own_bin else ()),
        values=counts if own_bin else counts[:-1],
        monotone=adjacency == "add-remove",
        adjacency=adjacency,
        most_items=1,
    )


def as_list(values: Any) -> tuple[Any, bool]:
    """Return values as a list or an array, and whether they were one number rather than that.

    >>> as_list(3), as_list([3])
    (([3], True), ([3], False))
    """
    if isinstance(values, Real | Decimal | np.bool_) or is_missing(values):
        return [values], True
    if isinstance(values, np.ndarray) and values.ndim == 0:
        return values.reshape(1), True
    return values, False


def _adjacency_of(replaces: object) -> Adjacency:
    """Return what one person may change."""
    return "replace" if flag(replaces, "replaces") else "add-remove"


def _count(values: Any, least: int) -> int:
    n = len(numbers_of(values))
    if n < least:
        raise ParameterError(f"there must be at least {least} records: got {n}. Their number is public here.")
    return n


def _blocks(values: Any) -> Iterator[Any]:
    flat = numbers_of(values)
    for start in range(0, len(flat), _BLOCK):
        yield flat[start : start + _BLOCK]


def _step_for_missing(values: Any, missing: object, rule: SumRule) -> int:
    """Return the step that a missing record counts as, where none can be left out."""
    if missing is None and not can_be_missing(values):
        return rule.least
    if missing is None or missing == LEAVE_OUT:
        raise ParameterError(
            "missing must be said: 'lowest', or a number. The number of records is public here, so that none can be "
            "left out, and of this type a record can be missing. NoisyMean leaves missing records out."
        )
    step = step_of_missing(missing, rule.grid, rule.least, rule.most)
    assert step is not None  # noqa: S101
    return step


def _moments(above: Steps, bits: int) -> tuple[int, int]:
    """Return Σx and Σx² of up to 2^13 whole numbers below 2^bits, limb by limb so that nothing overflows."""
    limbs = [(above >> shift) & ((1 << _LIMB) - 1) for shift in range(0, bits, _LIMB)]
    first = sum(int(limb.sum()) << _LIMB * i for i, limb in enumerate(limbs))
    second = sum(int((a * b).sum()) << _LIMB * (i + j) for i, a in enumerate(limbs) for j, b in enumerate(limbs))
    return first, second
