"""The classes of equally good answers for a quantile, and one draw among them.

For q = a/b in lowest terms and n values, a point y of the grid has L values below it and E values equal to it. Its rank
error is e(y) = max(0, b·L - a·n, a·n - b·(L + E)): b times the distance from rank q·n to the ranks L to L + E that y
takes. One value more moves b·L - a·n and b·(L + E) - a·n by b - a or by -a, so it moves e by at most max(a, b - a).
For q = 0 the error is L, and for q = 1 it is n - L - E: both only grow with one value more.

A point is picked with a probability proportional to r^e(y). With s = max(a, b - a), one value more changes this weight
by a factor of at most r^-s, and so the sum of all weights: together r^(-2s), at most e^epsilon. The losses of two
points differ by no more, so rho is epsilon²/8. Where all errors move one way, half the noise is enough.

On a log scale a point is picked with a probability proportional to w(y)·r^e(y). The weight w is public, so all of this
holds. In steps, w(y) = W(y + 1) - W(y) for y > 0, with W(y) = ⌊2^k·log2 y⌋. A gap between two values weighs the
difference of W at its ends. To round each gap for itself would not be private: the gaps would not add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw
from lastbit.chance.sampler import Sampler, class_weights
from lastbit.estimate.accuracy import least_exponent
from lastbit.mechanisms.quantiles._rank_errors import gap_sizes, pick_point, rank_errors
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate
from lastbit.values.grid import Steps


@dataclass(frozen=True)
class RankError:
    """The rank error for one quantile, with the rate at which points of a larger error are less likely."""

    q: Fraction
    rate: Rate

    @cached_property
    def _parts(self) -> tuple[int, int]:
        """The numerator and the denominator of q: a Fraction takes longer to say them."""
        return self.q.numerator, self.q.denominator

    @classmethod
    def of(cls, q: Fraction, cost: Cost, share: int) -> RankError:
        """Return the rate that a `share`-th of a cost buys for one value."""
        return cls(q, cost.rate(Fraction(1, share * furthest(q))))

    def point(self, draw: Draw, values: Steps, low: int, high: int) -> int:
        """Return a point from low to high, with probability proportional to r^e, for sorted values between them.

        The words read and the classes follow from the number of values and from the grid.
        """
        if type(draw) is Sampler:
            # The same in one call, but for doubts: the words that decide them are read again.
            words = draw.raw(3)
            a, b = self._parts
            point = pick_point(np.ascontiguousarray(values), low, high, a, b, *class_weights(self.rate), words)
            if point is not None:
                return point
            draw = draw.resume(words)
        sizes, errors = self.classes(values, low, high)
        index = draw.power_index(self.rate, errors, sizes)
        within = draw.integer_below(int(sizes[index]), high - low + 1)
        place, is_value = divmod(index, 2)
        if is_value:
            return int(values[place])
        return (int(values[place - 1]) + 1 if place else low) + within

    def classes(self, values: Steps, low: int, high: int) -> tuple[Steps, Steps]:
        """Return the number of points and the rank error of 2n + 1 classes, in the order of the grid.

        Class 2i is the gap below the i-th value, class 2i + 1 the value itself. A gap may be empty, and of equal values
        only the first one has its point: so the number of classes tells n and no more.
        """
        sizes, first_of_equals = gap_sizes(np.ascontiguousarray(values), low, high)
        return sizes, self.errors(first_of_equals)

    def errors(self, first_of_equals: NDArray[np.bool_]) -> Steps:
        """Return the rank error of 2n + 1 classes; of n sorted values, which of them differ from the value before."""
        return rank_errors(first_of_equals.view(np.uint8), self.q.numerator, self.q.denominator)

    def point_errors(self, counts: Steps) -> Steps:
        """Return the rank error of each point of a grid, from how many values are at each of them."""
        a, b, beyond = self.q.numerator, self.q.denominator, np.cumsum(counts)
        rank = a * int(beyond[-1])
        errors: Steps = np.maximum(b * (beyond - counts) - rank, rank - b * beyond)
        return np.maximum(errors, 0, out=errors)

    def ranks(self, level: Fraction, odds: Fraction | int) -> Fraction:
        """Return the rank error, in ranks, that a drawn point stays within with at least this probability.

        Some point has no error: the value at rank q·n, rounded up. All other points together weigh at most `odds` times
        as much as that point: so P(e >= m) is at most w/(1 + w), where w is odds·r^m.
        """
        if odds == 0:  # there is one point only
            return Fraction(0)
        limit = (1 - level) / (level * odds)
        return Fraction(max(0, least_exponent(self.rate, limit) - 1), self.q.denominator)


def furthest(q: Fraction) -> int:
    """Return the range of the privacy loss of one value, in steps of the rank error.

    Twice max(a, b - a), as errors move up and down; 1 for the minimum and the maximum, where they move one way.

    >>> furthest(Fraction(1, 2)), furthest(Fraction(1, 4)), furthest(Fraction(0)), furthest(Fraction(1))
    (2, 6, 1, 1)
    """
    a, b = q.numerator, q.denominator
    return 2 * max(a, b - a) if 0 < a < b else 1
