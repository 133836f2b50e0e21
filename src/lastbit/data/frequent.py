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


def frequent(
    rows: Callable[[], Any],
    keys: Sequence[str],
    readable: str,
    most: int,
    connection: duckdb.DuckDBPyConnection,
    closing: ExitStack,
) -> duckdb.DuckDBPyRelation:
    """Items and their distinct units in `lastbit_total`: the first `most` by units and then in order, and others.

    rows: the same rows each time, with the unit in `lastbit_unit` and the item in `keys`, none of them null. They are
    read two or three times.
    readable: the condition on an item to be counted at all.

    >>> import duckdb
    >>> with duckdb.connect() as engine, ExitStack() as closing:
    ...     rows = engine.sql("FROM (VALUES ('a', 1), ('a', 1), ('b', 1), ('b', 2), ('c', 1)) AS t(item, lastbit_unit)")
    ...     frequent(lambda: rows, ["item"], "item <> 'b'", 1, engine, closing).order("ALL").fetchall()
    [('a', 1), ('c', 1)]
    """
    items, units = ", ".join(keys), "count(DISTINCT lastbit_unit) AS lastbit_total"
    with ExitStack() as own:
        often = _grouped(rows(), items, "count(*) AS lastbit_rows", connection, own, readable)
        least = _last(often, "lastbit_rows", _MORE * most)
        while not _are_most(often, least):
            # In one list: of rows the engine may not know how many there are, and would look the items up in the rows.
            one = often.filter(f"lastbit_rows >= {least}").aggregate(", ".join(f"list({key}) AS {key}" for key in keys))
            few = one.project(", ".join(f"unnest({key}) AS {key}" for key in keys)).set_alias("lastbit_items")
            same = " AND ".join(f"lastbit_all.{key} = lastbit_items.{key}" for key in keys)
            chosen = rows().set_alias("lastbit_all").join(few, same, "semi")
            found = _grouped(chosen, items, units, connection, closing)
            reached = _last(found, "lastbit_total", most)
            if reached >= least:
                return found
            # Every item wanted has so many rows. With these items the same number is reached, or more.
            least = reached
    return _grouped(rows(), items, units, connection, closing, readable)


def _are_most(often: duckdb.DuckDBPyRelation, least: int) -> bool:
    """Whether half of the items or more have so many rows: then a list of them would only take memory of its own."""
    ((few, every),) = often.aggregate(f"count(*) FILTER (lastbit_rows >= {least}), count(*)").fetchall()
    return 2 * int(few) >= int(every)


def _grouped(
    rows: Any,
    items: str,
    number: str,
    connection: duckdb.DuckDBPyConnection,
    closing: ExitStack,
    condition: str = "true",
) -> duckdb.DuckDBPyRelation:
    """A number for each item that meets a condition, kept by the engine until it is no longer needed."""
    table, view = (f"lastbit_{token_hex(8)}" for _ in range(2))
    closing.callback(connection.execute, f"DROP TABLE IF EXISTS {table}")
    closing.callback(connection.execute, f"DROP VIEW IF EXISTS {view}")
    counted = f"SELECT {items}, {number} FROM {view} GROUP BY {items} HAVING {condition}"  # noqa: S608
    rows.query(view, f"CREATE TEMP TABLE {table} AS {counted}")
    return connection.table(table)


def _last(found: duckdb.DuckDBPyRelation, name: str, most: int) -> int:
    """The number that so many of those found reach; 0 where there are fewer."""
    (rows,) = found.order(f"{name} DESC").limit(1, most - 1).project(name).fetchall() or [(0,)]
    return int(rows[0])
