"""Tables of DuckDB, counted in its own SQL.

Text is compared by its bytes, so that no collation matters. Dates and times never leave the engine: Python has no
number for some of them. Only the place of each item and its count are fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, Final

import numpy as np

from lastbit.data import kinds, sql
from lastbit.data.bounded import bounded
from lastbit.data.columns import Integers, Keys
from lastbit.data.duckdb_numbers import numbers_per_unit
from lastbit.data.frequent import frequent
from lastbit.data.kinds import Kind
from lastbit.data.long_texts import duckdb_form
from lastbit.data.relation import Opened
from lastbit.data.sorting import quoted, sortable, sorted_counts
from lastbit.data.task import Occurring, Task
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

_FILTERED: Final = 100_000
"""A domain up to this size takes rows out before they are grouped. A larger one is looked up after that."""


class DuckDBTable:
    """A relation; where we opened it ourselves, with its engine, and perhaps a way to read it again."""

    def __init__(self, relation: Any, opened: Opened | None = None) -> None:
        self._relation = relation
        self._opened = opened
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

    def totals(self, task: Task, keys: Sequence[Keys]) -> Integers:
        """The count of each item of the product of domains, or its sum in steps."""
        if task.unit is not None and task.amount is None and task.bound is None:
            counts = self._sorted(task.by, task.unit, keys)
            if counts is not None:
                return counts
        place = "0"
        with ExitStack() as closing:
            grouped = self._grouped(task, keys, self._rows(task, keys, self._relation), closing)
            for i, (name, each) in enumerate(zip(task.by, keys, strict=True)):
                grouped = _joined(grouped, self._domain(name, each, i), i, "inner")
                place = f"({place}) * {len(each)} + lastbit_place_{i}"
            chosen = f"CAST({place} AS BIGINT) AS place, CAST(lastbit_total AS BIGINT) AS total"
            found = grouped.project(chosen).fetchnumpy()
        totals = np.zeros(int(np.prod([len(each) for each in keys], dtype=object)), np.int64)
        totals[found["place"]] = found["total"]
        return totals

    def numbers(self, task: Task, keys: Sequence[Keys]) -> tuple[Integers, Integers]:
        """The number of each unit in steps, and the place of its item."""
        chosen = [f"{self._form(name)} AS {key}" for name, key in zip(task.by, _keys(task), strict=True)]
        known = []
        for name, own in ((task.unit, "lastbit_unit"), (task.order, "lastbit_order")):
            if name is not None:
                chosen.append(f"{self._form(name)} AS {own}")
                known.append(f"{own} IS NOT NULL")
        assert task.weight is not None and task.amount is not None  # noqa: S101, PT018
        chosen.append(f"CAST({self._steps(task.weight, task.amount)} AS BIGINT) AS lastbit_step")
        rows = self._relation.project(", ".join(chosen)).filter(" AND ".join([*known, "lastbit_step IS NOT NULL"]))
        place = "CAST(0 AS BIGINT)"
        for i, (name, each) in enumerate(zip(task.by, keys, strict=True)):
            rows = _joined(rows, self._domain(name, each, i), i, "inner")
            place = f"({place}) * {len(each)} + lastbit_place_{i}"
        with ExitStack() as closing:
            found = numbers_per_unit(rows, task, place)
            if task.bound is not None and task.per != "row":
                # By the place of its item, which is a key like any other.
                found = found.project("lastbit_place AS lastbit_key_0, lastbit_unit, lastbit_step")
                found = bounded(found, ["lastbit_key_0"], ["lastbit_step"], task.bound, closing)
                found = found.project("lastbit_key_0 AS lastbit_place, lastbit_step")
            columns = found.project("lastbit_place, lastbit_step").fetchnumpy()
        places, steps = (np.asarray(columns[name], np.int64) for name in ("lastbit_place", "lastbit_step"))
        return places, steps

    def occurring(self, task: Task) -> Callable[[int | None], Occurring]:
        """The items that occur, counted when they are asked for: only these leave the engine."""
        names = [self._named(name, key) for name, key in zip(task.by, _keys(task), strict=True)]

        def fetch(most: int | None) -> Occurring:
            with ExitStack() as closing:
                rows = self._frequent(task, most, closing)
                if rows is None:
                    rows = self._grouped(task, None, self._rows(task, None, self._relation), closing)
                rows = rows.filter("lastbit_total > 0")
                # Keys are bytes or numbers: no collation has a say in their order.
                rows = rows.order(f"lastbit_total DESC, {_ascending(task)}")
                rows = rows if most is None else rows.limit(most)
                found = rows.project(", ".join([*(name for name, _ in names), "lastbit_total"])).fetchall()
            items = [[made(row[i]) for row in found] for i, (_, made) in enumerate(names)]
            return items, np.array([int(row[-1]) for row in found], np.int64)

        return fetch

    def _sorted(self, by: Sequence[str], unit: str, keys: Sequence[Keys]) -> Integers | None:
        if not all(self._types[name].id in _SORTED for name in (*by, unit)):
            return None
        domains: Any = keys
        # Sorting may give up and read again, and a stream of Arrow can be read once only.
        if not sortable(domains) or self._streamed:
            return None
        # As SQL: as an expression a name with dots or quotes would be taken apart.
        return sorted_counts(self._relation, by, unit, domains)

    def _frequent(self, task: Task, most: int | None, closing: ExitStack) -> Any:
        """The items with the most units, where they can be found in less memory; None where not."""
        again = None if self._opened is None else self._opened.again
        pairs = task.unit is not None and task.amount is None and task.bound is None
        if self._opened is None or again is None or most is None or not pairs:
            return None
        readable = " AND ".join(map(self._readable, task.by, _keys(task)))
        rows = lambda: self._rows(task, None, again())  # noqa: E731
        return frequent(rows, _keys(task), readable, most, self._opened.connection, closing)

    def _rows(self, task: Task, keys: Sequence[Keys] | None, relation: Any) -> Any:
        """The normal forms of items and units, and the steps of weights; of all items where there are no keys.

        A small domain takes rows out before they are grouped. So does every domain where units have a bound: other
        items do not use it up.
        """
        chosen = [f"{self._form(name)} AS {key}" for name, key in zip(task.by, _keys(task), strict=True)]
        known = [] if keys is not None else [f"{key} IS NOT NULL" for key in _keys(task)]
        if task.unit is not None:
            chosen.append(f"{self._form(task.unit)} AS lastbit_unit")
            known.append("lastbit_unit IS NOT NULL")
        if task.weight is not None and task.amount is not None:
            chosen.append(f"{self._steps(task.weight, task.amount)} AS lastbit_step")
            if task.amount.missing is None:
                known.append("lastbit_step IS NOT NULL")
        rows = relation.project(", ".join(chosen))
        for i, (name, each) in enumerate(zip(task.by, keys or (), strict=keys is not None)):
            if len(each) <= _FILTERED or task.bound is not None:
                rows = _joined(rows, self._domain(name, each, i), i, "semi")
        return rows.filter(" AND ".join(known)) if known else rows

    def _grouped(self, task: Task, keys: Sequence[Keys] | None, rows: Any, closing: ExitStack) -> Any:
        """The items of rows, with their counts or sums.

        A large domain is looked up after this, because of rows the engine may not know how many there are, and would
        look the domain up in the rows.
        """
        items, bound, amount = ", ".join(_keys(task)), task.bound, task.amount
        readable = [] if keys is not None else [*map(self._readable, task.by, _keys(task))]
        total = "count(*)"
        if amount is not None:
            total = f"sum(CAST(greatest(least(lastbit_step, {amount.high}), {amount.low}) AS BIGINT))"
        if task.unit is not None and keys is None and bound is None and amount is None:
            total = "count(DISTINCT lastbit_unit)"
        elif task.unit is not None:
            own = "" if amount is None else ", sum(lastbit_step) AS lastbit_step"
            # With few items the engine groups twice faster than it counts distinct values.
            rows = rows.aggregate(f"{items}, lastbit_unit{own}", f"{items}, lastbit_unit")
        if bound is not None:
            rows = rows.filter(" AND ".join(readable)) if readable else rows
            rows = bounded(rows, _keys(task), [] if amount is None else ["lastbit_step"], bound, closing)
        grouped = rows.aggregate(f"{items}, {total} AS lastbit_total", items)
        # There are fewer items than rows to ask whether they can be read.
        return grouped.filter(" AND ".join(readable)) if readable and bound is None else grouped

    def _readable(self, name: str, key: str) -> str:
        """Whether Python has an item for a normal form."""
        kind, dtype = self.kind(name), self._types[name].id
        if kind is kinds.TEXT and self._streamed:  # where nobody looked whether it is text
            return f"TRY(decode({key})) IS NOT NULL"
        if kind is kinds.DATE:
            return f"{key} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        if kind is kinds.TIME:
            return f"epoch_ns({key}) < {86_400 * 10**9} AND epoch_ns({key}) % 1000 = 0"
        if dtype == "timestamp_ns":
            return f"isfinite({key}) AND epoch_ns({key}) % 1000 = 0"
        if kind in (kinds.MOMENT, kinds.INSTANT):
            of, zone = ("TIMESTAMP", "") if kind is kinds.MOMENT else ("TIMESTAMPTZ", "+00")
            ends = f"{of} '0001-01-01 00:00:00{zone}' AND {of} '9999-12-31 23:59:59.999999{zone}'"
            return f"TRY_CAST({key} AS {of}) BETWEEN {ends}"
        if kind is kinds.SPAN:
            most = 86_400_000_000
            return f"{key} >= {-999_999_999 * most} AND {key} < {10**9 * most}"
        return "true"

    def _named(self, name: str, key: str) -> tuple[str, Callable[[Any], Any]]:
        """A normal form as Python reads it, and the item of what Python reads."""
        kind, dtype = self.kind(name), self._types[name].id
        assert kind is not None  # noqa: S101
        named = kind.named
        if kind in (kinds.MOMENT, kinds.INSTANT, kinds.TIME):
            if _UNITS.get(dtype) == 1:
                return f"epoch_ns({key})", named
            return f"epoch_us({key})", lambda value: named(value * 1000)
        if kind is kinds.SPAN:
            return key, lambda value: named(value * 1000)
        # Of its own type in Python, where every item is that can be read.
        return (key, named) if kind in (kinds.TEXT, kinds.BINARY) else (key, lambda value: named(kind.key(value)))

    def _domain(self, name: str, keys: Keys, number: int) -> Any:
        """The items of a column in their normal form, and their places."""
        kind, dtype = self.kind(name), self._types[name]
        assert kind is not None  # noqa: S101
        in_bytes = kind in (kinds.TEXT, kinds.BINARY)
        texts = sql.literals(keys, kind, _UNITS.get(dtype.id, 1000), _scale(dtype))
        if self._opened is not None:
            import pyarrow as pa

            # A table of our own engine: as texts in a query, a long domain would take many times the memory.
            items = pa.array(keys, pa.large_binary()) if in_bytes else pa.array(texts, pa.large_string())
            table = pa.table({"item": items, "place": np.arange(len(keys))})
            domain, item = self._opened.connection.from_arrow(table), "item"
        else:
            # One row of the same connection, for which nothing is read.
            one = self._relation.filter("false").aggregate("count(*)")
            given = sql.listed(texts)
            item, place = (f"unnest(string_split('{each}', ','))" for each in given)
            # An empty text is one empty item to the engine: its place, null, takes it out.
            domain = one.project(f"{item} AS item, TRY_CAST({place} AS BIGINT) AS place").filter("place IS NOT NULL")
            item = "unhex(item)" if in_bytes else "item"
        if kind is kinds.REAL:
            item = f"TRY_CAST({item} AS DOUBLE)"
        elif not in_bytes:
            item = f"TRY_CAST({item} AS {'HUGEINT' if kind is kinds.SPAN else dtype})"
        return domain.project(f"{item} AS lastbit_item_{number}, place AS lastbit_place_{number}")

    def _form(self, name: str) -> str:
        """A column in its normal form."""
        column, dtype, kind = quoted(name), self._types[name].id, self.kind(name)
        if kind is kinds.TEXT:
            data = f"encode({column if dtype == 'varchar' else f'CAST({column} AS VARCHAR)'})"
            # What our own readers give is short already, and the digest of a digest would be another one.
            return data if dtype == "varchar" and self._opened is not None else duckdb_form(data)
        if kind is kinds.BINARY and self._opened is None:
            return duckdb_form(column)
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
        """A weight in steps; null where it is missing and its row is left out."""
        return sql.unless_missing(amount, quoted(name), self._known_steps(name, amount), self.kind(name))

    def _known_steps(self, name: str, amount: Weights) -> str:
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


def _keys(task: Task) -> list[str]:
    return [f"lastbit_key_{i}" for i in range(len(task.by))]


def _ascending(task: Task) -> str:
    return ", ".join(f"{key} ASC" for key in _keys(task))


def _joined(rows: Any, domain: Any, number: int, how: str) -> Any:
    condition = f"lastbit_key_{number} = lastbit_item_{number}"
    return rows.set_alias("lastbit_rows").join(domain.set_alias(f"lastbit_domain_{number}"), condition, how)


_PARTS: Final = ("year", "month", "day", "hour", "minute", "microsecond")


def _scale(dtype: Any) -> int:
    return int(dict(dtype.children)["scale"]) if dtype.id == "decimal" else 0
