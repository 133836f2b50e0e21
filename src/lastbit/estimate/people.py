"""What a bounded table says about all people, where a person counts in a few items only and the items are drawn by lot.

C(x) people have an item x, and B(x) of them are counted there. A person with s items counts in each with probability
p = min(1, most/s), apart from all others, so that B(x) is a sum of independent draws whose mean is the sum of p over
the C(x) people. Chernoff's bound says how far B(x) may lie from this mean, and a published histogram of the numbers of
items per person, the spread, says how many people the mean can stand for. Whatever the lot is, C(x) is at least B(x),
and at most B(x) plus the people with more items than count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from gmpy2 import mpq
from numpy.typing import NDArray

from lastbit.estimate.accuracy import gaussian_accuracy, laplace_accuracy, least_enough
from lastbit.exact.rounding import float_lower, fraction, log_bounds, log_lower, precision_for
from lastbit.privacy.rate import Rate

_SINGLE: Final = 4
"""So many classes of the spread have one number of items each; those beyond double in width."""
_FINE: Final = 16
"""A mean is found to this part of a person."""
_PRECISION: Final = 128
_PARTS: Final = 64
"""A scale of noise has at least so many steps, where noises are added up."""

SpreadClass = tuple[int, int | None]
"""People with so many items: from the first number to the last; None where there is no last."""


def spread_classes(most: int, size: int | None) -> tuple[SpreadClass, ...]:
    """Return the classes of people by their number of items: those who are counted in all of them come first.

    `size` is the number of listed items; None where nobody listed them.

    >>> spread_classes(3, 12)
    ((1, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 9), (10, 12))
    >>> spread_classes(1, None)[-2:], spread_classes(12, 12)
    (((68, 131), (132, None)), ((1, 12),))
    """
    classes: list[SpreadClass] = [(1, most)]
    first, width = most + 1, 1
    while size is None or first <= size:
        if size is None and len(classes) > _SINGLE + 6:
            return (*classes, (first, None))
        last = first + width - 1 if size is None else min(size, first + width - 1)
        classes.append((first, last))
        first = last + 1
        width = 1 if len(classes) <= _SINGLE else 2 * width
    return tuple(classes)


@lru_cache(maxsize=1 << 14)
def mean_upper(count: int, alpha: Fraction) -> Fraction:
    """Return a mean that a sum of independent draws, which came out as this count, exceeds in at most alpha of cases.

    >>> float(mean_upper(0, Fraction(1, 40))), float(mean_upper(50, Fraction(1, 40)))
    (3.75, 71.75)
    """
    if count <= 0:
        count = 0
    near = int(_FINE * (count + math.sqrt(2 * count * _nats(alpha)) + _nats(alpha)))
    start = count * _FINE
    steps = least_enough(lambda step: _is_far(Fraction(start + step, _FINE), count, alpha), max(0, near - start))
    return Fraction(start + steps, _FINE)


@lru_cache(maxsize=1 << 14)
def mean_lower(count: int, alpha: Fraction) -> Fraction:
    """Return a mean that a sum of independent draws, which came out as this count, misses from below as rarely.

    >>> float(mean_lower(0, Fraction(1, 40))), float(mean_lower(50, Fraction(1, 40)))
    (0.0, 33.125)
    """
    if count <= 0:
        return Fraction(0)
    start = count * _FINE
    near = int(_FINE * math.sqrt(2 * count * _nats(alpha)))
    steps = least_enough(
        lambda step: step >= start or _is_far(Fraction(start - step, _FINE), count, alpha), min(near, start)
    )
    return Fraction(max(0, start - steps), _FINE)


def _nats(alpha: Fraction) -> float:
    return math.log(alpha.denominator) - math.log(alpha.numerator)


def _is_far(mean: Fraction, count: int, alpha: Fraction) -> bool:
    """Return whether Chernoff's bound proves that such a mean gives
    this count, or one further away, in alpha of cases.
    """
    if count == 0:
        distance = mean
    elif mean == count:
        return False
    else:
        # ln rounded up makes the distance less than it is.
        distance = mean - count - count * fraction(log_bounds(mpq(mean / count), _PRECISION)[1])
    return distance >= fraction(log_bounds(mpq(1 / alpha), _PRECISION)[1])


@dataclass(frozen=True)
class PeopleBounds:
    """Bounds of the numbers of people, from upper bounds of the spread.

    >>> everyone_has_four = PeopleBounds(1, ((1, 1), (2, 2), (3, 3), (4, 4)), (0, 0, 0, 1000))
    >>> alpha = Fraction(1, 40)
    >>> everyone_has_four.lower(50, alpha), everyone_has_four.upper(50, alpha), everyone_has_four.cut
    (133, 287, 1000)
    """

    most: int
    classes: tuple[SpreadClass, ...]
    counts: tuple[int, ...]
    """At most so many people are in each class."""
    most_cut: int | None = None
    """At most so many people have more items than they count in, where that is less than the classes say."""

    @property
    def cut(self) -> int:
        """The most people who have more items than they count in."""
        together = sum(self.counts[1:])
        return together if self.most_cut is None else min(self.most_cut, together)

    def upper(self, counted: int, alpha: Fraction | None = None) -> int:
        """Return the most people an item has of which at most so many are counted there, but for alpha of cases.

        Without alpha the bound holds whatever the lot is, and for an item that was selected by its count too.
        """
        surely = max(0, counted) + self.cut
        if alpha is None:
            return surely
        people, mean = Fraction(0), mean_upper(max(0, counted), alpha)
        for (_, last), count in zip(reversed(self.classes), reversed(self.counts), strict=True):
            # Those who are counted least often leave most of the mean to others.
            chance = Fraction(0) if last is None else min(Fraction(1), Fraction(self.most, last))
            some = Fraction(count) if not chance else min(Fraction(count), mean / chance)
            people += some
            mean -= some * chance
        return min(surely, math.floor(people))

    def lower(self, counted: int, alpha: Fraction | None = None) -> int:
        """Return the fewest people an item has of which at least so many are counted there, but for alpha of cases."""
        surely = max(0, counted)
        if alpha is None:
            return surely
        people, mean = Fraction(0), mean_lower(surely, alpha)
        for (first, _), count in zip(self.classes, self.counts, strict=True):
            chance = min(Fraction(1), Fraction(self.most, first))
            some = min(Fraction(count), mean / chance)
            people += some
            mean -= some * chance
        return max(surely, math.ceil(people))


_RAREST: Final = Fraction(1, 10**200)
"""Masses of floats add up to sums this small, and not much smaller."""


@lru_cache(maxsize=256)
def noise_of_sum(noise: str, rate: Rate, times: int, alpha: Fraction) -> int:
    """Return how far the sum of so many noises goes up at most, but for alpha of cases; it goes down as rarely.

    One noise has its exact tail. A sum is followed on a coarser grid, each noise rounded up to it: so the reach is no
    less than the true one, and a few parts in a hundred more. Masses are floats, with room for their errors.

    >>> [noise_of_sum("laplace", Rate.from_epsilon("1/10"), times, Fraction(1, 40)) for times in (1, 4)]
    [30, 57]
    >>> noise_of_sum("gaussian", Rate.from_epsilon("1/200"), 4, Fraction(1, 40))
    39
    """
    if times == 1:
        accuracy = laplace_accuracy if noise == "laplace" else gaussian_accuracy
        return accuracy(rate, 1 - 2 * alpha)
    if alpha < _RAREST:
        # No float is as small as what is left: each noise stays within its own tail, and so do all of them together.
        return times * noise_of_sum(noise, rate, 1, alpha / times)
    # A smaller loss has the heavier tails.
    loss = float_lower(log_lower(1 / rate.fraction, precision_for(rate.fraction)))
    nats = math.log(times / alpha) + 20
    if noise == "laplace":
        width, far = 1 / loss, nats
    else:
        width, far = math.sqrt(1 / (2 * loss)), math.sqrt(2 * nats)
    unit = max(1, int(width / _PARTS))
    reach = math.ceil(width * far / unit)
    masses = (_laplace_masses if noise == "laplace" else _gaussian_masses)(loss, unit, reach)
    law = masses
    for _ in range(times - 1):
        law = np.convolve(law, masses)
    # What lies beyond the masses, on either side, is less than e^-20 of alpha.
    above = np.cumsum(law[::-1])[::-1]
    steps = int(np.argmax(above <= float(alpha) * (1 - 1e-6))) - 1
    return (steps - times * reach) * unit


def _laplace_masses(loss: float, unit: int, reach: int) -> NDArray[np.float64]:
    """Return the masses of a discrete Laplace noise, rounded up to whole units, from -reach to reach units."""
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    nearest = np.where(places > 0, unit * (places - 1) + 1, -unit * places)
    return np.asarray(np.exp(-loss * nearest) * (-math.expm1(-loss * unit)) / (1 + math.exp(-loss)))


def _gaussian_masses(loss: float, unit: int, reach: int) -> NDArray[np.float64]:
    """Return the masses of a discrete Gaussian noise, rounded up to whole units, from -reach to reach units."""
    values = np.arange(-(reach + 1) * unit + 1, reach * unit + 1, dtype=np.float64)
    masses = np.exp(-loss * values**2)
    return np.asarray((masses / masses.sum()).reshape(-1, unit).sum(axis=1))
