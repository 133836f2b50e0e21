"""`Known`: private values that say in public how far one person moves them, and which grid they are on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lastbit.errors import LastbitError, ParameterError
from lastbit.values import _floors
from lastbit.values.adjacency import Adjacency
from lastbit.values.grid import Grid
from lastbit.values.labelled import labelled
from lastbit.values.raw import bare, is_missing


class Known:
    """Private values with public facts about them. The values are never printed and never written down."""

    values: Any
    monotone: bool
    """Whether one person who comes or goes moves all values the same way."""
    adjacency: Adjacency
    """What one person may change: come or go, or replace a record of a public number of them."""
    resolution: Any
    """The grid that the values are on, a Fraction; None where nobody said."""
    above: int = 0
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
    def names(self) -> Sequence[Any] | None:
        """The public items that the values belong to; None where they have no names."""
        return None

    def __reduce__(self) -> Any:
        raise LastbitError(
            f"{type(self).__name__} hold private values and are not written down. Release them, and keep the release."
        )


def allowed(values: Known, sensitivity: Fraction, monotone: bool = False) -> None:
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


def unpacked(values: Any, sensitivity: Fraction, monotone: bool = False) -> tuple[Any, Sequence[Any] | None]:
    """The bare values, and the items where the values have them.

    Values are refused where they are not `allowed`. Values about which nothing is known are taken as they are.
    """
    if type(values) is np.ndarray:
        return bare(values), None
    if not isinstance(values, Known):
        given, items = labelled(values)
        return bare(given), items
    allowed(values, sensitivity, monotone)
    return values.values, values.names


def names_of(values: Any) -> Sequence[Any] | None:
    """The public items that values belong to; None where they have no names."""
    if isinstance(values, Known):
        return values.names
    labels = labelled(values)[1]
    return None if labels is None else tuple(labels)


def lies_on(values: Any, grid: Grid) -> bool:
    """Whether values are known to be whole steps of a grid: by their type, or by what they say of themselves.

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
    values, _ = labelled(values)
    # The type that an array or a Series declares; Arrow calls it `type`.
    declared = getattr(values, "dtype", None) or getattr(values, "type", None)
    if declared is not None and not isinstance(values, np.generic) and str(declared) != "object":
        return str(declared).lower().startswith(("int", "uint", "bool"))
    if (type(values) is list or type(values) is tuple) and _floors.whole_only(values):
        return True
    values = bare(values)
    each = values if isinstance(values, Sequence) else values.flat if isinstance(values, np.ndarray) else [values]
    return all(isinstance(value, int | np.integer | np.bool_) or is_missing(value) for value in each)


def floored_by(values: Any, grid: Grid) -> int:
    """How many steps of a grid the exact values may lie above values that say so of themselves; else 0.

    >>> floored_by([0.5], Grid(1))
    0
    """
    known = isinstance(values, Known) and values.above > 0
    return math.ceil(values.above * values.resolution / grid.resolution) if known else 0


def within(values: Any, sensitivity: Fraction) -> Any:
    """The bare values, refused where one person can move all of them together further than this."""
    if not isinstance(values, Known):
        return labelled(values)[0]
    if values.total > sensitivity:
        raise ParameterError(
            f"one person can move the values by {values.total} in all, the mechanism was built for sensitivity "
            f"{sensitivity}. Build it with sensitivity={values.total}; to measure only the largest counts, use "
            "SelectAndMeasure. Nothing was drawn."
        )
    return values.values


def within_squared(values: Any, squared: Fraction) -> Any:
    """The bare values, refused where the squares of one person's moves may add up to more than this.

    No move is above `each`, and all moves add up to `total` at most: so their squares add up to at most each·total.
    """
    if not isinstance(values, Known):
        return labelled(values)[0]
    if values.each * values.total > squared:
        raise ParameterError(
            f"one person can move the values by {values.each} each and {values.total} in all, so that the squares add "
            f"up to {values.each * values.total}; the mechanism was built for {squared}. Build it with "
            f"squared_sensitivity='{values.each * values.total}'. Nothing was drawn."
        )
    return values.values
