"""Sums, means, variances and histograms without rounding, with the sensitivity they really have.

Added up in floating point, a sum depends on the order of the records and on what it rounded away, and one person can
move it by more than the bounds say (Casacuberta et al. 2022). Here every record is clamped to public bounds, floored to
a grid and added in integers. The rule is public and total: NaN counts as the lower bound, infinities as the bound on
their side. Both bounds must be on the grid, so that flooring leaves the sensitivity alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, positive, whole
from lastbit.values.adjacency import Adjacency, named
from lastbit.values.grid import LIMIT, Grid, Steps, common
from lastbit.values.known import Known, lies_on
from lastbit.values.raw import bare, is_missing

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

    def __post_init__(self) -> None:
        named(self.adjacency, monotone=self.monotone)
        sensitivity = positive(self.sensitivity, "sensitivity", "It is how far one person can move the values.")
        grid = Grid(self.resolution)
        grid.count(sensitivity, "sensitivity")
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, "resolution", grid.resolution)
        given, single = (self.values, False) if isinstance(self.values, Rational) else listed(self.values)
        floored = grid.floored(given)
        object.__setattr__(self, "values", floored[0] if single else floored)

    @property
    def each(self) -> Fraction:
        """The sensitivity: one value may take all of it."""
        return self.sensitivity

    @property
    def total(self) -> Fraction:
        """The sensitivity."""
        return self.sensitivity


def exact_sum(
    values: Any, *, bounds: tuple[Number, Number], resolution: Number = 1, replaces: bool = False
) -> Statistic:
    """The sum of records, each clamped to the bounds and floored to a multiple of the resolution.

    One person adds or removes a record, or `replaces` one when the number of records is public. Fastest are bounds from
    zero up, and resolutions that are binary, or decimal down to 1/10000.

    >>> import lastbit as lb
    >>> total = exact_sum([0.5, 7, float("nan"), 1e300], bounds=(0, 10), resolution="1/4")
    >>> total.values, total.sensitivity
    (Fraction(35, 2), Fraction(10, 1))
    >>> noisy = lb.DiscreteLaplace(epsilon=1, sensitivity=10, resolution="1/4").release(total)
    """
    grid, least, most = _bounded(bounds, resolution)
    furthest = most - least if replaces else max(abs(least), abs(most))
    total = grid.total(values, least, most)
    same_way = not replaces and (least >= 0 or most <= 0)
    return Statistic(total * grid.resolution, furthest * grid.resolution, grid.resolution, same_way, _one(replaces))


def exact_mean(values: Any, *, bounds: tuple[Number, Number], resolution: Number = 1) -> Statistic:
    """The mean of a public number of records, of which one person replaces one. For a private number: `mean_sums`.

    >>> mean = exact_mean([1, 2, 6], bounds=(0, 10))
    >>> mean.values, mean.sensitivity, mean.resolution
    (Fraction(3, 1), Fraction(10, 3), Fraction(1, 3))
    """
    grid, least, most = _bounded(bounds, resolution)
    n = _count(values, least=1)
    unit = grid.resolution / n
    return Statistic(grid.total(values, least, most) * unit, (most - least) * unit, unit, adjacency="replace")


def exact_variance(values: Any, *, bounds: tuple[Number, Number], resolution: Number = 1) -> Statistic:
    """The sample variance (over n - 1) of a public number of records, of which one person replaces one.

    Its sensitivity is (upper - lower)²/n: the rest may all be at one bound, and one record move to the other.

    >>> variance = exact_variance([1, 2, 6], bounds=(0, 10))
    >>> variance.values, variance.sensitivity
    (Fraction(7, 1), Fraction(100, 3))
    """
    grid, least, most = _bounded(bounds, resolution)
    n = _count(values, least=2)
    total = squares = 0
    for block in _blocks(values, grid):
        above = np.clip(block, least, most) - least
        first, second = _moments(above, (most - least).bit_length())
        total, squares = total + first, squares + second
    unit = grid.resolution**2 / (n * (n - 1))
    furthest = Fraction((most - least) ** 2 * (n - 1)) * unit
    return Statistic((n * squares - total**2) * unit, furthest, unit, adjacency="replace")


@dataclass(frozen=True, eq=False)
class MeanSums(Statistic):
    """The two sums behind a mean, as `mean_sums` gives them, with the bounds of the numbers."""

    bounds: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    floored: Fraction = Fraction(0)
    """How far below a number its floor can lie: the resolution; 0 where the numbers are known to lie on the grid."""


def mean_sums(values: Any, *, bounds: tuple[Number, Number], resolution: Number = 1) -> MeanSums:
    """The two sums behind the mean of a private number of units, for `NoisyMean`: one number for each unit.

    The first is the total less the midpoint of the bounds for each unit; the second is half the range for each unit.

    >>> mean_sums([1, 2, 6], bounds=(0, 10)).values
    (Fraction(-6, 1), Fraction(15, 1))
    """
    grid, least, most = _bounded(bounds, resolution)
    total = grid.total(values, least, most) * grid.resolution
    known = lies_on(values, grid)
    return centred_sums(total, _count(values, least=0), bounds=bounds, resolution=resolution, on_grid=known)


def centred_sums(
    total: Fraction, units: int, *, bounds: tuple[Number, Number], resolution: Number = 1, on_grid: bool = False
) -> MeanSums:
    """`mean_sums` from the exact total of numbers within the bounds, and the number of units.

    `on_grid` says that the numbers were whole steps of the resolution before they were floored.

    >>> centred_sums(Fraction(9), 3, bounds=(0, 10)).sensitivity
    Fraction(10, 1)
    """
    low, high = span(bounds)
    values = total - (low + high) / 2 * units, (high - low) / 2 * units
    step = Grid(resolution).resolution
    return MeanSums(values, high - low, step / 2, bounds=(low, high), floored=Fraction(0) if on_grid else step)


def histogram(values: Any, *, bounds: tuple[Number, Number], bins: int, replaces: bool = False) -> Statistic:
    """How many records fall into each of the equal, half-open bins between the bounds.

    Records outside count in the first or the last bin, NaN in the first, the upper bound itself in the last. One person
    adds or removes a record; one who `replaces` a record moves two bins.

    >>> histogram([0.1, 0.1, 0.9, 5, float("nan")], bounds=(0, 1), bins=2).values
    array([3, 2])
    """
    lower, upper = span(bounds)
    bins = whole(bins, "bins")
    width = (upper - lower) / bins
    # A grid that both the bins and the bounds are on: floors of floors are floors.
    grid, first, _ = _bounded(bounds, common(width, lower))
    each = grid.count(width, "the width of a bin")
    counts = np.zeros(bins, np.int64)
    for block in _blocks(values, grid):
        counts += np.bincount(np.clip((block - first) // each, 0, bins - 1), minlength=bins)
    counts.setflags(write=False)
    return Statistic(counts, Fraction(2 if replaces else 1), Fraction(1), not replaces, _one(replaces))


def span(bounds: object) -> tuple[Fraction, Fraction]:
    """Public bounds as exact numbers, the lower below the upper.

    >>> span((0, "1/2"))
    (Fraction(0, 1), Fraction(1, 2))
    """
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise ParameterError("bounds must be a pair (lower, upper) of numbers, known without looking at the data.")
    lower, upper = number(bounds[0], "the lower bound"), number(bounds[1], "the upper bound")
    if lower >= upper:
        raise ParameterError(f"bounds must rise: got lower {lower} and upper {upper}. Write bounds=(lower, upper).")
    return lower, upper


def ends(bounds: object, grid: Grid) -> tuple[int, int]:
    """Public bounds in steps of a grid, which both must be on.

    >>> ends((0, "1/2"), Grid("1/4"))
    (0, 2)
    """
    lower, upper = span(bounds)
    return grid.count(lower, "the lower bound"), grid.count(upper, "the upper bound")


def listed(values: Any) -> tuple[Any, bool]:
    """Values as a list or an array, and whether they were one number rather than that.

    >>> listed(3), listed([3])
    (([3], True), ([3], False))
    """
    if isinstance(values, Real | Decimal | np.bool_) or is_missing(values):
        return [values], True
    if isinstance(values, np.ndarray) and values.ndim == 0:
        return values.reshape(1), True
    return values, False


def _one(replaces: bool) -> Adjacency:
    """What one person may change."""
    return "replace" if replaces else "add-remove"


def _bounded(bounds: object, resolution: Number) -> tuple[Grid, int, int]:
    grid = Grid(resolution)
    least, most = ends(bounds, grid)
    if max(abs(least), abs(most)) * grid.numerator > LIMIT:
        raise ParameterError("resolution must leave at most 2^61 steps to either bound. Use a coarser one.")
    return grid, least, most


def _count(values: Any, least: int) -> int:
    n = len(_flat(values))
    if n < least:
        raise ParameterError(f"there must be at least {least} records: got {n}. Their number is public here.")
    return n


def _blocks(values: Any, grid: Grid) -> Iterator[Steps]:
    flat = _flat(values)
    for start in range(0, len(flat), _BLOCK):
        yield grid.steps(flat[start : start + _BLOCK])


def _flat(values: Any) -> Any:
    values = bare(values)
    if isinstance(values, np.ndarray):
        return values.ravel()
    if isinstance(values, Sequence):
        return values
    raise ParameterError(f"records must be an array or a sequence of numbers: got {type(values).__name__}.")


def _moments(above: Steps, bits: int) -> tuple[int, int]:
    """Σx and Σx² of up to 2^13 whole numbers below 2^bits, limb by limb so that nothing overflows."""
    limbs = [(above >> shift) & ((1 << _LIMB) - 1) for shift in range(0, bits, _LIMB)]
    first = sum(int(limb.sum()) << _LIMB * i for i, limb in enumerate(limbs))
    second = sum(int((a * b).sum()) << _LIMB * (i + j) for i, a in enumerate(limbs) for j, b in enumerate(limbs))
    return first, second
