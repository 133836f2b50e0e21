"""The parts that DuckDB and Spark share: the domain as a text they take apart, and weights in steps.

The items of a domain are texts of their normal forms, which the engine casts: no value is quoted, and an item that the
column's type cannot hold becomes null, which equals nothing. In an engine that is not ours they go into the query: one
text of all items and one of their places, which the engine splits. So no table has to be registered.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, Final

from lastbit.data import kinds
from lastbit.data.columns import Keys
from lastbit.data.kinds import Kind
from lastbit.data.weights import Weights
from lastbit.errors import ParameterError

_DAY: Final = 86_400 * 10**9
_FIRST_DAY: Final = datetime.date(1970, 1, 1).toordinal()
_WIDEST: Final = 1 << 127
"""Whole numbers below this fit in 128 bits with a sign."""

_LARGEST: Final = 10**38 - 1
"""The digits of a decimal of DuckDB are at most this many."""


def literals(keys: Keys, kind: Kind, unit: int = 1, scale: int = 0) -> Iterator[str | None]:
    """The normal form of each item as a text; None where a column with this unit of time, or this scale, has none.

    >>> list(literals([b"a", None, b"bc"], kinds.TEXT))
    ['61', None, '6263']
    """
    for key in keys:
        yield None if key is None else _text(key, kind, unit, scale)


def listed(literal: Iterable[str | None]) -> tuple[str, str]:
    """The texts of items, and their places, each as one text.

    >>> listed(literals([b"a", None, b"bc"], kinds.TEXT))
    ('61,6263', '0,2')
    """
    found = [(text, str(place)) for place, text in enumerate(literal) if text is not None]
    return ",".join(text for text, _ in found), ",".join(place for _, place in found)


def _text(key: Any, kind: Kind, unit: int, scale: int) -> str | None:
    if kind is kinds.DECIMAL:
        whole = key * Fraction(10) ** scale
        digits = str(abs(int(whole))).rjust(scale + 1, "0")
        point = len(digits) - scale
        return f"{'-' if key < 0 else ''}{digits[:point]}.{digits[point:]}" if whole.denominator == 1 else None
    if kind in (kinds.MOMENT, kinds.INSTANT, kinds.TIME, kinds.SPAN):
        return None if key % unit else _TIMES[kind](key)
    return _TEXTS[kind](key)


def _clock(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 10**9)
    fraction = f".{rest:09}".rstrip("0").rstrip(".")
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def _date(days: int) -> str:
    """A day as the engine writes it, also outside of Python's calendar: an instant of its first day may be before it.

    >>> _date(0), _date(2_932_897), _date(-719_163)
    ('1970-01-01', '10000-01-01', '0001-12-31 (BC)')
    """
    # After so many days, which are 400 years, the calendar is the same again.
    cycles, rest = divmod(days + _FIRST_DAY - 1, 146_097)
    date = datetime.date.fromordinal(rest + 1)
    year = date.year + 400 * cycles
    return f"{date:{max(year, 1 - year):04}-%m-%d}{' (BC)' if year < 1 else ''}"


def _moment(nanoseconds: int) -> str:
    days, rest = divmod(nanoseconds, _DAY)
    return f"{_date(days)} {_clock(rest)}"


def _instant(nanoseconds: int) -> str:
    return f"{_moment(nanoseconds)}+00:00"


def _identifier(number: int) -> str:
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


_TEXTS: Final[dict[Kind, Callable[[Any], str | None]]] = {
    kinds.TEXT: bytes.hex,
    kinds.BINARY: bytes.hex,
    kinds.WHOLE: lambda number: str(number) if abs(number) < 2 * _WIDEST else None,
    kinds.REAL: repr,
    kinds.TRUTH: lambda truth: "true" if truth else "false",
    kinds.DATE: _date,
    kinds.IDENTIFIER: _identifier,
    kinds.NOTHING: lambda key: None,
}
_TIMES: Final[dict[Kind, Callable[[int], str | None]]] = {
    kinds.MOMENT: _moment,
    kinds.INSTANT: _instant,
    kinds.TIME: _clock,
    kinds.SPAN: lambda nanoseconds: str(nanoseconds // 1000),
}


def real(column: str) -> str:
    """A float in its normal form: one zero, and no NaN."""
    value = f"CAST({column} AS DOUBLE)"
    return f"CASE WHEN isnan({value}) THEN NULL WHEN {value} = 0 THEN CAST('0' AS DOUBLE) ELSE {value} END"


def unless_missing(weights: Weights, column: str, steps: str, kind: Kind | None) -> str:
    """Steps of a weight that is there; of a missing one the step that it counts as, or null."""
    unknown = f"{column} IS NULL"
    if kind is kinds.REAL:
        unknown += f" OR isnan(CAST({column} AS DOUBLE))"
    return f"CASE WHEN {unknown} THEN {'NULL' if weights.missing is None else weights.missing} ELSE {steps} END"


def whole_steps(weights: Weights, column: str, divided: str) -> str:
    """⌊weight/resolution⌋ between the bounds of a 64-bit number that is clamped to `ends` and not null."""
    low, _ = ends(weights)
    above, below = weights.grid.numerator, weights.grid.denominator
    if above == below == 1:
        return column
    scaled = f"{column} * {below}"
    if above != 1:
        # Every engine divides numbers that are not negative alike.
        base = low * below // above
        scaled = f"(({scaled} - ({base * above})) {divided} {above} + ({base}))"
    return _clamped(scaled, weights)


def ends(weights: Weights, scale: int = 0) -> tuple[int, int]:
    """The bounds as numbers with so many digits after the point, written without it: outwards to whole ones."""
    step = weights.grid.resolution * Fraction(10) ** scale
    low, high = weights.low * step, weights.high * step
    return low.numerator // low.denominator, -(-high.numerator // high.denominator)


def real_steps(weights: Weights, column: str, divided: str) -> str:
    """⌊weight/resolution⌋ between the bounds of a float.

    The bounds and the factor are dyadic and below 2^53 steps: every operation is exact.
    """
    above, below = weights.grid.numerator, weights.grid.denominator
    low, high = (_double(bound * weights.grid.resolution) for bound in (weights.low, weights.high))
    value = f"CAST({column} AS DOUBLE)"
    known = f"CASE WHEN {value} IS NULL OR isnan({value}) THEN {low} ELSE greatest(least({value}, {high}), {low}) END"
    if above == 1:
        return f"CAST(floor(({known}) * {_double(Fraction(below))}) AS BIGINT)"
    # Floored before it is made smaller, or the smallest would vanish.
    base = weights.low
    return f"((CAST(floor({known}) AS BIGINT) - ({base * above})) {divided} {above} + ({base}))"


def decimal_steps(weights: Weights, digits: str, scale: int) -> str:
    """⌊weight/resolution⌋ between the bounds of a decimal of DuckDB, given as the whole number of its digits."""
    low, high = ends(weights, scale)
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    step = weights.grid.resolution * Fraction(10) ** scale
    if (max(-low, high) + 1) * step.denominator >= _WIDEST or step.numerator >= _WIDEST:
        raise ParameterError(
            f"resolution must be coarser for decimals with {scale} digits after the point: the engine adds them up "
            "exactly in 128 bits only. Use a coarser one, or a column with fewer digits."
        )
    value = f"greatest(least(coalesce({digits}, {_huge(low)}), {_huge(high)}), {_huge(low)})"
    scaled, by = f"{value} * {_huge(step.denominator)}", _huge(step.numerator)
    # The engine's division is towards zero, and its remainder negative where that is too high.
    floor = f"(({scaled}) // {by} - CASE WHEN ({scaled}) % {by} < 0 THEN 1 ELSE 0 END)"
    return _clamped(floor, weights)


def _huge(number: int) -> str:
    return f"CAST('{number}' AS HUGEINT)"


def _clamped(steps: str, weights: Weights) -> str:
    return f"greatest(least(CAST({steps} AS BIGINT), {weights.high}), {weights.low})"


def _double(value: Fraction) -> str:
    return f"CAST('{float(value)!r}' AS DOUBLE)"
