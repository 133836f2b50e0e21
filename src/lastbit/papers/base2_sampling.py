"""Ilvento, base-2 exponential mechanism: how many bits suffice, and sampling by weights without division.

All arithmetic is MPFR's with the inexact flag trapped, as in the paper: MPFR raises instead of rounding a result.
Where the print is wrong, a function is corrected and says so.

The samplers reject and try again, without end. With `tries` they give up after so many tries and return None, so that
the auditor can follow every branch to its end. Given that they return an index, the index has the same law.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gmpy2

from lastbit.chance.draw import Draw
from lastbit.errors import LastbitError, ParameterError
from lastbit.privacy.eta import Eta

Real = Any
"""An MPFR number."""


def exact_arithmetic(p: int) -> Any:
    """Return MPFR with p bits of precision, which raises an error instead of rounding a result.

    >>> with exact_arithmetic(3):
    ...     gmpy2.mpfr(1) + 8
    Traceback (most recent call last):
        ...
    gmpy2.InexactResultError: inexact result
    """
    return gmpy2.context(precision=max(p, 2), trap_inexact=True, trap_overflow=True, trap_underflow=True)


def base(eta: Eta) -> Real:
    """Return 2^-η = (x/2^y)^z, at the precision in force.

    >>> print(base(Eta(3, 2, 1)))
    0.75
    """
    return (gmpy2.mpfr(eta.x) / gmpy2.mpfr(2) ** eta.y) ** eta.z


def sufficient_precision(u_min: int, u_max: int, o_max: int, eta: Eta) -> int:
    """Return, by Lemma 3.4, a number of bits that holds any sum of at most o_max weights of integer utilities.

    The lemma fails for negative utilities unless x is a power of two, because their weights are not dyadic. Shift
    utilities to be at least 0 first.

    >>> sufficient_precision(0, 10, 10, Eta(1, 1, 1))
    32
    """
    _check_not_negative(u_min)
    return (max(1, abs(u_min)) + max(1, abs(u_max))) * eta.z * (eta.y + eta.x.bit_length()) + o_max


def check_precision(u_min: int, u_max: int, o_max: int, eta: Eta, p: int) -> bool:
    """Run Algorithm 1, CHECKPRECISION: whether the largest sum and each single weight add up exactly in p bits.

    >>> check_precision(0, 10, 10, Eta(1, 1, 1), 13), check_precision(0, 10, 10, Eta(1, 1, 1), 14)
    (False, True)
    """
    _check_not_negative(u_min)
    try:
        with exact_arithmetic(p):
            b = base(eta)
            max_sum = sum((b**u_min for _ in range(o_max)), start=gmpy2.mpfr(0))
            above, below = max_sum.as_integer_ratio()
            ceiling = gmpy2.mpfr(-(-above // below))
            for u in range(u_min, u_max + 1):
                b**u + ceiling
    except gmpy2.InexactResultError:
        return False
    return p >= 2  # MPFR computes with two bits or more


def compute_precision(u_min: int, u_max: int, o_max: int, eta: Eta) -> int:
    """Run Algorithm 1, COMPUTEPRECISION: a precision that suffices, less than twice the least.

    >>> compute_precision(0, 10, 10, Eta(1, 1, 1))
    16
    """
    p = 1
    while not check_precision(u_min, u_max, o_max, eta, p):
        p *= 2
    return p


def _check_not_negative(u_min: int) -> None:
    if u_min < 0:
        raise ParameterError(f"utilities must be at least 0: got {u_min} as the least utility. Shift them up.")


def _least_power_above(t: Real) -> int:
    """Return the least g with 2^g >= t."""
    above, below = t.as_integer_ratio()
    g = int(above).bit_length() - int(below).bit_length()
    return g if gmpy2.mpfr(2) ** g >= t else g + 1


def get_random_value(draw: Draw, p: int, t: Real, k: int = 1, *, tries: int | None = None) -> Real | None:
    """Run Algorithm 2, GETRANDOMVALUE: uniform on the multiples of 2^(g-p) in [0, t); the loop runs at least k times.

    In print the loop is `while s >= t and c < k` and the sum starts at i = 0. This loop ends without a sample with a
    probability that depends on the data, 1/2 to 3/4 at k = 1. Right: `while s* = ∞ or c < k`, and i from 1.

    >>> from lastbit import Reference, Tape
    >>> float(get_random_value(Reference(Tape([0, 1 << 63, 1 << 63])), 3, gmpy2.mpfr(1)))
    0.375
    """
    g = _least_power_above(t)
    sample, c = None, 0
    while (sample is None or c < k) and (tries is None or c < tries):
        bits = [draw.integer(2) for _ in range(p)]
        with exact_arithmetic(p):
            s = sum((r * gmpy2.mpfr(2) ** (g - i) for i, r in enumerate(bits, start=1) if r), start=gmpy2.mpfr(0))
        if sample is None and s < t:
            sample = s
        c += 1
    return sample


def normalized_sample(
    draw: Draw,
    weights: Sequence[Real],
    p: int,
    k: int = 1,
    *,
    scan_all: bool = False,
    tries: int | None = None,
) -> int | None:
    """Run Algorithm 2, NORMALIZEDSAMPLE: index i with probability weights[i] over the total.

    `scan_all` is the variant against timing attacks: it uses all bits in one pass over the weights.

    >>> from lastbit import Reference, Tape
    >>> normalized_sample(Reference(Tape([1 << 63, 0])), [gmpy2.mpfr(1), gmpy2.mpfr(1)], 2)
    1
    """
    with exact_arithmetic(p):
        cumulative = _cumulative(weights)
    t = cumulative[-1]
    g = _least_power_above(t)
    value = get_random_value(draw, p, t, k, tries=tries)
    if value is None:
        return None
    remaining = list(range(len(weights)))
    s, j = gmpy2.mpfr(0), p if scan_all else 0
    while len(remaining) > 1:
        with exact_arithmetic(p + 2):
            width = gmpy2.mpfr(2) ** (g - j)
            s = value if scan_all else s + (width if _bit(value, g - j) else 0)
            remaining = [
                i for i in remaining if cumulative[i] > s and (i == 0 or cumulative[i - 1] < s + width)
            ]  # fmt: skip
        j += 1
        if len(remaining) > 1 and j > p:
            raise LastbitError(f"the precision must tell the weights apart: got {p} bits. Use more bits.")
    return remaining[0]


def optimized_sample(draw: Draw, weights: Sequence[Real], p: int, *, tries: int | None = None) -> int | None:
    """Run Algorithm 4: read bit by bit until one element is left, and start again when this element is the dummy.

    In print line 8 gives the dummy the cumulative weight 2^k - t. Then three equal weights have the probabilities 1/4,
    1/4 and 1/2. Right: 2^k.

    >>> from lastbit import Reference, Tape
    >>> optimized_sample(Reference(Tape([1 << 63])), [gmpy2.mpfr(1), gmpy2.mpfr(1)], 2)
    1
    """
    with exact_arithmetic(p):
        cumulative = _cumulative(weights)
    k = _least_power_above(cumulative[-1])
    dummy = len(weights)
    cumulative.append(gmpy2.mpfr(2) ** k)
    c = 0
    while tries is None or c < tries:
        s, j, remaining = gmpy2.mpfr(0), k - 1, list(range(dummy + 1))
        if cumulative[-2] == cumulative[-1]:
            remaining.pop()  # the total is a power of two: no dummy
        while len(remaining) > 1:
            r = draw.integer(2)
            with exact_arithmetic(p + 2):
                width = gmpy2.mpfr(2) ** j
                s += r * width
                remaining = [
                    i for i in remaining if cumulative[i] > s and (i == 0 or cumulative[i - 1] < s + width)
                ]  # fmt: skip
            j -= 1
        if remaining != [dummy]:
            return remaining[0]
        c += 1
    return None


def _cumulative(weights: Sequence[Real]) -> list[Real]:
    cumulative, total = [], gmpy2.mpfr(0)
    for weight in weights:
        total += weight
        cumulative.append(total)
    return cumulative


def _bit(value: Real, place: int) -> int:
    """Return the bit of 2^place in a value."""
    above, below = value.as_integer_ratio()
    return int(above << max(0, -place)) // int(below << max(0, place)) & 1
