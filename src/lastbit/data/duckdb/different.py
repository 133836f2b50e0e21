"""How many different values the units of each group have, in the SQL of DuckDB: only numbers leave the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lastbit.data.domain import combine_domains, convert_items, read_domains
from lastbit.data.duckdb.bound import hash_sql
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.duckdb.table import DuckDBTable, join_domain, key_columns
from lastbit.data.engines import call_engine, require_column_types, wrap_frame
from lastbit.data.table import Keys, Task
from lastbit.values.contribution_bound import ContributionBound
from lastbit.values.ranked import DifferentValues


def count_different(
    table: OpenTable,
    *,
    different: str,
    unit: str | None,
    by: Sequence[str] = (),
    domain: Any = None,
    values: Sequence[Any] | None = None,
    most: int | None = None,
) -> DifferentValues:
    """Return how many different values of a column the units of each listed group have, by the rank of a value.

    by, domain: the columns of groups, and the public groups of each. Without them all rows are one group.
    values: the public values; None where nobody listed them. Others do not count, and neither does a missing value.
    most: so many pairs of a group and a value of each unit will count, drawn by lot; None for all.

    The lot of a unit orders its own pairs by a hash of the unit, the pair and a key that is drawn for this reading. So
    what a unit brings depends on nobody else.
    """
    columns = (*by, different)
    names = [*columns, *([] if unit is None else [unit])]
    engine: Any = call_engine(wrap_frame, table, names)
    types = call_engine(require_column_types, engine, names)
    listed = [*(read_domains(domain, list(by)) if by else ()), *([] if values is None else [values])]
    domains = [convert_items(items, types[name], name) for name, items in zip(columns, listed, strict=False)]
    groups = combine_domains([column.items for column in domains[: len(by)]]) if by else ("",)
    size = None if values is None else len(domains[-1].items)
    task = Task(columns, unit, None, None, None if most is None else ContributionBound.draw(most))
    places, ranks, counts, pairs = call_engine(_fetch, engine, task, [column.keys for column in domains], len(by))
    return DifferentValues(groups, places, ranks, counts, heads=pairs, listed=size)


def _fetch(table: DuckDBTable, task: Task, keys: Sequence[Keys], groups: int) -> tuple[Any, ...]:
    """Fetch for each group and rank how many values have their first rank there, and how many units have one there.

    No rank leaves the engine but those that count, and the next: it says who has more.
    """
    rows, names, value = table.select_rows(task, None), key_columns(task), key_columns(task)[-1]
    unit = [] if task.unit is None else ["lastbit_unit"]
    pairs = rows.aggregate(", ".join([*names, *unit]), ", ".join([*names, *unit]))
    position = "CAST(0 AS BIGINT)"
    for number, (name, listed) in enumerate(zip(task.by, keys, strict=False)):
        pairs = join_domain(pairs, table.list_domain(name, listed, number), number, "inner")
        if number < groups:
            position = f"({position}) * {len(listed)} + lastbit_position_{number}"
    chosen = f"{position} AS lastbit_place, {value}"
    if task.unit is None or task.bound is None:
        ranked = pairs.project(f"{chosen}, CAST(1 AS BIGINT) AS lastbit_rank")
    else:
        # Of pairs with one hash the first comes first.
        order = ", ".join(f"{name} ASC" for name in (hash_sql(names, task.bound.key), *names))
        rank = f"row_number() OVER (PARTITION BY lastbit_unit ORDER BY {order}) AS lastbit_rank"
        ranked = pairs.project(f"{chosen}, {rank}").filter(f"lastbit_rank <= {task.bound.most + 1}")
    at_rank = f"lastbit_place, {value}, lastbit_rank"
    counted = ranked.aggregate(f"{at_rank}, count(*) AS lastbit_pairs", at_rank)
    first = f"min(lastbit_rank) OVER (PARTITION BY lastbit_place, {value}) = lastbit_rank AS lastbit_first"
    numbers = counted.project(f"lastbit_place, lastbit_rank, lastbit_pairs, {first}").aggregate(
        "lastbit_place, lastbit_rank, count(*) FILTER (lastbit_first) AS lastbit_values, "
        "CAST(sum(lastbit_pairs) AS BIGINT) AS lastbit_pairs",
        "lastbit_place, lastbit_rank",
    )
    columns = numbers.fetchnumpy()
    chosen_columns = ("lastbit_place", "lastbit_rank", "lastbit_values", "lastbit_pairs")
    return tuple(np.asarray(columns[name], np.int64) for name in chosen_columns)
