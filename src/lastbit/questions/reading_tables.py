"""How the question `tables` reads its table: once for all tables, from a file or from a table in any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

from lastbit.data.duckdb.bins import bin_label
from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.duckdb.texts import parse_number
from lastbit.data.sql import quote_identifier
from lastbit.data.table_counting import count_tables
from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.questions.reading import Reading, items_in
from lastbit.values.bins import Bins, format_edge
from lastbit.values.table_counts import TableCounts

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.questions.request import Request


class OpenBins(Bins):
    """A bin from each edge on, of which the first has no lower end and the last no upper one: as many bins as edges.

    >>> OpenBins.between(["0", "18", "65"]).labels
    ('under 18', '18 to under 65', '65 and over')
    """

    @classmethod
    def between(cls, edges: Sequence[Any]) -> Self:
        """Return the bins of these edges."""
        exact = [number(edge, "an edge") for edge in edges]
        return cls.of(edges=[*exact, exact[-1] + 1])

    @property
    def labels(self) -> tuple[str, ...]:
        """From where and to where each bin goes."""
        texts = [format_edge(edge) for edge in self.edges[:-1]]
        middle = [f"{low} to under {high}" for low, high in pairwise(texts[1:])]
        return (f"under {texts[1]}", *middle, f"{texts[-1]} and over")


def read_tables(request: Request, names: Sequence[str], mechanism: lb.Tables) -> Reading[TableCounts]:
    """Read the counts of all tables, in one pass."""
    rows, edges = request.rows, dict(request["edges"] or ())
    others = [name for name in (rows.unit, request["latest_by"]) if name is not None]
    if set(others) & set(names):
        raise ParameterError("--unit and --latest-by must be other columns than those of the tables.")
    columns = tuple(dict.fromkeys([*names, *others]))
    alike = rows.unit is not None and request["latest_by"] is None

    def work(table: OpenTable) -> TableCounts:
        types = dict(zip(table.relation.columns, table.relation.types, strict=True))
        # Text of a file becomes numbers first. A text that is none has no group.
        numbers = [
            f"{parse_number(quote_identifier(name), comma=rows.decimal_comma)} AS {quote_identifier(name)}"
            if name in edges and str(types[name]) == "VARCHAR"
            else quote_identifier(name)
            for name in columns
        ]
        table = table.transform(lambda relation: relation.project(", ".join(numbers)))
        labels = [
            f"{bin_label(table.relation, name, OpenBins.between(edges[name]))} AS {quote_identifier(name)}"
            if name in edges
            else quote_identifier(name)
            for name in columns
        ]
        listed = items_in(_domain(request, mechanism, names), table, names)
        counted = table.transform(lambda relation: relation.project(", ".join(labels)))
        return _count(request, names, mechanism, counted, listed)

    return Reading(rows, ColumnSelection(columns, distinct=alike), work)


def read_frame(request: Request, names: Sequence[str], mechanism: lb.Tables, frame: Any) -> TableCounts:
    """Read the counts of all tables from a table of pandas, Polars, Arrow, DuckDB, Spark or Ibis, in its engine."""
    rows = request.rows
    if rows.plan is not None or request["edges"] or rows.table is not None:
        raise ParameterError(
            "where, sql, edges, bin, day, week, month, year and table are for files: a table of a library has its own "
            "way to make columns and to leave rows out. Use that first."
        )
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
