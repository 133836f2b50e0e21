"""`--unit row`: somebody insists that each row is one person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.row_options import RowOptions

if TYPE_CHECKING:
    from lastbit.questions.request import Request

ROW: Final = "row"
"""The unit that says that rows are people, unless the table has a column of this name."""


def takes_rows(values: Mapping[str, Any]) -> bool:
    """Return whether the options say that each row is one person. The names of columns are read, and no row.

    Where the table has a column called row, that column is the unit: it protects more. With --counts the unit stays,
    and is refused as any other is.

    >>> takes_rows({"unit": "row", "source": ()}), takes_rows({"unit": "patient", "source": ()})
    (True, False)
    """
    if values.get("unit") != ROW or values.get("counts") is not None:
        return False
    source = values.get("source") or "-"
    # What comes through a pipe, and a table of a library, is looked at when it is there: see `settle_unit`.
    return "-" in source or not _has_column(RowOptions.of(values))


def require_unit(values: Mapping[str, Any], *, each_row: bool = False) -> None:
    """Refuse a question on a table of rows that does not say whom a row belongs to. Counts need no unit."""
    if "unit" in values and values["unit"] is None and values.get("counts") is None and not each_row:
        raise ParameterError(
            "--unit must say who is protected: got none. Name the column that says whom a row belongs to, --unit "
            "COLUMN. Where each row is one person, write --unit row. Nothing was read and nothing was charged."
        )


def names_column(columns: Collection[str]) -> bool:
    """Return whether a table with these columns has one called row, which is the unit then."""
    return ROW in columns


def settle_unit(request: Request, columns: Callable[[], Collection[str]]) -> Request:
    """Return a request to a table without a name, by its columns: one called row is the unit."""
    if not request.each_row or not names_column(columns()):
        return request
    return replace(request, values={**request.values, "unit": ROW}, each_row=False)


def insist_on_rows(request: Request) -> Request:
    """Return a request that somebody asked before: where it names no unit, each row was taken for one person."""
    without = "unit" in request.values and request.rows.unit is None and request.values.get("counts") is None
    return replace(request, each_row=True) if without else request


def _has_column(rows: RowOptions) -> bool:
    """Return whether a table declares the column, or a query makes it. Whoever opens the table says what is wrong."""
    from lastbit.data.files.open_table import ColumnSelection, list_columns, open_table

    with suppress(LastbitError):
        columns = list_columns(rows.source, rows.table, rows.form)
        if rows.sql is None or not columns:
            return names_column(columns)
        chosen = ColumnSelection((ROW,))
        with closing(open_table(rows.source, chosen, rows.table, rows.form, rows.plan, with_rows=False).connection):
            return True
    return False
