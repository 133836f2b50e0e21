"""The contract once more, in plain Python: distinct units per item, or clamped sums, value by value.

It uses none of `lastbit.data`, so that it can be held against it: keep it so.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import lastbit as lb


def normal(value: Any) -> Any:
    """A hashable normal form: equal for two values only where every engine must take them for one. None if null."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.datetime64 | np.timedelta64):
        return None if np.isnat(value) else (str(value.dtype), int(value.astype(np.int64)))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return ("truth", value)
    if isinstance(value, int):
        return ("number", Fraction(value))
    if isinstance(value, float | Decimal):
        if isinstance(value, Decimal) and value.is_snan():
            return ("number", "nan")
        if math.isnan(value):
            return ("number", "nan")
        return ("number", str(value) if math.isinf(value) else Fraction(value))
    if isinstance(value, datetime.datetime):
        return ("moment", value.tzinfo is not None, value.isoformat(), value.fold)
    if isinstance(value, str | bytes | datetime.date | datetime.time | datetime.timedelta):
        return (type(value).__name__, repr(value))
    return None  # what cannot be read is left out


def reference(
    rows: Iterable[Mapping[str, Any]],
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: Any,
    weights: str | None = None,
    bounds: tuple[int, int] | None = None,
) -> lb.Counts:
    """What `lb.count` must say of rows that are plain values."""
    columns, domains = ([by], [domain]) if isinstance(by, str) else (list(by), list(domain))
    items: list[Any] = [()]
    for each in domains:
        items = [(*start, item) for start in items for item in each]
    places = {tuple(map(normal, item)): place for place, item in enumerate(items)}
    units: list[dict[Any, list[int]]] = [{} for _ in items]
    for number, row in enumerate(rows):
        who = ("row", number) if unit is None else normal(row[unit])
        place = places.get(tuple(normal(row[column]) for column in columns))
        amount = 0 if weights is None else clamped(row[weights], bounds)
        if who is not None and place is not None and amount is not None:
            units[place].setdefault(who, []).append(amount)
    shown = [item if len(columns) > 1 else item[0] for item in items]
    if weights is None or bounds is None:
        return lb.Counts(items=shown, values=list(map(len, units)), monotone=True)
    low, high = bounds
    totals = [sum(max(low, min(high, sum(each))) for each in unit.values()) for unit in units]
    return lb.Counts(items=shown, values=totals, sensitivity=max(abs(low), abs(high)), monotone=low >= 0 or high <= 0)


def clamped(value: Any, bounds: tuple[int, int] | None) -> int | None:
    """A weight floored and clamped; None where there is no number."""
    low, high = bounds or (0, 0)
    form = normal(value)
    if form is None or form[0] != "number" or form[1] == "nan":
        return None
    if isinstance(form[1], str):
        return low if form[1].startswith("-") else high
    return max(low, min(high, math.floor(form[1])))


Counter = Callable[[list[Any]], Any]
