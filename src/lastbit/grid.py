"""Values on a grid: what the data says becomes whole steps of a resolution, exactly.

The rule is public and total, so that no private value can raise or change a path: with resolution p/q, a value v
stands for ⌊v·q⌋ clamped to ±2^61, floored once more by p. NaN counts as the lowest value. Flooring leaves the
sensitivity alone when the resolution divides it, and clamping never raises it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Rational, Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.exact import MAX_BITS, Number, positive

Steps = NDArray[np.int64]

LIMIT: Final = 1 << 61
"""The largest ⌊v·q⌋, either side of zero."""

_HALF: Final = (1 << 26) - 1
_LARGE: Final = MAX_BITS
"""Powers of ten beyond which a decimal is clamped, or below which it is less than any resolution, unread."""
_CHUNK: Final = 1 << 14
"""Floats in hand at a time: what their conversion needs beyond its result, whatever its size."""


@dataclass(frozen=True, slots=True, init=False)
class Grid:
    """Whole multiples of a resolution.

    >>> Grid("1/10").steps([0.3, 1, Fraction(1, 3), float("nan")]).tolist()
    [2, 10, 3, -2305843009213693952]
    """

    resolution: Fraction

    def __init__(self, resolution: Number = 1) -> None:
        exact = positive(resolution, "resolution", "It is the step between two values.")
        object.__setattr__(self, "resolution", exact)

    def steps(self, values: object) -> Steps:
        """Values in steps, one for each: an array, or a sequence of numbers. A float means its exact value."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            return self._steps_of_array(values.ravel())
        if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str | bytes):
            raise ParameterError(f"values must be an array or a sequence of numbers: got {type(values).__name__}.")
        return np.fromiter((self.step(value) for value in values), np.int64, len(values))

    def step(self, value: object) -> int:
        """One value in steps."""
        return _clamped(_scaled(value, self.resolution.denominator)) // self.resolution.numerator

    def beyond(self, value: object, step: int) -> Fraction:
        """How far a value lies above this step, in steps: from 0 to below 1, and 0 where the grid clamps it.

        >>> Grid("1/10").beyond(Fraction(1, 4), 2)
        Fraction(1, 2)
        """
        above, below = _ratio(value)
        part = Fraction(above, below) / self.resolution - step if below else Fraction(0)
        return part if 0 <= part < 1 else Fraction(0)

    def values(self, steps: Sequence[int] | Steps) -> tuple[Fraction, ...]:
        """Steps as exact values."""
        above, below = self.resolution.numerator, self.resolution.denominator
        whole = steps.tolist() if isinstance(steps, np.ndarray) else [int(step) for step in steps]
        # One whole number is far quicker to make a Fraction of than a product of two Fractions.
        return tuple([Fraction(step * above) if below == 1 else Fraction(step * above, below) for step in whole])

    def count(self, amount: Fraction, name: str) -> int:
        """How many steps a public amount has; refused unless it is a whole number of them."""
        steps = amount / self.resolution
        if steps.denominator != 1:
            raise ParameterError(
                f"resolution must divide {name}: got resolution {self.resolution} and {name} {amount}. "
                f"Use resolution={amount / -(-steps.numerator // steps.denominator)}."
            )
        return steps.numerator

    def _steps_of_array(self, values: NDArray[Any]) -> Steps:
        factor, divisor = self.resolution.denominator, self.resolution.numerator
        if values.dtype.kind == "f":
            scaled = np.empty(len(values), np.int64)
            for start in range(0, len(values), _CHUNK):
                scaled[start : start + _CHUNK] = _scaled_floats(values[start : start + _CHUNK], factor)
        else:
            scaled = _scaled_whole(values, factor)
        if divisor > 1:
            np.floor_divide(scaled, divisor, out=scaled) if divisor <= LIMIT else np.right_shift(scaled, 63, out=scaled)
        return scaled


def _clamped(value: int) -> int:
    return max(-LIMIT, min(LIMIT, value))


def _scaled(value: object, factor: int) -> int:
    """⌊value·factor⌋ of any number, clamped where it is not finite."""
    if type(value) is int:
        return value * factor
    above, below = _ratio(value)
    return above * factor // below if below else above * LIMIT


def _ratio(value: object) -> tuple[int, int]:
    """The exact value of any number as a fraction; ±1/0 where it is not finite, NaN counting as lowest."""
    if isinstance(value, Rational):
        return int(value.numerator), int(value.denominator)
    if isinstance(value, Decimal):
        if value.is_zero():
            return 0, 1
        if not value.is_finite() or value.adjusted() > _LARGE:
            return (1 if not value.is_nan() and value > 0 else -1), 0
        if value.adjusted() < -_LARGE:
            return (value > 0) - (value < 0), 10**_LARGE
        return value.as_integer_ratio()
    if isinstance(value, Real):
        real = float(value)
        return real.as_integer_ratio() if isfinite(real) else ((1 if real > 0 else -1), 0)
    raise ParameterError(f"a value must be a number: got {type(value).__name__}.")


def _scaled_whole(values: NDArray[Any], factor: int) -> Steps:
    """⌊v·factor⌋ of whole values, clamped."""
    edge = LIMIT // factor
    if factor == 1 and values.dtype.kind != "u":
        return np.clip(values.astype(np.int64, copy=False), -LIMIT, LIMIT)
    if values.dtype.kind == "u":
        values = np.minimum(values, min(edge + 1, np.iinfo(values.dtype).max))
    # (edge + 1)·factor is above LIMIT and below 2^63.
    scaled = np.clip(values.astype(np.int64, copy=False), -edge - 1, edge + 1)
    scaled *= min(factor, LIMIT)
    return np.clip(scaled, -LIMIT, LIMIT, out=scaled)


def _scaled_floats(values: NDArray[Any], factor: int) -> Steps:
    """⌊v·factor⌋ of floats, clamped."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = values.astype(np.float64, copy=False)
        if factor & (factor - 1) == 0 and factor < 1 << 1023:
            # Scaling by a power of two is exact, but for overflow to infinity, which is clamped anyway. fmax drops NaN.
            dyadic = np.floor(values if factor == 1 else values * float(factor))
            steps: Steps = np.fmin(np.fmax(dyadic, -LIMIT), LIMIT).astype(np.int64)
            return steps
        values = np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    if factor >= 1 << 34:
        return np.fromiter((_clamped(_scaled(value, factor)) for value in values.tolist()), np.int64, len(values))
    # From 2^52 on a float is whole.
    large = _scaled_whole(np.clip(values, -LIMIT, LIMIT).astype(np.int64), factor)
    # Below, v = m / 2^shift with a whole m of 53 bits, taken in two halves so that m·factor = high·2^26 + low.
    mantissa, exponent = np.frexp(np.where(np.abs(values) < 1 << 52, values, 0))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    low = (whole & _HALF) * factor
    high = (whole >> 26) * factor + (low >> 26)
    low &= _HALF
    shift = 53 - exponent.astype(np.int64)
    down, up = np.clip(shift - 26, 0, 63), np.clip(26 - shift, 0, 26)
    near = np.clip(high, -(LIMIT >> up) - 1, LIMIT >> up) << up
    small = np.where(shift >= 26, high >> down, near + (low >> np.clip(shift, 0, 63)))
    return np.where(np.abs(values) < 1 << 52, np.clip(small, -LIMIT, LIMIT), large)
