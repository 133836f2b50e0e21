"""How good a set will be that is selected by its best count left out and its worst count taken."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from lastbit.estimate.accuracy import least_exponent
from lastbit.privacy.rate import Rate

_MOST_BITS: Final = 20_000
"""Longer numbers of sets are bounded, and not written down."""
_BLOCK: Final = 64


def steps_behind(rate: Rate, n: int, k: int, level: Fraction) -> int:
    """Return the least x such that a selected set is at most x steps from the best one with at least this probability.

    The best set weighs 1 at least. The sets that are more than x steps from it are C(n, k) - 1 at most, and weigh
    r^(x+1) at most each. So their probability is at most W/(1 + W) for W = (C(n, k) - 1)·r^(x+1).

    >>> steps_behind(Rate(1, 1), 4, 2, Fraction(1, 2)), steps_behind(Rate(1, 1), 4, 4, Fraction(1, 2))
    (2, 0)
    """
    return max(0, _least(rate, n, k, level) - 1)


def steps_ahead(rate: Rate, n: int, k: int, level: Fraction, counts: int) -> int:
    """Return the least lead of the k-th largest count over the next, in
    steps, with which the k largest are surely the set.

    Surely is with at least this probability, for all data; `counts` is how many counts weigh, one or both. With a lead
    of g the k largest weigh r^(-counts·g) times what any other set weighs, or more: just so much where the k largest
    are equal, and so are the others. So this lead is exact: with one step less there are data that fail.

    >>> steps_ahead(Rate(1, 1), 4, 2, Fraction(1, 2), 2), steps_ahead(Rate(1, 1), 4, 2, Fraction(1, 2), 1)
    (2, 3)
    """
    return -(-_least(rate, n, k, level) // counts)


def _least(rate: Rate, n: int, k: int, level: Fraction) -> int:
    """Return the least m with (C(n, k) - 1)·r^m <= (1 - level)/level;
    where C(n, k) is too long to write down, no less.
    """
    few, odds = min(k, n - k), (1 - level) / level
    # C(n, k) <= (e·n/k)^k, and e < 2^1.45. The whole part of a logarithm and 1 are no less than the logarithm.
    bits = -(-few * (145 + 100 * (n // max(few, 1)).bit_length()) // 100)
    if bits > _MOST_BITS:
        blocks = -(-bits // _BLOCK)
        return blocks * least_exponent(rate, Fraction(1, 1 << _BLOCK)) + least_exponent(rate, odds)
    others = math.comb(n, k) - 1
    return least_exponent(rate, odds / others) if others else 0
