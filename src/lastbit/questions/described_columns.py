"""Which columns `describe` speaks of, and what each holds: as it is declared or typed, never as its rows look."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal

from lastbit.errors import ParameterError, missing_column_error
from lastbit.exact.numbers import positive
from lastbit.questions.list_types import TextList
from lastbit.questions.option import Face

if TYPE_CHECKING:
    from lastbit.data.column_types import ColumnType
    from lastbit.questions.request import Request
    from lastbit.questions.row_options import RowOptions

Holds = Literal["numbers", "dates", "text", "other"]
"""What a column holds. Of others only missing values are counted."""

MOST_COLUMNS: Final = 200
_FINE_STEP: Final = "1/1000"
"""The step of numbers that are not declared to be whole, where nobody says another."""


@dataclass(frozen=True)
class ColumnNames(TextList):
    """Columns: one, or a list of them; on the page, names with commas between them.

    >>> ColumnNames().parse("cost, age", "--numbers", "page"), ColumnNames().parse(["a,b"], "--numbers", "python")
    (('cost', 'age'), ('a,b',))
    """

    def parse(self, value: Any, flag: str, face: Face) -> tuple[str, ...]:
        """Return the names."""
        if isinstance(value, str) and face == "page":
            value = [name for part in value.split(",") if (name := part.strip())]
        return super().parse(value, flag, face)


@dataclass(frozen=True)
class DescribedColumn:
    """A column, what it holds, and the step that its numbers are floored to."""

    name: str
    holds: Holds
    step: Fraction = Fraction(1)


def choose_columns(request: Request) -> list[DescribedColumn]:
    """Return the columns in the order of the table. No row is read, but the names and the declared types are."""
    unit = request.rows.unit
    if unit is None:
        raise ParameterError("describe needs --unit COLUMN: it speaks of people, and rows alone name none.")
    typed = _read_typed(request)
    types = _read_types(request)
    asked = request["of"] or ()
    known = [*types, *(name for name in typed if name not in types)] if _names_all(request) else [*types]
    # Columns that the question makes have no declared type: they are described where somebody says what they hold.
    known += [name for name in request.rows.new_columns if name in typed and name not in known]
    for name in (*typed, *asked):
        if name not in known:
            raise missing_column_error(name, known)
    own = request.rows.unit_names
    if twice := [name for name in own if name in typed or name in asked]:
        raise ParameterError(f"--unit says whom a row belongs to, and is not described: got {twice[0]!r} for two.")
    names = [name for name in known if name not in own and (not asked or name in asked)]
    columns = [_describe_column(name, typed.get(name), types.get(name), request) for name in names]
    if not typed and not any(column.holds in ("numbers", "dates") for column in columns):
        raise ParameterError(
            "describe needs to know which columns hold numbers or dates: this table declares none. Write --numbers "
            "cost --dates day, or --texts diagnosis. Nothing was read."
        )
    if len(columns) > MOST_COLUMNS:
        raise ParameterError(
            f"describe speaks of at most {MOST_COLUMNS} columns at once: the table has {len(columns)}. Name some with "
            "--of COLUMN."
        )
    return columns


def _describe_column(name: str, typed: Holds | None, declared: ColumnType | None, request: Request) -> DescribedColumn:
    from lastbit.data.column_types import BOOLEAN, INTEGER, NUMBERS, OBJECT, TEXT
    from lastbit.data.profiling import DATES

    usual: Holds = "other"
    if declared in NUMBERS:
        usual = "numbers"
    elif declared in DATES:
        usual = "dates"
    elif declared in (TEXT, OBJECT, BOOLEAN):
        usual = "text"
    holds = typed or usual
    if holds != "numbers":
        return DescribedColumn(name, holds)
    step = request["resolution"] or ("1" if declared is INTEGER else _FINE_STEP)
    return DescribedColumn(name, holds, positive(step, "--resolution", "It is the step that numbers are floored to."))


def _read_typed(request: Request) -> dict[str, Holds]:
    """Return what a person says that columns hold."""
    typed: dict[str, Holds] = {}
    options: tuple[tuple[str, Holds], ...] = (("numbers", "numbers"), ("dates", "dates"), ("texts", "text"))
    for option, holds in options:
        for name in request[option] or ():
            if typed.setdefault(name, holds) != holds:
                raise ParameterError(f"a column must be of one kind: got {name!r} for two. Leave it out of one.")
    return typed


def _names_all(request: Request) -> bool:
    """Tell whether only the person who asks can name the columns: no header declares them."""
    return request.frame is None and (request.rows.sql is not None or not _lists_columns(request.rows))


def _lists_columns(rows: RowOptions) -> bool:
    from lastbit.data.files.formats import JSON_LINES

    first = rows.source[0] if rows.source else "-"
    return first != "-" and rows.form.endings(first)[0] not in JSON_LINES


def _read_types(request: Request) -> dict[str, ColumnType | None]:
    """Return the declared type of each column; text files declare text, and a pipe or a query nothing."""
    from lastbit.data.engines import declare_columns

    if request.frame is not None:
        return declare_columns(request.frame)
    if _names_all(request):
        return {}
    return read_declared_types(request.rows)


def read_declared_types(rows: RowOptions) -> dict[str, ColumnType | None]:
    """Open a file or a table without its rows, and return the declared types of its columns."""
    from lastbit.data.column_types import TEXT
    from lastbit.data.duckdb.columns import DuckDBColumns
    from lastbit.data.duckdb.relation import ColumnSelection
    from lastbit.data.files.open_table import list_columns, open_table

    names = list_columns(rows.source, rows.table, rows.form)
    if rows.form.endings(rows.source[0])[0] not in (None, ".parquet"):
        return dict.fromkeys(names, TEXT)
    table = open_table(rows.source, ColumnSelection(tuple(names)), rows.table, rows.form, with_rows=False)
    try:
        columns: Any = DuckDBColumns(table.relation, table)
        return {name: columns.column_type(name) for name in names}
    finally:
        table.connection.close()
