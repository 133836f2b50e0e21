"""The advantage of Mironov's attack: against NumPy's Laplace on a fixed set of uniform numbers, and against ours."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from lastbit.audit.attacks.attack import Attack
from lastbit.audit.attacks.laplace_low_bits import guess, numpy_noise
from lastbit.audit.laws import law
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.privacy.cost import Cost

_BITS: Final = 53
_STEP: Final = 0x9E3779B97F4A7C15 >> (64 - _BITS) | 1
"""Odd and near the golden ratio, so that its multiples are spread evenly over all numbers of 53 bits."""


def attacks(uniforms: int = 500) -> Iterator[Attack]:
    """Yield the attack on 0 against 1 at ε = 1. The attacker says 0 when only 0 can give the output.

    >>> print(next(attacks(100)))
    low bits (Mironov): advantage 0.89 against the naive mechanism; ...e-12 against ours, which allows 0.462...
    """
    shares = []
    for value in (0.0, 1.0):
        outputs = (value + numpy_noise(u, 1.0) for u in _uniforms(uniforms))
        shares.append(Fraction(sum(guess(output, 0.0, 1.0, 1.0) == 0.0 for output in outputs), uniforms))
    odds = Cost.of(Fraction(1)).odds_bounds()[1]
    yield Attack("low bits", "Mironov", shares[0] - shares[1], _bound_on_ours(), (odds - 1) / (odds + 1))


def _uniforms(n: int) -> Iterator[float]:
    return (max(1, i * _STEP % (1 << _BITS)) / (1 << _BITS) for i in range(1, n + 1))


def _bound_on_ours() -> Fraction:
    """Return an upper bound on P(our output on 0 is impossible on 1): the mass that was not found for both values."""
    mechanism = DiscreteLaplace(epsilon=1)
    one, other = law(mechanism.program([0])), law(mechanism.program([1]))
    return sum((mass for outcome, mass in one.masses.items() if outcome not in other.exact), start=one.unexplored)
