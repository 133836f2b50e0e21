"""Ilvento, Implementing the Exponential Mechanism with Base-2 Differential Privacy.

As in the paper, lower utilities are better, and all arithmetic is MPFR's with the inexact flag trapped: a result that
would be rounded raises instead. Where the print is wrong the functions do what is right, and say so.

The samplers reject and try again, without end. `tries` makes them give up and return None, so that the auditor, which
follows every branch, comes to an end; given that they return an index, it has the same law.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import gmpy2

from lastbit.draw import Draw
from lastbit.errors import LastbitError, ParameterError
from lastbit.exact import Eta
from lastbit.rounding import fraction, power_bounds

Real = Any
"""An MPFR number."""

Sample = Callable[[Draw, Sequence[Real], int], int | None]
"""(draw, weights, precision) gives an index, or None when it gave up."""


def exact_arithmetic(p: int) -> Any:
    """MPFR with p bits of precision that raises where a result would be rounded.

    >>> with exact_arithmetic(3):
    ...     gmpy2.mpfr(1) + 8
    Traceback (most recent call last):
        ...
    gmpy2.InexactResultError: inexact result
    """
    return gmpy2.context(precision=max(p, 2), trap_inexact=True, trap_overflow=True, trap_underflow=True)


def base(eta: Eta) -> Real:
    """2^-η = (x/2^y)^z, at the precision in force."""
    return (gmpy2.mpfr(eta.x) / gmpy2.mpfr(2) ** eta.y) ** eta.z


def sufficient_precision(u_min: int, u_max: int, o_max: int, eta: Eta) -> int:
    """Lemma 3.4: bits that any sum of at most o_max weights of integer utilities fits in.

    The lemma fails for negative utilities unless x is a power of two: those weights are not dyadic. Shift utilities to
    be at least 0 first.

    >>> sufficient_precision(0, 10, 10, Eta(1, 1, 1))
    32
    """
    _check_not_negative(u_min)
    return (max(1, abs(u_min)) + max(1, abs(u_max))) * eta.z * (eta.y + eta.x.bit_length()) + o_max


def check_precision(u_min: int, u_max: int, o_max: int, eta: Eta, p: int) -> bool:
    """Algorithm 1, CHECKPRECISION: whether the largest sum and each single weight add up exactly in p bits."""
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
    """Algorithm 1, COMPUTEPRECISION: a precision that suffices, less than twice the least.

    >>> compute_precision(0, 10, 10, Eta(1, 1, 1))
    16
    """
    p = 1
    while not check_precision(u_min, u_max, o_max, eta, p):
        p *= 2
    return p


def _check_not_negative(u_min: int) -> None:
    if u_min < 0:
        raise ParameterError(f"utilities must be at least 0: got a least one of {u_min}. Shift them up.")


def _least_power_above(t: Real) -> int:
    """The least g with 2^g >= t."""
    above, below = t.as_integer_ratio()
    g = int(above).bit_length() - int(below).bit_length()
    return g if gmpy2.mpfr(2) ** g >= t else g + 1


def get_random_value(draw: Draw, p: int, t: Real, k: int = 1, *, tries: int | None = None) -> Real | None:
    """Algorithm 2, GETRANDOMVALUE: uniform on the multiples of 2^(g-p) in [0, t); the loop runs at least k times.

    In print the loop is `while s >= t and c < k` and the sum starts at i = 0. That ends without a sample with a
    probability that depends on the data, 1/2 to 3/4 at k = 1. Right: `while s* = ∞ or c < k`, and i from 1.
    """
    g = _least_power_above(t)
    found, c = None, 0
    while (found is None or c < k) and (tries is None or c < tries):
        bits = [draw.integer(2) for _ in range(p)]
        with exact_arithmetic(p):
            s = sum((r * gmpy2.mpfr(2) ** (g - i) for i, r in enumerate(bits, start=1) if r), start=gmpy2.mpfr(0))
        if found is None and s < t:
            found = s
        c += 1
    return found


def normalized_sample(
    draw: Draw,
    weights: Sequence[Real],
    p: int,
    k: int = 1,
    *,
    scan_all: bool = False,
    tries: int | None = None,
) -> int | None:
    """Algorithm 2, NORMALIZEDSAMPLE: an index with probability its weight over the total.

    `scan_all` is the variant against timing that uses all bits in one pass over the weights.
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
            raise LastbitError(f"the precision of {p} bits does not suffice to tell the weights apart. Use more.")
    return remaining[0]


def optimized_sample(draw: Draw, weights: Sequence[Real], p: int, *, tries: int | None = None) -> int | None:
    """Algorithm 4: bit by bit, stopping when one element is left, and again from the start when it is the dummy.

    In print line 8 gives the dummy the cumulative weight 2^k - t, which makes three equal weights come out as 1/4, 1/4
    and 1/2. Right: 2^k.
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
    """The bit of 2^place in a value."""
    above, below = value.as_integer_ratio()
    return int(above << max(0, -place)) // int(below << max(0, place)) & 1


def clamp(utility: Fraction, u_min: int, u_max: int) -> Fraction:
    """Proposition 3.3: within the bounds, which never raises the sensitivity."""
    return min(max(Fraction(u_min), utility), Fraction(u_max))


def randomized_round(draw: Draw, utility: Fraction) -> int:
    """Mechanism 4: to ⌈u⌉ with probability u - ⌊u⌋, otherwise to ⌊u⌋, as in the proof of Lemma 3.5.

    In print the two probabilities are swapped, which costs more than the lemma says.
    """
    floor = utility.numerator // utility.denominator
    return floor + draw.bernoulli(utility - floor)


def exponential_mechanism(
    draw: Draw,
    utilities: Sequence[Fraction | int],
    *,
    eta: Eta,
    u_min: int,
    u_max: int,
    o_max: int,
    sample: Sample = normalized_sample,
    empirical: bool = False,
) -> int | None:
    """Algorithm 3, B2EXPONENTIALMECHANISM: the index of an outcome, with probability proportional to 2^(-η·u).

    In print it neither checks that there are at most o_max outcomes nor rounds utilities; it needs both. Utilities are
    taken from u_min on, since weights of negative ones need not be dyadic. `empirical` takes the precision of
    Algorithm 1 instead of Lemma 3.4's.

    >>> from lastbit import Reference, Tape
    >>> draw = Reference(Tape([0] * 40))
    >>> exponential_mechanism(draw, [2, 0, 1], eta=Eta(1, 1, 1), u_min=0, u_max=2, o_max=3)
    0
    """
    if len(utilities) > o_max:
        raise ParameterError(f"there must be at most o_max={o_max} outcomes: got {len(utilities)}.")
    precision = compute_precision if empirical else sufficient_precision
    p = precision(0, u_max - u_min, o_max, eta)
    clamped = [clamp(Fraction(utility), u_min, u_max) for utility in utilities]
    rounded = [randomized_round(draw, utility) - u_min for utility in clamped]
    with exact_arithmetic(p):
        b = base(eta)
        weights = [b**u for u in rounded]
    return sample(draw, weights, p)


def rounding_error_upper(eta: Eta, utilities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Lemma A.2: for each outcome, at or above the most that randomized rounding moves its probability.

    In print the first term of equation 6 has ⌈u⌉ where it needs ⌊u⌋. The bound depends on the utilities, so on private
    ones it is private.

    >>> [float(each) for each in rounding_error_upper(Eta(1, 1, 1), [Fraction(0), Fraction(3)])]
    [0.0, 0.0]
    """
    b = eta.fraction
    floors = [utility.numerator // utility.denominator for utility in utilities]
    ups = [utility - floor for utility, floor in zip(utilities, floors, strict=True)]
    expected = [(1 - up) * b**floor + up * b ** (floor + 1) for floor, up in zip(floors, ups, strict=True)]
    total = sum(expected)
    # q is at or below the probability with rounding: given how its own utility was rounded, by Jensen's inequality.
    q = []
    for floor, up, own in zip(floors, ups, expected, strict=True):
        low, high = b**floor, b ** (floor + 1)
        q.append((1 - up) * low / (low + total - own) + up * high / (high + total - own))
    a = 1 - sum(q)
    weights = [_power_bounds(b, utility) for utility in utilities]
    lower, upper = (sum(weight[side] for weight in weights) for side in (0, 1))
    unrounded = [(low / upper, high / lower) for low, high in weights]
    pairs = zip(unrounded, q, strict=True)
    return tuple(a + max(abs(low - each), abs(high - each)) for (low, high), each in pairs)


def _power_bounds(b: Fraction, utility: Fraction) -> tuple[Fraction, Fraction]:
    if utility.denominator == 1:
        return b**utility.numerator, b**utility.numerator
    low, high = power_bounds(b, utility, 256)
    return fraction(low), fraction(high)
