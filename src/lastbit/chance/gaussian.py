"""The discrete Gaussian by inversion: P(i) proportional to r^(i²) on all integers.

S(j) = A(j)/Z, where A(j) is the sum of all r^(i²) from j on and Z = 1 + 2·A(1). The weights are followed in fixed
point, rounded down, with a known error: w(i+1) = w(i)·r^(2i+1), two products a cell. For a rational r the number Z is
transcendental (Duverney, Nishioka, Nishioka, Shiokawa 1996), and so is every S(j). So more bits always tell S(j) from
a fraction, as long as more bits also mean more cells.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from lastbit.chance.inversion import Bounds, Falling
from lastbit.errors import ParameterError
from lastbit.privacy.rate import Rate

MOST_DEVIATION: Final = 1 << 16
"""The largest standard deviation in steps: no table of a million cells is short, and Gaussians have no levels."""
LEAST_LOSS: Final = Fraction(1, 2 * MOST_DEVIATION**2)
"""The loss ln(1/r) of that deviation."""

_GUARD: Final = 64
_LEFT: Final = 32
"""Weights below 2^-(bits + _GUARD - _LEFT) belong to the tail."""
_MASS_BITS: Final = 512
_LEAST_MASS_BITS: Final = 256
_TOP: Final = np.uint64((1 << 64) - 1)


class Tails(NamedTuple):
    """tails[j] <= 2^precision·A(j) <= tails[j] + error for all j from 0 on; tails[j] is 0 where the list has ended."""

    tails: list[mpz]
    error: int
    precision: int

    @property
    def whole(self) -> tuple[mpz, mpz]:
        """Return a lower and an upper bound of 2^precision·Z."""
        lower = self.tails[0] + self.tails[1]
        return lower, lower + 2 * self.error


def _tails(rate: Rate, bits: int) -> Tails:
    """Return the sums A(j), some 60 bits finer than 2^-bits.

    The factor f(i) is less than 2i + 1 units below 2^precision·r^(2i+1), since each step adds an error below 2. So the
    weight w(i) is at most i·(i + 1) units too low, and the N + 1 weights kept are N(N+1)(N+2)/3 too low in all. The
    first weight left out is W, and all weights left out are at most W/(1 - r^(2N+3)).
    """
    precision = bits + _GUARD
    one = mpz(1) << precision
    factor, square = mpz(rate.x) << precision >> rate.y, mpz(rate.x) ** 2 << precision >> 2 * rate.y
    weight, least = one, mpz(1) << _LEFT
    weights = []
    while weight >= least:
        weights.append(weight)
        weight = weight * factor >> precision
        factor = factor * square >> precision
    last = len(weights) - 1
    beyond = (weight + (last + 1) * (last + 2)) * one // (one - factor - 2 * last - 4) + 1
    error = last * (last + 1) * (last + 2) // 3 + beyond
    # Added up from the far end and in place, as there may be a million.
    tails = weights
    tails.append(mpz(0))
    for i in range(last, -1, -1):
        tails[i] += tails[i + 1]
    return Tails(tails, int(error), precision)


_cached_tails = lru_cache(maxsize=4)(_tails)


@dataclass(frozen=True)
class Gaussian(Falling):
    """S(j) = A(j)/Z: the discrete Gaussian of variance near 1/(2·ln(1/r)), in squared steps.

    >>> Gaussian(Rate(1, 1)).cell(1, 1), Gaussian(Rate(1, 1)).cell(3, 3), Gaussian(Rate(1, 1)).cell(0, 1)
    (None, 0, None)
    """

    rate: Rate
    first: int | None = field(default=None, init=False)
    last: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        # The loss of the rate is rounded up, by less than anyone can tell.
        loss = self.rate.loss_upper
        if is_too_wide(loss):
            raise ParameterError(
                f"a discrete Gaussian must have a standard deviation of at most 2^16 = {MOST_DEVIATION:,} steps: got "
                f"{(2 * loss) ** -0.5:,.0f}. Use a coarser resolution, or a larger rho."
            )

    def bounds(self, j: int, bits: int) -> Bounds:
        """Return a lower and an upper bound of 2^bits · S(j)."""
        if j <= 0:
            lower, upper = self.bounds(1 - j, bits)
            return (1 << bits) - upper, (1 << bits) - lower
        sums = _cached_tails(self.rate, bits)
        low, high = sums.whole
        tail = sums.tails[j] if j < len(sums.tails) else mpz(0)
        # The upper bound is rounded up, so that it is never equal to the lower one: S(j) is no fraction.
        return int((tail << bits) // high), int((tail + sums.error << bits) // low) + 1

    def thresholds(self) -> NDArray[np.uint64]:
        """Return ⌊2^64·S(j)⌋ for j = -J, …, J + 1, falling from 2^64 - 1 to 0: the first and the last of that value.

        S(-j) = 1 - S(j+1), and S is never a fraction, so one side gives the other.
        """
        tails, error, precision = sums = _tails(self.rate, 96)
        low, high = sums.whole
        shift = precision + 64
        inverse = (mpz(1) << 128 + shift) // high
        # S(j)·2^128 is at or above ⌊tail·inverse/2^shift⌋ by at most this: 2·error/Z, and less than 1 for each floor.
        slack = (2 * error << 128) // int(low) + 3
        zero = bisect_left(tails, True, lo=1, key=lambda tail: tail * inverse >> shift + 64 == 0)
        near = [*tails[1 : zero + 2], mpz(0)]
        digits = b"".join([int(tail * inverse >> shift).to_bytes(16, "little") for tail in near])
        parts = np.frombuffer(digits, "<u8").reshape(-1, 2)
        upper = parts[:, 1].astype(np.uint64)
        for k in np.flatnonzero(parts[:, 0] >= np.uint64((1 << 64) - slack)):
            upper[k] = self.floor(int(k) + 1, 64)[0]
        upper = upper[: int(np.count_nonzero(upper)) + 1]
        return np.concatenate((_TOP - upper[::-1], upper))

    def masses(self) -> Iterator[tuple[int, Fraction]]:
        """Return P(0), P(1), P(-1), …, each rounded down by less than a share of 2^-200, and those above 2^-256 only.

        The masses are irrational. What is missing, less than 2^-200 in all, is for the auditor to count as unexplored.
        """
        sums = _cached_tails(self.rate, _MASS_BITS)
        whole = sums.whole[1]
        for i, (tail, rest) in enumerate(zip(sums.tails, sums.tails[1:], strict=False)):
            scaled = int((tail - rest << _MASS_BITS) // whole)
            if scaled >> _MASS_BITS - _LEAST_MASS_BITS == 0:
                return
            mass = Fraction(scaled, 1 << _MASS_BITS)
            yield i, mass
            if i:
                yield -i, mass


def is_too_wide(loss: float | Fraction) -> bool:
    """Return whether the standard deviation 1/√(2·loss) is above 2^16 steps, for a loss of ln(1/r).

    >>> is_too_wide(Fraction(1, 10**9)), is_too_wide(Fraction(1, 10**10))
    (False, True)
    """
    return loss < LEAST_LOSS
