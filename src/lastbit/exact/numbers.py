"""Exact parameters: what a person types becomes a fraction once, and a noise rate once, toward privacy.

After this module nothing is a float. The only floats that leave it are reports (`..._upper`), rounded outward.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Final

import gmpy2
import numpy as np

from lastbit._outcomes import Compared
from lastbit.errors import ParameterError
from lastbit.exact.rounding import (
    ceiling,
    exp_bounds,
    exp_upper,
    fraction,
    log_lower,
    log_upper,
    power_bounds,
    precision_for,
)

Number = int | float | str | Fraction | Decimal

MAX_BITS: Final = 4096
"""Numerators and denominators beyond this many bits are mistakes, not parameters."""

MAX_RATE_BITS: Final = 1 << 16
"""A rate is a fraction over at most 2 to this: the y·z of an eta, the y of a rate."""

_SURELY_SMALL: Final = 1 << 64
_LOSS_RANGE: Final = Fraction(1, 1 << 512), Fraction(1 << 11)

_DECIMAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,5})?", re.ASCII)
_RATIO: Final = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_MAX_TEXT: Final = 2048


def number(value: object, name: str) -> Fraction:
    """The exact value of a parameter. A float means the decimal it prints as.

    >>> number(0.1, "epsilon"), number("1/3", "epsilon")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if type(value) is Fraction:
        result = value
    elif isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be a number: got {value}. Pass 1 if one is meant.")
    elif isinstance(value, Rational):
        result = Fraction(int(value.numerator), int(value.denominator))
    else:
        result = _from_text(_text_of(value, name), name)
    if max(abs(result.numerator), result.denominator).bit_length() > MAX_BITS:
        raise ParameterError(f"{name} must fit in {MAX_BITS} bits above and below the fraction bar. Round it.")
    return result


def _text_of(value: object, name: str) -> str:
    # Decimal and every float type print a decimal that reads back as the same number.
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Real | Decimal):
        return str(value)
    raise ParameterError(
        f"{name} must be a number: got {type(value).__name__}. "
        "Pass an int, a Fraction, a Decimal, a float, or text such as '0.1' or '1/3'."
    )


def _from_text(text: str, name: str) -> Fraction:
    if len(text) > _MAX_TEXT:
        raise ParameterError(f"{name} must be a number of at most {_MAX_TEXT} characters. Round it.")
    if _RATIO.fullmatch(text):
        above, below = text.split("/")
        if int(below) == 0:
            raise ParameterError(f"{name} must be a number: got {text}. A fraction needs a denominator above 0.")
        return Fraction(int(above), int(below))
    match = _DECIMAL.fullmatch(text)
    if match is None:
        shown = repr(text[:40]) if text else "empty text"
        raise ParameterError(f"{name} must be a finite number: got {shown}. Write it like '0.1', '1e-3' or '1/3'.")
    if match[2] and abs(int(match[2][1:])) * 3 > MAX_BITS:
        raise ParameterError(f"{name} must fit in {MAX_BITS} bits: got {text}. Round it.")
    return Fraction(text)


def positive(value: object, name: str, why: str) -> Fraction:
    """`number`, refused unless above zero; `why` says what a person should know then."""
    result = number(value, name)
    if result <= 0:
        raise ParameterError(f"{name} must be positive: got {_shown(result)}. {why}")
    return result


def whole(value: object, name: str, *, least: int = 1) -> int:
    """An integer parameter of at least `least`, refused when it is not one exactly."""
    if type(value) is int and least <= value < _SURELY_SMALL:
        return value
    result = number(value, name)
    if result.denominator != 1 or result < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}: got {_shown(result)}.")
    return result.numerator


def flag(value: object, name: str) -> bool:
    """A parameter that is True or False: anything else that counts as true could halve the noise by mistake."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False: got {type(value).__name__}.")
    return bool(value)


def _shown(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"about {float(value):.3g}" if abs(value) < 1e300 else "a huge number"


def _positive_epsilon(value: object) -> Fraction:
    epsilon = positive(value, "epsilon", "A release that costs nothing cannot use the data.")
    if not _LOSS_RANGE[0] <= epsilon <= _LOSS_RANGE[1]:
        raise ParameterError(
            f"epsilon must be between 2^-512 and 2^11 per step: got {_shown(epsilon)}. "
            "Choose a finer or a coarser resolution, or another epsilon."
        )
    return epsilon


@dataclass(frozen=True, slots=True)
class Eta:
    """A privacy loss in base 2, with 2^-eta exact: 2^-eta == (x / 2^y)^z (the base-2 paper's η).

    >>> Eta(1, 1, 1).fraction
    Fraction(1, 2)
    >>> Eta(1, 1, 1).epsilon_upper
    0.6931471805599454
    """

    x: int
    y: int
    z: int

    def __post_init__(self) -> None:
        for name in ("x", "y", "z"):
            object.__setattr__(self, name, whole(getattr(self, name), f"eta's {name}"))
        if self.y * self.z > MAX_RATE_BITS:
            raise ParameterError(
                f"eta's y*z must be at most {MAX_RATE_BITS}: got y={self.y}, z={self.z}. Use a smaller y or z."
            )
        if self.x >= 1 << self.y:
            raise ParameterError(
                f"eta must be positive, so x must be below 2^y: got x={_shown(Fraction(self.x))}, y={self.y}. "
                "A release that costs nothing cannot use the data."
            )

    @classmethod
    def at_most(cls, epsilon: Number, bits: int | None = None) -> Eta:
        """The largest eta whose epsilon is at most this, among all with 2^-eta a fraction over 2^bits.

        No (x, y, z) with y·z = bits does better, since (x/2^y)^z is itself a fraction over 2^bits. The
        default takes as many bits as leave less than 2^-50 of epsilon unused.

        >>> Eta.at_most("0.1", bits=8)
        Eta(x=29, y=5, z=1)
        >>> Eta.at_most("0.1").epsilon_upper
        0.1
        """
        exact = _positive_epsilon(epsilon)
        bits = _bits_for(exact) if bits is None else whole(bits, "bits")
        if bits > MAX_BITS:
            raise ParameterError(f"bits must be at most {MAX_BITS}: got {bits}.")
        x = exp_upper(-exact, bits)
        if x >= 1 << bits:
            raise ParameterError(
                f"bits must be enough to tell 2^-eta from 1: got {bits}. Use bits={_bits_for(exact)}, or leave it out."
            )
        return cls(*_lowest_terms(x, bits), 1)

    @property
    def fraction(self) -> Fraction:
        """2^-eta, exactly."""
        return Fraction(self.x**self.z, 1 << self.y * self.z)

    @property
    def epsilon_upper(self) -> float:
        """eta·ln 2 as a float, rounded up: never below the true value."""
        return log_upper(Fraction(1 << self.y, self.x), times=Fraction(self.z))


@dataclass(frozen=True, slots=True, eq=False)
class Rate(Compared):
    """The factor r = x/2^y by which a noise law falls per grid step: P(X >= i) = r^i for the geometric.

    >>> rate = Rate.from_epsilon("1/20")
    >>> 0.05 >= rate.loss_upper > 0.05 * (1 - 2**-50)
    True
    >>> Rate.from_eta(Eta(1, 1, 1)).fraction
    Fraction(1, 2)
    """

    x: int
    y: int

    def __post_init__(self) -> None:
        y = whole(self.y, "rate's y")
        if y > MAX_RATE_BITS:
            raise ParameterError(f"rate's y must be at most {MAX_RATE_BITS}: got {y}. Use a smaller y or z of eta.")
        if type(self.x) is not int or not 0 < self.x < 1 << y:
            raise ParameterError("rate's x must be an int above 0 and below 2^y, so that the rate is below 1.")
        x, y = _lowest_terms(self.x, y)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    @classmethod
    def from_epsilon(cls, epsilon: Number) -> Rate:
        """The dyadic r just above e^-epsilon: its loss per step is at most epsilon and within 2^-50 of it."""
        exact = _positive_epsilon(epsilon)
        bits = _bits_for(exact)
        return cls(exp_upper(-exact, bits), bits)

    @classmethod
    def from_eta(cls, eta: Eta, times: Number = 1) -> Rate:
        """2^-(eta·times): exact when z·times is whole, otherwise rounded up, which is toward privacy.

        >>> Rate.from_eta(Eta(3, 2, 1), times=2).fraction
        Fraction(9, 16)
        """
        exponent = eta.z * positive(times, "times", "It scales the loss per step.")
        x, y = _lowest_terms(eta.x, eta.y)
        if y % exponent.denominator == 0:
            root, whole_root = gmpy2.iroot(x, exponent.denominator)
            bits = y // exponent.denominator * exponent.numerator
            if whole_root and bits <= MAX_RATE_BITS:
                return cls(int(root) ** exponent.numerator, bits)
            if whole_root:
                raise ParameterError(f"eta's y*z times {times} must be at most {MAX_RATE_BITS}: got {bits}. Use less.")
        base = Fraction(x, 1 << y)
        bits = _bits_for(_positive_epsilon(-log_lower(base, precision_for(base)) * exponent))
        return cls(ceiling(lambda precision: power_bounds(base, exponent, precision), bits), bits)

    @property
    def fraction(self) -> Fraction:
        """r, exactly."""
        return Fraction(self.x, 1 << self.y)

    @property
    def loss_upper(self) -> float:
        """ln(1/r), the privacy loss of one grid step in nats, rounded up."""
        return log_upper(1 / self.fraction)


Cost = Fraction | Eta
"""What a release costs, exactly: an epsilon in nats, or an eta in base 2."""


def cost_of(epsilon: Number | None, eta: Eta | None) -> Cost:
    """The cost a person asked for, by exactly one of the two parameters.

    >>> cost_of("0.1", None)
    Fraction(1, 10)
    """
    if (epsilon is None) == (eta is None):
        raise ParameterError(
            "exactly one of epsilon and eta must be given. Write epsilon=1, or eta=lastbit.Eta(1, 1, 1)."
        )
    if eta is None:
        return _positive_epsilon(epsilon)
    if not isinstance(eta, Eta):
        raise ParameterError(f"eta must be a lastbit.Eta: got {type(eta).__name__}. Write eta=lastbit.Eta(1, 1, 1).")
    return eta


def rate_of(cost: Cost, times: Fraction) -> Rate:
    """The rate whose loss per grid step is cost·times, or less by a hair: the one conversion, toward privacy."""
    return Rate.from_eta(cost, times) if isinstance(cost, Eta) else Rate.from_epsilon(cost * times)


def odds_bounds(cost: Cost) -> tuple[Fraction, Fraction]:
    """Fractions at or below, and at or above, e^cost: how far a probability may move. Equal for an eta.

    >>> odds_bounds(Eta(1, 1, 1))
    (Fraction(2, 1), Fraction(2, 1))
    """
    if isinstance(cost, Eta):
        return 1 / cost.fraction, 1 / cost.fraction
    lower, upper = exp_bounds(cost, cost, 256 + 2 * math.ceil(cost))
    return fraction(lower), fraction(upper)


def _lowest_terms(x: int, y: int) -> tuple[int, int]:
    zeros = (x & -x).bit_length() - 1
    return x >> zeros, y - zeros


def _bits_for(loss: Fraction) -> int:
    """Enough bits that rounding e^-loss up by one of them costs less than 2^-62 of the loss."""
    small = max(0, loss.denominator.bit_length() - loss.numerator.bit_length() + 1)
    large = math.ceil(loss * Fraction(14427, 10000)) if loss > 1 else 0
    return 64 + small + large
