"""`Rounds`: how many candidates a private selection runs, drawn before anything else.

What the best of K runs costs, each of cost c: let f(x) = E x^K, and let a run give output y with probability Q(y),
where y has the score s. Given the best score, each of the tied runs is a fresh draw among the outputs of this score. So
the best of K runs is y with probability

    P(y) = Q(y)/Q(=s) · (f(Q(≤s)) - f(Q(<s))) = Q(y) · average over u in [0, 1] of f'(1 - t(u)),
    where t(u) = Q(>s) + (1-u)·Q(=s).

A neighbour changes Q(y) and every t(u) by a factor of at most e^c. Write p_k for P(K = k). If p_(k+1)/p_k ≤ (k+η)/(k+1)
for all k, then, coefficient by coefficient, (1-x)·f''(x) ≤ (1+η)·f'(x). So f'(1-t) falls by a factor of at most
e^((1+η)c) when t grows by e^c. Together P(y) changes by at most e^((2+η)c). A law that ends at N has p_(N+1) = 0, which
satisfies the condition: the cap is free. These laws satisfy it with equality.

With a threshold, let t be the probability that a run reaches it. An output y has P(y) = Q(y)·(1-f(1-t))/t. The last
factor moves against t, by at most as much, so y costs 2c. No winner has P = f(1-t) = x·h(x) with x = 1-t. The factor x
costs c, and h costs c exactly if (1-x)·h' ≤ h, which holds if p never rises. Besides, the first run that reaches the
threshold is the best where all that reach it are tied: so a threshold costs (2+η)c too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import gmpy2

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, positive, shorten, whole

MOST: Final = 1 << 17
"""The longest table of a law that is not uniform. A uniform number needs no table."""
_GUARD: Final = 64


@dataclass(frozen=True)
class Rounds:
    """A law on 1, …, most with P(K = k+1)/P(K = k) = keep·(k + eta)/(k + 1), cell k-1 for K = k.

    With eta 1 it is uniform, or, where keep is below 1, geometric given that it ends in time. A selection of the best
    of K runs costs 2 + eta times a run (the module has the proof).

    >>> [str(mass) for mass in Rounds.of(0, 3).masses()]
    ['6/11', '3/11', '2/11']
    >>> Rounds.of("uniform", 199).mean, float(Rounds.of("uniform", 199).misses(Fraction(1, 100)))
    (Fraction(100, 1), 0.430...)
    """

    most: int
    eta: Fraction = Fraction(1)
    keep: Fraction = Fraction(1)

    @classmethod
    def of(cls, law: str | Number, most: int, stop: Number | None = None) -> Rounds:
        """Return the law that a person names: "uniform", a number eta, or "geometric" with its chance to stop."""
        cap = whole(most, "most")
        keep, eta = Fraction(1), Fraction(1)
        if law == "geometric":
            if stop is None:
                raise ParameterError("law='geometric' needs stop, the chance that a round is the last: stop='1/100'.")
            keep -= positive(stop, "stop", "It is the chance that a round is the last.")
            if keep < 0:
                raise ParameterError(f"stop must be at most 1: got {shorten(1 - keep)}. It is a probability.")
        elif stop is not None:
            raise ParameterError(
                "stop is for law='geometric'. Leave it out: the uniform law misses good candidates less often, at the "
                "same cost. Or write law='geometric'."
            )
        elif law != "uniform":
            eta = number(law, "law, where it is not 'uniform' or 'geometric',")
            if not -1 < eta <= 2:
                raise ParameterError(
                    f"law must be above -1 and at most 2: got {shorten(eta)}. The selection costs 2 + law times a "
                    "candidate."
                )
        rounds = cls(cap, eta, keep)
        if cap > MOST and not rounds.uniform:
            raise ParameterError(
                f"most must be at most {MOST:,} for this law: got {cap:,}. law='uniform' takes any number."
            )
        return rounds

    @property
    def uniform(self) -> bool:
        """Whether all numbers of rounds are equally likely."""
        return self.eta == self.keep == 1

    @property
    def rises(self) -> bool:
        """Whether more rounds may be likelier than fewer: the case where a threshold is no cheaper than the best."""
        return self.eta > 1

    def times(self, *, threshold: bool) -> Fraction:
        """Return how many times the cost of a candidate a selection costs.

        With a threshold a law that never rises costs 2. It costs 2 + eta too, because the first of the runs that reach
        the threshold has the law of any of them: it is the best, where all that reach the threshold are tied.
        """
        best = 2 + self.eta
        return min(Fraction(2), best) if threshold and not self.rises else best

    def ratio(self, k: int) -> tuple[int, int]:
        """Return P(K = k+1)/P(K = k), above and below the bar."""
        above = self.keep.numerator * (k * self.eta.denominator + self.eta.numerator)
        return above, self.keep.denominator * self.eta.denominator * (k + 1)

    def cell(self, u: int, bits: int) -> int | None:
        """Return the cell that holds all of [u, u+1)/2^bits, where the bounds of its ends tell."""
        lower, upper = _ends(self, bits)
        index = bisect_right(upper, u) - 1
        return index if u < lower[index + 1] else None

    def masses(self) -> Iterator[Fraction]:
        """Return P(K = 1), P(K = 2), …, P(K = most)."""
        mass = Fraction(1, self.most) if self.uniform else 1 / _fraction(self._sum(Fraction(1))[0])
        for k in range(1, self.most + 1):
            yield mass
            mass *= Fraction(*self.ratio(k))

    @property
    def mean(self) -> Fraction:
        """The mean number of rounds."""
        if self.uniform:
            return Fraction(self.most + 1, 2)
        total, weighted = self._sum(Fraction(1))
        return _fraction(weighted / total)

    def misses(self, share: Fraction) -> Fraction:
        """Return the chance that none of the K runs is one that a run is with probability `share`: E (1 - share)^K.

        >>> Rounds.of("uniform", 2).misses(Fraction(1, 2))
        Fraction(3, 8)
        """
        left = 1 - share
        if share == 0:
            return Fraction(1)
        if self.uniform:
            # A power stays in lowest terms, so that only short numbers meet in a greatest common divisor.
            return (1 - left**self.most) * (left / (share * self.most))
        return _fraction(self._sum(left)[0] / self._sum(Fraction(1))[0] * gmpy2.mpq(left))

    @lru_cache(maxsize=64)  # noqa: B019  # frozen and small, and the sum at 1 is asked for again and again
    def _sum(self, x: Fraction) -> tuple[gmpy2.mpq, gmpy2.mpq]:
        """Return the sums of p_k·x^(k-1)/p_1 and of k·p_k·x^(k-1)/p_1."""
        if self.most == 1:
            return gmpy2.mpq(1), gmpy2.mpq(1)
        _, below, total, weighted = self._part(x, 1, self.most)
        return 1 + gmpy2.mpq(total, below), 1 + gmpy2.mpq(total + weighted, below)

    def _part(self, x: Fraction, start: int, stop: int) -> tuple[gmpy2.mpz, ...]:
        """Return, of the products P_j of the ratios from start to start + j - 1, the last, their sum, the sum of j·P_j.

        All are above one bar, and the second number is below it. By halves, so that the numbers multiplied are of one
        length: then large ones are fast.
        """
        if stop - start == 1:
            above, under = self.ratio(start)
            last = gmpy2.mpz(above * x.numerator)
            return last, gmpy2.mpz(under * x.denominator), last, last
        middle = (start + stop) // 2
        first, below, total, weighted = self._part(x, start, middle)
        last, under, more, moved = self._part(x, middle, stop)
        return (
            first * last,
            below * under,
            total * under + first * more,
            weighted * under + first * (moved + (middle - start) * more),
        )


def _fraction(value: gmpy2.mpq) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))


@lru_cache(maxsize=8)
def _ends(law: Rounds, bits: int) -> tuple[list[int], list[int]]:
    """Return integers at or below, and at or above, 2^bits·P(K <= k), for k = 0, …, most; exact at both ends."""
    low = high = 1 << bits + _GUARD + 2 * law.most.bit_length()
    lower, upper = [0], [0]
    for k in range(1, law.most + 1):
        lower.append(lower[-1] + low)
        upper.append(upper[-1] + high)
        above, under = law.ratio(k)
        low, high = low * above // under, -(-high * above // under)
    least, most, one = lower[-1], upper[-1], 1 << bits
    below = [(bound << bits) // most for bound in lower[:-1]]
    over = [min(one, -(-(bound << bits) // least)) for bound in upper[:-1]]
    return [*below, one], [*over, one]
