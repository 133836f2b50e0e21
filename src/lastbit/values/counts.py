"""`Counts`: one value for each of a public list of items, and how far one person can move them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import Number, flag, positive
from lastbit.values.grid import bare


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts:
    """A private value for each public item. The values are never printed.

    items: public, one for each value, no two alike.
    values: whole numbers (a read-only int64 array), or exact sums (a tuple of Fractions).
    sensitivity: the furthest one person can move any single value.
    monotone: whether one person who comes or goes moves all values the same way.

    >>> counts = Counts(items=["flu", "cold"], values=[120, 80], monotone=True)
    >>> counts
    <Counts: 2 items, sensitivity 1, monotone>
    >>> len(counts)
    2
    """

    items: Sequence[Any]
    values: NDArray[np.int64] | tuple[Fraction, ...] = field(repr=False)
    sensitivity: Number = 1
    monotone: bool = False

    def __post_init__(self) -> None:
        items = self.items if isinstance(self.items, range) else tuple(self.items)
        values = _exact(self.values)
        if len(items) != len(values):
            raise ParameterError(
                f"items and values must be of one length: got {len(items):,} items and {len(values):,} values."
            )
        if not isinstance(items, range) and not _all_different(items):
            raise ParameterError("items must be different, and hashable: two that are alike have one count.")
        object.__setattr__(self, "monotone", flag(self.monotone, "monotone"))
        sensitivity = positive(self.sensitivity, "sensitivity", "It is how far one person can move a value.")
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "sensitivity", sensitivity)

    def __len__(self) -> int:
        return len(self.items)

    def __reduce__(self) -> Any:
        raise LastbitError("Counts hold private values and are not written down. Release them, and keep the release.")

    def __repr__(self) -> str:
        way = "monotone" if self.monotone else "not monotone"
        return f"<Counts: {len(self):,} items, sensitivity {self.sensitivity}, {way}>"


def _all_different(items: tuple[Any, ...]) -> bool:
    try:
        return len(set(items)) == len(items)
    except TypeError:
        return False


def _exact(values: Any) -> NDArray[np.int64] | tuple[Fraction, ...]:
    values = bare(values)
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str) or np.ndim(values) != 1:
        raise ParameterError("values of Counts must be a sequence with one exact number for each item.")
    array = values if isinstance(values, np.ndarray) else None
    if array is None and all(type(value) is int and -(1 << 63) <= value < 1 << 63 for value in values):
        array = np.array(values, np.int64)
    if array is not None and array.dtype.kind in "biu":
        # No count reaches 2^63: the clamp only keeps a wrong one from turning negative.
        whole = np.minimum(array, np.uint64((1 << 63) - 1)) if array.dtype == np.uint64 else array
        kept: NDArray[np.int64] = whole.astype(np.int64)
        kept.flags.writeable = False
        return kept
    if not all(isinstance(value, Rational) for value in values):
        raise ParameterError("values of Counts must be exact: whole numbers or Fractions, not floats.")
    return tuple(Fraction(int(value.numerator), int(value.denominator)) for value in values)


def unpacked(values: Any, sensitivity: Fraction, monotone: bool) -> tuple[Any, Sequence[Any] | None]:
    """The bare values, and the items when they come as Counts.

    Counts are refused when one person can move them further than a mechanism with this sensitivity, or this promise
    to be monotone, allows for.
    """
    if not isinstance(values, Counts):
        return values, None
    if Fraction(values.sensitivity) > sensitivity:
        raise ParameterError(
            f"the counts have sensitivity {values.sensitivity}, the mechanism was built for {sensitivity}. "
            f"Build it with sensitivity={values.sensitivity}. Nothing was drawn."
        )
    if monotone and not values.monotone:
        raise ParameterError(
            "the counts are not monotone, the mechanism was built for counts that are. "
            "Build it without monotone=True. Nothing was drawn."
        )
    return values.values, values.items
