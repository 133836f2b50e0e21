"""The items with the most units, found without keeping every pair of an item and a unit in memory.

An item has at most as many units as rows, and rows are counted in little memory. So the units are counted only of items
with many rows. They are enough where as many items as are wanted have more units than any other item has rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import duckdb

_MORE: Final = 4
"""At first the units are counted of so many times more items than are wanted: mostly they are enough."""


def find_frequent(
    rows: Callable[[], Any],
    keys: Sequence[str],
    readable: str,
    most: int,
    connection: duckdb.DuckDBPyConnection,
    closing: ExitStack,
) -> duckdb.DuckDBPyRelation:
    """Return items and their distinct units in `lastbit_total`: the first `most` by units, then in order, and others.

    rows: the same rows each time, with the unit in `lastbit_unit` and the item in `keys`, none of them null. They are
    read two or three times.
    readable: the condition on an item to be counted at all.

    >>> import duckdb
    >>> with duckdb.connect() as engine, ExitStack() as closing:
    ...     rows = engine.sql("FROM (VALUES ('a', 1), ('a', 1), ('b', 1), ('b', 2), ('c', 1)) AS t(item, lastbit_unit)")
    ...     find_frequent(lambda: rows, ["item"], "item <> 'b'", 1, engine, closing).order("ALL").fetchall()
    [('a', 1), ('c', 1)]
    """
    items, units = ", ".join(keys), "count(DISTINCT lastbit_unit) AS lastbit_total"
    with ExitStack() as own:
        often = _save_totals(rows(), items, "count(*) AS lastbit_rows", connection, own, readable)
        least = _nth_largest(often, "lastbit_rows", _MORE * most)
        while not _are_half(often, least):
            # In one list: of rows the engine may not know how many there are, and would look the items up in the rows.
            one = often.filter(f"lastbit_rows >= {least}").aggregate(", ".join(f"list({key}) AS {key}" for key in keys))
            few = one.project(", ".join(f"unnest({key}) AS {key}" for key in keys)).set_alias("lastbit_items")
            same = " AND ".join(f"lastbit_all.{key} = lastbit_items.{key}" for key in keys)
            chosen = rows().set_alias("lastbit_all").join(few, same, "semi")
            totals = _save_totals(chosen, items, units, connection, closing)
            reached = _nth_largest(totals, "lastbit_total", most)
            if reached >= least:
                return totals
            # Every item wanted has so many rows. With these items the same number is reached, or more.
            least = reached
    return _save_totals(rows(), items, units, connection, closing, readable)


def _are_half(often: duckdb.DuckDBPyRelation, least: int) -> bool:
    """Tell whether half of the items or more have so many rows: then a list of them would only take memory."""
    ((few, every),) = often.aggregate(f"count(*) FILTER (lastbit_rows >= {least}), count(*)").fetchall()
    return 2 * int(few) >= int(every)


def _save_totals(
    rows: Any,
    items: str,
    number: str,
    connection: duckdb.DuckDBPyConnection,
    closing: ExitStack,
    condition: str = "true",
) -> duckdb.DuckDBPyRelation:
    """Return a number for each item that meets a condition, kept by the engine until it is no longer needed."""
    table, view = (f"lastbit_{token_hex(8)}" for _ in range(2))
    closing.callback(connection.execute, f"DROP TABLE IF EXISTS {table}")
    closing.callback(connection.execute, f"DROP VIEW IF EXISTS {view}")
    counted = f"SELECT {items}, {number} FROM {view} GROUP BY {items} HAVING {condition}"  # noqa: S608
    rows.query(view, f"CREATE TEMP TABLE {table} AS {counted}")
    return connection.table(table)


def _nth_largest(totals: duckdb.DuckDBPyRelation, name: str, most: int) -> int:
    """Return the number that so many of those found reach; 0 where there are fewer."""
    (rows,) = totals.order(f"{name} DESC").limit(1, most - 1).project(name).fetchall() or [(0,)]
    return int(rows[0])
