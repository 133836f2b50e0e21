"""Mironov's attack: the low bits of a float give away the value that the noise was added to.

The usual Laplace noise is scale·log(V) for a V with 53 bits. So only some floats can come out, and the private value
decides which. If an output is possible for one value and impossible for its neighbour, it tells the two apart for
certain, and no epsilon bounds that. (I. Mironov, On significance of the least significant bits for differential
privacy, CCS 2012.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

_BITS: Final = 53
_NEARBY: Final = 8
"""How many U on either side of the likeliest U are tried: more than rounding can move the U."""


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
