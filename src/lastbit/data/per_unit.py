"""One number for each unit of a table, in whole steps: what means, sums, quantiles and histograms are made of.

A person with many rows has one number all the same: the mean of the rows, their total, the latest, the first, or the
largest of any. Or each row is a number, and a bound says how many rows of a unit count. Everything is decided by the
unit's own rows and by public things, so a unit that comes or goes leaves the numbers of all others as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.column_types import DECIMAL, INTEGER
from lastbit.data.domain import combine_domains, convert_items, read_domains
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.engines import call_engine, parse_columns, require_column_types, wrap_frame
from lastbit.data.table import WAYS, Per, Task
from lastbit.data.weights import Weights
from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import Number, number, whole
from lastbit.values.adjacency import Adjacency
from lastbit.values.bounds import parse_bounds
from lastbit.values.centred_squares import add_centred_squares
from lastbit.values.contribution_bound import ContributionBound
from lastbit.values.counts import Counts
from lastbit.values.grid import Grid, common
from lastbit.values.group_sums import GroupSums
from lastbit.values.missing import LEAVE_OUT, Missing, step_of_missing
from lastbit.values.ranked import count_sides, counts_of_classes, numbers_of_ranks
from lastbit.values.statistic import MeanSums, Statistic, centred_sums, steps_above

_FINE: Final = 40
"""The bounds are at most 2^40 steps of the finest grid."""

_COARSEST: Final = 1 << 10
"""Steps are at most so large, so that 64 bits hold every number."""

_FINER: Final = 10
"""Without bounds, the finest grid has at least 2^9 steps to one of the resolution, so that flooring shows nowhere."""

_MOST_FLOORED: Final = 4
"""A number is floored by less than so many steps of the finest grid."""

_NONE: Final = np.empty(0, np.int64)

_WORD: Final = (1 << 63) - 1
"""The largest number of 64 bits."""

_FURTHEST: Final = 1 << 60
"""Rows of a total are clamped at so many steps: a million times as far out as the bounds."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The number of each unit, private and never printed, and public facts about the numbers.

    >>> Numbers(np.array([4, 6]), np.array([0, 0]), (), Fraction(1, 2), (Fraction(0), Fraction(9)))
    <Numbers: between 0 and 9, at most 1 of a unit>
    """

    steps: NDArray[np.int64] = field(repr=False)
    """One number for each unit that has one, between the bounds, in steps of the resolution."""
    places: NDArray[np.int64] = field(repr=False)
    """The place of its item among `items`; 0 where there are none."""
    items: tuple[Any, ...]
    resolution: Fraction
    bounds: tuple[Fraction, Fraction]
    most: int = 1
    """How many of the numbers are one unit's, at most."""
    floored: Fraction = Fraction(0)
    """How far a number can lie from the exact one between the bounds; 0 where the numbers are exact."""

    ranks: NDArray[np.int64] | None = field(default=None, repr=False)
    """The rank of each number in its unit's lot, from 1 on, where it was asked for."""
    beyond: NDArray[np.int64] | None = field(default=None, repr=False)
    """Of the unit of each number: 1 where one of its numbers was above the bounds, -1 below, 0 otherwise."""

    extremes: tuple[NDArray[np.int64], NDArray[np.int64]] | None = field(default=None, repr=False)
    """Of the unit of each number: its lowest and its highest one, where bounds are chosen later."""

    apart: bool = field(default=False, repr=False)
    """Whether each number of a unit is in a group of its own: not so where rows are numbers."""

    adjacency: ClassVar[Adjacency] = "add-remove"

    def keep_first(self, most: int) -> Numbers:
        """Return the numbers where at most so many of a unit count: the first of its lot."""
        assert self.ranks is not None  # noqa: S101
        first = self.ranks <= most
        kept: dict[str, Any] = {"steps": self.steps[first], "places": self.places[first]}
        return self._change(**kept, most=most, ranks=None, beyond=None, extremes=None)

    def clamp_to(self, bounds: tuple[Fraction, Fraction]) -> Numbers:
        """Return the numbers clamped to nearer bounds, inwards where these are between two steps.

        >>> Numbers(np.array([4, 6]), np.array([0, 0]), (), Fraction(1, 2), (Fraction(-9), Fraction(9))).clamp_to(
        ...     (Fraction(0), Fraction(5, 2))).values
        (Fraction(2, 1), Fraction(5, 2))
        """
        low, high = math.ceil(bounds[0] / self.resolution), math.floor(bounds[1] / self.resolution)
        # Chosen bounds may be further out than 64 bits reach, and no number is.
        low, high = max(low, -_WORD), min(high, _WORD)
        beyond = self.beyond
        if self.extremes is not None:
            lowest, highest = self.extremes
            below = lowest < max(math.floor(bounds[0] / self.resolution), -_WORD)
            beyond = np.where(highest > high, 1, np.where(below, -1, 0))
        return self._change(steps=np.clip(self.steps, low, high), bounds=bounds, beyond=beyond, extremes=None)

    @property
    def furthest(self) -> NDArray[np.int64]:
        """Of each unit, that of its numbers which lies furthest from zero; of two, the positive one. They are private.

        >>> ends = np.array([-5, -5, 1]), np.array([3, 3, 1])
        >>> Numbers(np.array([3, -5, 1]), np.array([0, 1, 0]), (), Fraction(1), (Fraction(-9), Fraction(9)), 2,
        ...         ranks=np.array([1, 2, 1]), extremes=ends).furthest
        array([-5,  1])
        """
        assert self.ranks is not None and self.extremes is not None  # noqa: S101, PT018
        lowest, highest = (ends[self.ranks == 1] for ends in self.extremes)
        furthest: NDArray[np.int64] = np.where(highest >= -lowest, highest, lowest)
        return furthest

    @property
    def numbers_of_items(self) -> NDArray[np.int64]:
        """How many units have exactly so many numbers, from 0 on: the first entry is 0."""
        assert self.ranks is not None  # noqa: S101
        return numbers_of_ranks(self.ranks, np.ones(len(self.ranks), np.int64))

    @property
    def items_per_person(self) -> NDArray[np.int64]:
        """How many numbers each unit has, in no order: private."""
        numbers = self.numbers_of_items
        return np.repeat(np.arange(len(numbers)), numbers)

    def spread(self, classes: Sequence[tuple[int, int | None]]) -> Counts:
        """Return how many units have how many numbers, by classes. One unit is in one class."""
        return counts_of_classes(self.numbers_of_items, classes)

    @property
    def clamped_people(self) -> Counts:
        """How many units have a number below the bounds, and above them. One unit is in one of the two at most."""
        assert self.ranks is not None and self.beyond is not None  # noqa: S101, PT018
        sides = self.beyond[self.ranks == 1]
        return count_sides(int((sides < 0).sum()), int((sides > 0).sum()))

    def add_up(self, groups: int) -> list[tuple[int, int]]:
        """Return the sum of the steps of so many groups, and how many numbers each has; of one, those of all numbers.

        >>> facts = Fraction(1), (Fraction(0), Fraction(9))
        >>> Numbers(np.array([4, 6, 1]), np.array([0, 0, 1]), (), *facts).add_up(2)
        [(10, 2), (1, 1)]
        """
        # In two halves, so that nothing overflows.
        parts = self.steps >> 32, self.steps & 0xFFFFFFFF
        if groups == 1:
            return [((int(parts[0].sum()) << 32) + int(parts[1].sum()), len(self.steps))]
        halves = np.zeros((2, groups), np.int64)
        for row, part in zip(halves, parts, strict=True):
            np.add.at(row, self.places, part)
        sizes = self.count_up(groups)
        return [((upper << 32) + lower, n) for upper, lower, n in zip(*halves.tolist(), sizes.tolist(), strict=True)]

    def count_up(self, groups: int) -> NDArray[np.int64]:
        """Return how many numbers each of so many groups has.

        >>> facts = Fraction(1), (Fraction(0), Fraction(9))
        >>> Numbers(np.array([4, 6, 1]), np.array([0, 0, 1]), (), *facts).count_up(3).tolist()
        [2, 1, 0]
        """
        return np.bincount(self.places, minlength=groups)

    @property
    def sum(self) -> Fraction:
        """The exact sum of the numbers. It is private."""
        ((total, n),) = self.add_up(1)
        # Where the lower bound is between two steps, numbers were clamped to the step above it. Less so much each of
        # them is between the bounds still, and never above the exact one.
        raised = -self.bounds[0] % self.resolution
        return total * self.resolution - n * raised

    def _require_bound(self) -> None:
        """Refuse numbers of which nobody has said yet how many of a unit count."""
        if self.ranks is not None:
            raise ParameterError(
                "numbers by rank must be bounded first. Call keep_first(most), and use what it returns."
            )

    def total(self, resolution: Number) -> Statistic:
        """Return the sum of the numbers, on a grid, with how far one unit moves it."""
        self._require_bound()
        step = Grid(resolution).resolution
        low, high = self.bounds
        furthest = self.most * max(abs(low), abs(high))
        above = 0 if self._exact(step) else steps_above(self.floored, step)
        return Statistic(self.sum, furthest, step, low >= 0 or high <= 0, above=above)

    def mean(self, resolution: Number) -> MeanSums:
        """Return the two sums behind the mean of the numbers, for `NoisyMean` with the same bounds and resolution."""
        self._require_bound()
        floored = self.floored or (Fraction(0) if self._exact(Grid(resolution).resolution) else self.resolution)
        facts: dict[str, Any] = {"bounds": self.bounds, "resolution": resolution, "floored": floored}
        return centred_sums(self.sum, len(self), **facts, most=self.most)

    def group_sums(self, groups: int, *, squares: bool = False) -> GroupSums:
        """Return the sums behind the means of so many groups, for `GroupMeans` with these bounds; `squares` for sd."""
        self._require_bound()
        values = ((self.sum - len(self) * self.bounds[0], len(self)),) if groups == 1 else self._sums_above(groups)
        most_items, most_rows = (min(self.most, groups), 1) if self.apart else (1, self.most)
        unit = reduce(common, self.bounds, Fraction(1)) if self.floored == 0 else None
        facts = (self.steps, self.places, groups, self.resolution, self.bounds)
        second = add_centred_squares(*facts) if squares else None
        return GroupSums(values, self.bounds, most_items, most_rows, self.floored, unit, second)

    def _sums_above(self, groups: int) -> tuple[tuple[Fraction, int], ...]:
        """Return how far the numbers of each group lie above the lower bound, added up, and how many they are."""
        # As in `sum`: a lower bound between two steps is taken off as the step above it. It may be far below all steps.
        lowest = math.ceil(self.bounds[0] / self.resolution)
        return tuple([((total - n * lowest) * self.resolution, n) for total, n in self.add_up(groups)])

    def group_sizes(self, groups: Sequence[Any]) -> Counts:
        """Return how many numbers each of these groups has, with how far one unit moves that."""
        self._require_bound()
        most_items, most_rows = (min(self.most, len(groups)), 1) if self.apart else (1, self.most)
        sizes = self.count_up(len(groups))
        return Counts(items=groups, values=sizes, sensitivity=most_rows, monotone=True, most_items=most_items)

    def _exact(self, step: Fraction) -> bool:
        """Tell whether sums of the numbers are whole steps: numbers that are not floored are whole numbers."""
        return self.floored == 0 and step.numerator == 1

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The numbers as exact values. They are private."""
        return Grid(self.resolution).values(self.steps)

    def of(self, place: int) -> Numbers:
        """Return the numbers of one item."""
        mask = self.places == place
        own: dict[str, Any] = {"steps": self.steps[mask], "places": self.places[mask]}
        return self._change(**own, items=(), ranks=None, beyond=None, extremes=None)

    def _change(self, **changes: Any) -> Numbers:
        """Return the same numbers with other facts, as arrays of this machine."""
        return Numbers(**{own.name: getattr(self, own.name) for own in fields(Numbers)} | changes)

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        low, high = self.bounds
        return f"<Numbers: between {low} and {high}, at most {self.most} of a unit>"

    def __reduce__(self) -> Any:
        raise LastbitError("Numbers hold private values and are not written down. Release them, and keep the release.")


def per_unit(
    frame: Any,
    *,
    of: str,
    bounds: tuple[Number, Number] | None = None,
    unit: str | None = None,
    per: Per = "mean",
    latest_by: str | None = None,
    first_by: str | None = None,
    most_rows: int | None = None,
    by: str | Sequence[str] = (),
    domain: Any = None,
    most_items: int | None = None,
    missing: Missing = LEAVE_OUT,
    resolution: Number | None = None,
) -> Numbers:
    """Return one number for each unit of a table, between public bounds.

    of: the column of numbers. A row whose number is missing (null, NaN) is left out, unless `missing` says what a
    missing number counts as: "lowest", or a number between the bounds.
    bounds: each number is clamped to this range. Without bounds numbers are clamped about 10^15 steps from zero; then
    say the resolution, unless the type of the column is whole numbers. Quantiles on a log scale need no bounds.
    unit: the column that says whom a row belongs to. Without it each row is a unit of its own.
    per: the number that a unit has. "mean": the mean of its rows, each clamped to the bounds. "total": the sum of its
    rows, then clamped. "latest": the row with the largest value of the column `latest_by`, clamped. "first": the row
    with the smallest value of the column `first_by`, clamped. "any": the largest that any of its rows has, clamped.
    "row": each row is a number of its own; then `most_rows` bounds how many rows of a unit count, picked at random.
    by, domain: the column of the groups, or several, and their public items: then a unit has a number in each of its
    groups, and `most_items` bounds how many groups of a unit count.
    resolution: the step that numbers are floored to. Without it the bounds are about 2^40 steps, and bounds that are
    between two steps are taken inwards.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": [1, 1, 2, 3], "cost": [10, 20, 40, None]})
    >>> per_unit(visits, of="cost", unit="patient", bounds=(0, 100)).values
    (Fraction(15, 1), Fraction(40, 1))
    >>> per_unit(visits, of="cost", unit="patient", per="total", bounds=(0, 100)).values
    (Fraction(30, 1), Fraction(40, 1))
    """
    return _read_numbers(
        frame,
        of=of,
        bounds=bounds,
        unit=unit,
        per=per,
        latest_by=latest_by,
        first_by=first_by,
        most_rows=most_rows,
        by=by,
        domain=domain,
        most_items=most_items,
        missing=missing,
        resolution=resolution,
        ranked=False,
    )


def rank_per_unit(
    table: OpenTable,
    *,
    of: str,
    bounds: tuple[Number, Number] | None,
    unit: str | None = None,
    per: Per = "mean",
    latest_by: str | None = None,
    first_by: str | None = None,
    most_rows: int | None = None,
    by: str | Sequence[str] = (),
    domain: Any = None,
    missing: Missing = LEAVE_OUT,
    resolution: Number | None = None,
    extremes: bool = False,
) -> Numbers:
    """Return the same for an open table, with no number left out by a bound yet: `Numbers.keep_first` does so later.

    Every number comes with its rank in its unit's lot, and with what of its unit is beyond the bounds; with `extremes`,
    for bounds that are chosen later, with the lowest and the highest number of its unit.
    """
    return _read_numbers(
        table,
        of=of,
        bounds=bounds,
        unit=unit,
        per=per,
        latest_by=latest_by,
        first_by=first_by,
        most_rows=most_rows,
        by=by,
        domain=domain,
        most_items=None,
        missing=missing,
        resolution=resolution,
        ranked=True,
        extremes=extremes,
    )


def _read_numbers(
    frame: Any,
    *,
    of: str,
    bounds: tuple[Number, Number] | None,
    unit: str | None,
    per: Per,
    latest_by: str | None,
    first_by: str | None,
    most_rows: int | None,
    by: str | Sequence[str],
    domain: Any,
    most_items: int | None,
    missing: Missing,
    resolution: Number | None,
    ranked: bool,
    extremes: bool = False,
) -> Numbers:
    if per not in WAYS:
        raise ParameterError(f"per must be one of {', '.join(map(repr, WAYS))}: got {per!r}.")
    if (per == "latest") != (latest_by is not None):
        raise ParameterError(
            "per='latest' and latest_by go together: latest_by names the column, such as a date, whose largest value "
            "says which row of a unit is the latest."
        )
    if (per == "first") != (first_by is not None):
        raise ParameterError(
            "per='first' and first_by go together: first_by names the column, such as a date, whose smallest value "
            "says which row of a unit is the first."
        )
    order = first_by if latest_by is None else latest_by
    columns = parse_columns(by) if by else []
    bound, most = _draw_bound(per, unit, most_rows, most_items if columns else 1)
    if ranked and unit is not None and bound is None:
        bound = ContributionBound.draw(1)  # its key decides the lots
    if bounds is None:
        grid, low, high, exact = _unbounded_grid(1 if resolution is None else resolution)
        public_bounds = grid.value(low), grid.value(high)
    else:
        grid, low, high, exact = _grid(bounds, resolution)
        public_bounds = parse_bounds(bounds)
    step = _missing_step(missing, grid, low, high, public_bounds)
    # A step further out, where somebody asks who is beyond the bounds.
    lowest = math.floor(public_bounds[0] / grid.resolution)
    further = ranked and bounds is not None
    amount = Weights(grid, lowest - 1, high + 1, step) if further else Weights(grid, low, high, step)
    if per == "total":
        furthest = _FURTHEST // grid.numerator
        amount = Weights(grid, -furthest, furthest, step)
    read = [*columns, *(name for name in (unit, of, order) if name is not None)]
    table = call_engine(wrap_frame, frame, read)
    types = call_engine(require_column_types, table, read)
    amount.check(types[of], of)
    if types[of] is not INTEGER and not all(map(_is_power_of_two, (grid.numerator, grid.denominator))):
        raise ParameterError(
            f"resolution must be a power of two for numbers that are not whole: got {grid.resolution}. No other is "
            "exact in an engine's floats. Use resolution='1/128', or a column of whole numbers such as cents."
        )
    if bounds is None and resolution is None and types[of] is not INTEGER:
        raise ParameterError(
            f"bounds or a resolution must be said, as the type of {of!r} is not whole numbers. The resolution is the "
            "step of the numbers: 1, or 0.01 for cents. Nothing was counted."
        )
    domains = read_domains(domain, columns) if columns else []
    converted = [convert_items(items, types[name], name) for name, items in zip(columns, domains, strict=True)]
    task = Task(tuple(columns), unit, of, amount, bound, per, order, (low, high), ranked, lowest, extremes)
    items = combine_domains([column.items for column in converted]) if converted else ()
    keys = [column.keys for column in converted]
    # A mean of floors is floored once more, and a sum is less by what a lower bound between two steps is raised.
    known = exact and types[of] is INTEGER and grid.numerator == 1 and (per != "mean" or unit is None)
    known = known and ((step or 0) * grid.resolution).denominator == 1
    # So is a decimal with too many digits for the engines, by less than a step.
    floored = Fraction(0) if known else (_MOST_FLOORED - (types[of] is not DECIMAL)) * grid.resolution
    most = most or max(len(items), 1)
    facts = items, grid.resolution, public_bounds, most, floored
    find = getattr(table, "find_numbers", None)
    if find is not None:
        from lastbit.data.spark.per_unit import SparkNumbers

        numbers = Numbers(_NONE, _NONE, *facts, apart=per != "row")
        return SparkNumbers(call_engine(find, task, keys), (low, high), numbers)
    more: list[NDArray[np.int64]]
    positions, steps, *more = call_engine(table.compute_numbers, task, keys)
    lots: dict[str, Any] = {}
    if ranked:
        lots = {"ranks": more[0], **({"extremes": (more[1], more[2])} if extremes else {"beyond": more[1]})}
    return Numbers(steps, positions, *facts, **lots, apart=per != "row")


def _draw_bound(
    per: Per, unit: str | None, most_rows: int | None, most_items: int | None
) -> tuple[ContributionBound | None, int | None]:
    """Return the bound on the rows or the items of a unit, and how many numbers one unit has at most."""
    if most_rows is not None and (per != "row" or unit is None):
        raise ParameterError("most_rows goes with per='row' and a unit: otherwise a unit has one number anyway.")
    if unit is None:
        return None, 1
    if per == "row":
        if most_rows is None:
            raise ParameterError(
                "per='row' needs most_rows, the number of rows of one unit that count: otherwise nobody knows how far "
                "one unit moves a result. Write most_rows=10, or per='mean'."
            )
        most = whole(most_rows, "most_rows")
        return ContributionBound.draw(most), most
    if most_items is None:
        return None, None
    most = whole(most_items, "most_items")
    return ContributionBound.draw(most), most


def _missing_step(missing: Missing, grid: Grid, low: int, high: int, bounds: tuple[Fraction, Fraction]) -> int | None:
    """Return the step that a missing number counts as: on a fine grid a number may lie between two steps."""
    try:
        exact = number(missing, "missing")
    except ParameterError:
        return step_of_missing(missing, grid, low, high)
    if bounds[0] <= exact <= bounds[1]:
        return max(low, min(high, math.floor(exact / grid.resolution)))
    raise ParameterError(f"missing must be a number between the bounds: got {missing}. Use one that is.")


def _grid(bounds: tuple[Number, Number], resolution: Number | None) -> tuple[Grid, int, int, bool]:
    """Return the grid, the bounds in its steps, inwards where they are between two steps, and whether they are not."""
    lower, upper = parse_bounds(bounds)
    if resolution is not None:
        grid = Grid(resolution)
        low, high = grid.count(lower, "the lower bound"), grid.count(upper, "the upper bound")
    else:
        furthest = max(abs(lower), abs(upper))
        grid = Grid(Fraction(2) ** (_power(furthest) - _FINE))
        low, high = math.ceil(lower / grid.resolution), math.floor(upper / grid.resolution)
        if low >= high:
            raise ParameterError("bounds must be further apart: between them there are fewer than two numbers to tell.")
    if max(abs(low), abs(high)) > 1 << _FINE or grid.numerator > _COARSEST:
        steps = "" if resolution is None else "at most 2^40 steps of the resolution, and "
        raise ParameterError(
            f"bounds must be {steps}at most 2^50, which is about 10^15. Use bounds nearer to zero: numbers beyond them "
            "are clamped."
        )
    return grid, low, high, (lower, upper) == (low * grid.resolution, high * grid.resolution)


def reach_below_step(bounds: tuple[Number, Number] | None, resolution: Number | None = None) -> Fraction:
    """Return how far below a step a number may lie and yet be taken to be at it, whatever type its column has.

    >>> reach_below_step((0, 100)) == Fraction(1, 2**31)
    True
    """
    grid, *_ = _unbounded_grid(1 if resolution is None else resolution) if bounds is None else _grid(bounds, resolution)
    return _MOST_FLOORED * grid.resolution


def unbounded_weights(resolution: Number) -> Weights:
    """Return numbers on a grid much finer than a resolution, which are clamped about 10^15 of its steps from zero.

    >>> unbounded_weights(1).grid.resolution
    Fraction(1, 1024)
    """
    grid, low, high, _ = _unbounded_grid(resolution)
    return Weights(grid, low, high)


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def _unbounded_grid(resolution: Number) -> tuple[Grid, int, int, bool]:
    """Return a grid much finer than a resolution, and as many of its steps as 64 bits hold with room to spare."""
    step = Grid(resolution).resolution
    grid = Grid(min(Fraction(1), Fraction(2) ** (_power(step) - _FINER)))
    return grid, -_FURTHEST, _FURTHEST, True


def _power(size: Fraction) -> int:
    """Return the least power of two, by its exponent, that is at or above this size."""
    power = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** power < size:
        power += 1
    return power
