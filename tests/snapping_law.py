"""The exact law of a snapping mechanism, from its definition: what the tests compare lastbit with. Uses none of it.

U* = (2^bits + m)/2^(bits+e) with m uniform below 2^bits and P(e) = 2^-(e - first + 1) from e = first on. So U* is
2^(1-first) times a variable V with P(V < v) = v for all v that it can be, and a condition that holds from some U* on
has its probability from one threshold in V.
"""

import math
from collections.abc import Callable
from fractions import Fraction


def threshold(holds: Callable[[Fraction], bool], bits: int, first: int) -> Fraction:
    """P(U* < u) for the least u at which a rising condition holds: found by halving, from nothing but the condition."""

    def point(index: int) -> Fraction:
        # Places in rising order; place 0 is the supremum of U*, which it never is.
        exponent = -(index >> bits)
        return Fraction((1 << bits) + (index & ((1 << bits) - 1)), 1 << bits) / Fraction(2) ** (exponent + first - 1)

    low, high = -1, 0
    while holds(point(low)):
        low, high = 2 * low, low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(point(middle)) else (middle, high)
    return point(high) / Fraction(2) ** (1 - first)


def snapped_law(
    signed_noise: Callable[[Fraction], Fraction],
    add: Callable[[Fraction, Fraction], Fraction],
    value: Fraction,
    bound: Fraction,
    step: Fraction,
    bits: int,
    first: int = 1,
) -> dict[Fraction, Fraction]:
    """P(clamp(round(value ⊕ S·noise(U*)))) for every outcome, where `signed_noise` and `add` do not fall."""
    value = max(-bound, min(bound, value))

    def at_least(edge: Fraction) -> Fraction:
        plus = 1 - threshold(lambda u: add(value, signed_noise(u)) >= edge, bits, first)
        minus = threshold(lambda u: add(value, -signed_noise(u)) < edge, bits, first)
        return (plus + minus) / 2

    last = math.ceil(bound / step)
    edges = [Fraction(1), *(at_least((k - Fraction(1, 2)) * step) for k in range(-last + 1, last + 1)), Fraction(0)]
    law: dict[Fraction, Fraction] = {}
    for k, above, beyond in zip(range(-last, last + 1), edges[:-1], edges[1:], strict=True):
        outcome = max(-bound, min(bound, k * step))
        law[outcome] = law.get(outcome, Fraction(0)) + above - beyond
    return law
