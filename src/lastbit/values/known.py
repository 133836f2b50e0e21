"""`Known`: private values that say in public how far one person moves them, and which grid they are on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import whole
from lastbit.values import _floors
from lastbit.values.adjacency import Adjacency
from lastbit.values.grid import Grid
from lastbit.values.raw import is_missing, unwrap

_COUNT: Final = "count"
"""The name that value_counts() gives to the counts. By this name alone are labels told from other indices."""


class Known:
    """Private values with public facts about them. The values are never printed and never written down."""

    values: Any
    monotone: bool
    """Whether one person who comes or goes moves all values the same way."""
    adjacency: Adjacency
    """What one person may change: come or go, or replace a record of a public number of them."""
    resolution: Any
    """The grid that the values are on, a Fraction; None where nobody said."""
    above: Any = 0
    """How many steps of this grid the exact values may lie above these, which were floored; 0 where these are exact."""

    # No abstract base: every release asks whether its values are Known, and asking that of an abstract class is slow.

    @property
    def each(self) -> Fraction:
        """The furthest one person can move any single value."""
        raise NotImplementedError

    @property
    def total(self) -> Fraction:
        """The furthest one person can move all values together, all distances added up."""
        raise NotImplementedError

    @property
    def margin(self) -> Fraction:
        """How far the exact values may lie above these, at most: `above` steps."""
        return Fraction(self.above) * self.resolution if self.above else Fraction(0)

    @property
    def names(self) -> Sequence[Any] | None:
        """The public items that the values belong to; None where they have no names."""
        return None

    def __reduce__(self) -> Any:
        raise LastbitError(
            f"{type(self).__name__} hold private values and are not written down. Release them, and keep the release."
        )


def check_sensitivity(values: Known, sensitivity: Fraction, monotone: bool = False) -> None:
    """Refuse values that one person can move further than a mechanism with this sensitivity allows for.

    Or in another way, where the mechanism was built for values that are monotone.
    """
    if values.each > sensitivity:
        raise ParameterError(
            f"one person can move a value by {values.each}, the mechanism was built for sensitivity {sensitivity}. "
            f"Build it with sensitivity={values.each}. Nothing was drawn."
        )
    if monotone and not values.monotone:
        raise ParameterError(
            "the values are not monotone, the mechanism was built for values that are. "
            "Build it without monotone=True. Nothing was drawn."
        )


def unpack_values(values: Any, sensitivity: Fraction, monotone: bool = False) -> tuple[Any, Sequence[Any] | None]:
    """Return the bare values, and the items where the values have them.

    `check_sensitivity` refuses values that move too far. Values about which nothing is known are taken as they are.
    """
    if type(values) is np.ndarray:
        return unwrap(values), None
    if not isinstance(values, Known):
        raw, items = split_labels(values)
        return unwrap(raw), items
    check_sensitivity(values, sensitivity, monotone)
    return values.values, values.names


def split_labels(values: Any) -> tuple[Any, Sequence[Any] | None]:
    """Return the bare values, and the labels that a count of pandas or Polars has for them; None for all other values.

    The labels of value_counts() are published where they are selected. Only what occurs has a label, and what occurs is
    private: give the counts of a public list, value_counts().reindex(items, fill_value=0), or use `count`.

    >>> import pandas
    >>> visits = pandas.Series(["flu", "cold", "flu"]).value_counts().reindex(["cold", "flu", "gout"], fill_value=0)
    >>> split_labels(visits)[1], split_labels([1, 2])[1]
    (['cold', 'flu', 'gout'], None)
    """
    kind = type(values).__name__
    if kind == "Series" and getattr(values, "name", None) == _COUNT and hasattr(values, "index"):
        # An index that only numbers the rows is no label.
        return values, None if type(values.index).__name__ == "RangeIndex" else values.index.tolist()
    if kind == "DataFrame":
        names = list(values.columns)
        if len(names) == 2 and names[1] == _COUNT:
            first = values[names[0]]
            return values[_COUNT], first.to_list() if hasattr(first, "to_list") else list(first)
    return values, None


def names_of(values: Any) -> Sequence[Any] | None:
    """Return the public items that values belong to; None where they have no names."""
    if isinstance(values, Known):
        return values.names
    labels = split_labels(values)[1]
    return None if labels is None else tuple(labels)


def lies_on(values: Any, grid: Grid) -> bool:
    """Return whether values are known to be whole steps of a grid: by their type, or by what they say of themselves.

    No value is looked at, only types. Whole numbers lie on a grid of 1/q; floats and fractions may lie between two
    steps. An array declares its type. For a list, whether it holds ints only must not depend on the data.

    >>> lies_on([3, None], Grid("1/2")), lies_on([3, 4], Grid(2)), lies_on([3.0], Grid(1))
    (True, False, False)
    """
    if type(values) is np.ndarray and (kind := values.dtype.kind) in "biuf":
        return kind != "f" and grid.numerator == 1
    if isinstance(values, Known):
        return values.resolution is not None and (values.resolution / grid.resolution).denominator == 1
    if grid.numerator != 1:
        return False
    if type(values) is int:
        return True
    values, _ = split_labels(values)
    # The type that an array or a Series declares; Arrow calls it `type`.
    declared_type = getattr(values, "dtype", None) or getattr(values, "type", None)
    if declared_type is not None and not isinstance(values, np.generic) and str(declared_type) != "object":
        return str(declared_type).lower().startswith(("int", "uint", "bool"))
    if (type(values) is list or type(values) is tuple) and _floors.whole_only(values):
        return True
    values = unwrap(values)
    numbers = values if isinstance(values, Sequence) else values.flat if isinstance(values, np.ndarray) else [values]
    return all(isinstance(value, int | np.integer | np.bool_) or is_missing(value) for value in numbers)


def lost_steps(values: Any, grid: Grid, on_grid: bool | None = None) -> int:
    """Return how many steps of a grid the exact values may lie above the
    steps that stand for them; 0 where these are exact.

    Values that may lie between two steps (`lies_on`) lose up to one; `on_grid` says whether they do, where that is
    known. Values may have lost more before, and say so of themselves.

    >>> lost_steps([0.5], Grid(1)), lost_steps([5], Grid(1))
    (1, 0)
    """
    floored = int(not (lies_on(values, grid) if on_grid is None else on_grid))
    return floored + (math.ceil(values.margin / grid.resolution) if isinstance(values, Known) else 0)


def steps_off(above: int | None, values: Any, grid: Grid) -> int:
    """Return how many steps the exact values may lie above these once they are floored: as it is said, or as types say.

    Who says so has floored the values: they lie on the grid.

    >>> steps_off(None, Fraction(9, 10), Grid(1)), steps_off(None, 9, Grid(1)), steps_off(3, Fraction(9), Grid(1))
    (1, 0, 3)
    """
    return lost_steps(values, grid) if above is None else whole(above, "above", least=0)


def unpack_within(values: Any, sensitivity: Fraction) -> Any:
    """Return the bare values, refused where one person can move all of them together further than this."""
    if not isinstance(values, Known):
        return split_labels(values)[0]
    if values.total > sensitivity:
        raise ParameterError(
            f"one person can move the values by {values.total} in all, the mechanism was built for sensitivity "
            f"{sensitivity}. Build it with sensitivity={values.total}; to measure only the largest counts, use "
            "SelectAndMeasure. Nothing was drawn."
        )
    return values.values


def unpack_within_squared(values: Any, squared: Fraction) -> Any:
    """Return the bare values, refused where the squares of one person's moves may add up to more than this.

    No move is above `each`, and all moves add up to `total` at most: so their squares add up to at most each·total.
    """
    if not isinstance(values, Known):
        return split_labels(values)[0]
    if values.each * values.total > squared:
        raise ParameterError(
            f"one person can move the values by {values.each} each and {values.total} in all, so that the squares add "
            f"up to {values.each * values.total}; the mechanism was built for {squared}. Build it with "
            f"squared_sensitivity='{values.each * values.total}'. Nothing was drawn."
        )
    return values.values
