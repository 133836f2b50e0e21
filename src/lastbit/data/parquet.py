"""Parquet files: the file declares the types, and a value that does not fit its type is null.

DuckDB reads numbers fastest, and any number will do. It stops at text that is no UTF-8, at times too far away, or at
hours a day does not have. Where there is more than numbers PyArrow reads the file, which does not look, and each batch
is looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Context
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.long_texts import shorten_array
from lastbit.data.parquet_texts import Texts, is_text, with_entries
from lastbit.data.relation import Opened, Wanted, literal, streamed
from lastbit.data.sorting import quoted
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

_EXACT: Final = Context(prec=100)
"""More digits than a decimal of a file has."""


def parquet(connection: duckdb.DuckDBPyConnection, path: Path, wanted: Wanted) -> Opened:
    """The wanted columns of a Parquet file, in the types that it declares."""
    written = _written(path)
    declared = _schema(path)
    wanted.check(declared.names)
    names = list(dict.fromkeys(wanted.names))
    for name in names:
        if len(declared.get_all_field_indices(name)) != 1:
            raise ParameterError(f"the columns of {path} must have different names. Rename the columns that are alike.")
        if declared.field(name).type.num_fields:
            raise ParameterError(f"the column {name!r} must hold single values: it holds {declared.field(name).type}.")
    if all(_is_number(declared.field(name).type) for name in names):
        relation = connection.sql(f"SELECT * FROM read_parquet({literal(no_glob(path))}, hive_partitioning = false)")  # noqa: S608
        # By their places, because the engine takes names that differ in capitals only for one.
        own = [quoted(relation.columns[declared.get_field_index(name)]) for name in names]
        chosen = ", ".join(f"{each} AS {quoted(name)}" for each, name in zip(own, names, strict=True))
        rows = relation.project(chosen)
        return Opened(rows, connection, problem=written, again=lambda: rows)

    def again() -> duckdb.DuckDBPyRelation:
        return streamed(connection, *_batches(connection, path, names, declared, wanted.weights))

    return Opened(again(), connection, problem=written, again=again)


def parquet_columns(path: Path) -> list[str]:
    """The columns that a Parquet file declares."""
    return list(_schema(path).names)


def _schema(path: Path) -> Any:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.schema_arrow


def _written(path: Path) -> Callable[[], str | None]:
    """Says whether somebody wrote to a file meanwhile: the rows of one reading would not be those of the next."""

    def facts() -> tuple[int, ...] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    before = facts()
    said = f"{path} changed while it was read. Nothing was released. Try again when nobody writes to the file."
    return lambda: None if before is not None and facts() == before else said


def no_glob(path: Path) -> str:
    """A path that the engine takes for itself and not for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _is_number(kind: pa.DataType) -> bool:
    import pyarrow as pa

    known = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_float32, pa.types.is_float64)
    return any(matches(kind) for matches in known)


def _batches(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    names: list[str],
    declared: pa.Schema,
    weights: str | None = None,
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The types of the columns, and the rows, a few at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        texts = Texts.of(file, [name for name in names if is_text(declared.field(name).type)])
    # Without rows, made so that pandas is not loaded for it.
    kinds = [declared.field(name).type for name in names]
    made = [_plain(pa.nulls(0, kind), name == weights).type for name, kind in zip(names, kinds, strict=True)]
    coded = [
        pa.dictionary(pa.int32(), kind) if name in texts.few else kind for name, kind in zip(names, made, strict=True)
    ]
    schema = pa.schema(list(zip(names, coded, strict=True)))

    def batches() -> Iterator[pa.RecordBatch]:
        rows, encoded, known = texts.plan(connection, path, declared)
        # Otherwise PyArrow reads the whole file ahead and keeps it. Threads of its own would keep memory of their own.
        with pq.ParquetFile(path, pre_buffer=False, read_dictionary=encoded) as file:
            seconds = _seconds(path, _old_times(file, names), rows)
            for batch in file.iter_batches(rows, columns=names, use_threads=False):
                near = next(seconds)
                columns = []
                for name, kind in zip(names, coded, strict=True):
                    column = batch.column(name)
                    column = _within(column, near[name]) if name in near else column
                    if isinstance(column, pa.DictionaryArray):
                        entries = _short(_valid(_plain(column.dictionary, name == weights)))
                        column = with_entries(column, entries)
                        columns.append(column if pa.types.is_dictionary(kind) else column.dictionary_decode())
                    else:
                        column = _plain(column, name == weights)
                        columns.append(_short(column if name in known else _valid(column)))
                yield pa.record_batch(columns, schema=schema)

    return schema, batches()


def _short(array: pa.Array) -> pa.Array:
    """Text and bytes in their normal form."""
    return shorten_array(array) if is_text(array.type) else array


def _old_times(file: pq.ParquetFile, names: list[str]) -> list[str]:
    """The columns with times of 96 bits."""
    columns = [file.schema.column(place) for place in range(len(file.schema))]
    old = {column.path for column in columns if column.physical_type == "INT96"}
    return [name for name in names if name in old]


def _seconds(path: Path, names: list[str], rows: int) -> Iterator[dict[str, pa.Array]]:
    """Times of 96 bits in whole seconds, batch by batch.

    In nanoseconds times 584 years apart are one, because 64 bits hold no more. In seconds they are two.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not names:
        yield from repeat({})
    with pq.ParquetFile(path, pre_buffer=False, coerce_int96_timestamp_unit="s") as file:
        for batch in file.iter_batches(rows, columns=names, use_threads=False):
            yield {name: batch.column(name).view(pa.int64()) for name in names}


def _within(times: pa.Array, seconds: pa.Array) -> pa.Array:
    """Times in nanoseconds; null where their seconds are beyond what 64 bits hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    most = _NANOSECOND_DAYS * _DAY["s"]
    near = pc.and_(pc.less_equal(seconds, most), pc.greater_equal(seconds, -most))
    return pc.if_else(near, times, pa.scalar(None, times.type))


def _plain(array: pa.Array, weight: bool = False) -> pa.Array:
    """Values in types that DuckDB takes as they are.

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
        return _near(array, pa.int64(), _DAY[array.type.unit], zone)
    if pa.types.is_duration(array.type):
        return array.view(pa.int64())
    if pa.types.is_date64(array.type):
        array = array.cast(pa.date32(), safe=False)
    if pa.types.is_date32(array.type):
        return _near(array, pa.int32(), 1, None)
    if pa.types.is_float16(array.type):
        return array.cast(pa.float32())
    if pa.types.is_decimal256(array.type):
        return array.cast(pa.float64(), safe=False) if weight else _digits(array)
    return array


def _digits(array: pa.Array) -> pa.Array:
    """Decimals that the engine has no type for, as text: all of their digits, without zeros at the end."""
    import pyarrow as pa

    distinct = array.dictionary_encode()
    texts = [None if value is None else f"{value.normalize(_EXACT):f}" for value in distinct.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(distinct.indices)


def _near(times: pa.Array, whole: pa.DataType, day: int, zone: str | None) -> pa.Array:
    """The same times, seconds and milliseconds as microseconds; null where DuckDB's calendar ends, or never begins."""
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


def _valid(array: pa.Array) -> pa.Array:
    """The same values; null where one is none of its type. Halved until the few that are wrong stand alone."""
    import pyarrow as pa

    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        if len(array) == 1:
            return pa.nulls(1, array.type)
        half = len(array) // 2
        # Copied: a slice may be looked at together with what it is a slice of.
        return pa.concat_arrays([_valid(array.slice(0, half)), _valid(array.slice(half))])
    return array
