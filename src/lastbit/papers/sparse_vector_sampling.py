"""Ilvento, "Implementing the sparse vector technique and variants": Algorithm 3, the sampling functions.

Everything is in steps of the granularity γ, and B is the base 2^(-ηγ). ⊤ is True and ⊥ is False.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from lastbit.chance.draw import Draw

T = TypeVar("T")


def get_sum(base: Fraction, lower: int | None, upper: int | None) -> Fraction:
    """Compute GETSUM of Algorithm 3: (1-B)·ΣB^|k| for k from `lower` to `upper`; None is -∞ below and ∞ above.

    The paper has a recursion and cases. This function subtracts both tails from the whole sum, with the same arithmetic
    for all ends.

    >>> get_sum(Fraction(1, 2), 0, None), get_sum(Fraction(1, 2), -1, 1), get_sum(Fraction(1, 2), None, None)
    (Fraction(1, 1), Fraction(1, 1), Fraction(3, 2))
    """
    below = _tail(base, None if lower is None else 1 - lower)
    above = _tail(base, None if upper is None else 1 + upper)
    return (1 + base) - below - above


def _tail(base: Fraction, start: int | None) -> Fraction:
    """Return (1-B)·ΣB^|k| over all k >= start: B^start for start >= 1,
    1+B-B^(1-start) for start <= 0, and 0 for None.
    """
    finite = start is not None
    first = start or 0
    flipped = first <= 0 and finite
    power = base ** max(first, 1 - first)
    return flipped * (1 + base) + (finite - 2 * flipped) * power


def normalized_sample(draw: Draw, outcomes: Sequence[T], weights: Sequence[Fraction]) -> T:
    """Run NORMALIZEDSAMPLE: an outcome with probability proportional to its weight."""
    return outcomes[draw.index(weights)]


def clamped_disc_lap(draw: Draw, base: Fraction, least: int, most: int) -> int:
    """Run CLAMPEDDISCLAP of Algorithm 3, lines 1 to 14: discrete Laplace noise clamped to [least, most].

    >>> import lastbit as lb
    >>> law = lb.audit.law(lambda draw: clamped_disc_lap(draw, Fraction(1, 2), 0, 1))
    >>> law[0][0], law[1][0]
    (Fraction(2, 3), Fraction(1, 3))
    """
    p_lower = get_sum(base, None, least - 1)
    p_upper = get_sum(base, most + 1, None)
    p_total = get_sum(base, None, None)
    p_middle = p_total - p_lower - p_upper
    region = normalized_sample(draw, "-.+", [p_lower, p_middle, p_upper])
    if region == "+":
        return most
    if region == "-":
        return least
    steps = range(least, most + 1)
    return normalized_sample(draw, steps, [base ** abs(step) for step in steps])


def lazy_threshold(draw: Draw, base: Fraction, tau: int) -> bool:
    """Run LAZYTHRESHOLD of Algorithm 3, lines 15 to 18: whether noise of this base would reach τ.

    >>> import lastbit as lb
    >>> lb.audit.law(lambda draw: lazy_threshold(draw, Fraction(1, 2), 1))[True][0]
    Fraction(1, 3)
    """
    p_top = get_sum(base, tau, None)
    p_bottom = get_sum(base, None, None) - p_top
    return normalized_sample(draw, (True, False), [p_top, p_bottom])


def cond_lazy_threshold(draw: Draw, base: Fraction, tau: int, tau_c: int) -> bool:
    """Run CONDLAZYTHRESHOLD of Algorithm 3, lines 19 to 22: whether the
    noise reaches τ, given that it reaches τ^C <= τ.

    >>> import lastbit as lb
    >>> lb.audit.law(lambda draw: cond_lazy_threshold(draw, Fraction(1, 2), 3, 1))[True][0]
    Fraction(1, 4)
    """
    p_top = get_sum(base, tau, None)
    p_bottom = get_sum(base, tau_c, None) - p_top
    return normalized_sample(draw, (True, False), [p_top, p_bottom])


def clamp(rho: int, x: int, w: int) -> int:
    """Compute CLAMP, equation 3: ρ brought to within w of x.

    >>> clamp(9, 0, 2), clamp(1, 0, 2)
    (2, 1)
    """
    return max(x - w, min(x + w, rho))
