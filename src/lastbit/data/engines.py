"""Which engine has a table: every table that Narwhals knows, as the one of ours that counts it.

DuckDB and Spark count in their own language. So does the engine of an Ibis table where that is DuckDB, Spark or Polars.
Tables in memory are counted here. Of all others the columns named are fetched first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import DataError, LastbitError, ParameterError, no_column
from lastbit.values.spark_rows import quiet

try:
    import narwhals as nw
except ImportError:
    raise LastbitError("count needs narwhals. Install it with: pip install 'lastbit[data]'") from None

from lastbit.data.columns import Keys
from lastbit.data.kinds import Kind
from lastbit.data.relation import Opened
from lastbit.data.task import Occurring, Task

Result = TypeVar("Result")


def columns_of(by: object) -> list[str]:
    """The names of the columns that hold the items."""
    columns = [by] if isinstance(by, str) else list(by) if isinstance(by, Sequence) else []
    if not columns or not all(isinstance(each, str) for each in columns):
        raise ParameterError("by must be the name of a column, or a list of such names. Write by='diagnosis'.")
    return columns


class Table(Protocol):
    """A table in its own engine."""

    def kind(self, name: str) -> Kind | None:
        """The kind of a column by its declared type; None where the type cannot be counted by."""

    def totals(self, task: Task, keys: Sequence[Keys]) -> NDArray[np.int64]:
        """The count of each item of the product of domains, or its sum in steps."""

    def numbers(self, task: Task, keys: Sequence[Keys]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of each unit in steps, and the place of its item."""

    def occurring(self, task: Task) -> Callable[[int | None], Occurring]:
        """The items that occur, largest first, when they are asked for."""


def table_of(frame: Any, wanted: list[str]) -> Table:
    """The table, with every column that is wanted."""
    try:
        known: Any = nw.from_native(frame.relation if isinstance(frame, Opened) else frame)
        # Names only: of pandas, Narwhals would look at rows to say more.
        present = known.columns if isinstance(known, nw.DataFrame) else known.collect_schema().names()
    except nw.exceptions.DuplicateError:
        raise ParameterError("columns must have different names: two of the table have the same. Rename one.") from None
    except TypeError:
        raise ParameterError(
            f"frame must be a table that Narwhals knows: got {type(frame).__name__}. "
            "Pass a table of pandas, Polars, PyArrow, DuckDB, PySpark, Ibis or Dask. lastbit.ask reads files."
        ) from None
    for column in wanted:
        if column not in present:
            raise no_column(column, present)
    if not wanted or len(set(wanted)) != len(wanted):
        raise ParameterError(f"by, unit and weights must be different columns: got {', '.join(wanted) or 'none'}.")
    return _in_its_engine(known, wanted, frame if isinstance(frame, Opened) else None)


def _in_its_engine(known: Any, wanted: list[str], opened: Opened | None = None) -> Table:
    engine, native = known.implementation, known.to_native()
    if engine.is_duckdb():
        from lastbit.data.duckdb_table import DuckDBTable

        return DuckDBTable(native, opened)
    if engine.is_pyspark() or engine.is_pyspark_connect():
        from lastbit.data.spark_table import SparkTable

        return SparkTable(native)
    if engine.is_ibis():
        from lastbit.data.ibis_table import own_table

        own = own_table(native)
        if own is not None:
            return _in_its_engine(nw.from_native(own), wanted)
    from lastbit.data.memory import Memory

    if engine.is_pandas() or engine.is_polars() or engine.is_pyarrow():
        return Memory(native, engine)
    # Tables like those of pandas have columns of objects: Arrow would fail on values of two types.
    form = nw.Implementation.PANDAS if engine.is_pandas_like() or engine.is_dask() else nw.Implementation.PYARROW
    fetched = Memory(known.select(*wanted).lazy().collect(form).to_native(), form)
    if engine.is_dask():
        _check_declared(native.dtypes, fetched, wanted)
    return fetched


def _check_declared(types: Any, fetched: Table, wanted: list[str]) -> None:
    """Refuse rows of another type than Dask declares: the type of a column must not follow from its rows."""
    import pandas as pd

    from lastbit.data.memory import Memory

    declared = Memory(pd.DataFrame({name: pd.Series(dtype=types[name]) for name in wanted}), nw.Implementation.PANDAS)
    for name in wanted:
        if declared.kind(name) is not fetched.kind(name):
            raise DataError(
                f"the column {name!r} is declared as {types[name]}, and its rows are of another type. Give it the type "
                f"that it should have: frame.astype({{{name!r}: ...}})."
            )


def kinds_of(table: Table, columns: Sequence[str]) -> list[Kind]:
    """The kinds of the columns, by their declared types."""
    found = []
    for column in columns:
        kind = table.kind(column)
        if kind is None:
            raise ParameterError(
                f"the column {column!r} must hold single values: text, numbers, dates or times. "
                "Its type is another one. Make a column of such a type from it."
            )
        found.append(kind)
    return found


def or_kind(work: Callable[..., Result], *given: Any) -> Result:
    """The result of an engine; of its errors only the kind, because the message may quote a row."""
    try:
        with quiet():
            return work(*given)
    except LastbitError:
        raise  # our own words, which quote nothing
    except ImportError as error:
        problem, missing = "", error.name
    except Exception as error:
        missing = None
        if isinstance(error.__cause__, KeyboardInterrupt):  # DuckDB's way to say that somebody pressed Ctrl-C
            raise KeyboardInterrupt from None
        problem = type(error).__name__
    if missing is not None:
        raise LastbitError(f"count needs {missing} for this table. Install it with: pip install 'lastbit[data]'")
    raise DataError(f"the table could not be counted: {problem}. Read it with its own library to see why.")
