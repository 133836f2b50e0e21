"""Tables in memory (pandas, Polars, PyArrow) and the normal form of their values.

The columns asked for are put into their normal form, every row gets the place of its item, every unit a code, and pairs
of the two are counted in NumPy. The kind of a column is read off the same table without rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.columns import Bytes, Coded, Column, Integers, Keys, Objects, Words
from lastbit.data.distinct import items_of, marks, ranked
from lastbit.data.keyed import Marks, hashed_words, mixed, paired
from lastbit.data.kinds import ANY, INSTANT, MOMENT, SPAN, TEXT, TRUTH, WHOLE, Kind
from lastbit.data.numbers import first_rows, reduced
from lastbit.data.pairs import among_first, distinct_units, summed
from lastbit.data.task import Occurring, Task

_NANOSECONDS: Final = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
_NOT_A_TIME: Final = np.iinfo(np.int64).min


class Memory:
    """A table in this process."""

    def __init__(self, native: Any, implementation: Any) -> None:
        self._native = native
        self._column = (
            _pandas_column
            if implementation.is_pandas()
            else _polars_column
            if implementation.is_polars()
            else _arrow_column
        )

    def kind(self, name: str) -> Kind | None:
        """The kind of a column by its declared type; None where the type cannot be counted by."""
        native = self._native
        if hasattr(native, "collect_schema"):
            import polars as pl

            empty: Any = pl.DataFrame(schema={name: native.collect_schema()[name]})
        else:
            empty = native.iloc[:0] if hasattr(native, "iloc") else native.slice(0, 0)
        column = self._column(empty, name)
        return None if column is None else column.kind

    def totals(self, task: Task, keys: Sequence[Keys]) -> Integers:
        """The count of each item of the product of domains, or its sum in steps."""
        native = self._collected(task)
        places = self._read(native, task.by[0]).places(keys[0])
        for name, each in zip(task.by[1:], keys[1:], strict=True):
            own = self._read(native, name).places(each)
            places = np.where((places < 0) | (own < 0), -1, places * len(each) + own)
        size = int(np.prod([len(each) for each in keys], dtype=object))
        return self._counted(native, task, places, size, hashed_words)

    def numbers(self, task: Task, keys: Sequence[Keys]) -> tuple[Integers, Integers]:
        """The number of each unit in steps, and the place of its item."""
        native, amount = self._collected(task), task.amount
        assert amount is not None  # noqa: S101
        weights = self._read(native, task.weight or "")
        kept = (
            np.ones(len(weights), np.bool_) if amount.missing is not None else self._present(native, task.weight or "")
        )
        places = np.zeros(len(weights), np.int64)
        for name, each in zip(task.by, keys, strict=True):
            own = self._read(native, name).places(each)
            kept &= own >= 0
            places = places * len(each) + own
        units = np.arange(len(weights))
        if task.unit is not None:
            units, unknown = self._read(native, task.unit).codes()
            kept &= True if unknown is None else ~unknown
        order = None
        if task.order is not None:
            order, _ = ranked(self._read(native, task.order))
            kept &= order >= 0
        steps, places, units = weights.steps(amount)[kept], places[kept], units[kept]
        if task.unit is None:
            return places, steps
        if task.per == "row":
            if task.bound is not None:
                own_marks = marks(self._read(native, task.unit).only(kept), task.bound.key)
                first = first_rows(places, units, steps, own_marks, task.bound.most)
                places, steps = places[first], steps[first]
            return places, steps
        found, rows = reduced(places, units, steps, None if order is None else order[kept], task.per, task.ends)
        places, units = places[rows], units[rows]
        if task.bound is not None:
            own_marks = marks(self._read(native, task.unit).only(kept), task.bound.key)[rows]
            own_marks = paired(hashed_words(places, task.bound.key), own_marks)
            first = among_first(places, units, own_marks, task.bound.most)
            places, found = places[first], found[first]
        return places, found

    def occurring(self, task: Task) -> Callable[[int | None], Occurring]:
        """Count the items that occur, now; they are named when they are asked for."""
        native = self._collected(task)
        places, first = ranked(self._read(native, task.by[0]))
        columns = [first]
        for name in task.by[1:]:
            own, column = ranked(self._read(native, name))
            # Numbered anew each time, in the same order: the product of several columns may not fit in 64 bits.
            both, places = _numbered(np.where((places < 0) | (own < 0), -1, places * len(column) + own))
            columns = [*(each.taken(both // max(len(column), 1)) for each in columns), column.taken(both % len(column))]

        def of_items(places: Integers, key: int) -> Marks:
            found = np.zeros(len(columns[0]), np.uint64)
            for column in columns:
                found = mixed(found ^ marks(column, key))
            return found[places]

        totals = self._counted(native, task, places, len(columns[0]), of_items)

        def fetch(most: int | None) -> Occurring:
            found = np.argsort(-totals, kind="stable")[:most]
            found = found[totals[found] > 0]
            return [items_of(column.taken(found)) for column in columns], totals[found]

        return fetch

    def _collected(self, task: Task) -> Any:
        native = self._native
        if hasattr(native, "lazy") and hasattr(native, "collect"):
            import polars.selectors as cs

            native = native.select(cs.by_name(*task.columns)).collect()
        return native

    def _counted(
        self, native: Any, task: Task, places: Integers, size: int, of_items: Callable[[Integers, int], Marks]
    ) -> Integers:
        """The count of each place, or its sum in steps; rows without a place are left out.

        of_items: hashes of the items at these places under a key. Places of a public domain stand for their items;
        places of items that nobody listed depend on other units, so these items are hashed themselves.
        """
        kept = places >= 0
        if task.amount is not None and task.amount.missing is None:
            kept &= self._present(native, task.weight or "")
        places = places[kept]
        who = None
        if task.unit is not None:
            who, unknown = self._read(native, task.unit).only(kept).codes()
            if unknown is not None and unknown.any():
                known = ~unknown
                places, who = places[known], who[known]
                kept[kept] = known
            if task.bound is not None:
                own = marks(self._read(native, task.unit).only(kept), task.bound.key)
                both = paired(of_items(places, task.bound.key), own)
                first = among_first(places, who, both, task.bound.most)
                places, who = places[first], who[first]
                kept[kept] = first
        if task.amount is None or task.weight is None:
            return np.bincount(places, minlength=size) if who is None else distinct_units(places, who, size)
        steps = self._read(native, task.weight).only(kept).steps(task.amount)
        return summed(places, who, steps, size, task.amount)

    def _present(self, native: Any, name: str) -> NDArray[np.bool_]:
        """The rows that have a value in this column."""
        column = self._read(native, name)
        absent = column.absent()
        return np.ones(len(column), np.bool_) if absent is None else ~absent

    def _read(self, native: Any, name: str) -> Column:
        column = self._column(native, name)
        assert column is not None, "the kind was known"  # noqa: S101
        return column


def _numbered(codes: Integers) -> tuple[Integers, Integers]:
    """The different codes in order, without -1; and which of them each row has."""
    known = codes >= 0
    different, numbers = np.unique(codes[known], return_inverse=True)
    found = np.full(len(codes), -1, np.int64)
    found[known] = numbers
    return different, found


def _arrow_column(table: Any, name: str) -> Column | None:
    from lastbit.data.arrow import column_of

    return column_of(table.column(name))


def _polars_column(frame: Any, name: str) -> Column | None:
    import polars as pl

    from lastbit.data.arrow import column_of

    series = frame.get_column(name)
    if series.dtype == pl.Object:
        held = np.empty(len(series), object)
        held[:] = series.to_list()
        return Objects(ANY, held)
    if series.dtype in (getattr(pl, "Int128", None), getattr(pl, "UInt128", None)):
        return _halves(series, unsigned=series.dtype != pl.Int128)
    # As views: texts that lie in memory once would be written out for each row.
    return column_of(series.to_arrow(compat_level=pl.CompatLevel.newest()))


def _halves(series: Any, unsigned: bool) -> Column:
    """Numbers of 128 bits, which Arrow does not have, by their upper and lower words."""
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
    return Bytes(WHOLE, pa.Array.from_buffers(pa.binary(16), len(series), buffers), unsigned=unsigned)


def _pandas_column(frame: Any, name: str) -> Column | None:
    return _series_column(frame[name])


def _series_column(series: Any) -> Column | None:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        # Categories come from the rows, and so does their type: they are objects, whatever they are today.
        inner = Objects(ANY, series.cat.categories.to_numpy(dtype=object))
        return Coded(inner, series.cat.codes.to_numpy().astype(np.int64))
    if isinstance(dtype, pd.SparseDtype):
        return _series_column(series.sparse.to_dense())
    if isinstance(dtype, pd.DatetimeTZDtype):
        column = _numpy_column(series.dt.tz_convert(None).to_numpy())
        assert isinstance(column, Words)  # noqa: S101
        return Words(INSTANT, column.values, column.missing, column.unit)
    if isinstance(dtype, np.dtype):
        return Objects(ANY, series.to_numpy()) if dtype.kind == "O" else _numpy_column(series.to_numpy())
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "python":
        return Objects(TEXT, series.to_numpy(dtype=object))
    if not hasattr(series.array, "__arrow_array__") or isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype):
        return None
    import pyarrow as pa

    from lastbit.data.arrow import column_of

    return column_of(pa.array(series.array))


def _numpy_column(values: Any) -> Column | None:
    kind, size = values.dtype.kind, values.dtype.itemsize
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if kind == "f" and size <= 8:
        with np.errstate(invalid="ignore"):  # a signaling NaN of a shorter type
            return Words.of_floats(np.ascontiguousarray(values, np.float64).view(np.int64), None)
    if kind in "bi":
        return Words(WHOLE if kind == "i" else TRUTH, values.astype(np.int64, copy=False))
    if kind == "u":
        return Words(WHOLE, values.astype(np.uint64, copy=False).view(np.int64), unsigned=True)
    if kind in "mM" and np.datetime_data(values.dtype)[0] in _NANOSECONDS:
        whole = np.ascontiguousarray(values).view(np.int64)
        unit = _NANOSECONDS[np.datetime_data(values.dtype)[0]]
        return Words(MOMENT if kind == "M" else SPAN, whole, whole == _NOT_A_TIME, unit)
    return None
