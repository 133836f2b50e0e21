"""Missing values: a blank, a null, NaN, or text where a number should be; and the public rule for them.

A missing value is left out, unless the user says what it counts as. The rule is public and the same for every record,
and no missing value raises an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.values.grid import Grid
from lastbit.values.known import lies_on
from lastbit.values.raw import is_plain, unwrap

Missing = Literal["leave-out", "lowest"] | Number
"""What a missing value counts as: nothing at all, the lower bound, or a number between the bounds."""

LEAVE_OUT: Final = "leave-out"

_TEXT: Final = ("str", "utf8", "large_str")
"""How the names of types begin that Arrow, pandas and Polars declare for text."""


def step_of_missing(missing: Any, grid: Grid, least: int, most: int) -> int | None:
    """Return the step that a missing value counts as, between the bounds; None where it is left out.

    >>> step_of_missing("leave-out", Grid(), 0, 10), step_of_missing("lowest", Grid(), 0, 10)
    (None, 0)
    >>> step_of_missing("1/2", Grid("1/4"), 0, 10)
    2
    """
    if missing == LEAVE_OUT:
        return None
    if missing == "lowest":
        return least
    try:
        exact = number(missing, "missing")
    except ParameterError:
        raise ParameterError(
            f"missing must be 'leave-out', 'lowest' or a number: got {missing!r}. A missing value is left out, or "
            "counts as the lower bound, or as that number."
        ) from None
    step = grid.count(exact, "missing")
    if not least <= step <= most:
        raise ParameterError(f"missing must be a number between the bounds: got {missing}. Use one that is.")
    return step


def can_be_missing(values: Any) -> bool:
    """Return whether records of this type can be missing. No value is looked at, only the type that an array declares.

    >>> can_be_missing(np.array([1, 2])), can_be_missing(np.array([1.5])), can_be_missing([1, 2])
    (False, True, True)
    """
    declared_type = getattr(values, "dtype", None)
    masked = isinstance(values, np.ma.MaskedArray)
    return masked or not (isinstance(declared_type, np.dtype) and declared_type.kind in "biu")


def numbers_of(values: Any) -> Any:
    """Return records as a flat array of numbers, or as a list in which every record that is no number is None.

    >>> numbers_of([3, "n/a", None, 2.5])
    [3, None, None, 2.5]
    """
    declared_type = getattr(values, "dtype", None) or getattr(values, "type", None)
    if not isinstance(declared_type, np.dtype) and str(declared_type).lower().startswith(_TEXT):
        raise ParameterError(f"records must be numbers: got a column of {declared_type}. Pass numbers.")
    values = unwrap(values)
    if is_plain(values):
        return values.ravel()
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "fO":
            raise ParameterError(f"records must be numbers: got an array of {values.dtype}. Pass numbers.")
        values = list(values.flat)
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise ParameterError(f"records must be an array or a sequence of numbers: got {type(values).__name__}.")
    return [value if _is_number(value) else None for value in values]


def missing_among(values: Any) -> NDArray[np.bool_]:
    """Return which of the records that `numbers_of` gives are missing.

    >>> missing_among(numbers_of([3, "n/a", float("nan")])).tolist()
    [False, True, True]
    """
    if isinstance(values, np.ndarray):
        # A signaling NaN does not warn here.
        unknown: NDArray[np.bool_] = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
        return unknown
    return np.fromiter((value is None or _is_nan(value) for value in values), np.bool_, len(values))


def floats_among(values: Any) -> NDArray[np.floating[Any]]:
    """Return the records that `numbers_of` gives, as they are where they are floats, and NaN where they are not.

    >>> floats_among(numbers_of([3, "n/a", 0.3])).tolist()
    [nan, nan, 0.3]
    """
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind == "f" else np.full(len(values), np.nan)
    return np.fromiter((value if isinstance(value, float) else np.nan for value in values), np.float64, len(values))


def whole_flat(values: Any, flat: Any, grid: Grid) -> bool:
    """Return whether records are known to be whole steps of a grid, by their types. A missing record is of any type.

    flat: what `numbers_of` gives for the records.

    >>> whole_flat([3, None], numbers_of([3, None]), Grid(1)), whole_flat([3, 4.0], numbers_of([3, 4.0]), Grid(1))
    (True, False)
    """
    if isinstance(flat, list):
        return lies_on([None if _is_nan(value) else value for value in flat], grid)
    return lies_on(flat if isinstance(values, list | tuple) else values, grid)


def _is_number(value: object) -> bool:
    # NumPy calls a time span a whole number.
    return isinstance(value, Real | Decimal | np.bool_) and not isinstance(value, np.timedelta64)


def _is_nan(value: object) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
