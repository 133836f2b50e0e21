"""Ilvento, Implementing the Exponential Mechanism with Base-2 Differential Privacy: the mechanism and its rounding.

As in the paper, lower utilities are better. Where the print is wrong, a function is corrected and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.exact.rounding import fraction, power_bounds
from lastbit.papers.base2_sampling import (
    Real,
    base,
    compute_precision,
    exact_arithmetic,
    normalized_sample,
    sufficient_precision,
)
from lastbit.privacy.eta import Eta

Sample = Callable[[Draw, Sequence[Real], int], int | None]
"""(draw, weights, precision) gives an index, or None when the sampler gives up."""


def clamp(utility: Fraction, u_min: int, u_max: int) -> Fraction:
    """Return, by Proposition 3.3, the utility clamped to the bounds. Clamping never raises the sensitivity.

    >>> clamp(Fraction(7, 2), 0, 3)
    Fraction(3, 1)
    """
    return min(max(Fraction(u_min), utility), Fraction(u_max))


def randomized_round(draw: Draw, utility: Fraction) -> int:
    """Run Mechanism 4: to ⌈u⌉ with probability u - ⌊u⌋, otherwise to ⌊u⌋, as in the proof of Lemma 3.5.

    In print the two probabilities are swapped, which costs more than the lemma states.

    >>> from lastbit import Reference, Tape
    >>> randomized_round(Reference(Tape([1 << 62])), Fraction(5, 2))
    3
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
    """Run Algorithm 3, B2EXPONENTIALMECHANISM: the index of an outcome, with probability proportional to 2^(-η·u).

    The printed algorithm neither checks that there are at most o_max outcomes nor rounds utilities. It needs both.
    Utilities are counted from u_min, because weights of negative utilities need not be dyadic. `empirical` takes the
    precision of Algorithm 1 instead of the precision of Lemma 3.4.

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
    """Return, by Lemma A.2, for each outcome, an upper bound on how far randomized rounding moves its probability.

    In print the first term of equation 6 has ⌈u⌉ where it needs ⌊u⌋. The bound depends on the utilities: if they are
    private, the bound is private.

    >>> [float(mass) for mass in rounding_error_upper(Eta(1, 1, 1), [Fraction(0), Fraction(3)])]
    [0.0, 0.0]
    """
    b = eta.fraction
    bounds = rounding_bounds(eta, utilities)
    weights = [_power_bounds(b, utility) for utility in utilities]
    lower, upper = (sum(weight[side] for weight in weights) for side in (0, 1))
    unrounded = [(low / upper, high / lower) for low, high in weights]
    pairs = zip(unrounded, bounds, strict=True)
    return tuple((most - q) + max(abs(low - q), abs(high - q)) for (low, high), (q, most) in pairs)


def rounding_bounds(eta: Eta, utilities: Sequence[Fraction]) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return, by Lemma A.2, parts q and A, a lower and an upper bound on
    each outcome's probability with randomized rounding.

    >>> rounding_bounds(Eta(1, 1, 1), [Fraction(0), Fraction(1)])
    ((Fraction(2, 3), Fraction(2, 3)), (Fraction(1, 3), Fraction(1, 3)))
    """
    b = eta.fraction
    floors = [utility.numerator // utility.denominator for utility in utilities]
    ups = [utility - floor for utility, floor in zip(utilities, floors, strict=True)]
    expected = [(1 - up) * b**floor + up * b ** (floor + 1) for floor, up in zip(floors, ups, strict=True)]
    total = sum(expected)
    # q is at or below the probability with rounding: by Jensen's inequality, given the outcome's own rounding.
    q = []
    for floor, up, own in zip(floors, ups, expected, strict=True):
        low, high = b**floor, b ** (floor + 1)
        q.append((1 - up) * low / (low + total - own) + up * high / (high + total - own))
    a = 1 - sum(q)
    return tuple((chance, chance + a) for chance in q)


def _power_bounds(b: Fraction, utility: Fraction) -> tuple[Fraction, Fraction]:
    if utility.denominator == 1:
        return b**utility.numerator, b**utility.numerator
    low, high = power_bounds(b, utility, 256)
    return fraction(low), fraction(high)
