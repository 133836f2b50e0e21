"""How the question `describe` reads its table: all columns in one pass, and the items of each text in one more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lastbit.data.count import count
from lastbit.data.duckdb.bins import day_of
from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.duckdb.texts import parse_number
from lastbit.data.files.open_table import open_table
from lastbit.data.profiling import TableProfile, profile_units
from lastbit.data.sql import quote_identifier
from lastbit.errors import ParameterError
from lastbit.questions.reading import Reading
from lastbit.values.unlisted import UNKNOWN, Unlisted

if TYPE_CHECKING:
    from lastbit.questions.describe import Description


def read_profile(description: Description) -> Reading[Mapping[str, Any]]:
    """Read the values of all parts from a file or a table of a database."""
    rows = description.request.rows
    names = tuple(column.name for column in description.columns)
    if rows.is_piped and description.texts:
        raise ParameterError(
            "the items of texts are counted column by column, and what comes through - is read once. Save it as a file "
            "first, or leave --delta out. Nothing was read."
        )
    unit = rows.unit or ""

    def work(table: OpenTable) -> Mapping[str, Any]:
        again = table.again

        def count_items(name: str) -> Unlisted:
            if again is not None:
                pair = ", ".join(map(quote_identifier, (name, unit)))
                same = replace(table, relation=again()).transform(lambda relation: relation.project(pair))
                return _count_items(same, name, unit)
            selection = ColumnSelection((name, unit), distinct=True)
            other = open_table(rows.source, selection, rows.table, rows.form, rows.plan)
            try:
                unlisted = _count_items(other, name, unit)
                other.check()
                return unlisted
            finally:
                other.connection.close()

        return description.arrange(_profile(description, _parse_texts(description, table)), count_items)

    return Reading(rows, ColumnSelection((unit, *names)), work)


def read_profile_of_frame(description: Description, frame: Any) -> Mapping[str, Any]:
    """Read the values of all parts from a table of pandas, Polars, Arrow, DuckDB, Spark or Ibis, in its engine."""
    rows = description.request.rows
    if rows.plan is not None or rows.table is not None:
        raise ParameterError(
            "where, sql, split, join, let and table are for files: a table of a library has its own way to leave rows "
            "out and to make columns. Use that first."
        )
    unit = rows.unit or ""
    return description.arrange(_profile(description, frame), lambda name: _count_items(frame, name, unit))


def _profile(description: Description, frame: Any) -> TableProfile:
    columns = description.columns
    return profile_units(
        frame,
        unit=description.request.rows.unit or "",
        numbers={column.name: column.step for column in columns if column.holds == "numbers"},
        dates=[column.name for column in columns if column.holds == "dates"],
        others=[column.name for column in columns if column.holds in ("text", "other")],
    )


def _parse_texts(description: Description, table: OpenTable) -> OpenTable:
    """Return the table with numbers and days in the place of texts that a file does not declare as texts."""
    types = dict(zip(table.relation.columns, table.relation.types, strict=True))
    comma = description.request.rows.decimal_comma
    chosen = [quote_identifier(description.request.rows.unit or "")]
    for column in description.columns:
        own = quote_identifier(column.name)
        if str(types[column.name]) == "VARCHAR" and column.name not in table.text_columns:
            if column.holds == "numbers":
                own = f"{parse_number(own, comma=comma)} AS {own}"
            elif column.holds == "dates":
                own = f"{day_of(table.relation, column.name)} AS {own}"
        chosen.append(own)
    return table.transform(lambda relation: relation.project(", ".join(chosen)))


def _count_items(frame: Any, name: str, unit: str) -> Unlisted:
    """Count the items of a column, each person in one of theirs, drawn by lot."""
    unlisted: Unlisted = count(frame, by=name, unit=unit, domain=UNKNOWN, most_items=1)
    # A table of a file is closed afterwards: all items are read now. Those of Spark stay there.
    if unlisted.rows is not None:
        return unlisted
    largest = unlisted.highest(None)
    fetch: Callable[[int | None], Any] = lambda most: (largest[0][:most], largest[1][:most])  # noqa: E731
    return replace(unlisted, fetch=fetch)
