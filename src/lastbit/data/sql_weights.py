"""Weights in steps, in the SQL of DuckDB and Spark."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Final

from lastbit.data.column_types import FLOAT, ColumnType
from lastbit.data.sql import WIDEST
from lastbit.data.weights import Weights
from lastbit.errors import ParameterError

_LARGEST: Final = 10**38 - 1
"""The digits of a decimal of DuckDB are at most this many."""


def steps_or_missing(weights: Weights, column: str, steps: str, column_type: ColumnType | None) -> str:
    """Return steps of a weight that is there; of a missing one the step that it counts as, or null."""
    missing = "NULL" if weights.missing is None else weights.missing
    return f"CASE WHEN {is_missing(column, column_type)} THEN {missing} ELSE {steps} END"


def is_missing(column: str, column_type: ColumnType | None) -> str:
    """Return the condition that a weight is missing."""
    return f"{column} IS NULL OR isnan(CAST({column} AS DOUBLE))" if column_type is FLOAT else f"{column} IS NULL"


def integer_steps(weights: Weights, column: str, divided: str) -> str:
    """Return ⌊weight/resolution⌋ between the bounds of a 64-bit number
    that is clamped to `clamp_range` and not null.
    """
    low, _ = clamp_range(weights)
    above, below = weights.grid.numerator, weights.grid.denominator
    if above == below == 1:
        return column
    scaled = f"{column} * {below}"
    if above != 1:
        # Every engine divides numbers that are not negative alike.
        base = low * below // above
        scaled = f"(({scaled} - ({base * above})) {divided} {above} + ({base}))"
    return _clamp(scaled, weights)


def clamp_range(weights: Weights, scale: int = 0) -> tuple[int, int]:
    """Return the bounds as numbers with so many digits after the point, written without it: outwards to whole ones."""
    step = weights.grid.resolution * Fraction(10) ** scale
    low, high = weights.low * step, weights.high * step
    return low.numerator // low.denominator, -(-high.numerator // high.denominator)


def float_steps(weights: Weights, column: str, divided: str, wide: str) -> str:
    """Return ⌊weight/resolution⌋ between the bounds of a float.

    The bounds and the factor are dyadic and below 2^53 steps: every operation is exact. Where the grid is not dyadic, a
    weight is floored to a binary grid first, and from there in whole numbers of the type `wide`.
    """
    above = weights.grid.numerator
    first = weights.grid if weights.binary is None else weights.binary
    fine = weights.grid.resolution / first.resolution
    least, most = floor(weights.low * fine), ceil(weights.high * fine)
    low, high = (_double(bound * first.resolution) for bound in (least, most))
    value = f"CAST({column} AS DOUBLE)"
    # NaN is above every number to both engines, and null is not: whatever the row, a number between the bounds.
    known = f"CASE WHEN {value} > {high} THEN {high} WHEN {value} >= {low} THEN {value} ELSE {low} END"
    if above == 1:
        floored = f"CAST(floor(({known}) * {_double(1 / first.resolution)}) AS BIGINT)"
        return floored if weights.binary is None else _clamp(_rescale(floored, least, fine, divided, wide), weights)
    # Floored before it is made smaller, or the smallest would vanish.
    base = weights.low
    return f"((CAST(floor({known}) AS BIGINT) - ({base * above})) {divided} {above} + ({base}))"


def _rescale(steps: str, least: int, fine: Fraction, divided: str, wide: str) -> str:
    """Return ⌊steps/fine⌋ of whole numbers from `least` on: above it nothing is negative, and engines divide alike."""
    base, rest = divmod(least * fine.denominator, fine.numerator)
    product = f"CAST({steps} - ({least}) AS {wide}) * CAST({fine.denominator} AS {wide}) + CAST({rest} AS {wide})"
    return f"CAST(({product}) {divided} CAST({fine.numerator} AS {wide}) AS BIGINT) + ({base})"


def sum_steps(weights: Weights, wide: str, divided: str) -> str:
    """Return the sum of `lastbit_step`, each clamped to the bounds, floored
    once to the resolution, in numbers of type `wide`.

    The lower bound is a whole number of steps of the resolution. Above it nothing is negative, and division floors.
    """
    clamped = f"greatest(least(lastbit_step, {weights.high}), {weights.low})"
    above = f"sum(CAST({clamped} - ({weights.low}) AS {wide}))"
    return f"CAST({above} {divided} {weights.parts} + count(1) * ({weights.low // weights.parts}) AS BIGINT)"


def decimal_steps(weights: Weights, digits: str, scale: int) -> str:
    """Return ⌊weight/resolution⌋ between the bounds of a decimal of DuckDB, given as the whole number of its digits."""
    kept = weights.places(scale)
    if kept < scale:
        by = _huge(10 ** (scale - kept))
        digits, scale = f"({digits} // {by} - CASE WHEN {digits} % {by} < 0 THEN 1 ELSE 0 END)", kept
    low, high = clamp_range(weights, scale)
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    step = weights.grid.resolution * Fraction(10) ** scale
    if (max(-low, high) + 1) * step.denominator >= WIDEST or step.numerator >= WIDEST:
        raise ParameterError(
            f"resolution must be coarser for decimals with {scale} digits after the point: the engine adds them up "
            "exactly in 128 bits only. Use a coarser one, or a column with fewer digits."
        )
    value = f"greatest(least(coalesce({digits}, {_huge(low)}), {_huge(high)}), {_huge(low)})"
    scaled, by = f"{value} * {_huge(step.denominator)}", _huge(step.numerator)
    # The engine's division is towards zero, and its remainder negative where that is too high.
    floored = f"(({scaled}) // {by} - CASE WHEN ({scaled}) % {by} < 0 THEN 1 ELSE 0 END)"
    return _clamp(floored, weights)


def _huge(number: int) -> str:
    return f"CAST('{number}' AS HUGEINT)"


def _clamp(steps: str, weights: Weights) -> str:
    return f"greatest(least(CAST({steps} AS BIGINT), {weights.high}), {weights.low})"


def _double(value: Fraction) -> str:
    return f"CAST('{float(value)!r}' AS DOUBLE)"
