"""Whole numbers of Spark: sums that no number of rows takes beyond 64 bits, as parts, and how columns are fetched."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lastbit.data.table import Integers

_BITS: Final = 21
"""Bits of a part: 2^41 rows add up to less than 2^63. A sum of decimals takes four times as long."""


def sum_parts(step: str, low: int, high: int) -> list[str]:
    """Return the SQL of the sums of the parts of numbers between two ends, above the lower one: the lowest part first.

    >>> sum_parts("n", 0, 9)
    ['sum(n - (0L))']
    """
    above = f"{step} - ({low}L)"
    places = range(0, max((high - low).bit_length(), 1), _BITS)
    if len(places) == 1:
        return [f"sum({above})"]
    return [f"sum(shiftright({above}, {place}) & {(1 << _BITS) - 1}L)" for place in places]


def join_parts(sums: list[int]) -> int:
    """Return the sum of numbers above their lower end, of the sums of their parts.

    >>> join_parts([3, 2]) == 3 + 2 * 2**21
    True
    """
    return sum(part << _BITS * place for place, part in enumerate(sums))


def add_steps(step: str, low: int, high: int) -> str:
    """Return the SQL of the sum of numbers between two ends, as a decimal of 38 digits."""
    parts = sum_parts(step, low, high)
    terms = [f"CAST({part} AS DECIMAL(20,0)) * {1 << _BITS * place}BD" for place, part in enumerate(parts)]
    return f"({' + '.join(terms)} + CAST(count({step}) AS DECIMAL(20,0)) * ({low}BD))"


def average_steps(step: str, low: int, high: int) -> str:
    """Return the SQL of the floored mean of numbers between two ends: a long division, part by part."""
    quotient, rest = "", ""
    for part in reversed(sum_parts(step, low, high)):
        number = f"({rest} * {1 << _BITS}L + {part})" if rest else part
        whole = f"{number} div count({step})"
        quotient = f"({quotient} * {1 << _BITS}L + {whole})" if quotient else whole
        rest = f"{number} % count({step})"
    return f"({quotient} + ({low}L))"


def fetch_integers(frame: Any) -> list[Integers]:
    """Fetch columns of whole numbers: as Arrow where Spark has it, which takes a tenth of the memory."""
    if hasattr(frame, "toArrow"):
        return [np.asarray(column.combine_chunks(), np.int64) for column in frame.toArrow().columns]
    rows = np.array([tuple(row) for row in frame.collect()], np.int64).reshape(-1, len(frame.columns))
    return list(rows.T)
