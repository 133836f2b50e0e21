"""How far noise moves a value, at a stated level, and which epsilon buys a stated accuracy.

Every comparison is between integers. Bounds close in on a probability until it is certain on which side it lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Final

from gmpy2 import mpq

from lastbit.chance.gaussian import Gaussian
from lastbit.chance.inversion import power
from lastbit.errors import ParameterError
from lastbit.exact.gaussian_tails import tail_at_most
from lastbit.exact.rounding import fraction, log_bounds, log_lower, precision_for
from lastbit.privacy.rate import Rate

DIGITS: Final = 9
"""Significant digits of an epsilon that lastbit finds."""

_LARGEST: Final = Fraction(2048)
_SMALLEST: Final = -150
"""No epsilon below ten to this power is looked for."""


def power_at_most(rate: Rate, exponent: int, limit: Fraction) -> bool:
    """Return whether r^exponent <= limit.

    >>> power_at_most(Rate(1, 1), 2, Fraction(1, 4)), power_at_most(Rate(1, 1), 1, Fraction(1, 4))
    (True, False)
    """
    # Logarithms decide at once, unless r^exponent is all but equal to the limit.
    precision = 128 + rate.y + exponent.bit_length()
    one_step, whole_way = (log_bounds(mpq(1 / value), precision) for value in (rate.fraction, limit))
    if exponent * fraction(one_step[0]) >= fraction(whole_way[1]):
        return True
    if exponent * fraction(one_step[1]) < fraction(whole_way[0]):
        return False
    # r^exponent can equal the limit only as a fraction over 2^bits for moderate bits: then the bounds become exact.
    bits = 128
    while True:
        lower, upper = power(rate, exponent, bits)
        product = limit * (1 << bits)
        if upper <= product:
            return True
        if lower > product:
            return False
        bits *= 2


@lru_cache(maxsize=256)
def least_exponent(rate: Rate, limit: Fraction) -> int:
    """Return the least m >= 0 with r^m <= limit.

    >>> least_exponent(Rate(1, 1), Fraction(1, 5)), least_exponent(Rate(1, 1), Fraction(2))
    (3, 0)
    """
    return least_enough(lambda exponent: power_at_most(rate, exponent, limit), near_exponent(rate, limit))


def near_exponent(rate: Rate, limit: Fraction) -> int:
    """Return roughly the m with r^m = limit: where to look first for a
    number that only a comparison of powers can tell.

    >>> near_exponent(Rate(1, 1), Fraction(1, 5))
    2
    """
    if limit >= 1:
        return 0
    precision = 2 * precision_for(rate.fraction)
    return int(log_lower(1 / limit, precision) / log_lower(1 / rate.fraction, precision)) if limit > 0 else 0


def least_enough(enough: Callable[[int], bool], near: int = 0) -> int:
    """Return the least whole number from 0 on that is enough; all larger ones are. The search begins near a guess.

    >>> least_enough(lambda number: number * number >= 30), least_enough(lambda number: number * number >= 30, near=7)
    (6, 6)
    """
    low, high, stride, trial = -1, None, 1, near
    while high is None or high - low > 1:
        if trial <= low or (high is not None and trial >= high):
            trial = low + stride if high is None else (low + high) // 2
        if enough(trial):
            high, trial = trial, trial - stride
        else:
            low, trial = trial, trial + stride
        stride *= 2
    return high


def laplace_accuracy(rate: Rate, level: Fraction) -> int:
    """Return the least t with P(|X| > t) <= 1 - level for the discrete Laplace of this rate, in grid steps.

    >>> laplace_accuracy(Rate.from_epsilon("1/10"), Fraction(95, 100))
    30
    """
    return max(0, least_exponent(rate, _tail_limit(rate, level)) - 1)


def laplace_within(rate: Rate, steps: int, level: Fraction) -> bool:
    """Return whether the discrete Laplace of this rate stays within so many steps with at least this probability.

    >>> laplace_within(Rate(1, 1), 0, Fraction(1, 3)), laplace_within(Rate(1, 1), 0, Fraction(34, 100))
    (True, False)
    """
    return power_at_most(rate, steps + 1, _tail_limit(rate, level))


def _tail_limit(rate: Rate, level: Fraction) -> Fraction:
    # P(|X| > t) = 2·r^(t+1)/(1+r)
    return (1 - level) * (1 + rate.fraction) / 2


@lru_cache(maxsize=256)
def gaussian_accuracy(rate: Rate, level: Fraction) -> int:
    """Return the least t with P(|X| > t) <= 1 - level for the discrete Gaussian of this rate, in grid steps.

    >>> gaussian_accuracy(Rate.from_epsilon("1/200"), Fraction(95, 100))
    20
    """
    return least_enough(lambda steps: gaussian_within(rate, steps, level), near_gaussian(rate, (1 - level) / 2))


def near_gaussian(rate: Rate, chance: Fraction) -> int:
    """Return roughly the steps that the discrete Gaussian of this rate
    exceeds with this probability: where to look first.

    >>> near_gaussian(Rate.from_epsilon("1/200"), Fraction(1, 40)), near_gaussian(Rate(1, 1), Fraction(1, 1 << 4000))
    (19, 63)
    """
    if chance >= Fraction(1, 1 << 900):
        deviations = -NormalDist().inv_cdf(float(chance))
    else:
        deviations = math.sqrt(2 * math.log(2) * (chance.denominator.bit_length() - chance.numerator.bit_length()))
    return max(0, int(deviations / math.sqrt(2 * rate.loss_upper)))


def gaussian_within(rate: Rate, steps: int, level: Fraction) -> bool:
    """Return whether the discrete Gaussian of this rate stays within so many steps with at least this probability.

    >>> gaussian_within(Rate(1, 1), 0, Fraction(46, 100)), gaussian_within(Rate(1, 1), 0, Fraction(47, 100))
    (True, False)
    """
    Gaussian(rate)  # refuses noise that is too wide
    # P(|X| > t) = 2·P(X > t), which is irrational, as every tail is.
    return tail_at_most(rate.fraction, steps + 1, (1 - level) / 2)


def least_epsilon(meets: Callable[[Fraction], bool], digits: int = DIGITS, near: int = 0) -> Fraction:
    """Return the least epsilon, to this many significant digits, that
    meets a wish. Every larger epsilon must meet it too.

    The search begins at ten to the power `near`.

    >>> least_epsilon(lambda epsilon: epsilon * 3 >= 1)
    Fraction(166666667, 500000000)
    """
    if not meets(_LARGEST):
        raise ParameterError(
            f"accuracy must be one that epsilon {_LARGEST} can give. Ask for less accuracy, or use a finer grid."
        )
    exponent = near
    while not meets(_power_of_ten(exponent)):
        exponent += 1
        if _power_of_ten(exponent) >= _LARGEST:
            break
    while exponent > _SMALLEST and meets(_power_of_ten(exponent - 1)):
        exponent -= 1
    if exponent == _SMALLEST:
        raise ParameterError(
            "accuracy must be small enough to need an epsilon: every epsilon gives this one. Ask for a smaller one."
        )
    # 10^(exponent-1) does not meet the wish. 10^exponent does, or is above the largest epsilon.
    unit = _power_of_ten(exponent - digits)
    low, high = 10 ** (digits - 1), 10**digits
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle * unit >= _LARGEST or meets(middle * unit) else (middle, high)
    epsilon: Fraction = min(high * unit, _LARGEST)
    return epsilon


def least_near(meets: Callable[[Fraction], bool], guess: float, digits: int = DIGITS) -> tuple[Fraction, Fraction]:
    """Return the largest number that does not meet a wish and the least that does, to so many significant digits.

    Every larger number must meet the wish too. Near a good guess few are tried: for wishes that are slow to try.

    >>> least_near(lambda epsilon: epsilon * 3 >= 1, 0.3)
    (Fraction(333333333, 1000000000), Fraction(166666667, 500000000))
    """
    first = 10 ** (digits - 1)

    def number(place: int) -> Fraction:
        exponent, beyond = divmod(place, 9 * first)
        return Fraction(first + beyond) * _power_of_ten(exponent)

    @cache
    def meets_at(place: int) -> bool:
        return meets(number(place))

    exponent = math.floor(math.log10(guess)) - digits + 1
    low = 9 * first * exponent + int(Fraction(guess) / _power_of_ten(exponent)) - first
    high, stride = low + 1, 1
    while meets_at(low):
        low, high, stride = low - stride, low, 2 * stride
    while not meets_at(high):
        low, high, stride = high, high + stride, 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets_at(middle) else (middle, high)
    return number(low), number(high)


def _power_of_ten(exponent: int) -> Fraction:
    power: Fraction = Fraction(10) ** exponent
    return power
