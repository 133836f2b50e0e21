"""Columns of DuckDB in their normal form, in its SQL.

Text is compared by its bytes, so that no collation matters. Dates and times never leave the engine: Python has no
number for some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from lastbit.data import column_types, sql, sql_weights
from lastbit.data.column_types import ColumnType
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.duckdb.texts import shorten_blob
from lastbit.data.sql import quote_identifier
from lastbit.data.table import Keys
from lastbit.data.weights import Weights

_SIGNED: Final = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_UNSIGNED: Final = ("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint")
_WORDS: Final = (*_SIGNED[:4], *_UNSIGNED[:3])
"""Whole numbers that fit in 64 bits with a sign."""

_COLUMN_TYPES: Final[dict[str, ColumnType]] = {
    "varchar": column_types.TEXT,
    "enum": column_types.TEXT,
    "blob": column_types.BINARY,
    **dict.fromkeys((*_SIGNED, *_UNSIGNED), column_types.INTEGER),
    "float": column_types.FLOAT,
    "double": column_types.FLOAT,
    "decimal": column_types.DECIMAL,
    "boolean": column_types.BOOLEAN,
    "date": column_types.DATE,
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), column_types.TIMESTAMP),
    "timestamp with time zone": column_types.ZONED_TIMESTAMP,
    "time": column_types.TIME,
    "time_ns": column_types.TIME,
    "interval": column_types.DURATION,
    "uuid": column_types.UUID,
    "null": column_types.NULL,
    "sqlnull": column_types.NULL,
}
_WORD_BITS: Final = 64
_HUGE: Final = 128
"""The bits of the widest whole number."""
_UNITS: Final = {"timestamp_s": 10**9, "timestamp_ms": 10**6, "timestamp_ns": 1, "time_ns": 1}
"""Nanoseconds; where not said, it is microseconds."""

_PACKED: Final = {
    **{name: (8 << place, -(1 << (8 << place) - 1)) for place, name in enumerate(_SIGNED[:4])},
    **{name: (8 << place, 0) for place, name in enumerate(_UNSIGNED[:3])},
    "date": (32, -(1 << 31)),
    "boolean": (1, 0),
}
"""Types whose values are so many bits, from this number on: several of them are one whole number."""
_PLAIN_TEXT: Final = (column_types.INTEGER, column_types.DATE, column_types.BOOLEAN)
"""Types without a colon in their texts."""

_SHORT_DOMAIN: Final = 1000
"""So many items go to our own engine as text. A table of Arrow takes less for more of them, but 0.15 s to load."""

_PARTS: Final = ("year", "month", "day", "hour", "minute", "microsecond")


class DuckDBColumns:
    """The columns of a relation; where we opened the relation ourselves, with its engine."""

    def __init__(self, relation: Any, source: OpenTable | None = None) -> None:
        self._relation = relation
        self._source = source
        self._types = dict(zip(relation.columns, relation.types, strict=True))

    @cached_property
    def is_stream(self) -> bool:
        """Whether the engine reads from Arrow, which may be a stream."""
        return "ARROW_SCAN" in self._relation.explain().upper()

    def column_type(self, name: str) -> ColumnType | None:
        """Return the type of a column as it is declared; None where rows cannot be counted by such a type."""
        declared = self._types[name].id
        # DuckDB raises on an Arrow duration that its intervals cannot hold.
        return None if declared == "interval" and self.is_stream else _COLUMN_TYPES.get(declared)

    def type_name(self, name: str) -> str:
        """Return the type of a column in the words of the engine."""
        return str(self._types[name])

    def decimal_places(self, name: str) -> int:
        """Return how many digits a column of decimals has after the point; 0 for other columns."""
        return _scale(self._types[name])

    def are_words(self, names: list[str]) -> bool:
        """Tell whether all of these columns hold whole numbers of at most 64 bits."""
        return all(self._types[name].id in _WORDS for name in names)

    def has_one_row_each(self, name: str) -> bool:
        """Tell whether no two rows are known to have one normal form of this column, but where it is missing."""
        return self._source is not None and self._source.one_row_each == (name,)

    def key(self, name: str) -> str:
        """Return the SQL of a column in its normal form."""
        column, declared, column_type = quote_identifier(name), self._types[name].id, self.column_type(name)
        if column_type is column_types.TEXT:
            data = f"encode({column if declared == 'varchar' else f'CAST({column} AS VARCHAR)'})"
            # What our own readers give is short already, and the digest of a digest would be another one.
            return data if declared == "varchar" and self._source is not None else shorten_blob(data)
        if column_type is column_types.BINARY and self._source is None:
            return shorten_blob(column)
        if column_type is column_types.FLOAT:
            return sql.float_key(column)
        if column_type is column_types.DURATION:
            # Of any length: a month is thirty days here, as in the engine's own comparisons.
            parts = {part: f"CAST(datepart('{part}', {column}) AS HUGEINT)" for part in _PARTS}
            days = f"({parts['year']} * 12 + {parts['month']}) * 30 + {parts['day']}"
            minutes = f"(({days}) * 24 + {parts['hour']}) * 60 + {parts['minute']}"
            return f"(({minutes}) * 60000000 + {parts['microsecond']})"
        # As an expression: the engine hands filters on a bare column to Arrow, which fails on types it does not know.
        return column if declared in _WORDS else f"CASE WHEN {column} IS NOT NULL THEN {column} END"

    def combined_key(self, names: Sequence[str]) -> str:
        """Return the SQL of one key of several columns: another where any column differs, null where one is missing.

        Columns of few bits are one whole number, which an engine groups by in a third of the time. Of others a normal
        form is written behind its length, or before a colon that it cannot have, so that no two lists of them look
        alike; the last one ends with the key.
        """
        if sum(_PACKED.get(self._types[name].id, (1 << 8, 0))[0] for name in names) <= _HUGE:
            return f"TRY({self._pack(names)})"
        plain = [name for name in names if self.column_type(name) in _PLAIN_TEXT]
        parts = [f"encode(CAST({self.key(name)} AS VARCHAR) || ':')" for name in plain]
        for name in names:
            column_type, data = self.column_type(name), self.key(name)
            if name in plain:
                continue
            if column_type is column_types.ZONED_TIMESTAMP:
                # As text, it would depend on the zone of the engine; but infinity is no number of microseconds.
                number = f"CAST(epoch_us({data}) AS VARCHAR)"
                data = f"CASE WHEN isfinite({data}) THEN {number} ELSE CAST({data} AS VARCHAR) END"
            if column_type not in (column_types.TEXT, column_types.BINARY):
                data = f"encode(CAST({data} AS VARCHAR))"
            parts += [f"encode(CAST(octet_length({data}) AS VARCHAR) || ':')", data]
        if len(parts) > len(plain):
            del parts[-2]
        return f"TRY({' || '.join(parts)})"

    def _pack(self, names: Sequence[str]) -> str:
        """Return the SQL of one whole number that has the bits of several columns, those of the first in front."""
        widths = [_PACKED[self._types[name].id] for name in names]
        is_word = sum(width for width, _ in widths) <= _WORD_BITS
        signed, wide, number = "BIGINT" if is_word else "HUGEINT", "BIGINT" if is_word else "UHUGEINT", ""
        for name, (width, lowest) in zip(names, widths, strict=True):
            value = self.key(name)
            if self._types[name].id == "date":
                first = "DATE '1970-01-01'"
                ends = f"WHEN {value} > {first} THEN {(1 << 31) - 1} WHEN {value} < {first} THEN {1 - (1 << 31)}"
                value = f"CASE WHEN isfinite({value}) THEN {value} - {first} {ends} END"
            # Each counts from 0 on. But a word has a sign, so that its first column is around 0.
            offset = lowest + (1 << width - 1) if is_word and not number else lowest
            value = f"CAST(CAST({value} AS {signed}) - CAST('{offset}' AS {signed}) AS {wide})"
            number = f"({number} * CAST('{1 << width}' AS {wide}) + {value})" if number else value
        return number

    def steps(self, name: str, weights: Weights) -> str:
        """Return the SQL of a weight in steps; null where it is missing and its row is left out."""
        present = self.present_steps(name, weights)
        return sql_weights.steps_or_missing(weights, quote_identifier(name), present, self.column_type(name))

    def is_present(self, name: str) -> str:
        """Return the SQL of whether a weight is there."""
        return f"NOT ({sql_weights.is_missing(quote_identifier(name), self.column_type(name))})"

    def present_steps(self, name: str, weights: Weights) -> str:
        """Return the SQL of a weight in steps, where it is there; where it is missing, of some step."""
        column, declared, column_type = quote_identifier(name), self._types[name].id, self.column_type(name)
        if column_type is column_types.FLOAT:
            return sql_weights.float_steps(weights, column, "//", "HUGEINT")
        if column_type is column_types.DECIMAL:
            digits = f"CAST(replace(CAST({column} AS VARCHAR), '.', '') AS HUGEINT)"
            return sql_weights.decimal_steps(weights, digits, _scale(self._types[name]))
        low, high = sql_weights.clamp_range(weights)
        # Clamped as wide as it comes, before anything is cast. Both functions pass over a null: it is asked for first.
        if declared in _UNSIGNED:
            wide = "UHUGEINT" if declared == "uhugeint" else "UBIGINT"
            clamped = f"least({column}, CAST({max(high, 0)} AS {wide}))"
            clamped = f"greatest(least(CAST({clamped} AS BIGINT), {high}), {low})"
        else:
            wide = "HUGEINT" if declared == "hugeint" else "BIGINT"
            clamped = f"CAST(greatest(least({column}, CAST({high} AS {wide})), CAST({low} AS {wide})) AS BIGINT)"
        return sql_weights.integer_steps(weights, f"CASE WHEN {column} IS NULL THEN {low} ELSE {clamped} END", "//")

    def is_readable(self, name: str, key: str) -> str:
        """Return the SQL of whether Python has an item for a normal form."""
        column_type, declared = self.column_type(name), self._types[name].id
        if column_type is column_types.TEXT and self.is_stream:  # where nobody looked whether it is text
            return f"TRY(decode({key})) IS NOT NULL"
        if column_type is column_types.DATE:
            return f"{key} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        if column_type is column_types.TIME:
            return f"epoch_ns({key}) < {86_400 * 10**9} AND epoch_ns({key}) % 1000 = 0"
        if declared == "timestamp_ns":
            return f"isfinite({key}) AND epoch_ns({key}) % 1000 = 0"
        if column_type in (column_types.TIMESTAMP, column_types.ZONED_TIMESTAMP):
            name, zone = ("TIMESTAMP", "") if column_type is column_types.TIMESTAMP else ("TIMESTAMPTZ", "+00")
            years = f"{name} '0001-01-01 00:00:00{zone}' AND {name} '9999-12-31 23:59:59.999999{zone}'"
            return f"TRY_CAST({key} AS {name}) BETWEEN {years}"
        if column_type is column_types.DURATION:
            day = 86_400_000_000
            return f"{key} >= {-999_999_999 * day} AND {key} < {10**9 * day}"
        return "true"

    def item_reader(self, name: str, key: str) -> tuple[str, Callable[[Any], Any]]:
        """Return the SQL of a normal form that Python can read, and the function from what it reads to the item."""
        column_type, declared = self.column_type(name), self._types[name].id
        assert column_type is not None  # noqa: S101
        item = column_type.item
        if column_type in (column_types.TIMESTAMP, column_types.ZONED_TIMESTAMP, column_types.TIME):
            if _UNITS.get(declared) == 1:
                return f"epoch_ns({key})", item
            return f"epoch_us({key})", lambda value: item(value * 1000)
        if column_type is column_types.DURATION:
            return key, lambda value: item(value * 1000)
        if column_type in (column_types.TEXT, column_types.BINARY):
            return key, item
        # Of its own type in Python, where every item is that can be read.
        return key, lambda value: item(column_type.key(value))

    def domain(self, name: str, keys: Keys, number: int) -> Any:
        """Return a relation of the items of a column in their normal form, and their positions."""
        column_type, declared = self.column_type(name), self._types[name]
        assert column_type is not None  # noqa: S101
        in_bytes = column_type in (column_types.TEXT, column_types.BINARY)
        texts = sql.item_texts(keys, column_type, _UNITS.get(declared.id, 1000), _scale(declared))
        if self._source is not None and len(keys) > _SHORT_DOMAIN:
            import pyarrow as pa

            # A table of our own engine: as texts in a query, a long domain would take many times the memory.
            items = pa.array(keys, pa.large_binary()) if in_bytes else pa.array(texts, pa.large_string())
            table = pa.table({"item": items, "position": np.arange(len(keys))})
            domain, item = self._source.connection.from_arrow(table), "item"
        else:
            # One row of the same connection, for which nothing is read.
            one = (
                self._relation.filter("false").aggregate("count(*)")
                if self._source is None
                else self._source.connection.sql("SELECT 1")
            )
            item, position = (f"unnest(string_split('{text}', ','))" for text in sql.join_items(texts))
            # An empty text is one empty item to the engine: its position, null, takes it out.
            chosen = f"{item} AS item, TRY_CAST({position} AS BIGINT) AS position"
            domain = one.project(chosen).filter("position IS NOT NULL")
            item = "unhex(item)" if in_bytes else "item"
        if column_type is column_types.FLOAT:
            item = f"TRY_CAST({item} AS DOUBLE)"
        elif not in_bytes:
            item = f"TRY_CAST({item} AS {'HUGEINT' if column_type is column_types.DURATION else declared})"
        return domain.project(f"{item} AS lastbit_item_{number}, position AS lastbit_position_{number}")


def _scale(declared: Any) -> int:
    return int(dict(declared.children)["scale"]) if declared.id == "decimal" else 0
