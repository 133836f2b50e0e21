"""From any dataframe to `Counts`: one exact number for each public item.

Distinct units per item make the sensitivity of each count exactly 1 and the counts monotone, however many rows a unit
has: a unit that comes or goes moves every count by 0 or by 1, all the same way. DuckDB and Spark count in their own
language and hand over one number for each item. Tables in memory (pandas, Polars, PyArrow, anything else Narwhals
knows) are counted here, from the columns named.

One person's rows change only that person's contribution. Every item of the domain has a whole number, its place; items
and units are compared by a normal form (`kinds`), by places of items and codes of units rows become pairs of whole
numbers, and these are counted. Everything is decided by public things: column names and declared types, the domain,
the bounds. Rows whose unit or item is null, cannot be read, or is not in the domain, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import DataError, LastbitError, ParameterError
from lastbit.exact.numbers import Number, whole
from lastbit.values.bound import Bound
from lastbit.values.counts import Counts
from lastbit.values.missing import LEAVE_OUT, Missing
from lastbit.values.spark_counts import SparkCounts
from lastbit.values.unlisted import Found, Unknown, Unlisted

try:
    import narwhals as nw
except ImportError:
    raise LastbitError("count needs narwhals. Install it with: pip install 'lastbit[data]'") from None

from lastbit.data.columns import Keys
from lastbit.data.domain import combined, domains_of, typed
from lastbit.data.kinds import Kind
from lastbit.data.task import Occurring, Task
from lastbit.data.weights import Weights

Result = TypeVar("Result")


@runtime_checkable
class SparkFrame(Protocol):
    """A DataFrame of Spark, by what no other table has."""

    sparkSession: Any  # noqa: N815

    def mapInArrow(self, func: Any, schema: Any) -> Any:  # noqa: N802
        """Run a function where the rows are."""


@overload
def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: Unknown,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    most_items: int | None = None,
) -> Unlisted: ...


@overload
def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: SparkFrame,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    most_items: int | None = None,
) -> SparkCounts: ...


@overload
def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: Any = None,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    most_items: int | None = None,
) -> Counts: ...


def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: Any = None,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    most_items: int | None = None,
) -> Counts | Unlisted | SparkCounts:
    """How many distinct units each item has; with `weights`, the exact sum of each unit's weights.

    frame: a table of any kind that Narwhals knows, eager or lazy.
    by: the column that holds the items. Several make a product domain, whose items are tuples.
    unit: the column that says whom a row belongs to. Everything that a unit has in the table is protected together.
    Without it each row is a unit, and only a single row is protected: a person with ten rows is protected ten times
    less.
    domain: the public items, in the order wanted: a list, a range, a file with one item per line, a column of another
    table. Several `by` columns take a list or a mapping of such domains. With `lb.UNKNOWN` nobody lists the items: the
    items that occur are counted, and are private as their counts are. Only mechanisms that pay a delta release them.
    Where the table is one of Spark, the domain may be another one with the columns of `by`: its rows are the items, and
    both stay in Spark (`SparkCounts`).
    weights, bounds, resolution: the column to add up instead. Each row's weight is clamped to the bounds and floored to
    the grid; a unit's rows in an item are added and clamped again, so that it moves a sum by the larger bound at most.
    With `lb.UNKNOWN` no bound is below zero.
    missing: a row whose weight is null or NaN is left out; with "lowest" it counts as the lower bound, with a number
    between the bounds as that number.
    most_items: one unit counts in at most so many items, so that noise for all items is smaller. A unit with more stays
    in those with the smallest hashes of unit, item and a key that is drawn for this count; items outside of the domain
    do not use up the bound.

    With `lb.UNKNOWN`, DuckDB and Spark count when a mechanism asks for the largest items, and only these leave the
    engine. Tables in memory are counted at once. What is once fetched is kept, and does not change with the table.

    A unit or an item that is null or NaN, or that cannot be read, leaves its row out. Two forms of one value are one:
    0.0 and -0.0, equal entries of a dictionary. Text is compared by its bytes, times with a zone as instants. In a
    column of Python objects a value meets items of its own family: 1, 1.0 and Decimal(1) are one, True and "1" others.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": [1, 1, 2, None], "diagnosis": ["flu", "flu", "flu", "cold"]})
    >>> counts = count(visits, by="diagnosis", unit="patient", domain=["cold", "flu", "gout"])
    >>> counts
    <Counts: 3 items, sensitivity 1, monotone>
    >>> counts.values.tolist()
    [0, 2, 0]
    """
    columns = _columns(by)
    wanted = [*columns, *(name for name in (unit, weights) if name is not None)]
    bound = _bound(most_items, unit)
    table = _or_kind(_table, frame, wanted)
    kinds = dict(zip(wanted, _or_kind(_kinds, table, wanted), strict=True))
    amount = None
    if weights is not None:
        amount = Weights.of(bounds, resolution, missing)
        amount.check(kinds[weights], weights)
    elif bounds is not None or missing != LEAVE_OUT:
        raise ParameterError(
            "bounds and missing are for weights: got no weights. Name the column to add up, or leave bounds and "
            "missing out."
        )
    task = Task(tuple(columns), unit, weights, amount, bound)
    if isinstance(domain, Unknown):
        return _unlisted(table, task)
    if isinstance(domain, SparkFrame):
        return _spread(table, task, domain, kinds)
    domains = domains_of(domain, columns)
    listed = [typed(items, kinds[column], column) for column, items in zip(columns, domains, strict=True)]
    items = combined([each.items for each in listed])
    totals = _or_kind(table.totals, task, [each.keys for each in listed])
    most = _most_items(task)
    if amount is None:
        return Counts(items=items, values=totals, sensitivity=1, monotone=True, most_items=most)
    return amount.counts(items, totals, most)


def _bound(most_items: int | None, unit: str | None) -> Bound | None:
    if most_items is None:
        return None
    most = whole(most_items, "most_items")
    if unit is None:
        raise ParameterError(
            "most_items needs a unit: without one each row counts in one item already. Name the column that says whom "
            "a row belongs to."
        )
    return Bound.drawn(most)


def _most_items(task: Task) -> int | None:
    """In how many items one unit counts at most; without units, one row: in one."""
    if task.unit is None:
        return 1
    return None if task.bound is None else task.bound.most


def _unlisted(table: _Table, task: Task) -> Unlisted:
    """The values of the items that occur."""
    if task.amount is not None and task.amount.low < 0:
        raise ParameterError(
            "bounds must not go below zero where nobody listed the items: an item that does not occur counts 0, and "
            "others must not count less. Use a lower bound of 0, or a public domain."
        )
    rows = _or_kind(table.occurring, task)

    def fetch(most: int | None) -> Found:
        columns, steps = _or_kind(rows, most)
        items = columns[0] if len(columns) == 1 else zip(*columns, strict=True)
        steps.flags.writeable = False
        return tuple(items), steps

    facts: dict[str, Any] = {"most_items": _most_items(task)}
    if task.amount is not None:
        facts |= {"sensitivity": task.amount.sensitivity, "resolution": task.amount.grid.resolution}
    spread = getattr(table, "occurring_rows", None)
    return Unlisted(fetch=_kept(fetch), rows=None if spread is None else _or_kind(spread, task), **facts)


def _spread(table: _Table, task: Task, domain: SparkFrame, kinds: dict[str, Kind]) -> SparkCounts:
    """The values of the items of a table in Spark."""
    from lastbit.data.spark_table import SparkTable

    if not isinstance(table, SparkTable):
        raise ParameterError(
            "domain must not be a Spark table where the table is of another engine. Collect the items: "
            "domain=[row[0] for row in items.collect()]."
        )
    frame: Any = domain
    if len(task.by) == len(frame.columns) == 1:
        frame = frame.toDF(*task.by)  # one column needs no name
    listed = _or_kind(_table, frame, list(task.by))
    for column, kind in zip(task.by, _or_kind(_kinds, listed, task.by), strict=True):
        if kind is not kinds[column]:
            raise ParameterError(
                f"domain must hold {kinds[column].holds} in its column {column!r}, as the table does. Cast the column."
            )
    facts: dict[str, Any] = {"sensitivity": 1, "monotone": True}
    if task.amount is not None:
        amount = task.amount
        facts = {"sensitivity": amount.sensitivity, "monotone": amount.monotone, "resolution": amount.grid.resolution}
    return SparkCounts(rows=_or_kind(table.joined_rows, task, listed), most_items=_most_items(task), **facts)


def _kept(fetch: Callable[[int | None], Found]) -> Callable[[int | None], Found]:
    """The same items again when they are asked for again, whatever became of the table. More are fetched anew."""
    known: list[tuple[int | None, Found]] = []

    def again(most: int | None) -> Found:
        if known:
            asked, (items, steps) = known[0]
            if asked is None or len(items) < asked or (most is not None and most <= asked):
                return items[:most], steps[:most]
        known[:] = [(most, fetch(most))]
        return known[0][1]

    return again


def _columns(by: object) -> list[str]:
    """The names of the columns that hold the items."""
    columns = [by] if isinstance(by, str) else list(by) if isinstance(by, Sequence) else []
    if not columns or not all(isinstance(each, str) for each in columns):
        raise ParameterError("by must be the name of a column, or a list of such names. Write by='diagnosis'.")
    return columns


class _Table(Protocol):
    """A table in its own engine."""

    def kind(self, name: str) -> Kind | None: ...

    def totals(self, task: Task, keys: Sequence[Keys]) -> NDArray[np.int64]: ...

    def numbers(self, task: Task, keys: Sequence[Keys]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

    def occurring(self, task: Task) -> Callable[[int | None], Occurring]: ...


def _table(frame: Any, wanted: list[str]) -> _Table:
    """The table, with every column that is wanted."""
    try:
        known: Any = nw.from_native(frame)
        # Names only: of pandas, Narwhals would look at rows to say more.
        present = known.columns if isinstance(known, nw.DataFrame) else known.collect_schema().names()
    except nw.exceptions.DuplicateError:
        raise ParameterError("columns must have different names: two of the table have the same. Rename one.") from None
    except TypeError:
        raise ParameterError(
            f"frame must be a table that Narwhals knows: got {type(frame).__name__}. "
            "Pass a pandas, Polars, PyArrow, DuckDB or PySpark table."
        ) from None
    for column in wanted:
        if column not in present:
            raise ParameterError(f"there is no column {column!r}: the table has {', '.join(map(str, present))}.")
    if not wanted or len(set(wanted)) != len(wanted):
        raise ParameterError(f"by, unit and weights must be different columns: got {', '.join(wanted) or 'none'}.")
    return _in_its_engine(known, wanted)


def _in_its_engine(known: Any, wanted: list[str]) -> _Table:
    engine, native = known.implementation, known.to_native()
    if engine.is_duckdb():
        from lastbit.data.duckdb_table import DuckDBTable

        return DuckDBTable(native)
    if engine.is_pyspark() or engine.is_pyspark_connect():
        from lastbit.data.spark_table import SparkTable

        return SparkTable(native)
    from lastbit.data.memory import Memory

    if engine.is_pandas() or engine.is_polars() or engine.is_pyarrow():
        return Memory(native, engine)
    # Tables like those of pandas have columns of objects: Arrow would fail on values of two types.
    form = nw.Implementation.PANDAS if engine.is_pandas_like() or engine.is_dask() else nw.Implementation.PYARROW
    return Memory(known.select(*wanted).lazy().collect(form).to_native(), form)


def _kinds(table: _Table, columns: Sequence[str]) -> list[Kind]:
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


def _or_kind(work: Callable[..., Result], *given: Any) -> Result:
    """The result of an engine; of its errors only the kind, because the message may quote a row."""
    try:
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
