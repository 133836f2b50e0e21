"""Values as people pass them: numbers and arrays of Python, NumPy, pandas, Polars and Arrow; missing values too."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Rational, Real
from typing import Any, Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.exact.numbers import MAX_BITS
from lastbit.values import _floors

_FLOAT64: Final = np.dtype(np.float64)

_LARGE: Final = MAX_BITS
"""Powers of ten beyond which a decimal is clamped, or below which it is less than any resolution, unread."""

_MISSING: Final = ("NoneType", "NAType", "NaTType", "MaskedConstant")
"""The names of the types that stand for a missing value in Python, pandas and NumPy."""

_BLOCK: Final = 1 << 18
"""Floats compared at a time: the memory that a maximum needs beyond the values, for any number of values."""


def is_plain(values: object) -> TypeGuard[NDArray[Any]]:
    """Return whether values are an array of numbers that int64, uint64
    or float64 holds exactly: one read without loops.
    """
    if type(values) is not np.ndarray and (not isinstance(values, np.ndarray) or isinstance(values, np.ma.MaskedArray)):
        return False
    return values.dtype.kind in "biuf" and values.dtype.itemsize <= 8


def unwrap(values: Any) -> Any:
    """Return the values of a Series, a masked array, or a list of
    Python's ints or floats, as an array; else as they are.

    Masked values are missing.
    """
    if type(values) is np.ndarray:
        # Kernels read numbers where the processor would put them.
        return values if values.flags.aligned else values.copy()
    if type(values) is list or type(values) is tuple:
        numbers = _floors.packed(values)
        return values if numbers is None else numbers
    if isinstance(values, np.ma.MaskedArray):
        objects = np.asarray(values.data).astype(object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    if isinstance(values, np.ndarray):
        return unwrap(np.asarray(values))  # a subclass such as a matrix may never be flat
    if not hasattr(values, "to_numpy"):
        return values
    if isinstance(getattr(values, "dtype", None), np.dtype):
        return unwrap(values.to_numpy())
    # Whole numbers with one missing would all become floats, and be rounded: then they are taken one by one.
    for null_method, list_method in (("isna", "to_list"), ("null_count", "to_list"), ("null_count", "to_pylist")):
        if hasattr(values, null_method) and hasattr(values, list_method):
            missing = getattr(values, null_method)
            missing = missing() if callable(missing) else missing
            if np.any(missing):
                return getattr(values, list_method)()
            try:
                return unwrap(np.asarray(values))
            except Exception:  # a type of the library that NumPy has none for, such as integers of 128 bits
                return getattr(values, list_method)()
    return values


def is_missing(value: object) -> bool:
    """Return whether this stands for a value that is not there."""
    return type(value).__name__ in _MISSING


def exact_ratio(value: object) -> tuple[int, int]:
    """Return the exact value of any number as a fraction; ±1/0 where
    it is not finite, NaN and missing values as lowest.

    >>> exact_ratio(0.75), exact_ratio(float("inf")), exact_ratio(None)
    ((3, 4), (1, 0), (-1, 0))
    """
    # NumPy calls a time span a whole number.
    number = not isinstance(value, np.timedelta64)
    if number and isinstance(value, Rational):
        return int(value.numerator), int(value.denominator)
    if isinstance(value, Decimal):
        if value.is_finite() and not value:
            return 0, 1
        if not value.is_finite() or value.adjusted() > _LARGE:
            return (1 if not value.is_nan() and value > 0 else -1), 0
        if value.adjusted() < -_LARGE:
            return (-1 if value < 0 else 1), 1 << MAX_BITS + 1
        return value.as_integer_ratio()
    if number and isinstance(value, Real):
        # A long double holds more than a float, and states its own ratio.
        real = value if isinstance(value, np.floating) else float(value)
        return real.as_integer_ratio() if math.isfinite(real) else (1 if real > 0 else -1, 0)
    if isinstance(value, np.bool_):
        return int(value), 1
    if is_missing(value):
        return -1, 0
    raise ParameterError(f"a value must be a number: got {type(value).__name__}.")


def highest(values: NDArray[Any]) -> NDArray[Any]:
    """Return the highest of a plain array, as an array of one: a NaN only where there is nothing else.

    >>> highest(np.array([1.0, np.nan, -3.0]))
    array([1.])
    """
    if values.dtype.kind != "f":
        return np.asarray(values.max(keepdims=True))
    blocks = (values[start : start + _BLOCK] for start in range(0, len(values), _BLOCK))
    maxima = np.array([_floors.highest(bits(block)) for block in blocks], np.int64).view(np.float64)
    return maxima if len(maxima) == 1 else np.array([_floors.highest(bits(maxima))], np.int64).view(np.float64)


def bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of floats, as 64-bit floats have them."""
    if values.dtype is _FLOAT64:
        return np.ascontiguousarray(values).view(np.uint64)
    # A signaling NaN of a shorter type would warn as it is turned into a quiet one.
    with np.errstate(invalid="ignore"):
        return np.ascontiguousarray(values, np.float64).view(np.uint64)
