"""How far noise carries a value, at a stated level, and which epsilon buys a stated accuracy.

Every comparison is between integers: a probability is enclosed ever more tightly until it is on one side for certain.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from lastbit.chance.inversion import power
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, Rate, number

DIGITS: Final = 9
"""Significant digits of an epsilon that is found, not given."""

_LARGEST: Final = Fraction(2048)
_SMALLEST: Final = -150
"""The exponent of ten below which an epsilon is not looked for."""


def share(value: Number, name: str) -> Fraction:
    """A probability strictly between 0 and 1.

    >>> share("0.95", "level")
    Fraction(19, 20)
    """
    exact = number(value, name)
    if not 0 < exact < 1:
        raise ParameterError(f"{name} must be above 0 and below 1: got {value}. It is a probability.")
    return exact


def tail_at_most(rate: Rate, steps: int, probability: Fraction) -> bool:
    """Whether P(|X| > steps) <= probability for the discrete Laplace, where it is 2·r^(steps+1)/(1+r).

    >>> half = Rate(1, 1)
    >>> tail_at_most(half, 0, Fraction(2, 3)), tail_at_most(half, 0, Fraction(66, 100))
    (True, False)
    """
    limit = probability * (1 + rate.fraction) / 2
    bits = 128
    # The two can only be equal when r^(steps+1) is a fraction over 2^bits of a moderate size, and then it is found.
    while True:
        lower, upper = power(rate, steps + 1, bits)
        scaled = limit * (1 << bits)
        if upper <= scaled:
            return True
        if lower > scaled:
            return False
        bits *= 2


def laplace_accuracy(rate: Rate, level: Fraction) -> int:
    """The least t with P(|X| > t) <= 1 - level for the discrete Laplace of this rate, in grid steps.

    >>> laplace_accuracy(Rate.from_epsilon("1/10"), Fraction(95, 100))
    30
    """
    low, high = -1, 0
    while not tail_at_most(rate, high, 1 - level):
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail_at_most(rate, middle, 1 - level) else (middle, high)
    return high


def least_epsilon(meets: Callable[[Fraction], bool]) -> Fraction:
    """The least epsilon of nine significant digits that meets a wish which every larger epsilon meets too.

    >>> least_epsilon(lambda epsilon: epsilon * 3 >= 1)
    Fraction(166666667, 500000000)
    """
    if not meets(_LARGEST):
        raise ParameterError(
            f"accuracy must be one that epsilon {_LARGEST} can give: ask for less, or refine the grid."
        )
    exponent = 0
    while not meets(_power_of_ten(exponent)):
        exponent += 1
        if _power_of_ten(exponent) >= _LARGEST:
            break
    while exponent > _SMALLEST and meets(_power_of_ten(exponent - 1)):
        exponent -= 1
    if exponent == _SMALLEST:
        raise ParameterError("accuracy must be small enough to need an epsilon: any epsilon gives this one.")
    # 10^(exponent-1) does not do, 10^exponent does, or is beyond the largest that does.
    unit = _power_of_ten(exponent - DIGITS)
    low, high = 10 ** (DIGITS - 1), 10**DIGITS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle * unit >= _LARGEST or meets(middle * unit) else (middle, high)
    return min(high * unit, _LARGEST)


def _power_of_ten(exponent: int) -> Fraction:
    return Fraction(10) ** exponent
