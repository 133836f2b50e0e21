"""Which engine has a table: every table that Narwhals knows, as the one of ours that counts it.

DuckDB and Spark count in their own language. So does the engine of an Ibis table where that is DuckDB, Spark or Polars.
Tables in memory are counted here. Of all others the columns named are fetched first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, TypeVar

from lastbit.data.column_types import ColumnType
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.table import Table
from lastbit.errors import DataError, LastbitError, ParameterError, missing_column_error
from lastbit.values.spark_rows import silence_pyspark

if find_spec("narwhals") is None:
    raise LastbitError("count needs narwhals. Install it with: pip install 'lastbit[data]'")

Result = TypeVar("Result")


def parse_columns(by: object) -> list[str]:
    """Return the names of the columns that hold the items, from what a person gave; refuse anything else."""
    columns = [by] if isinstance(by, str) else list(by) if isinstance(by, Sequence) else []
    if not columns or not all(isinstance(column, str) for column in columns):
        raise ParameterError("by must be the name of a column, or a list of such names. Write by='diagnosis'.")
    return columns


def declare_columns(frame: Any) -> dict[str, ColumnType | None]:
    """Return the declared type of each column of a frame; None where rows cannot be counted by such a type.

    >>> import pandas as pd
    >>> declare_columns(pd.DataFrame({"age": [31], "name": ["a"]}))["age"]
    <ColumnType: whole numbers>
    """
    names = list(open_frame(frame)[1])
    table = call_engine(wrap_frame, frame, names)
    return {name: call_engine(table.column_type, name) for name in names}


def wrap_frame(frame: Any, columns: list[str]) -> Table:
    """Return the table of the engine that has this frame; refuse a frame without one of these columns."""
    if isinstance(frame, OpenTable):
        from lastbit.data.duckdb.table import DuckDBTable

        # A table of our own is known already: Narwhals takes longer to load than a small table to count.
        _check_names(columns, frame.relation.columns)
        return DuckDBTable(frame.relation, frame)
    known, present = open_frame(frame)
    _check_names(columns, present)
    return _wrap_native(known, columns)


def open_frame(frame: Any) -> tuple[Any, Sequence[str]]:
    """Return a frame as Narwhals knows it, and the names of its columns."""
    import narwhals as nw

    try:
        known: Any = nw.from_native(frame)
        # Names only: of pandas, Narwhals would look at rows to say more.
        present = known.columns if isinstance(known, nw.DataFrame) else known.collect_schema().names()
    except nw.exceptions.DuplicateError:
        raise ParameterError("columns must have different names: two of the table have the same. Rename one.") from None
    except TypeError:
        raise ParameterError(
            f"frame must be a table that Narwhals knows: got {type(frame).__name__}. "
            "Pass a table of pandas, Polars, PyArrow, DuckDB, PySpark, Ibis or Dask. lastbit.ask reads files."
        ) from None
    return known, present


def find_spark(frame: Any) -> Any | None:
    """Return the DataFrame of Spark that a frame is, or that an Ibis table on Spark stands for; None for others."""
    known = open_frame(frame)[0]
    engine = known.implementation
    if engine.is_ibis():
        unwrapped = call_engine(unwrap_ibis, known.to_native())
        return None if unwrapped is None else find_spark(unwrapped)
    return known.to_native() if engine.is_pyspark() or engine.is_pyspark_connect() else None


def _check_names(columns: list[str], present: Sequence[str]) -> None:
    for column in columns:
        if column not in present:
            raise missing_column_error(column, present)
    if not columns or len(set(columns)) != len(columns):
        raise ParameterError(f"by, unit and weights must be different columns: got {', '.join(columns) or 'none'}.")


def _wrap_native(frame: Any, columns: list[str]) -> Table:
    import narwhals as nw

    engine, native = frame.implementation, frame.to_native()
    if engine.is_duckdb():
        from lastbit.data.duckdb.table import DuckDBTable

        return DuckDBTable(native)
    if engine.is_pyspark() or engine.is_pyspark_connect():
        from lastbit.data.spark.table import SparkTable

        return SparkTable(native)
    if engine.is_ibis():
        unwrapped = unwrap_ibis(native)
        if unwrapped is not None:
            return _wrap_native(nw.from_native(unwrapped), columns)
    from lastbit.data.memory.table import MemoryTable

    if engine.is_pandas() or engine.is_polars() or engine.is_pyarrow():
        return MemoryTable(native, engine)
    # Tables like those of pandas have columns of objects: Arrow would fail on values of two types.
    form = nw.Implementation.PANDAS if engine.is_pandas_like() or engine.is_dask() else nw.Implementation.PYARROW
    table = MemoryTable(frame.select(*columns).lazy().collect(form).to_native(), form)
    if engine.is_dask():
        check_dask_types(native.dtypes, table, columns)
    return table


def unwrap_ibis(table: Any) -> Any | None:
    """Return an Ibis table as its engine's own library has it, with nothing read yet; None where that cannot be.

    Ibis hands a table of this process (`ibis.memtable`) or a function of the user's to an engine only when Ibis itself
    runs the query. The engine alone does not know them, or knows another table of that name.
    """
    from ibis.expr import operations

    if table.op().find((operations.InMemoryTable, operations.ScalarUDF, operations.AggUDF)):
        return None
    backend = table.get_backend()
    if backend.name == "duckdb":
        return backend.con.sql(backend.compile(table))
    if backend.name == "pyspark":
        return backend.raw_sql(backend.compile(table))
    return backend.compile(table) if backend.name == "polars" else None


def check_dask_types(types: Any, table: Table, columns: list[str]) -> None:
    """Refuse rows of another type than Dask declares: the type of a column must not follow from its rows."""
    import narwhals as nw
    import pandas as pd

    from lastbit.data.memory.table import MemoryTable

    empty = pd.DataFrame({name: pd.Series(dtype=types[name]) for name in columns})
    declared = MemoryTable(empty, nw.Implementation.PANDAS)
    for name in columns:
        if declared.column_type(name) is not table.column_type(name):
            raise DataError(
                f"the column {name!r} is declared as {types[name]}, and its rows are of another type. Give it the type "
                f"that it should have: frame.astype({{{name!r}: ...}})."
            )


def require_column_types(table: Table, columns: Sequence[str]) -> dict[str, ColumnType]:
    """Return the declared type of each column; refuse a column whose type cannot be counted by."""
    types = {}
    for column in columns:
        column_type = table.column_type(column)
        if column_type is None:
            raise ParameterError(
                f"the column {column!r} must hold single values: text, numbers, dates or times. "
                "Its type is another one. Make a column of such a type from it."
            )
        types[column] = column_type
    return types


def call_engine(work: Callable[..., Result], *arguments: Any) -> Result:
    """Return the result of an engine; of its errors pass on only the type, because the message may quote a row.

    This is no context manager: what a context manager raises keeps the error that it replaces.
    """
    try:
        with silence_pyspark():
            return work(*arguments)
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
