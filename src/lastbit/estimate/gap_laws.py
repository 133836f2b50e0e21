"""The two laws of the noise in a gap: one-sided noise on query and threshold, and discrete Laplace noise on both."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

from lastbit.chance.inversion import power
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import near_exponent
from lastbit.estimate.branches import Piece
from lastbit.estimate.gaps import GapNoise, least, parse_level
from lastbit.exact.numbers import Number, number
from lastbit.exact.rounding import log_lower, precision_for
from lastbit.privacy.rate import Rate

_NONE: Final = Fraction(0)
_ONE: Final = Fraction(1)


def nearest(amount: Fraction) -> int:
    """Return the whole number nearest to an exact number; a half goes up.

    >>> nearest(Fraction(5, 2)), nearest(Fraction(-5, 2)), nearest(Fraction(7, 3))
    (3, -2, 2)
    """
    return floor(amount + Fraction(1, 2))


def shift_of(threshold_rate: Rate, query_rate: Rate) -> int:
    """Return the public shift of the threshold in steps, which makes up
    for one-sided noise: E X - E Z to the nearest step.

    >>> shift_of(Rate(1, 1), Rate(3, 2))
    2
    """
    return nearest(query_rate.geometric_mean - threshold_rate.geometric_mean)


@dataclass(frozen=True, slots=True)
class OneSidedGapNoise(GapNoise):
    """N = X - Z - shift: X geometric of the query's rate r, Z geometric of the threshold's rate s, the shift public.

    P(X - Z >= t) is r^t·(1-s)/(1-rs) for t >= 0, and 1 - s^(1-t)·(1-r)/(1-rs) below: each side falls by its own rate.

    >>> noise = OneSidedGapNoise(Rate(1, 1), Rate(3, 2), Fraction(1))
    >>> noise.mean, noise.variance, noise.at_least(0)
    (Fraction(0, 1), Fraction(14, 1), Fraction(9, 20))
    """

    @property
    def shift(self) -> int:
        """The public shift of the threshold, in steps."""
        return shift_of(self.threshold_rate, self.query_rate)

    @property
    def mean(self) -> Fraction:
        """The mean of N, E X - E Z - shift: at most half a step either way."""
        return (self.query_rate.geometric_mean - self.threshold_rate.geometric_mean - self.shift) * self.resolution

    @property
    def variance(self) -> Fraction:
        """The variance of threshold + gap: r/(1-r)² + s/(1-s)² squared steps, half of that of Laplace noise."""
        return (self.query_rate.geometric_variance + self.threshold_rate.geometric_variance) * self.resolution**2

    def at_least(self, steps: int) -> Fraction:
        """Return P(N >= steps), exactly. The fraction has about |steps| times 64 bits."""
        rate, exponent = self._side(steps + self.shift)
        return self._tail(steps + self.shift, rate.fraction**exponent)

    def listed_bound(self, threshold: Number, gap: Number, level: Number = "0.95") -> Fraction | None:
        """Return a number at or below the value with probability `level` or more, given that the query is reported.

        It holds for every reported query by itself, whatever the values are and whatever was asked and answered before.
        None where the gap is too small: the value may then be anything, and a value far below the threshold has such a
        gap with a probability above 1 - level.

        Proof. Say the value is threshold + shift + margin + m, Z = z after all answers before this one, and the query
        is reported: X >= z - m. The geometric has no memory, so the part of the gap beyond the margin is geometric if
        m <= z, and m - z plus a geometric otherwise. As z >= 0, it is G + max(0, m) at most, for a geometric G. With t
        the least number such that r^(t+1) <= 1 - level, the bound m >= gap - margin - t is given only where the right
        side is at least 1. For m >= 0 it is false only if G > t, and for m < 0 only if it is given: if G > t.

        >>> noise = OneSidedGapNoise(Rate(1, 1), Rate(3, 2), Fraction(1))
        >>> noise.listed_bound(100, 20, level="0.95"), noise.listed_bound(100, 10, level="0.95")
        (Fraction(112, 1), None)
        """
        allowed = 1 - parse_level(level)
        steps = least(
            lambda t: t >= 0 and not self._power_more_than(t + 1, allowed), near_exponent(self.query_rate, allowed)
        )
        start, exact_gap = number(threshold, "threshold"), number(gap, "gap")
        if exact_gap < (self.margin + steps + 1) * self.resolution:
            return None
        return start + exact_gap + (self.shift - steps) * self.resolution

    @property
    def _threshold_pieces(self) -> tuple[Piece, ...]:
        s = self.threshold_rate.fraction
        return (Piece(0, None, _NONE, 1 - s, s),)

    @property
    def _query_pieces(self) -> tuple[Piece, ...]:
        return Piece(None, 0, _ONE, _NONE, _ONE), Piece(1, None, _NONE, _ONE, self.query_rate.fraction)

    def _side(self, t: int) -> tuple[Rate, int]:
        """Return the rate by which P(X - Z >= t) falls on its side of 0, and the power of the rate in it."""
        return (self.query_rate, t) if t >= 0 else (self.threshold_rate, 1 - t)

    def _near(self, chance: Fraction, *, below: bool = False) -> int:
        r, s = self.query_rate.fraction, self.threshold_rate.fraction
        if below:
            return near_exponent(self.threshold_rate, chance * (1 - r * s) / (1 - r)) + self.shift - 1
        return near_exponent(self.query_rate, chance * (1 - r * s) / (1 - s)) - self.shift

    def _tail(self, t: int, side_power: Fraction) -> Fraction:
        """Return P(X - Z >= t), from the power of its side: rising in it for t >= 0, falling below."""
        r, s = self.query_rate.fraction, self.threshold_rate.fraction
        return (1 - s) / (1 - r * s) * side_power if t >= 0 else 1 - (1 - r) / (1 - r * s) * side_power

    def _more_than(self, t: int, level: Fraction) -> bool:
        t += self.shift
        rate, exponent = self._side(t)
        bits = 512 + level.denominator.bit_length()
        while True:
            tails = sorted(self._tail(t, Fraction(bound, 1 << bits)) for bound in power(rate, exponent, bits))
            if tails[0] > level or tails[1] <= level:
                return tails[0] > level
            bits *= 2

    def _power_more_than(self, exponent: int, level: Fraction) -> bool:
        """Return whether r^exponent > level."""
        bits = 512 + level.denominator.bit_length()
        while True:
            lower, upper = (Fraction(bound, 1 << bits) for bound in power(self.query_rate, exponent, bits))
            if lower > level or upper <= level:
                return lower > level
            bits *= 2


@dataclass(frozen=True, slots=True)
class LaplaceGapNoise(GapNoise):
    """N is the difference of two discrete Laplace variables, symmetric about 0: Lemma 7 of the free gap paper.

    >>> noise = LaplaceGapNoise(Rate(1, 1), Rate(3, 2), Fraction(1))
    >>> noise.at_least(0) + noise.at_least(1)
    Fraction(1, 1)
    """

    @property
    def mean(self) -> Fraction:
        """The mean of N is 0: the law is symmetric."""
        return Fraction(0)

    @property
    def variance(self) -> Fraction:
        """The variance of threshold + gap: 2r/(1-r)² + 2s/(1-s)² squared steps."""
        return (self.threshold_rate.laplace_variance + self.query_rate.laplace_variance) * self.resolution**2

    def at_least(self, steps: int) -> Fraction:
        """Return P(N >= steps), exactly: Lemma 7 for discrete noise. The fraction has about |steps| times 64 bits."""
        t = abs(steps) + (steps < 0)
        tail = self._tail(t, *(rate.fraction ** (t + 1) for rate in self._slow_fast))
        return 1 - tail if steps < 0 else tail

    def listed_bound(self, threshold: Number, gap: Number, level: Number = "0.95") -> Fraction | None:
        """There is none: a noisy threshold far below the threshold reports any query, with any gap."""
        raise ParameterError(
            "noise must be 'one-sided' for a bound that holds for reported queries: got 'laplace'. Use lower_bound, "
            "which holds over all queries asked."
        )

    @property
    def _threshold_pieces(self) -> tuple[Piece, ...]:
        s = self.threshold_rate.fraction
        middle = (1 - s) / (1 + s)
        return Piece(None, -1, _NONE, middle, 1 / s), Piece(0, None, _NONE, middle, s)

    @property
    def _query_pieces(self) -> tuple[Piece, ...]:
        r = self.query_rate.fraction
        return Piece(None, 0, _ONE, -r / (1 + r), 1 / r), Piece(1, None, _NONE, 1 / (1 + r), r)

    @property
    def _slow_fast(self) -> tuple[Rate, Rate]:
        """The two rates, the one that falls more slowly first."""
        one, other = self.threshold_rate, self.query_rate
        return (one, other) if one.fraction >= other.fraction else (other, one)

    def _tail(self, t: int, slow: Fraction, fast: Fraction) -> Fraction:
        """Return P(N >= t) for t >= 0, from a^(t+1) and b^(t+1): rising in the first, falling in the second.

        For a > b, P(N = k) = (1-a)²(1-b)² / ((a-b)(1-ab)) · (a^(|k|+1)/(1-a²) - b^(|k|+1)/(1-b²)); for a = b it is
        (1-a)⁴/(1-a²)² · (|k| + (1+a²)/(1-a²)) · a^|k|.
        """
        a, b = (rate.fraction for rate in self._slow_fast)
        if a == b:
            mean = (1 + a * a) / (1 - a * a)
            return (1 - a) ** 4 / (1 - a * a) ** 2 * ((t + mean) / (1 - a) + a / (1 - a) ** 2) * slow / a
        scale = (1 - a) ** 2 * (1 - b) ** 2 / ((a - b) * (1 - a * b))
        return scale * (slow / ((1 - a * a) * (1 - a)) - fast / ((1 - b * b) * (1 - b)))

    def _near(self, chance: Fraction, *, below: bool = False) -> int:
        """Search by Newton's steps on the logarithm of the tail: each doubles the digits that are right."""
        if below:  # N is symmetric, and the way up is at least as far
            return 0
        slow, fast = self._slow_fast
        t = near_exponent(slow, chance)
        precision = 4 * precision_for(slow.fraction) + chance.denominator.bit_length()
        one = 1 << precision
        for _ in range(precision.bit_length()):
            powers = (tuple(Fraction(power(rate, t + i, precision)[0], one) for rate in (slow, fast)) for i in (1, 2))
            tail, next_tail = (self._tail(t + i, *pair) for i, pair in enumerate(powers))
            if not 0 < next_tail < tail or tail == chance or t < 0:
                break
            more = log_lower(max(tail / chance, chance / tail), precision) / log_lower(tail / next_tail, precision)
            t += int(more) if tail > chance else -int(more)
            if more < 1:
                break
        return max(t, 0)

    def _more_than(self, t: int, level: Fraction) -> bool:
        """Return whether P(N >= t) > level. Bounds close in on the powers, and are exact at enough bits."""
        if t <= 0:  # by symmetry it is more than 1/2, and no bound may fail so often
            return True
        bits = 512 + level.denominator.bit_length()
        while True:
            one = 1 << bits
            slow, fast = (power(rate, t + 1, bits) for rate in self._slow_fast)
            lower = self._tail(t, Fraction(slow[0], one), Fraction(fast[1], one))
            upper = self._tail(t, Fraction(slow[1], one), Fraction(fast[0], one))
            if lower > level or upper <= level:
                return lower > level
            bits *= 2
