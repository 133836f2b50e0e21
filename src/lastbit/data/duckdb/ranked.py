"""Counts and numbers by their rank in each unit's lot, in the SQL of DuckDB: a table is read before a bound is known.

The lot of a unit orders its items by a hash of the unit, the item and a key that is drawn for this reading, so that a
bound on the items of a unit can be applied later, to the ranks. What a unit's ranks are depends on its own rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from lastbit.data.column_types import ColumnType
from lastbit.data.count import parse_weights
from lastbit.data.domain import combine_domains, convert_items, read_domains
from lastbit.data.duckdb.bound import hash_sql
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.duckdb.table import DuckDBTable, join_domain, key_columns
from lastbit.data.engines import call_engine, parse_columns, require_column_types, wrap_frame
from lastbit.data.table import Integers, Task
from lastbit.data.weights import Weights
from lastbit.exact.numbers import Number
from lastbit.values.contribution_bound import ContributionBound
from lastbit.values.counts import Counts
from lastbit.values.missing import LEAVE_OUT, Missing
from lastbit.values.ranked import RankedCounts, RankedUnlisted

_NUMBERS: Final = (
    "count(*) AS lastbit_units, CAST(sum(lastbit_total) AS VARCHAR) AS lastbit_total, "
    "count(*) FILTER (lastbit_head) AS lastbit_heads, "
    "count(*) FILTER (lastbit_head AND lastbit_rank = 1 AND lastbit_beyond < 0) AS lastbit_people_below, "
    "count(*) FILTER (lastbit_head AND lastbit_rank = 1 AND lastbit_beyond > 0) AS lastbit_people_above"
)
"""As text: NumPy has no whole numbers as long as the engine's sums."""
_SIDES: Final = ("lastbit_people_below", "lastbit_people_above")
"""How many units are beyond the bounds; each is counted where its first rank is."""


def count_ranked(
    table: OpenTable,
    *,
    by: str | Sequence[str],
    unit: str | None,
    domain: Any,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    lot_of_groups: bool = False,
) -> RankedCounts:
    """Return how many units have each listed item at each rank of their lot; with `weights`, the sums too.

    A lot orders the items of a unit; or its groups, which the last column of items names: then all items of a group
    have its rank.
    """
    columns = parse_columns(by)
    engine, types, amount = _wrap(table, columns, unit, weights, (bounds, resolution, missing))
    domains = [
        convert_items(items, types[column], column)
        for column, items in zip(columns, read_domains(domain, columns), strict=True)
    ]
    items = combine_domains([column.items for column in domains])
    task = Task(tuple(columns), unit, weights, amount, ContributionBound.draw(max(1, len(items))))
    keys = [column.keys for column in domains]
    positions, ranks, units, totals, sides, heads = call_engine(_fetch, engine, task, keys, lot_of_groups)
    if amount is None:
        return RankedCounts(items, positions, ranks, units, heads=heads)
    return RankedCounts(items, positions, ranks, units, totals, partial(_floor_sums, amount, items), sides, heads)


def count_ranked_unlisted(
    table: OpenTable,
    *,
    by: str | Sequence[str],
    unit: str | None,
    most: int,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
) -> RankedUnlisted:
    """Return the same for the items that occur, which nobody listed: by rank up to `most`. Items are private too."""
    columns = parse_columns(by)
    engine, _, amount = _wrap(table, columns, unit, weights, (bounds, resolution, missing))
    task = Task(tuple(columns), unit, weights, amount, ContributionBound.draw(most))
    items, positions, ranks, units, totals, sides = call_engine(_fetch_unlisted_items, engine, task)
    if amount is None:
        return RankedUnlisted(items, positions, ranks, units)
    return RankedUnlisted(items, positions, ranks, units, totals, parts=amount.parts, facts=amount.facts, sides=sides)


def _wrap(
    table: OpenTable, columns: Sequence[str], unit: str | None, weights: str | None, rule: tuple[Any, Any, Any]
) -> tuple[Any, dict[str, ColumnType], Weights | None]:
    """Return the table in its engine, the types of the columns that are read, and how weights are added up.

    `rule` has the bounds, the resolution and what a missing weight counts as.
    """
    names = [*columns, *(name for name in (unit, weights) if name is not None)]
    engine = call_engine(wrap_frame, table, names)
    types = call_engine(require_column_types, engine, names)
    return engine, types, parse_weights(engine, weights, *rule, types)


def _floor_sums(amount: Weights, items: Sequence[Any], sums: Sequence[int], most: int) -> Counts:
    """Return the sums of items, each floored to the resolution once."""
    return amount.counts(tuple(items), np.array([total // amount.parts for total in sums], np.int64), most)


def _pair_rows(table: DuckDBTable, task: Task, keys: Sequence[Any] | None) -> Any:
    """Return every pair of an item and a unit once; with weights, their sum, and whether one is beyond the bounds.

    Each weight is clamped before it is added. Without units each row is a pair of its own.
    """
    amount, pair = task.amount, f"{', '.join(key_columns(task))}, lastbit_unit"
    if amount is None:
        return table.select_rows(task, keys).aggregate(pair, pair)
    # A step further out, where it shows who is beyond the bounds.
    further = replace(amount, low=amount.low - 1, high=amount.high + 1)
    rows = table.select_rows(replace(task, amount=further), keys)
    if task.unit is None:
        rows = rows.project("*, row_number() OVER () AS lastbit_unit")
    total = f"sum(greatest(least(lastbit_step, {amount.high}), {amount.low}))"
    above, below = (
        f"CASE WHEN max({one}) OR {total} {sign} {bound} THEN 1 ELSE 0 END AS lastbit_{name}"
        for one, sign, bound, name in (
            (f"lastbit_step > {amount.high}", ">", amount.high, "above"),
            (f"lastbit_step < {amount.low}", "<", amount.low, "below"),
        )
    )
    return rows.aggregate(f"{pair}, {total} AS lastbit_step, {above}, {below}", pair)


def _rank_pairs(task: Task, pairs: Any, ties: Sequence[str], columns: str, group: str | None = None) -> Any:
    """Return the pairs with their ranks in the unit's lot, and the steps that each adds.

    A unit has one item at each rank; where `group` is the position of an item's group, one group. The first pair of
    each rank is its head. Of items with one hash the first comes first.
    """
    assert task.bound is not None  # noqa: S101
    total = beyond = "0"
    if task.amount is not None:
        total = f"CAST(greatest(least(lastbit_step, {task.amount.high}), {task.amount.low}) AS BIGINT)"
        unit = "OVER (PARTITION BY lastbit_unit)"
        beyond = f"CASE WHEN max(lastbit_above) {unit} = 1 THEN 1 ELSE -max(lastbit_below) {unit} END"
    keys, drawn, head = key_columns(task), "row_number()", "true"
    if group is not None:
        keys, drawn = keys[-1:], "dense_rank()"
        head = f"row_number() OVER (PARTITION BY lastbit_unit, {group} ORDER BY {ties[0]} ASC) = 1"
        ties = [group]
    order = ", ".join(f"{name} ASC" for name in (hash_sql(keys, task.bound.key), *ties))
    rank = f"{drawn} OVER (PARTITION BY lastbit_unit ORDER BY {order})"
    numbers = f"{rank} AS lastbit_rank, {head} AS lastbit_head, {total} AS lastbit_total, {beyond} AS lastbit_beyond"
    return pairs.project(f"{columns}, {numbers}")


def _fetch(
    table: DuckDBTable, task: Task, keys: Sequence[Any], lot_of_groups: bool
) -> tuple[Integers, Integers, Integers, Any, tuple[int, int], Integers | None]:
    """Fetch the position of an item, a rank, how many units have the item at this rank, and the sum of their steps.

    Then how many units have something below the bounds, and above; and of a lot of groups, of how many units the item
    is the first of its group.
    """
    counts = None if lot_of_groups else table.count_ranks(task, keys)
    if counts is not None:
        positions, ranks = counts.nonzero()
        return positions, ranks + 1, counts[positions, ranks], None, (0, 0), None
    pairs, position = _pair_rows(table, task, keys), "CAST(0 AS BIGINT)"
    for number, (name, domain) in enumerate(zip(task.by, keys, strict=True)):
        pairs = join_domain(pairs, table.list_domain(name, domain, number), number, "inner")
        position = f"({position}) * {len(domain)} + lastbit_position_{number}"
    group = f"lastbit_position_{len(keys) - 1}" if lot_of_groups else None
    ranked = _rank_pairs(task, pairs, [position], f"{position} AS lastbit_position", group)
    grouped = ranked.aggregate(f"lastbit_position, lastbit_rank, {_NUMBERS}", "lastbit_position, lastbit_rank")
    columns = grouped.fetchnumpy()
    positions, ranks, units, heads = (
        np.asarray(columns[name], np.int64)
        for name in ("lastbit_position", "lastbit_rank", "lastbit_units", "lastbit_heads")
    )
    totals = np.array([int(total) for total in columns["lastbit_total"].tolist()], object)
    below, above = (int(np.asarray(columns[name], np.int64).sum()) for name in _SIDES)
    return positions, ranks, units, totals, (below, above), heads if lot_of_groups else None


def _fetch_unlisted_items(
    table: DuckDBTable, task: Task
) -> tuple[list[Any], Integers, Integers, Integers, Any, tuple[int, int]]:
    """Fetch the items in their order, and the same numbers. At ranks beyond the bound no item leaves the engine."""
    assert task.bound is not None  # noqa: S101
    keys, most = key_columns(task), task.bound.most
    pairs = _pair_rows(table, task, None).filter(table.readable_sql(task))
    ranked = _rank_pairs(task, pairs, keys, ", ".join(keys))
    near = ", ".join(f"CASE WHEN lastbit_rank <= {most} THEN {key} END AS {key}" for key in keys)
    grouped = ranked.project(f"{near}, lastbit_rank, lastbit_head, lastbit_total, lastbit_beyond").aggregate(
        f"{', '.join(keys)}, lastbit_rank, {_NUMBERS}", f"{', '.join(keys)}, lastbit_rank"
    )
    readers = table.item_readers(task)
    ordered = grouped.order(", ".join(f"{key} ASC" for key in keys))
    texts = [text for text, _ in readers]
    numbers_of_rows = ["lastbit_rank", "lastbit_units", "lastbit_total", *_SIDES]
    rows = ordered.project(", ".join([*texts, *numbers_of_rows])).fetchall()
    items: list[Any] = []
    numbers: list[tuple[int, int, int]] = []
    last: Any = None
    for *key, rank, units, _, _, _ in rows:
        if rank <= most and key != last:
            parts = [read(part) for (_, read), part in zip(readers, key, strict=True)]
            items.append(parts[0] if len(parts) == 1 else tuple(parts))
            last = key
        numbers.append((len(items) - 1 if rank <= most else -1, rank, units))
    positions, ranks, counts = np.array(numbers, np.int64).reshape(-1, 3).T
    below, above = (sum(int(row[place]) for row in rows) for place in (-2, -1))
    return items, positions, ranks, counts, np.array([int(row[-3]) for row in rows], object), (below, above)
