"""Mironov's attack: the low bits of a float give away the value that the noise was added to.

The usual Laplace noise is scale·log(V) for a V with 53 bits. So only some floats can come out, and the private value
decides which. If an output is possible for one value and impossible for its neighbour, it tells the two apart for
certain, and no epsilon bounds that. (I. Mironov, On significance of the least significant bits for differential
privacy, CCS 2012.)

`attacks` runs it against NumPy's Laplace noise on a fixed set of uniform numbers, and against ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final

from lastbit.audit.attacks.attack import Attack
from lastbit.audit.laws import law
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.privacy.cost import Cost

_BITS: Final = 53
_NEARBY: Final = 8
"""How many U on either side of the likeliest U are tried: more than rounding can move the U."""
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


def numpy_noise(u: float, scale: float) -> float:
    """Return the value of `numpy.random.Generator.laplace(0, scale)` for its uniform U, a multiple of 2^-53 above 0.

    >>> numpy_noise(0.5, 3.0), round(numpy_noise(0.25, 1.0), 3)
    (0.0, -0.693)
    """
    return 0.0 - scale * math.log(2.0 - u - u) if u >= 0.5 else 0.0 + scale * math.log(u + u)


def possible(output: float, value: float, scale: float) -> bool:
    """Return whether `value + numpy.random.Generator.laplace(0, scale)` can be this output.

    >>> possible(0.5, 0.5, 1.0), possible(1e-20, 0.0, 1.0)
    (True, False)
    """
    tail = math.exp(-abs(output - value) / scale) / 2
    likeliest = round((1 - tail if output > value else tail) * 2**_BITS)
    candidates = range(max(1, likeliest - _NEARBY), min(2**_BITS - 1, likeliest + _NEARBY) + 1)
    return any(value + numpy_noise(math.ldexp(numerator, -_BITS), scale) == output for numerator in candidates)


def guess(output: float, value: float, neighbour: float, scale: float) -> float | None:
    """Return the value, of the two, that this output must come from; None when both values, or neither, can give it.

    >>> guess(1.5, 0.0, 1.0, 1.0) is None
    True
    """
    first, second = possible(output, value, scale), possible(output, neighbour, scale)
    return None if first == second else value if first else neighbour


def success(outputs: Iterable[float], value: float, neighbour: float, scale: float) -> tuple[float, float]:
    """Return the shares of these outputs, all from `value`, that the attack attributes rightly, and wrongly.

    >>> success([0.25, 0.75], 0.0, 1.0, 1.0)[1]
    0.0
    """
    guesses = [guess(output, value, neighbour, scale) for output in outputs]
    return guesses.count(value) / len(guesses), guesses.count(neighbour) / len(guesses)
