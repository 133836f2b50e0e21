"""What an epsilon buys in a noisy top-k, and what epsilon a wish takes.

Each of n candidates gets exponential noise, whose whole steps are geometric of a rate r. All of them are below m steps
with probability at least 1 - n·r^m, whatever the data and whoever is selected. When they are, nobody left out is
more than m steps above someone selected, and every true gap is less than m steps from the published one and the next.
"""

from __future__ import annotations

import math
from fractions import Fraction

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, Rate, number
from lastbit.exact.rounding import log_float_lower, log_upper
from lastbit.mechanisms.top_k.selecting import Selecting

_DIGITS = 4
_FURTHEST = 10**100


def probability(level: Number) -> Fraction:
    """A level of confidence as an exact number."""
    exact = number(level, "level")
    if not 0 < exact < 1:
        raise ParameterError(f"level must be above 0 and below 1: got {level}. It is a probability.")
    return exact


def steps_within(rate: Rate, n: int, level: Number) -> int:
    """Steps that all n noises stay below, with at least this probability: the least such number by the bound above.

    Logarithms are rounded outward, so that it is one more where the bound is met exactly.

    >>> steps_within(Rate(1, 1), 1, "0.9")
    4
    """
    doubt = 1 - probability(level)
    return max(1, math.ceil(Fraction(log_upper(n / doubt)) / Fraction(log_float_lower(1 / rate.fraction))))


def top_accuracy(mechanism: Selecting, n: int, level: Number) -> Fraction:
    """How far above one selected another of n candidates can be, at most, with this probability."""
    return steps_within(mechanism.selector.rate, n, level) * mechanism.grid.resolution


def gap_intervals(
    mechanism: Selecting, gaps: tuple[int, ...], n: int, level: Number
) -> list[tuple[Fraction, Fraction]]:
    """From and to for the true gap behind each published one; all hold together with this probability."""
    reach, step = steps_within(mechanism.selector.rate, n, level), mechanism.grid.resolution
    return [((gap - reach + 1) * step, (gap + reach) * step) for gap in gaps]


def epsilon_for(
    accuracy: Number,
    k: int,
    n: int,
    level: Number,
    resolution: Number,
    *,
    sensitivity: Fraction = Fraction(1),
    monotone: bool = True,
) -> Fraction:
    """The least epsilon, to four digits, with which the top k of n counts or sums are this accurate."""
    from lastbit.mechanisms.top_k.noisy_top_k import NoisyTopK

    wish = number(accuracy, "accuracy")

    def meets(epsilon: Fraction) -> bool:
        mechanism = NoisyTopK(k=k, epsilon=epsilon, resolution=resolution, sensitivity=sensitivity, monotone=monotone)
        return top_accuracy(mechanism, n, level) <= wish

    if wish > _FURTHEST:
        raise ParameterError("accuracy must be at most 10^100: no table is that long. Ask for less.")
    if wish < number(resolution, "resolution"):
        raise ParameterError(
            f"accuracy must be at least the resolution, {resolution}: got {accuracy}. Use a finer one."
        )
    guess = (1 if monotone else 2) * k * sensitivity * math.log(n / (1 - probability(level))) / wish
    unit = Fraction(10) ** (math.floor(math.log10(guess)) - _DIGITS + 1)
    units = math.floor(guess / unit)
    # The guess is close: noise comes in whole steps, so that the least epsilon is at most a step's worth above it.
    low, high = units, units + 1
    while not meets(high * unit):
        low, high = high, high + 2 * (high - low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle * unit) else (middle, high)
    return high * unit
