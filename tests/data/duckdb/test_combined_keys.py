"""One key of several columns: equal where all columns are, null where one is missing, and never raised for."""

from __future__ import annotations

from itertools import product
from typing import Any

import duckdb
import pytest

from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.sql import quote_text

VALUES: dict[str, list[str]] = {
    "TINYINT": ["-128", "-1", "0", "127"],
    "UTINYINT": ["0", "1", "128", "255"],
    "SMALLINT": ["-32768", "0", "32767"],
    "INTEGER": ["-2147483648", "-1", "0", "1", "2147483647"],
    "UINTEGER": ["0", "1", "2147483648", "4294967295"],
    "BIGINT": ["-9223372036854775808", "-1", "0", "9223372036854775807"],
    "HUGEINT": ["-1", "0", "170141183460469231731687303715884105727"],
    "BOOLEAN": ["true", "false"],
    "DATE": ["-infinity", "1969-12-31", "1970-01-01", "1970-01-02", "infinity", "5877642-06-25 (BC)", "5881580-07-10"],
    "VARCHAR": ["", ":", "1", "1:", "1:1", "11", "2:11", "a", "A", "1970-01-01"],
    "BLOB": ["", "1", ":1", "\\x00"],
    "TIMESTAMP": ["1970-01-01 00:00:00", "1970-01-01 00:00:01", "infinity"],
    "DOUBLE": ["0", "-1.5", "inf"],
}


def find_keys(types: tuple[str, ...]) -> dict[tuple[Any, ...], Any]:
    """The keys of all combinations of the values of some types, with missing ones."""
    connection = duckdb.connect()
    names = [f"c{number}" for number in range(len(types))]
    columns = [
        f"(SELECT CAST(unnest([NULL, {', '.join(map(quote_text, VALUES[kind]))}]) AS {kind}) AS {name})"
        for kind, name in zip(types, names, strict=True)
    ]
    rows = connection.sql(f"SELECT * FROM {', '.join(columns)}")
    key = DuckDBColumns(rows).combined_key(names)
    texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
    fetched = rows.project(f"{key} AS key, {texts}").fetchall()
    assert len(fetched) == len({tuple(row[1:]) for row in fetched})
    return {tuple(row[1:]): row[0] for row in fetched}


@pytest.mark.parametrize("types", [*product(VALUES, repeat=2)])
def test_a_key_tells_two_columns_apart(types: tuple[str, ...]) -> None:
    keys = find_keys(types)
    known = [key for values, key in keys.items() if None not in values]
    assert None not in known
    assert len(set(known)) == len(known)
    assert all(key is None for values, key in keys.items() if None in values)


@pytest.mark.parametrize(
    "types",
    [
        ("INTEGER", "DATE", "VARCHAR"),
        ("VARCHAR", "DATE", "VARCHAR"),
        ("VARCHAR", "VARCHAR", "BLOB"),
        ("BIGINT", "INTEGER", "DATE"),
        ("BIGINT", "BIGINT", "BOOLEAN"),
        ("BOOLEAN", "TINYINT", "UINTEGER"),
        ("DATE", "TIMESTAMP", "INTEGER"),
    ],
)
def test_a_key_tells_three_columns_apart(types: tuple[str, ...]) -> None:
    keys = find_keys(types)
    known = [key for values, key in keys.items() if None not in values]
    assert None not in known
    assert len(set(known)) == len(known)


def test_columns_of_few_bits_are_one_number() -> None:
    """The engine groups by a number in a third of the time, and what is a word is counted as it streams out."""
    rows = duckdb.sql("SELECT CAST(1 AS INTEGER) AS a, DATE '2024-01-01' AS b, CAST(1 AS BIGINT) AS c, 'x' AS d")
    columns = DuckDBColumns(rows)
    kinds = [
        str(rows.project(f"{columns.combined_key(names)} AS key").types[0])
        for names in (["a", "b"], ["c", "b"], ["a", "d"])
    ]
    assert kinds == ["BIGINT", "UHUGEINT", "BLOB"]
