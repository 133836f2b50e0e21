"""The columns of pandas, Polars and PyArrow tables, in their normal form."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lastbit.data.column_types import BOOLEAN, DURATION, INTEGER, OBJECT, TEXT, TIMESTAMP, ZONED_TIMESTAMP
from lastbit.data.memory.columns import BytesColumn, Column, DictionaryColumn, ObjectColumn, WordColumn

_NANOSECONDS: Final = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}

_NOT_A_TIME: Final = np.iinfo(np.int64).min


def read_arrow(table: Any, name: str) -> Column | None:
    """Return a column of a PyArrow table in its normal form; None where its type has none."""
    from lastbit.data.memory.arrow import convert_array

    return convert_array(table.column(name))


def read_polars(frame: Any, name: str) -> Column | None:
    """Return a column of a Polars frame in its normal form; None where its type has none."""
    import polars as pl

    from lastbit.data.memory.arrow import convert_array

    series = frame.get_column(name)
    if series.dtype == pl.Object:
        held = np.empty(len(series), object)
        held[:] = series.to_list()
        return ObjectColumn(OBJECT, held)
    if series.dtype in (getattr(pl, "Int128", None), getattr(pl, "UInt128", None)):
        return _convert_wide(series, unsigned=series.dtype != pl.Int128)
    # As views: texts that lie in memory once would be written out for each row.
    return convert_array(series.to_arrow(compat_level=pl.CompatLevel.newest()))


def _convert_wide(series: Any, unsigned: bool) -> Column:
    """Return numbers of 128 bits, which Arrow does not have, by their upper and lower words."""
    import polars as pl
    import pyarrow as pa

    word = pl.lit(1 << 64, dtype=series.dtype)
    values = pl.lit(series.fill_null(0))
    upper = pl.select((values // word).alias("upper"))["upper"]
    lower = pl.select((values - pl.lit(upper) * word).alias("lower"))["lower"]
    both = np.empty((len(series), 2), np.uint64)
    both[:, 0] = lower.cast(pl.UInt64).to_numpy()
    both[:, 1] = upper.cast(pl.UInt64 if unsigned else pl.Int64).to_numpy().view(np.uint64)
    valid = np.packbits(series.is_not_null().to_numpy(), bitorder="little")
    buffers = [pa.py_buffer(valid), pa.py_buffer(both)]
    return BytesColumn(INTEGER, pa.Array.from_buffers(pa.binary(16), len(series), buffers), unsigned=unsigned)


def read_pandas(frame: Any, name: str) -> Column | None:
    """Return a column of a pandas frame in its normal form; None where its type has none."""
    return _convert_series(frame[name])


def _convert_series(series: Any) -> Column | None:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        # Categories come from the rows, and so does their type: they are objects, whatever they are today.
        inner = ObjectColumn(OBJECT, series.cat.categories.to_numpy(dtype=object))
        return DictionaryColumn(inner, series.cat.codes.to_numpy().astype(np.int64))
    if isinstance(dtype, pd.SparseDtype):
        return _convert_series(series.sparse.to_dense())
    if isinstance(dtype, pd.DatetimeTZDtype):
        column = _convert_numpy(series.dt.tz_convert(None).to_numpy())
        assert isinstance(column, WordColumn)  # noqa: S101
        return WordColumn(ZONED_TIMESTAMP, column.values, column.missing, column.unit)
    if isinstance(dtype, np.dtype):
        return ObjectColumn(OBJECT, series.to_numpy()) if dtype.kind == "O" else _convert_numpy(series.to_numpy())
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "python":
        return ObjectColumn(TEXT, series.to_numpy(dtype=object))
    if not hasattr(series.array, "__arrow_array__") or isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype):
        return None
    import pyarrow as pa

    from lastbit.data.memory.arrow import convert_array

    return convert_array(pa.array(series.array))


def _convert_numpy(values: Any) -> Column | None:
    kind, size = values.dtype.kind, values.dtype.itemsize
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if kind == "f" and size <= 8:
        with np.errstate(invalid="ignore"):  # a signaling NaN of a shorter type
            return WordColumn.from_floats(np.ascontiguousarray(values, np.float64).view(np.int64), None)
    if kind in "bi":
        return WordColumn(INTEGER if kind == "i" else BOOLEAN, values.astype(np.int64, copy=False))
    if kind == "u":
        return WordColumn(INTEGER, values.astype(np.uint64, copy=False).view(np.int64), unsigned=True)
    if kind in "mM" and np.datetime_data(values.dtype)[0] in _NANOSECONDS:
        whole = np.ascontiguousarray(values).view(np.int64)
        unit = _NANOSECONDS[np.datetime_data(values.dtype)[0]]
        return WordColumn(TIMESTAMP if kind == "M" else DURATION, whole, whole == _NOT_A_TIME, unit)
    return None
