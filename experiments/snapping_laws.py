"""Exact laws of one measured value, and what they say of its error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import lastbit as lb

Law = dict[Fraction, Fraction]

RESOLUTION = Fraction(1, 16)
"""The grid of the discrete Laplace beside snapping, whose own grid is a power of two near 1/epsilon."""


@dataclass(frozen=True)
class Error:
    """What a law says of the distance from the true value."""

    bias: float
    root_mean_square: float
    within: float
    """The least distance that it keeps with probability 95%."""


def error(law: Law, truth: Fraction) -> Error:
    """Of a law whose outcomes and probabilities are exact."""
    bias = sum((probability * (value - truth) for value, probability in law.items()), Fraction(0))
    square = sum((probability * (value - truth) ** 2 for value, probability in law.items()), Fraction(0))
    reach, seen = Fraction(0), Fraction(0)
    for distance, probability in sorted((abs(value - truth), probability) for value, probability in law.items()):
        if seen >= Fraction(95, 100):
            break
        reach, seen = distance, seen + probability
    return Error(float(bias), math.sqrt(square), float(reach))


def discrete_laplace_error(epsilon: Fraction, bounds: tuple[Fraction, Fraction] | None, truth: Fraction) -> Error:
    """Of the discrete Laplace, clamped to bounds where there are any; its outcomes are on the grid, so is the truth."""
    mechanism = lb.DiscreteLaplace(epsilon=epsilon, resolution=RESOLUTION)
    if bounds is None:
        return Error(0.0, _deviation(mechanism.rate), float(mechanism.accuracy("0.95")))
    start = truth / RESOLUTION
    low, high = ((bound / RESOLUTION - start).numerator for bound in bounds)
    return error({Fraction(step) * RESOLUTION: mass for step, mass in _clamp(mechanism.rate, low, high)}, Fraction(0))


def _deviation(rate: lb.Rate) -> float:
    r = rate.fraction
    return math.sqrt(2 * r / (1 - r) ** 2) * float(RESOLUTION)


def _clamp(rate: lb.Rate, low: int, high: int) -> list[tuple[int, Fraction]]:
    """Masses on low, …, high as fractions of 200 bits: ample for a figure, and they add up to 1 all the same."""
    one, r = 1 << 200, (rate.x << 200) >> rate.y
    powers = [one]
    while len(powers) <= max(-low, high):
        powers.append(powers[-1] * r >> 200)
    whole = [powers[abs(step)] * (one - r) // (one + r) for step in range(low, high + 1)]
    # All that lies beyond an end is clamped to it: P(X <= -m) = r^m / (1 + r).
    whole[0], whole[-1] = (powers[abs(end)] * one // (one + r) for end in (low, high))
    whole[len(whole) // 2] += one - sum(whole)
    return [(step, Fraction(mass, one)) for step, mass in zip(range(low, high + 1), whole, strict=True)]
