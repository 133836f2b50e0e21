"""Tables in memory as DuckDB relations, so that every question reads them as it reads a file.

A column of Python objects declares no type: it is read as text, as a column of a text file is. Two units that are
different objects stay two.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Collection, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable, connect, find_texts
from lastbit.data.duckdb.texts import parse_number
from lastbit.data.engines import call_engine, check_dask_types, open_frame, unwrap_ibis
from lastbit.data.files.parquet import clean_array
from lastbit.data.object_keys import encode_key, key
from lastbit.data.query.plan import RowPlan
from lastbit.data.query.steps import TablePlan
from lastbit.data.sql import quote_identifier
from lastbit.errors import ParameterError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_PLAIN: Final = frozenset((bool, int, float, Decimal, Fraction, datetime.date, datetime.datetime, uuid.UUID))
"""Types whose text says what a value is. What another class makes of itself is nobody's business here."""

_MARK: Final = "\0"
"""Begins the text of a unit that is no text."""


def open_frame_rows(
    frame: Any, columns: ColumnSelection, plan: RowPlan | TablePlan | None = None, units: Collection[str] = ()
) -> OpenTable:
    """Open a table of pandas, Polars, Arrow, DuckDB, Ibis or Dask with some of its columns, as a file is opened.

    units: the columns that say whom a row belongs to, and nothing else: two that are different objects stay two.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": [1, 2], "cost": [2.5, None]})
    >>> open_frame_rows(visits, ColumnSelection(("patient",), "cost")).relation.fetchall()
    [(1, 2.5), (2, None)]
    """
    known, present = open_frame(frame)
    if isinstance(plan, TablePlan):
        plan.check_names(list(present))
    source = columns if plan is None else plan.source_columns(columns)
    names = list(dict.fromkeys(source.names))
    source.check(list(present))
    arrays, objects = call_engine(_read_arrays, known, names, units)
    table = _open_arrays(arrays, source.weights, objects)
    return table if plan is None or plan.does_nothing else plan.apply(table, columns)


def _open_arrays(arrays: dict[str, pa.Array], weights: str | None, objects: frozenset[str]) -> OpenTable:
    import pyarrow as pa

    for name, array in arrays.items():
        if array.type.num_fields and not pa.types.is_dictionary(array.type):
            raise ParameterError(f"the column {name!r} must hold single values: it holds {array.type}.")
    rows = pa.table({name: clean_array(array, weight=name == weights) for name, array in arrays.items()})
    connection = connect()
    chosen = [
        f"{parse_number(quote_identifier(name))} AS {quote_identifier(name)}"
        if name == weights and name in objects
        else quote_identifier(name)
        for name in arrays
    ]

    def read() -> duckdb.DuckDBPyRelation:
        return connection.from_arrow(rows).project(", ".join(chosen))

    relation = read()
    texts = find_texts(relation) - objects
    # Not where the engine has yet to make numbers of text.
    held = None if weights in objects else (relation, rows)
    return OpenTable(relation, connection, again=read, text_columns=texts, held=held)


def _read_arrays(frame: Any, names: list[str], units: Collection[str]) -> tuple[dict[str, pa.Array], frozenset[str]]:
    """Return the columns as Arrow has them, and which of them are of Python objects."""
    import narwhals as nw

    from lastbit.data.memory.table import MemoryTable

    engine, native = frame.implementation, frame.to_native()
    if engine.is_ibis():
        unwrapped = unwrap_ibis(native)
        native = native.select(*names).to_pyarrow() if unwrapped is None else unwrapped
        return _read_arrays(nw.from_native(native), names, units)
    if engine.is_duckdb():
        chosen = native.project(", ".join(map(quote_identifier, names)))
        return _plain_arrays(chosen.to_arrow_table()), frozenset()
    if engine.is_pandas_like() or engine.is_dask():
        collected = native[names] if engine.is_pandas() else frame.select(*names).lazy().collect("pandas").to_native()
        if engine.is_dask():
            check_dask_types(native.dtypes, MemoryTable(collected, nw.Implementation.PANDAS), names)
        series = {name: collected[name] for name in names}
        return (
            {name: _convert_series(column, injective=name in units) for name, column in series.items()},
            frozenset(name for name, column in series.items() if _holds_objects(column.dtype)),
        )
    return _plain_arrays(frame.select(*names).lazy().collect("pyarrow").to_native()), frozenset()


def _plain_arrays(table: Any) -> dict[str, pa.Array]:
    """Return the columns of an Arrow table, each in one piece and without dictionaries."""
    import pyarrow as pa
    import pyarrow.compute as pc

    arrays = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        chunks = []
        for chunk in column.chunks or [pa.nulls(0, column.type)]:
            while pa.types.is_dictionary(chunk.type) or pa.types.is_run_end_encoded(chunk.type):
                is_coded = pa.types.is_dictionary(chunk.type)
                chunk = chunk.dictionary_decode() if is_coded else pc.run_end_decode(chunk)
            if chunk.type in (pa.string(), pa.binary()):
                chunk = chunk.cast(pa.large_string() if chunk.type == pa.string() else pa.large_binary())
            chunks.append(chunk)
        arrays[name] = pa.concat_arrays(chunks)
    return arrays


def _holds_objects(dtype: Any) -> bool:
    """Return whether a column of pandas declares no type: its rows, or its categories, may be anything."""
    import numpy as np
    import pandas as pd

    return isinstance(dtype, pd.CategoricalDtype) or (isinstance(dtype, np.dtype) and dtype.kind == "O")


def _convert_series(series: Any, *, injective: bool) -> pa.Array:
    import pandas as pd
    import pyarrow as pa

    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        return _convert_series(series.sparse.to_dense(), injective=injective)
    if isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype):
        raise ParameterError(f"the column {series.name!r} must hold single values: it holds {dtype}.")
    if _holds_objects(dtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage == "python"):
        return _convert_objects(series.astype(object).tolist(), injective=injective)
    table = pa.table({"only": pa.chunked_array([pa.array(series.array, from_pandas=True)])})
    return _plain_arrays(table)["only"]


def _convert_objects(values: Iterable[Any], *, injective: bool) -> pa.Array:
    import pyarrow as pa

    write = _write_unit if injective else _write_text
    texts = [None if (text := write(value)) is None else text.encode("utf-8", "surrogatepass") for value in values]
    # As bytes: what is no text is found and left out with the rest, and raises nothing.
    return pa.array(texts, pa.large_binary()).view(pa.large_string())


def _write_text(value: Any) -> str | None:
    """Return the text of an object; None where it is missing or of a type that is not known here."""
    if type(value) is str:
        return value
    if key(value) is None:
        return None
    plain = value.item() if hasattr(type(value), "dtype") else value
    return str(plain) if type(plain) in _PLAIN else None


def _write_unit(value: Any) -> str | None:
    """Return a text for a unit: the same for the same unit, and another one for every other."""
    if type(value) is str and not value.startswith(_MARK):
        return value
    form = key(value)
    return None if form is None else _MARK + encode_key(form).hex()
