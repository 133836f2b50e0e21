"""Hostile rows for a table of mappings. Each list holds all rows of one unit."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import isnan
from typing import Any, Final

from lastbit.audit.hostile.kinds import FORMS
from lastbit.audit.hostile.kinds import values as stock
from lastbit.errors import ParameterError

Row = Mapping[str, Any]

_MANY: Final = 1_000
"""How many equal rows one unit brings."""

_TYPED: Final[dict[type, tuple[str, ...]]] = {
    str: ("text", "null"),
    int: ("whole", "null"),
    float: ("float", "null"),
    bool: ("truth", "null"),
    Decimal: ("decimal", "null"),
    datetime.date: ("date", "null"),
    datetime.timedelta: ("length", "null"),
    datetime.time: ("clock", "null"),
}


def rows(
    table: Sequence[Row], unit: str | None, values: Mapping[str, Iterable[Any]] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Yield lists of rows that one hostile unit may bring to this table.

    Each list has one unusual thing in it: a hostile value in one column, a hostile key, many rows, every item of the
    table. The last list for each column holds all values of the column. The key is the key of the table's first row,
    unless the key itself is hostile. Without a `unit` each row is a unit, and each list has one row.

    values: the hostile values for each column named. Any other column gets hostile values of the kind that it holds in
    the table: text where all its values are text, values of every kind where its values are mixed.

    >>> table = [{"patient": 1, "diagnosis": "flu"}, {"patient": 2, "diagnosis": "cold"}]
    >>> next(rows(table, "patient", {"diagnosis": ["FLU"]}))
    [{'patient': 1, 'diagnosis': 'FLU'}]
    """
    if not table:
        raise ParameterError(
            "table must have at least one row: got none. Hostile rows vary the first row of the table."
        )
    first = dict(table[0])
    for column in first:
        if column != unit:
            variants = [{**first, column: value} for value in _stock(table, column, values)]
            yield from ([row] for row in variants)
            if unit is not None:
                yield variants
    if unit is None:
        return
    keys = _stock(table, unit, values)
    yield from ([{**first, unit: key}] for key in keys)
    # A column of floats holds every form of a key. A column with NaN only may use NaN for null.
    if any(type(key) is float and not isnan(key) for key in keys):
        yield from ([{**first, unit: key} for key in group] for group in FORMS)
    yield [dict(first) for _ in range(_MANY)]
    yield [{**row, unit: first[unit]} for row in table]


def _stock(table: Sequence[Row], column: str, own_values: Mapping[str, Iterable[Any]] | None) -> list[Any]:
    if own_values is not None and column in own_values:
        return list(own_values[column])
    types = {type(row[column]) for row in table if row.get(column) is not None}
    if types == {datetime.datetime}:
        naive = all(row[column].tzinfo is None for row in table if row.get(column) is not None)
        return stock("moment" if naive else "zoned", "null")
    return stock(*_TYPED.get(types.pop(), ())) if len(types) == 1 else stock()
