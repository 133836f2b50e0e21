"""How the question `tables` reads its table: once for all tables, from a file or from a table in any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.table_counting import count_tables
from lastbit.errors import ParameterError
from lastbit.questions.reading import Reading
from lastbit.questions.reading_groups import items_in
from lastbit.values.table_counts import TableCounts

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.questions.request import Request


def read_tables(request: Request, names: Sequence[str], mechanism: lb.Tables) -> Reading[TableCounts]:
    """Read the counts of all tables, in one pass."""
    rows = request.rows
    others = [name for name in (rows.unit, request["latest_by"]) if name is not None]
    if set(others) & set(names):
        raise ParameterError("--unit and --latest-by must be other columns than those of the tables.")
    columns = tuple(dict.fromkeys([*names, *others]))
    alike = rows.unit is not None and request["latest_by"] is None

    def work(table: OpenTable) -> TableCounts:
        return _count(request, names, mechanism, table, items_in(_domain(request, mechanism, names), table, names))

    return Reading(rows, ColumnSelection(columns, distinct=alike), work)


def read_frame(request: Request, names: Sequence[str], mechanism: lb.Tables, frame: Any) -> TableCounts:
    """Read the counts of all tables from a table of pandas, Polars, Arrow, DuckDB, Spark or Ibis.

    Its own engine counts, where no rows are left out and no columns made before.
    """
    if request.rows.plan is not None:
        return read_tables(request, names, mechanism).run(frame=frame)
    return _count(request, names, mechanism, frame, _domain(request, mechanism, names))


def _domain(request: Request, mechanism: lb.Tables, names: Sequence[str]) -> list[Sequence[Any]]:
    """Return the values of each column, without that for a missing one."""
    values = dict(mechanism.shape.domain)
    last = -1 if request["missing"] == "show" else None
    return [values[name][:last] for name in names]


def _count(
    request: Request, names: Sequence[str], mechanism: lb.Tables, frame: Any, listed: Sequence[Sequence[Any]]
) -> TableCounts:
    counts = count_tables(
        frame,
        by=list(names),
        domain=dict(zip(names, listed, strict=True)),
        tables=mechanism.tables,
        unit=request.rows.unit,
        most_records=mechanism.most_records,
        latest_by=request["latest_by"],
        missing=request["missing"],
    )
    # By the names that a person gave, whatever type the column has.
    return replace(counts, domain=dict(mechanism.shape.domain))
