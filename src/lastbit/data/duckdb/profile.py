"""What each unit has in many columns, in one query of DuckDB."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lastbit.data.duckdb.bins import day_of
from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.profiles import ColumnProfile, ProfileTask, UnitProfiles
from lastbit.data.sql import quote_identifier

_ROOM: Final = 1 << 62
"""A sum within this has room in 64 bits, with a number of rows more."""


def _floor_of_mean(total: str, count: str, low: int) -> str:
    """Return the SQL of a sum over a number of rows, floored. Wide integers take the engine ten times as long.

    The engine's division is toward zero: the sum is first made a multiple of the number of rows, or positive.
    """
    short = f"TRY_CAST({total} AS BIGINT)"
    floor = f"({short} - ({short} % {count} + {count}) % {count}) // {count}"
    wide = f"CAST(({total} - CAST({low} AS HUGEINT) * {count}) // {count} + {low} AS BIGINT)"
    return f"CASE WHEN {total} BETWEEN {-_ROOM} AND {_ROOM} THEN {floor} ELSE {wide} END"


def profile_relation(relation: Any, columns: DuckDBColumns, task: ProfileTask) -> UnitProfiles:
    """Return how many rows each unit has, and what it has in each column."""
    chosen, measures = [f"{columns.key(task.unit)} AS lastbit_unit"], ["count(*) AS lastbit_rows"]
    for place, column in enumerate(task.columns_of_unit):
        name, step = column.name, f"lastbit_step_{place}"
        number = "0"
        if column.amount is not None:
            chosen.append(f"CAST({columns.steps(name, column.amount)} AS BIGINT) AS {step}")
            number = _floor_of_mean(f"sum({step})", f"count({step})", column.amount.low)
        elif column.measured == "date":
            day = day_of(relation, name)
            # A difference to an endless date is an error.
            chosen.append(f"CASE WHEN isfinite({day}) THEN {day} - DATE '1970-01-01' END AS {step}")
            number = f"max({step})"
        else:
            chosen.append(f"CASE WHEN {quote_identifier(name)} IS NOT NULL THEN 1 END AS {step}")
        measures.append(f"count({step}) AS lastbit_present_{place}")
        measures.append(f"CAST(coalesce({number}, 0) AS BIGINT) AS lastbit_number_{place}")
    rows = relation.project(", ".join(chosen)).filter("lastbit_unit IS NOT NULL")
    fetched = rows.aggregate(", ".join(["lastbit_unit", *measures]), "lastbit_unit")
    names = ["lastbit_rows"]
    for place in range(len(task.columns_of_unit)):
        names += [f"lastbit_present_{place}", f"lastbit_number_{place}"]
    arrays = fetched.project(", ".join(names)).fetchnumpy()
    whole = [np.asarray(arrays[name], np.int64) for name in names]
    return whole[0], [ColumnProfile(*pair) for pair in zip(whole[1::2], whole[2::2], strict=True)]
