"""Parquet files: the file declares the types, and a value that does not fit its type is null.

DuckDB reads numbers fastest, and any number will do. It stops at text that is no UTF-8, at times too far away, or at
hours a day does not have. Where there is more than numbers PyArrow reads the file, which does not look, and each batch
is looked at here.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from decimal import Context
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable, connect, find_texts, stream_batches
from lastbit.data.files.parquet_texts import TextColumns, escape_glob, is_text, read_rows, replace_entries
from lastbit.data.long_texts import shorten_array
from lastbit.data.sql import quote_identifier, quote_text
from lastbit.errors import ParameterError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

_DAY: Final = {unit: 86_400 * 10**power for unit, power in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))}
_DAYS: Final = 106_751_990
"""Days from 1970 for which DuckDB has a date, and a time in any zone."""

_NANOSECOND_DAYS: Final = 106_751
"""The same for times in nanoseconds."""

_EXTENSION: Final = b"ARROW:extension:name"
_ENCODED: Final = re.compile(b"|".join(b64encode(bytes(shift) + _EXTENSION)[4:-4] for shift in range(3)))
"""The name of a type that is not Arrow's own, in a schema of Arrow; also where the schema is kept in base64."""

_EXACT: Final = Context(prec=100)
"""More digits than a decimal of a file has."""


def open_parquet(connection: duckdb.DuckDBPyConnection, path: Path, selection: ColumnSelection) -> OpenTable:
    """Open a Parquet file, in the types that it declares."""
    problem = _watch_file(path)
    names = list(dict.fromkeys(selection.names))
    rows = _read_numbers(connection, path, names)
    if rows is not None:
        return OpenTable(rows, connection, problem=problem, again=lambda: rows)
    declared = _schema(path)
    selection.check(declared.names)
    for name in names:
        if len(declared.get_all_field_indices(name)) != 1:
            raise ParameterError(f"the columns of {path} must have different names. Rename the columns that are alike.")
        if declared.field(name).type.num_fields:
            raise ParameterError(f"the column {name!r} must hold single values: it holds {declared.field(name).type}.")

    def again() -> duckdb.DuckDBPyRelation:
        return stream_batches(connection, *_batches(connection, path, names, declared, selection.weights))

    relation = again()
    return OpenTable(relation, connection, problem=problem, again=again, text_columns=find_texts(relation))


def list_parquet_columns(path: Path) -> list[str]:
    """List the columns that a Parquet file declares."""
    with connect() as connection:
        columns = _declared_columns(connection, path)
    return list(_schema(path).names) if columns is None else [column[0] for column in columns]


def _schema(path: Path) -> Any:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.schema_arrow


def _watch_file(path: Path) -> Callable[[], str | None]:
    """Return a function that says whether somebody wrote to a file since: two readings would have other rows."""

    def facts() -> tuple[int, ...] | None:
        try:
            status = path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    before = facts()
    warning = f"{path} changed while it was read. Nothing was released. Try again when nobody writes to the file."
    return lambda: None if before is not None and facts() == before else warning


def _read_numbers(
    connection: duckdb.DuckDBPyConnection, path: Path, names: list[str]
) -> duckdb.DuckDBPyRelation | None:
    """Return columns that hold nothing but numbers, which the engine reads itself; None where one does not.

    The engine says so, too: PyArrow takes as long to load as many a table to count.
    """
    columns = _declared_columns(connection, path)
    if columns is None:
        return None
    present = [column[0] for column in columns]
    if any(present.count(name) != 1 or not _is_number(columns[present.index(name)]) for name in names):
        return None
    relation = read_rows(connection, path)
    # By their numbers, because the engine takes names that differ in capitals only for one.
    chosen = [(quote_identifier(relation.columns[present.index(name)]), quote_identifier(name)) for name in names]
    return relation.project(", ".join(f"{column} AS {name}" for column, name in chosen))


def _declared_columns(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[Any, ...]] | None:
    """Return what the file declares of its columns, as the engine says; None where it does not, or not all of it."""
    import duckdb

    file = quote_text(escape_glob(path))
    try:
        with connection.cursor() as own:
            fields = "name, type, num_children, repetition_type, converted_type, CAST(logical_type AS VARCHAR)"
            schema = own.execute(f"SELECT {fields} FROM parquet_schema({file})").fetchall()  # noqa: S608
            notes = own.execute(f"SELECT value FROM parquet_kv_metadata({file})").fetchall()  # noqa: S608
    except duckdb.Error:
        return None
    # A type of somebody's own may be kept as numbers, and mean something else.
    return None if any(_EXTENSION in note or _ENCODED.search(note) for (note,) in notes) else _top_columns(schema)


def _top_columns(schema: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the columns of a schema that lists them with all that is inside of them, each before its parts."""
    columns, place = [], 1
    while place < len(schema):
        columns.append(schema[place])
        inside = schema[place][2] or 0
        place += 1
        while inside:
            inside += (schema[place][2] or 0) - 1
            place += 1
    return columns


def _is_number(column: tuple[Any, ...]) -> bool:
    """Tell whether a column of a schema is declared to hold one number, or one truth, in each row."""
    _, kept, parts, repeated, converted, logical = column
    whole = kept in ("INT32", "INT64") and (converted is None or "INT_" in converted)
    plain = logical is None or (whole and logical.startswith("IntType"))
    return not parts and repeated != "REPEATED" and plain and (whole or kept in ("BOOLEAN", "FLOAT", "DOUBLE"))


def _batches(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    names: list[str],
    declared: pa.Schema,
    weights: str | None = None,
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the types of the columns, and the rows, a few at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        texts = TextColumns.of(file, [name for name in names if is_text(declared.field(name).type)])
    # Without rows, made so that pandas is not loaded for it.
    types = [declared.field(name).type for name in names]
    plain_types = [_convert(pa.nulls(0, dtype), name == weights).type for name, dtype in zip(names, types, strict=True)]
    coded = [
        pa.dictionary(pa.int32(), dtype) if name in texts.few else dtype
        for name, dtype in zip(names, plain_types, strict=True)
    ]
    schema = pa.schema(list(zip(names, coded, strict=True)))

    def batches() -> Iterator[pa.RecordBatch]:
        rows, encoded, known = texts.choose_batches(connection, path, declared)
        # Otherwise PyArrow reads the whole file ahead and keeps it. Threads of its own would keep memory of their own.
        with pq.ParquetFile(path, pre_buffer=False, read_dictionary=encoded) as file:
            seconds = _seconds(path, _old_times(file, names), rows)
            for batch in file.iter_batches(rows, columns=names, use_threads=False):
                near = next(seconds)
                columns = []
                for name, dtype in zip(names, coded, strict=True):
                    column = batch.column(name)
                    column = _limit_seconds(column, near[name]) if name in near else column
                    if isinstance(column, pa.DictionaryArray):
                        entries = clean_array(column.dictionary, weight=name == weights)
                        column = replace_entries(column, entries)
                        columns.append(column if pa.types.is_dictionary(dtype) else column.dictionary_decode())
                    else:
                        column = _convert(column, name == weights)
                        columns.append(_shorten(column if name in known else _drop_invalid(column)))
                yield pa.record_batch(columns, schema=schema)

    return schema, batches()


def clean_array(array: pa.Array, *, weight: bool = False) -> pa.Array:
    """Return values as the engine takes them: a value that does not fit its type is null, a long text is its digest."""
    return _shorten(_drop_invalid(_convert(array, weight)))


def _shorten(array: pa.Array) -> pa.Array:
    """Return text and bytes in their normal form."""
    return shorten_array(array) if is_text(array.type) else array


def _old_times(file: pq.ParquetFile, names: list[str]) -> list[str]:
    """Return the columns with times of 96 bits."""
    columns = [file.schema.column(number) for number in range(len(file.schema))]
    old = {column.path for column in columns if column.physical_type == "INT96"}
    return [name for name in names if name in old]


def _seconds(path: Path, names: list[str], rows: int) -> Iterator[dict[str, pa.Array]]:
    """Return times of 96 bits in whole seconds, batch by batch.

    In nanoseconds times 584 years apart are one, because 64 bits hold no more. In seconds they are two.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not names:
        yield from repeat({})
    with pq.ParquetFile(path, pre_buffer=False, coerce_int96_timestamp_unit="s") as file:
        for batch in file.iter_batches(rows, columns=names, use_threads=False):
            yield {name: batch.column(name).view(pa.int64()) for name in names}


def _limit_seconds(times: pa.Array, seconds: pa.Array) -> pa.Array:
    """Return times in nanoseconds; null where their seconds are beyond what 64 bits hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    most = _NANOSECOND_DAYS * _DAY["s"]
    near = pc.and_(pc.less_equal(seconds, most), pc.greater_equal(seconds, -most))
    return pc.if_else(near, times, pa.scalar(None, times.type))


def _convert(array: pa.Array, weight: bool = False) -> pa.Array:
    """Return values in types that DuckDB takes as they are.

    A duration is a whole number in the file: its unit is only a remark in the file.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):  # of no rows
        array = array.dictionary
    if isinstance(array.type, pa.BaseExtensionType) and pa.types.is_string(array.type.storage_type):
        array = array.storage
    if array.type in (pa.string_view(), pa.binary_view()):
        array = array.cast(pa.large_string() if array.type == pa.string_view() else pa.large_binary())
    if pa.types.is_timestamp(array.type):
        # The engine has no nanoseconds with a zone, and would round them: such a time is its time in UTC.
        zone = None if array.type.unit == "ns" else array.type.tz
        return _limit_days(array, pa.int64(), _DAY[array.type.unit], zone)
    if pa.types.is_duration(array.type):
        return array.view(pa.int64())
    if pa.types.is_date64(array.type):
        array = array.cast(pa.date32(), safe=False)
    if pa.types.is_date32(array.type):
        return _limit_days(array, pa.int32(), 1, None)
    if pa.types.is_float16(array.type):
        return array.cast(pa.float32())
    if pa.types.is_decimal256(array.type):
        return array.cast(pa.float64(), safe=False) if weight else _digits(array)
    return array


def _digits(array: pa.Array) -> pa.Array:
    """Return decimals that the engine has no type for as text: all of their digits, without zeros at the end."""
    import pyarrow as pa

    distinct = array.dictionary_encode()
    texts = [None if value is None else f"{value.normalize(_EXACT):f}" for value in distinct.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(distinct.indices)


def _limit_days(times: pa.Array, whole: pa.DataType, day: int, zone: str | None) -> pa.Array:
    """Return the same times, seconds and milliseconds as microseconds; null where DuckDB's calendar has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    steps = times.view(whole)
    most = (_NANOSECOND_DAYS if day == _DAY["ns"] else _DAYS) * day
    near = pc.and_(pc.less_equal(steps, most), pc.greater_equal(steps, -most))
    steps = pc.if_else(near, steps, pa.scalar(None, whole))
    if day == _DAY["ns"]:
        return steps.view(pa.timestamp("ns"))
    if day not in (_DAY["s"], _DAY["ms"]):
        return steps.view(times.type)
    return pc.multiply(steps, _DAY["us"] // day).view(pa.timestamp("us", zone))


def _drop_invalid(array: pa.Array) -> pa.Array:
    """Return the same values; null where one is none of its type. Halved until the few that are wrong stand alone."""
    import pyarrow as pa

    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        if len(array) == 1:
            return pa.nulls(1, array.type)
        half = len(array) // 2
        # Copied: a slice may be looked at together with what it is a slice of.
        return pa.concat_arrays([_drop_invalid(array.slice(0, half)), _drop_invalid(array.slice(half))])
    return array
