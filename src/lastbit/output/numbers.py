"""Numbers as people read them: one format for a whole column, with the digits that its intervals justify."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import repeat
from operator import sub
from typing import Any, Final, Literal, TypeGuard

import numpy as np

from lastbit.exact.numbers import Number, probability

Interval = tuple[Fraction | None, Fraction | None]
"""From and to; None where an interval has no end."""

Rounding = Literal["nearest", "down", "up"]

_DIGITS: Final = 6
"""Significant digits of a number without an interval."""
_LARGE, _SMALL = Fraction(10**15), Fraction(1, 10**4)
"""A column whose largest number is not between these two is written with powers of ten."""
_NUMBERS: Final = frozenset({int, float, Fraction})
"""The types of most cells."""
_ROUNDINGS: Final = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}


@dataclass(frozen=True)
class Format:
    """The way to write all numbers of a column: with so many decimals, or (None) as powers of ten."""

    decimals: int | None
    digits: int = _DIGITS

    @classmethod
    def of(cls, numbers: Iterable[object], intervals: Sequence[object] = (), *, whole: bool = False) -> Format:
        """Return the format of a column of numbers, given the intervals of its numbers where there are any.

        An interval justifies two digits of half its width. No number gets more decimals than the numbers have.

        >>> mean = Fraction(1234567, 1000)
        >>> [Format.of([mean], [(mean - wide, mean + wide)]).decimals for wide in (30, 3, Fraction(3, 10))]
        [0, 1, 2]
        >>> Format.of([mean, 1]).decimals, Format.of([Fraction(1, 2), 1]).decimals, Format.of([10**20]).decimals
        (2, 1, None)
        """
        values = [*numbers, *(end for interval in intervals if is_interval(interval) for end in interval)]
        ratios = [_ratio(value) for value in values if is_number(value) and _is_finite(value)]
        halves = [width / 2 for width in _widths(intervals)]
        return cls._of_extremes(_extremes(ratios), halves, {below for _, below in ratios}, whole=whole)

    @classmethod
    def _of_extremes(
        cls, amounts: Sequence[Fraction], halves: Sequence[Fraction], denominators: Collection[int], *, whole: bool
    ) -> Format:
        """Return the format of numbers with these extremes, half widths and denominators."""
        largest = max(amounts, default=Fraction(0))
        # The places of digits, as exponents of ten: of the largest number, and of the last digit that is justified.
        first = _exponent(largest)
        last = min(map(_exponent, halves)) - 1 if halves else first - _DIGITS + 1
        if whole and largest < _LARGE:
            return cls(0)
        # Among probabilities a small one is not nothing. Among amounts it is.
        lost = not halves and 0 < largest <= 1 and min(filter(None, amounts)) * 10**_DIGITS < largest
        if largest >= _LARGE or 0 < largest < _SMALL or lost:
            return cls(None, max(1, min(first - last + 1, _DIGITS)))
        return cls(min(max(0, -last), _exact_decimals(denominators)))

    def text(self, value: Any, rounding: Rounding = "nearest") -> str:
        """Write a number in this format.

        >>> Format(1).text(Fraction(12345678, 10)), Format(None).text(Fraction(10) ** 400), Format(0).text(-0.2)
        ('1,234,567.8', '1e+400', '0')
        """
        if not _is_finite(value):
            return str(float(value))
        above, below = _ratio(value)
        if self.decimals is None:
            # A float cannot hold very large or very small numbers.
            context = Context(prec=self.digits, rounding=_ROUNDINGS[rounding], Emax=MAX_EMAX, Emin=MIN_EMIN)
            return f"{context.divide(Decimal(above), Decimal(below)).normalize(context):e}"
        if not self.decimals:
            return f"{_round(above, below, rounding):,}"
        unit = 10**self.decimals
        return self.point(_round(above * unit, below, rounding))

    def point(self, rounded: int) -> str:
        """Write a whole number of units of the last decimal.

        >>> Format(2).point(-123456)
        '-1,234.56'
        """
        whole, part = divmod(abs(rounded), 10 ** (self.decimals or 0))
        return f"{'-' if rounded < 0 else ''}{whole:,}.{part:0{self.decimals}}"

    def interval(self, ends: Interval) -> str:
        """Write an interval, rounded outwards: the interval that people read holds whenever the exact one does.

        >>> Format(0).interval((Fraction(5, 2), Fraction(7, 2))), Format(0).interval((Fraction(5), None))
        ('2 to 4', '5 or more')
        """
        low, high = ends
        if low is None:
            return "any number" if high is None else f"{self.text(high, 'up')} or less"
        if high is None:
            return f"{self.text(low, 'down')} or more"
        return f"{self.text(low, 'down')} to {self.text(high, 'up')}"


@dataclass(frozen=True)
class Multiples:
    """A column of whole multiples of 1/`below`, written as its fractions would be, without a fraction for each.

    `lows` and `highs` are the ends of its intervals, in multiples of 1/`ends_below`.

    >>> Multiples([24690, -15], 20, [24000, -700], [25000, 700], 20).texts(), format_column([Fraction(2469, 2), -0.75])
    (['1,234', '-1'], ['1,234.50', '-0.75'])
    """

    steps: Sequence[int]
    below: int
    lows: Sequence[int] = ()
    highs: Sequence[int] = ()
    ends_below: int = 1

    def texts(self) -> list[str]:
        """Write the numbers in one format, to the nearest."""
        form = self._format()
        if form.decimals is None:
            return [form.text(Fraction(step, self.below)) for step in self.steps]
        unit, below = 10**form.decimals, self.below
        if unit == below == 1:
            return [f"{step:,}" for step in self.steps]
        # To the nearest, and of a half to the even one: as `_round` does.
        parts = map(divmod, self.steps if unit == 1 else [step * unit for step in self.steps], repeat(below))
        if unit == 1:
            return [f"{floor + (2 * rest + (floor & 1) > below):,}" for floor, rest in parts]
        return [form.point(floor + (2 * rest + (floor & 1) > below)) for floor, rest in parts]

    @property
    def _is_plain(self) -> bool:
        """Whether all numbers and ends are too small for powers of ten."""
        number = max(max(self.steps), -min(self.steps)) if self.steps else 0
        end = max(max(self.highs), -min(self.lows), 0)
        return number < self.below * 10**15 and end < self.ends_below * 10**15

    def _format(self) -> Format:
        # The narrowest justifies the most digits.
        narrowest = min((width for width in set(map(sub, self.highs, self.lows)) if width > 0), default=0)
        halves = [Fraction(narrowest, 2 * self.ends_below)] if narrowest else []
        if narrowest >= 20 * self.ends_below and self._is_plain:
            return Format(0)  # half the width has two digits before the point, and so has an end
        amounts, denominators = [], set()
        for steps, below in ((self.steps, self.below), ([*self.lows, *self.highs], self.ends_below)):
            if steps:
                amounts.append(Fraction(max(max(steps), -min(steps)), below))
                denominators.add(1 if below == 1 else below // math.gcd(below, *steps))
                if not halves:  # with them, the smallest number changes nothing
                    amounts.append(Fraction(min(filter(None, map(abs, steps)), default=0), below))
        return Format._of_extremes(amounts, halves, denominators, whole=False)


def format_digits(value: float | Fraction, digits: int, rounding: Rounding = "nearest") -> str:
    """Write a number with so many digits. A bound says which way it is rounded, so what people read is a bound too.

    >>> format_digits(2 / 3, 3), format_digits(2 / 3, 3, "down")
    ('0.667', '0.666')
    >>> format_digits(2e-7 / 3, 3, "up"), format_digits(math.inf, 3, "up")
    ('6.67e-08', 'inf')
    """
    if not _is_finite(value):
        return f"{value}"
    exact = Fraction(value)
    context = Context(prec=digits, rounding=_ROUNDINGS[rounding], Emax=MAX_EMAX, Emin=MIN_EMIN)
    rounded = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    # A float holds none below 1e-323, and no bound is zero because of that.
    return f"{float(rounded):.{digits}g}" if float(rounded) or not rounded else f"{rounded.normalize(context):e}"


def is_number(value: object) -> TypeGuard[Any]:
    """Return whether a cell is a number. True and False are words."""
    if type(value) in _NUMBERS:
        return True
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | float | Fraction | np.integer | np.floating)


def is_interval(value: object) -> TypeGuard[Interval]:
    """Return whether a cell is an interval: two numbers, or None in place of an end."""
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    low, high = value
    return (low is None or is_number(low)) and (high is None or is_number(high))


def are_numbers(column: Sequence[object]) -> bool:
    """Return whether a column holds numbers, and nothing where a number is missing."""
    return _are_all(column, is_number)


def are_intervals(column: Sequence[object]) -> bool:
    """Return whether a column holds intervals, and nothing where an interval is missing."""
    return _are_all(column, is_interval)


def _are_all(column: Sequence[object], is_one: Callable[[object], bool]) -> bool:
    """Return whether a column holds something, and only such values; the same value is looked at once."""
    values = {id(value): value for value in column if value is not None}
    return bool(values) and all(map(is_one, values.values()))


def format_column(
    column: Sequence[object],
    intervals: Sequence[object] = (),
    *,
    whole: bool = False,
    rounding: Rounding = "nearest",
) -> list[str]:
    """Write a column of numbers or of intervals in one format; "" where there is none. Intervals are rounded outwards.

    >>> format_column([Fraction(12300), None, 1.5]), format_column([(Fraction(1, 3), Fraction(1000))])
    (['12,300.0', '', '1.5'], ['0 to 1,000'])
    """
    if are_intervals(column):
        form = Format.of((), column, whole=whole)
        return ["" if not is_interval(value) else form.interval(value) for value in column]
    same = bool(column) and all(value is column[0] for value in column)
    form = Format.of(column[:1] if same else column, intervals, whole=whole)
    if same:
        return ["" if column[0] is None else form.text(column[0], rounding)] * len(column)
    return ["" if value is None else form.text(value, rounding) for value in column]


def _ratio(value: Any) -> tuple[int, int]:
    """Return a finite number as its numerator and its denominator."""
    if type(value) is int:
        return value, 1
    return value.as_integer_ratio() if type(value) is Fraction else _fraction(value).as_integer_ratio()


def _fraction(value: Any) -> Fraction:
    if type(value) is Fraction:
        return value
    # A float means the decimal that it prints as, here as everywhere.
    if isinstance(value, float | np.floating):
        return _decimal(str(value))
    return Fraction(int(value) if isinstance(value, np.integer) else value)


@lru_cache(maxsize=1024)
def _decimal(text: str) -> Fraction:
    # A column repeats its numbers, and a Fraction is slow to read one.
    return Fraction(text)


def _extremes(ratios: Iterable[tuple[int, int]]) -> list[Fraction]:
    """Return the nearest to zero but zero itself, and the furthest from zero, of the numbers with each denominator.

    The largest and the smallest are among these few, and whole numbers are quicker to compare than fractions.
    """
    amounts: dict[int, list[int]] = {}
    for above, below in ratios:
        amounts.setdefault(below, []).append(abs(above))
    return [
        Fraction(amount, below)
        for below, sizes in amounts.items()
        for amount in {max(sizes), min(filter(None, sizes), default=0)}
    ]


def _widths(intervals: Iterable[object]) -> set[Fraction]:
    """Return the widths above 0 of intervals: few, as the intervals of a column are mostly alike."""
    widths = set()
    for interval in intervals:
        if _has_ends(interval):
            (low, below), (high, other) = _ratio(interval[0]), _ratio(interval[1])
            widths.add((high - low, below) if below == other else (high * below - low * other, below * other))
    return {Fraction(width, below) for width, below in widths if width > 0}


def _round(above: int, below: int, rounding: Rounding) -> int:
    """Return the whole number for above/below; of a half, the nearest even one."""
    if below == 1:
        return above
    floor, rest = divmod(above, below)
    if rounding == "nearest":
        return floor + (2 * rest + (floor & 1) > below)
    return floor + (rounding == "up" and rest > 0)


def _is_finite(value: Any) -> bool:
    # Not of a fraction: it may be too large for a float.
    return type(value) is Fraction or not isinstance(value, float | np.floating) or math.isfinite(value)


def _has_ends(value: object) -> TypeGuard[tuple[Fraction, Fraction]]:
    if not is_interval(value):
        return False
    low, high = value
    return low is not None and high is not None and _is_finite(low) and _is_finite(high)


def _exponent(value: Fraction) -> int:
    """Return the power of ten of the first digit."""
    if not value:
        return 0
    above, below = value.as_integer_ratio()
    exponent = len(str(above)) - len(str(below)) if _is_short(value) else _long_exponent(value)
    # In whole numbers: a fraction would look for common divisors.
    enough = above >= below * 10**exponent if exponent >= 0 else above * 10**-exponent >= below
    return exponent if enough else exponent - 1


def _is_short(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) < 4096


def _long_exponent(value: Fraction) -> int:
    context = Context(prec=6, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator)).adjusted()


def _exact_decimals(denominators: Collection[int]) -> int:
    """Return the decimals that write all numbers exactly, where six or fewer do; otherwise many."""
    for decimals in range(_DIGITS + 1):
        if all(10**decimals % denominator == 0 for denominator in denominators):
            return decimals
    return 2 * _DIGITS


def format_percent(level: Number) -> str:
    """Return a level as people read it, and refuse it unless it is a probability.

    >>> format_percent("0.95")
    '95%'
    >>> format_percent("0.9999999999"), format_percent("0.9499999999")
    ('more than 99.9999%', '94.9999%')
    """
    exact = probability(level, "level") * 100
    # No more is promised than holds.
    return "more than 99.9999%" if exact > Fraction(999999, 10000) else f"{Format.of([exact]).text(exact, 'down')}%"
