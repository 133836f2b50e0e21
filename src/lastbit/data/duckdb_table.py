"""Tables of DuckDB, counted in its own SQL.

Text is compared by its bytes, so that no collation matters. Dates and times never leave the engine: Python has no
number for some of them. Only the place of each item and its count are fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from lastbit.data import kinds, sql
from lastbit.data.columns import Integers, Keys
from lastbit.data.kinds import Kind
from lastbit.data.sorting import quoted, sortable, sorted_counts
from lastbit.data.weights import Weights

_SIGNED: Final = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_UNSIGNED: Final = ("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint")
_SORTED: Final = (*_SIGNED[:4], *_UNSIGNED[:3])
"""Whole numbers that fit in 64 bits with a sign."""

_KINDS: Final[dict[str, Kind]] = {
    "varchar": kinds.TEXT,
    "enum": kinds.TEXT,
    "blob": kinds.BINARY,
    **dict.fromkeys((*_SIGNED, *_UNSIGNED), kinds.WHOLE),
    "float": kinds.REAL,
    "double": kinds.REAL,
    "decimal": kinds.DECIMAL,
    "boolean": kinds.TRUTH,
    "date": kinds.DATE,
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), kinds.MOMENT),
    "timestamp with time zone": kinds.INSTANT,
    "time": kinds.TIME,
    "time_ns": kinds.TIME,
    "interval": kinds.SPAN,
    "uuid": kinds.IDENTIFIER,
    "null": kinds.NOTHING,
    "sqlnull": kinds.NOTHING,
}
_UNITS: Final = {"timestamp_s": 10**9, "timestamp_ms": 10**6, "timestamp_ns": 1, "time_ns": 1}
"""Nanoseconds; where not said, it is microseconds."""

_FILTERED: Final = 1_000
"""A domain up to this size takes rows out before they are grouped."""


class DuckDBTable:
    """A relation."""

    def __init__(self, relation: Any) -> None:
        self._relation = relation
        self._types = dict(zip(relation.columns, relation.types, strict=True))

    @cached_property
    def _streamed(self) -> bool:
        """Whether the engine reads from Arrow, which may be a stream."""
        return "ARROW_SCAN" in self._relation.explain().upper()

    def kind(self, name: str) -> Kind | None:
        """The kind of a column by its declared type; None where the type cannot be counted by."""
        kind = self._types[name].id
        # DuckDB raises on an Arrow duration that its intervals cannot hold.
        return None if kind == "interval" and self._streamed else _KINDS.get(kind)

    def totals(
        self, by: Sequence[str], unit: str | None, weight: str | None, keys: Sequence[Keys], amount: Weights | None
    ) -> Integers:
        """The count of each item of the product of domains, or its sum in steps."""
        if unit is not None and amount is None:
            counts = self._sorted(by, unit, keys)
            if counts is not None:
                return counts
        grouped = self._grouped(by, unit, weight, keys, amount)
        place = "0"
        for i, (name, each) in enumerate(zip(by, keys, strict=True)):
            grouped = _joined(grouped, self._domain(name, each, i), i, "inner")
            place = f"({place}) * {len(each)} + lastbit_place_{i}"
        totals = np.zeros(int(np.prod([len(each) for each in keys], dtype=object)), np.int64)
        for found, number in grouped.project(f"{place}, lastbit_total").fetchall():
            totals[found] = int(number)
        return totals

    def _sorted(self, by: Sequence[str], unit: str, keys: Sequence[Keys]) -> Integers | None:
        if not all(self._types[name].id in _SORTED for name in (*by, unit)):
            return None
        domains: Any = keys
        # Sorting may give up and read again, and a stream of Arrow can be read once only.
        if not sortable(domains) or self._streamed:
            return None
        # As SQL: as an expression a name with dots or quotes would be taken apart.
        return sorted_counts(self._relation, by, unit, domains)

    def _grouped(
        self, by: Sequence[str], unit: str | None, weight: str | None, keys: Sequence[Keys], amount: Weights | None
    ) -> Any:
        """The normal forms of the items that occur, with their counts or sums.

        They are looked up after they are grouped, because of rows the engine may not know how many there are, and
        would look the domain up in the rows; a small domain takes rows out before.
        """
        items = ", ".join(f"lastbit_key_{i}" for i in range(len(by)))
        chosen = [f"{self._form(name)} AS lastbit_key_{i}" for i, name in enumerate(by)]
        total = "count(*)"
        if unit is not None:
            chosen.append(f"{self._form(unit)} AS lastbit_unit")
        if weight is not None and amount is not None:
            chosen.append(f"{self._steps(weight, amount)} AS lastbit_step")
            total = f"sum(CAST(greatest(least(lastbit_step, {amount.high}), {amount.low}) AS BIGINT))"
        rows = self._relation.project(", ".join(chosen))
        for i, (name, each) in enumerate(zip(by, keys, strict=True)):
            if len(each) <= _FILTERED:
                rows = _joined(rows, self._domain(name, each, i), i, "semi")
        if unit is not None:
            own = "" if amount is None else ", sum(lastbit_step) AS lastbit_step"
            # The engine groups twice faster than a count of distinct values.
            rows = rows.filter("lastbit_unit IS NOT NULL")
            rows = rows.aggregate(f"{items}, lastbit_unit{own}", f"{items}, lastbit_unit")
        return rows.aggregate(f"{items}, {total} AS lastbit_total", items)

    def _domain(self, name: str, keys: Keys, number: int) -> Any:
        """The items of a column in their normal form, and their places."""
        kind, dtype = self.kind(name), self._types[name]
        assert kind is not None  # noqa: S101
        texts, places = sql.literals(keys, kind, _UNITS.get(dtype.id, 1000), _scale(dtype))
        item = f"unnest(string_split('{texts}', ','))"
        if kind in (kinds.TEXT, kinds.BINARY):
            item = f"unhex({item})"
        elif kind is kinds.REAL:
            item = f"TRY_CAST({item} AS DOUBLE)"
        else:
            item = f"TRY_CAST({item} AS {'HUGEINT' if kind is kinds.SPAN else dtype})"
        # An empty text is one empty item to the engine: its place, null, takes it out.
        place = f"TRY_CAST(unnest(string_split('{places}', ',')) AS BIGINT)"
        # One row of the same connection, for which nothing is read.
        one = self._relation.filter("false").aggregate("count(*)")
        return one.project(f"{item} AS lastbit_item_{number}, {place} AS lastbit_place_{number}").filter(
            f"lastbit_place_{number} IS NOT NULL"
        )

    def _form(self, name: str) -> str:
        """A column in its normal form."""
        column, dtype, kind = quoted(name), self._types[name].id, self.kind(name)
        if kind is kinds.TEXT:
            return f"encode({column if dtype == 'varchar' else f'CAST({column} AS VARCHAR)'})"
        if kind is kinds.REAL:
            return sql.real(column)
        if kind is kinds.SPAN:
            # Of any length: a month is thirty days here, as in the engine's own comparisons.
            part = {each: f"CAST(datepart('{each}', {column}) AS HUGEINT)" for each in _PARTS}
            days = f"({part['year']} * 12 + {part['month']}) * 30 + {part['day']}"
            minutes = f"(({days}) * 24 + {part['hour']}) * 60 + {part['minute']}"
            return f"(({minutes}) * 60000000 + {part['microsecond']})"
        # As an expression: the engine hands filters on a bare column to Arrow, which fails on types it does not know.
        return column if dtype in _SORTED else f"CASE WHEN {column} IS NOT NULL THEN {column} END"

    def _steps(self, name: str, amount: Weights) -> str:
        column, dtype, kind = quoted(name), self._types[name].id, self.kind(name)
        if kind is kinds.REAL:
            return sql.real_steps(amount, column, "//")
        if kind is kinds.DECIMAL:
            digits = f"CAST(replace(CAST({column} AS VARCHAR), '.', '') AS HUGEINT)"
            return sql.decimal_steps(amount, digits, _scale(self._types[name]))
        low, high = sql.ends(amount)
        # Clamped as wide as it comes, before anything is cast. Both functions pass over a null: it is asked for first.
        if dtype in _UNSIGNED:
            clamped = f"least({column}, CAST({max(high, 0)} AS {'UHUGEINT' if dtype == 'uhugeint' else 'UBIGINT'}))"
            clamped = f"greatest(least(CAST({clamped} AS BIGINT), {high}), {low})"
        else:
            wide = "HUGEINT" if dtype == "hugeint" else "BIGINT"
            clamped = f"CAST(greatest(least({column}, CAST({high} AS {wide})), CAST({low} AS {wide})) AS BIGINT)"
        return sql.whole_steps(amount, f"CASE WHEN {column} IS NULL THEN {low} ELSE {clamped} END", "//")


def _joined(rows: Any, domain: Any, number: int, how: str) -> Any:
    condition = f"lastbit_key_{number} = lastbit_item_{number}"
    return rows.set_alias("lastbit_rows").join(domain.set_alias(f"lastbit_domain_{number}"), condition, how)


_PARTS: Final = ("year", "month", "day", "hour", "minute", "microsecond")


def _scale(dtype: Any) -> int:
    return int(dict(dtype.children)["scale"]) if dtype.id == "decimal" else 0
