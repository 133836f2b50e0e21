"""`Price`: what a release takes from an account, in each currency."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, Final

from lastbit.errors import MechanismError
from lastbit.exact.rounding import short_upper
from lastbit.privacy.cost import Cost

_TYPED_BITS: Final = 64
"""A denominator of so many bits is one that a person types."""


@dataclass(frozen=True)
class Price:
    """What a release takes from an account: an epsilon where one holds, a rho and a delta, each an upper bound.

    >>> price = Price.of(Cost.zcdp("1/100", "1e-9"))
    >>> price.epsilon, price.rho, price.delta
    (None, Fraction(1, 100), Fraction(1, 1000000000))
    >>> price.text
    'rho 1/100, delta 1/1000000000'
    """

    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, cost: object) -> Price:
        """Return the price of a cost. An epsilon stays as it is; a long rho or delta is rounded up: sums stay short."""
        if isinstance(cost, Cost):
            epsilon, delta = cost.amount, cost.delta
            if (epsilon is None or _positive(epsilon)) and (delta == 0 or _positive(delta)) and delta < 1:
                rho = cost.rho
                if _positive(rho):
                    return cls(None if epsilon is None else Fraction(epsilon), _short_upper(rho), _short_upper(delta))
        raise MechanismError(
            "a mechanism's cost must be a positive Cost. A release that costs nothing cannot use the data. Build "
            "it with Cost.of(epsilon) or Cost.zcdp(rho). Nothing was drawn and nothing was charged."
        )

    @property
    def text(self) -> str:
        """The price in words: its epsilon, or its rho where no epsilon holds, and its delta."""
        loss = f"rho {format_up(self.rho)}" if self.epsilon is None else f"epsilon {format_up(self.epsilon)}"
        return f"{loss}, delta {format_up(self.delta)}" if self.delta else loss


def _positive(value: object) -> bool:
    return isinstance(value, Rational) and Fraction(value) > 0


def _short_upper(value: Rational) -> Fraction:
    exact = Fraction(value)
    return exact if exact.denominator.bit_length() <= _TYPED_BITS else short_upper(exact, 96)


def format_up(value: Fraction) -> str:
    """Return a number as people read it: exactly where that is short, and else rounded up.

    >>> format_up(Fraction(1, 3)), format_up(Fraction(10**30 + 1, 3 * 10**30))
    ('1/3', '0.3333334')
    """
    return _short(value, ROUND_CEILING)


def format_down(value: Fraction) -> str:
    """Return a number as people read it: exactly where that is short, and else rounded down.

    >>> format_down(Fraction(2, 3)), format_down(Fraction(2 * 10**30 - 1, 3 * 10**30))
    ('2/3', '0.6666666')
    """
    return _short(value, ROUND_FLOOR)


def _short(value: Fraction, rounding: str) -> str:
    text = str(value)
    if len(text) <= 24:
        return text
    digits = Context(prec=7, rounding=rounding)
    # Both parts have fewer than 4,300 digits, or they could not be kept as text: Decimal takes them exactly.
    return f"{digits.divide(Decimal(value.numerator), Decimal(value.denominator)):g}"


def write_terms(**numbers: Fraction | None) -> str:
    """Return exact numbers by name as the text that the books keep.

    >>> write_terms(epsilon=None, rho=Fraction(1, 2))
    '{"epsilon": null, "rho": "1/2"}'
    """
    return json.dumps({name: None if value is None else str(value) for name, value in sorted(numbers.items())})


def parse_terms(text: str, *names: str) -> dict[str, Any] | None:
    """Return the exact numbers in a text that `write_terms` wrote for exactly these names; None for any other text."""
    try:
        data = json.loads(text)
        numbers = {name: None if data[name] is None else Fraction(data[name]) for name in names}
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    return numbers if write_terms(**numbers) == text else None
