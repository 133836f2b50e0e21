"""The records that count in tables, chosen and counted by DuckDB: one query for all tables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from lastbit.data.duckdb.bound import keep_items
from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.records import SHORT_POSITIONS, Records, RecordTask
from lastbit.data.table import Keys


def count_records(relation: Any, columns: DuckDBColumns, task: RecordTask, keys: Sequence[Keys]) -> Records:
    """Count how many records have each combination of values."""
    with ExitStack() as closing:
        rows = _keep_records(_locate_rows(relation, columns, task, keys), task, closing)
        alike = "lastbit_position, lastbit_records"
        grouped = rows.aggregate(f"{alike}, count(*) AS lastbit_total", alike).fetchnumpy()
    names = ("lastbit_position", "lastbit_total", "lastbit_records")
    return Records(*(np.asarray(grouped[name], np.int64) for name in names))


def _locate_rows(relation: Any, columns: DuckDBColumns, task: RecordTask, keys: Sequence[Keys]) -> Any:
    """Return the unit and the position of each row; rows without a value of every column are left out."""
    chosen = [f"{columns.key(name)} AS lastbit_key_{i}" for i, name in enumerate(task.by)]
    known, kept = [], ["CAST(lastbit_position AS BIGINT) AS lastbit_position"]
    for name, alias in ((task.unit, "lastbit_unit"), (task.order, "lastbit_order")):
        if name is not None:
            chosen.append(f"{columns.key(name)} AS {alias}")
            known.append(f"{alias} IS NOT NULL")
            kept.append(alias)
    rows = relation.project(", ".join(chosen))
    rows = rows.filter(" AND ".join(known)) if known else rows
    position = "CAST(0 AS BIGINT)"
    for i, (name, column_keys, size) in enumerate(zip(task.by, keys, task.sizes, strict=True)):
        domain = columns.domain(name, column_keys, i).set_alias(f"lastbit_domain_{i}")
        condition = f"lastbit_key_{i} = lastbit_item_{i}"
        rows = rows.set_alias("lastbit_rows").join(domain, condition, "left" if task.shown else "inner")
        own = f"lastbit_position_{i}"
        if task.shown:
            own = f"CASE WHEN lastbit_key_{i} IS NULL THEN {size - 1} ELSE {own} END"
        position = f"({position}) * {size} + {own}"
    rows = rows.project(", ".join([f"{position} AS lastbit_position", *kept[1:]])).project(", ".join(kept))
    return rows.filter("lastbit_position IS NOT NULL") if task.shown else rows


def _keep_records(rows: Any, task: RecordTask, closing: ExitStack) -> Any:
    """Return the positions of the records that count, and how many records their unit has."""
    if task.unit is None or task.bound is None:
        return rows.project("lastbit_position, 1 AS lastbit_records")
    if task.order is not None:
        latest = "rank() OVER (PARTITION BY lastbit_unit ORDER BY lastbit_order DESC) = 1 AS lastbit_latest"
        rows = rows.project(f"lastbit_position, lastbit_unit, {latest}").filter("lastbit_latest")
    if task.bound.most > 1:
        pairs = rows.aggregate("lastbit_position AS lastbit_key_0, lastbit_unit", "lastbit_position, lastbit_unit")
        pairs = pairs.project("*, count(*) OVER (PARTITION BY lastbit_unit) AS lastbit_records")
        kept = keep_items(pairs, ["lastbit_key_0"], ["lastbit_records"], task.bound, closing)
        return kept.project("lastbit_key_0 AS lastbit_position, lastbit_records")
    # The least of words whose upper bits are a mark, and whose lower bits are the position: of equal marks, the first
    # position. So nothing depends on the order in which the engine meets the rows.
    bits = task.position_bits
    mark = f"hash(xor(hash(lastbit_unit, lastbit_position), CAST({task.bound.key} AS UBIGINT)))"
    if bits <= SHORT_POSITIONS:
        word = f"(CAST({mark} >> {bits + 1} AS BIGINT) << {bits}) | lastbit_position"
        position = f"min({word}) & {(1 << bits) - 1}"
    else:
        word = f"(CAST({mark} >> 1 AS HUGEINT) << {bits}) | CAST(lastbit_position AS HUGEINT)"
        position = f"CAST(min({word}) & CAST({(1 << bits) - 1} AS HUGEINT) AS BIGINT)"
    # To tell equal rows of a unit apart takes as long as all the rest: who has two records has at most as many as rows.
    own = "CASE WHEN min(lastbit_position) = max(lastbit_position) THEN 1 ELSE count(*) END"
    return rows.aggregate(f"{position} AS lastbit_position, {own} AS lastbit_records", "lastbit_unit")
