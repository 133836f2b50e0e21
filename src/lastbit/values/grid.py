"""Values on a grid: each value of the data becomes a whole number of steps of a resolution, exactly.

The rule is public and total, so that no private value can raise or change a path: with resolution p/q, a value v
stands for ⌊v·q⌋ clamped to ±2^61, floored once more by p. NaN and missing values count as the lowest. Flooring leaves
the sensitivity of a value alone when the resolution divides it, and clamping never raises it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.parallel import run_parallel, split_range
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, flag, positive
from lastbit.values import _floors
from lastbit.values.raw import bits, exact_ratio, is_plain, unwrap

Steps = NDArray[np.int64]

LIMIT: Final = 1 << 61
"""The largest ⌊v·q⌋, either side of zero."""

_INT64: Final = np.dtype(np.int64)

_BLOCK: Final = 1 << 18
"""Records summed at a time: the memory that a sum needs beyond its records."""

_EXACT: Final = 1 << 53
"""Up to here every whole number is a float."""

_QUICK: Final = 2
"""So many times as quick as a draw is a sum."""


@dataclass(frozen=True, slots=True, init=False)
class Grid:
    """Whole multiples of a resolution.

    >>> Grid("1/10").steps([0.3, 1, Fraction(1, 3), float("nan")]).tolist()
    [2, 10, 3, -2305843009213693952]
    """

    resolution: Fraction
    numerator: int = field(init=False, repr=False, compare=False)
    """That of the resolution: a Fraction takes longer to say it."""
    denominator: int = field(init=False, repr=False, compare=False)
    _scaling: tuple[int, int, int] | None = field(init=False, repr=False, compare=False)
    _listing: tuple[int, int, int, _floors.Floor | None] = field(init=False, repr=False, compare=False)
    """The denominator, the numerator, the limit and the way of floats, as the kernel of lists takes them."""

    def __init__(self, resolution: Number = 1) -> None:
        exact = positive(resolution, "resolution", "It is the step between two values.")
        object.__setattr__(self, "resolution", exact)
        object.__setattr__(self, "numerator", exact.numerator)
        object.__setattr__(self, "denominator", exact.denominator)
        scaling = (min(exact.denominator, LIMIT), LIMIT // exact.denominator, LIMIT) if exact.numerator == 1 else None
        object.__setattr__(self, "_scaling", scaling)
        floor = _floor(exact.denominator, -LIMIT, LIMIT)
        listing = min(exact.denominator, LIMIT), min(exact.numerator, LIMIT + 1), LIMIT, floor
        object.__setattr__(self, "_listing", listing)

    def __reduce__(self) -> tuple[type[Grid], tuple[Fraction]]:
        return Grid, (self.resolution,)

    @property
    def last(self) -> int:
        """The last step that a value can have: values beyond it are clamped.

        >>> Grid(4).last == 1 << 59
        True
        """
        return LIMIT // self.numerator

    def steps(self, values: object) -> Steps:
        """Return values in steps, one for each: an array, or a sequence of numbers. A float means its exact value."""
        if type(values) is list or type(values) is tuple:
            return _floors.listed(values, self.step, *self._listing)
        values = unwrap(values)
        if is_plain(values):
            return self._steps_of_array(values.ravel())
        if isinstance(values, np.ndarray):
            return self.steps(list(values.flat))
        if not isinstance(values, Sequence) or isinstance(values, str | bytes):
            raise ParameterError(
                f"values must be an array or a sequence of numbers: got {type(values).__name__}. Count a table with "
                "lastbit.count; write a dictionary d as lastbit.Counts(items=list(d), values=list(d.values()))."
            )
        return np.fromiter((self.step(value) for value in values), np.int64, len(values))

    def scaling(self, values: NDArray[Any]) -> tuple[int, int, int] | None:
        """Return how a kernel brings these values into steps in the pass that uses them; None where no kernel does.

        >>> Grid("1/10").scaling(np.array([3, 4])) == (10, LIMIT // 10, LIMIT), Grid(1).scaling(np.array([0.5]))
        (True, None)
        """
        if type(values) is not np.ndarray or values.dtype is not _INT64 or values.ndim != 1:
            return None
        return self._scaling

    def floor(self, values: Any) -> Any:
        """Return values as multiples of the resolution: whole numbers on a grid of 1/q as they are, others floored.

        >>> Grid(2).floor((Fraction(7, 2), Fraction(4)))
        (Fraction(2, 1), Fraction(4, 1))
        """
        if isinstance(values, np.ndarray) and values.dtype.kind in "biu" and self.numerator == 1:
            return values
        # NumPy calls a time span a whole number.
        if isinstance(values, Rational) and not isinstance(values, np.timedelta64):
            return Fraction(int(values.numerator), int(values.denominator)) // self.resolution * self.resolution
        if isinstance(values, tuple):
            return tuple(self.floor(v) if isinstance(v, Rational) else self.value(self.step(v)) for v in values)
        return self.values(self.steps(values))

    def step(self, value: object) -> int:
        """Return one value in steps."""
        factor = self.denominator
        product = value * factor if type(value) is int else _scale(value, factor)
        return max(-LIMIT, min(LIMIT, product)) // self.numerator

    def value(self, step: int) -> Fraction:
        """Return one step as an exact value.

        >>> Grid("1/10").value(25)
        Fraction(5, 2)
        """
        return _ratio(int(step) * self.numerator, self.denominator)

    def beyond(self, value: object, step: int) -> Fraction:
        """Return how far a value lies above this step, in steps: from 0 to below 1, and 0 where that is not its step.

        >>> Grid("1/10").beyond(Fraction(1, 4), 2)
        Fraction(1, 2)
        """
        above, below = exact_ratio(value)
        product = Fraction(above * self.denominator, below) if below else Fraction(above * LIMIT)
        part = max(Fraction(-LIMIT), min(Fraction(LIMIT), product)) / self.numerator - step
        return part if 0 <= part < 1 else Fraction(0)

    def around(
        self, step: int, reach: int, *, on_grid: bool, ends: tuple[int, int] | None = None, above: int = 1
    ) -> tuple[Fraction | None, Fraction | None]:
        """Return the range of all values that are within `reach` steps of this one, once they are floored.

        Values that were known to lie on the grid were not floored. Others lie up to `above` steps higher. A value that
        was clamped, at these ends or where the grid ends, may lie anywhere beyond: then there is None on that side.

        >>> Grid("1/2").around(7, 3, on_grid=False)
        (Fraction(2, 1), Fraction(11, 2))
        """
        low, high = ends or (None, None)
        beyond = 0 if flag(on_grid, "on_grid") else above
        return (
            None if step == low or step - reach <= -self.last else self.value(step - reach),
            None if step == high or step + reach >= self.last else self.value(step + reach + beyond),
        )

    def values(self, steps: Sequence[int] | Steps) -> tuple[Fraction, ...]:
        """Return steps as exact values."""
        whole = steps.tolist() if isinstance(steps, np.ndarray) else map(int, steps)
        return tuple([self.value(step) for step in whole])

    def array(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Return steps as an array of whole numbers, or of the floats nearest to their values.

        Whole numbers beyond 64 bits are objects.

        >>> Grid(2).array(np.array([3, 4])).tolist(), Grid("1/10").array(np.array([3, 4])).tolist()
        ([6, 8], [0.3, 0.4])
        """
        above, below = self.numerator, self.denominator
        furthest = max(-int(steps.min()), int(steps.max())) * above if len(steps) else 0
        if below == 1:
            return steps * above if furthest < 1 << 63 else np.array([above * step for step in steps.tolist()], object)
        if max(furthest, below) <= _EXACT:
            # Both are floats as they are, and processors divide to the nearest float.
            return np.asarray(np.true_divide(steps if above == 1 else steps * above, below, dtype=np.float64))
        # So does Python, of whole numbers of any length.
        return np.array([above * step / below for step in steps.tolist()], np.float64)

    def count(self, amount: Fraction, name: str) -> int:
        """Return how many steps a public amount has; refused unless it is a whole number of them."""
        steps = amount / self.resolution
        if steps.denominator != 1:
            raise ParameterError(
                f"resolution must divide {name}: got resolution {self.resolution} and {name} {amount}. "
                f"Use resolution={common(amount, self.resolution)}."
            )
        return steps.numerator

    def total(self, values: object, least: int, most: int) -> int:
        """Return the sum of the values in steps, each clamped to [least, most] first: any number of them, exactly.

        >>> Grid("1/10").total([0.31, float("nan"), 10**9], 0, 20)
        23
        """
        values = unwrap(values)
        if not is_plain(values):
            return _sum(np.clip(self.steps(values), least, most))
        if values.dtype.kind == "f" and (sums := self.total_of_floats(values, least, most)) is not None:
            return sums[0]
        return sum(_sum(np.clip(self._steps_of_array(block), least, most)) for block in _blocks(values.ravel()))

    def total_of_floats(self, values: NDArray[Any], least: int, most: int) -> tuple[int, int] | None:
        """Return `total` in one pass over an array of floats, and how many
        of them are NaN; None where the kernel has no way.

        >>> Grid("1/10").total_of_floats(np.array([0.31, np.nan]), 0, 20)
        (3, 1)
        """
        divisor = self.numerator
        floor = None
        # Wider steps are clamped before they are divided, where the clamp of the grid leaves room for that.
        if -LIMIT <= least * divisor <= most * divisor < LIMIT - divisor:
            floor = _floor(self.denominator, least * divisor, most * divisor + divisor - 1)
        if floor is None:
            return None
        flat = values.ravel()
        if len(flat) <= _BLOCK:
            return floor.total(bits(flat), divisor)

        def add_part(part: range) -> tuple[int, int]:
            sums = [floor.total(bits(block), divisor) for block in _blocks(flat[part.start : part.stop])]
            return sum(total for total, _ in sums), sum(missing for _, missing in sums)

        sums = run_parallel(add_part, split_range(len(flat), _BLOCK, _QUICK))
        return sum(total for total, _ in sums), sum(missing for _, missing in sums)

    def _steps_of_array(self, values: NDArray[Any]) -> Steps:
        factor, divisor = self.denominator, self.numerator
        steps = _scale_floats(values, factor) if values.dtype.kind == "f" else _scale_whole(values, factor)
        if divisor > 1:
            np.floor_divide(steps, divisor, out=steps) if divisor <= LIMIT else np.right_shift(steps, 63, out=steps)
        return steps


@lru_cache(maxsize=4096)
def _ratio(above: int, below: int) -> Fraction:
    # A Fraction is slow to make, and published values repeat.
    return Fraction(above, below)


def common(a: Fraction, b: Fraction) -> Fraction:
    """Return the largest number that divides both.

    >>> common(Fraction(1, 2), Fraction(1, 3))
    Fraction(1, 6)
    """
    below = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * below), int(b * below)), below)


def _blocks(flat: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (flat[i : i + _BLOCK] for i in range(0, len(flat), _BLOCK))


def _sum(steps: Steps) -> int:
    """Return the sum of steps within ±2^61, by halves that cannot overflow."""
    return (int((steps >> 32).sum()) << 32) + int((steps & 0xFFFFFFFF).sum())


def _scale(value: object, factor: int) -> int:
    """Return ⌊value·factor⌋ of any number, clamped where it is not finite."""
    above, below = exact_ratio(value)
    return above * factor // below if below else above * LIMIT


@lru_cache(maxsize=32)
def _largest(dtype: np.dtype[Any]) -> int:
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def _scale_whole(values: NDArray[Any], factor: int) -> Steps:
    """Return ⌊v·factor⌋ of whole values, clamped."""
    edge, largest = LIMIT // factor, _largest(values.dtype)
    if largest < edge:
        # A type so small that no value of it comes near the limit.
        small: Steps = np.multiply(values, factor, dtype=np.int64)
        return small
    if values.dtype.kind == "u":
        values = np.minimum(values, min(edge + 1, largest))
    return _floors.scaled(np.ascontiguousarray(values, np.int64), min(factor, LIMIT), edge, LIMIT)


def _scale_floats(values: NDArray[Any], factor: int, least: int = -LIMIT, most: int = LIMIT) -> Steps:
    """Return ⌊v·factor⌋ of floats, clamped to [least, most]."""
    floor = _floor(factor, least, most)
    if floor is None:
        exact = (_scale(value, factor) for value in values.tolist())
        return np.fromiter((max(least, min(most, value)) for value in exact), np.int64, len(values))
    return floor.each(bits(values))


@lru_cache(maxsize=64)
def _floor(factor: int, least: int, most: int) -> _floors.Floor | None:
    """Return the kernel's way of scaling, or None where the factor is beyond it."""
    twos = (factor & -factor).bit_length() - 1
    furthest = max(abs(least), abs(most), 1)
    # The least power of two whose steps are beyond both ends: below 1 where one step is so short.
    top = (-(-furthest // factor) - 1).bit_length() if factor < furthest else 1 - (factor // furthest).bit_length()
    # Subnormal floats are less than a step up to this factor, which the kernel relies on.
    if factor >> twos > LIMIT or factor.bit_length() > 1000:
        return None
    low, high = (_first_float(step, factor) if least >= 0 else -1 for step in (least, most))
    if min(low, high) < 0:
        low = high = -1
    return _floors.Floor(factor >> twos, twos, top, least, most, low, high)


def _first_float(step: int, factor: int) -> int:
    """Return the bits of the least float that is at or above step/factor; -1 where it is at the next step already."""
    edge = Fraction(step, factor)
    near = float(edge)
    first = near if Fraction(near) >= edge else math.nextafter(near, math.inf)
    if Fraction(first) * factor >= step + 1:
        return -1
    return int(np.float64(first).view(np.int64))
