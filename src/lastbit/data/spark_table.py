"""Tables of Spark, counted as a job of its own expressions.

Spark compares text by its bytes once it is binary, and numbers, dates and times by their value. So the domain is a
small table that every executor gets, and only the place of each item and its count are collected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lastbit.data import kinds, sql
from lastbit.data.columns import Integers, Keys
from lastbit.data.kinds import Kind
from lastbit.data.long_texts import spark_form
from lastbit.data.task import Occurring, Task
from lastbit.data.weights import Weights
from lastbit.errors import ParameterError
from lastbit.values.spark_rows import PART, TOTAL, SparkRows

_KINDS: Final[tuple[tuple[str, Kind], ...]] = (
    (r"string.*|char\(.*|varchar\(.*", kinds.TEXT),
    (r"binary", kinds.BINARY),
    (r"tinyint|smallint|int|bigint", kinds.WHOLE),
    (r"float|double", kinds.REAL),
    (r"decimal\(.*", kinds.DECIMAL),
    (r"boolean", kinds.TRUTH),
    (r"date", kinds.DATE),
    (r"timestamp", kinds.INSTANT),
    (r"timestamp_ntz", kinds.MOMENT),
    (r"interval day.*|interval hour.*|interval minute.*|interval second", kinds.SPAN),
    (r"time\(.*|time", kinds.TIME),
    (r"void", kinds.NOTHING),
)

_MOST_LISTED: Final = 10**6
"""Items of a list go through the driver, whose usual memory is full with a few million."""

_IN_PLAN: Final = 1_000
"""Items that stand in the plan of a query as a text. A longer list is a table: a plan of so many fills the driver."""

_BROADCAST: Final = 100_000
"""Items that every executor gets."""


class SparkTable:
    """A DataFrame of PySpark."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._types = {field.name: field.dataType.simpleString() for field in frame.schema.fields}

    def kind(self, name: str) -> Kind | None:
        """The kind of a column by its declared type; None where the type cannot be counted by."""
        return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, self._types[name])), None)

    def totals(self, task: Task, keys: Sequence[Keys]) -> Integers:
        """The count of each item of the product of domains, or its sum in steps."""
        rows = _grouped(self._placed(task, keys), task, ["lastbit_place"])
        totals = np.zeros(int(np.prod([len(each) for each in keys], dtype=object)), np.int64)
        for found, number in rows.collect():
            totals[found] = number
        return totals

    def numbers(self, task: Task, keys: Sequence[Keys]) -> tuple[Integers, Integers]:
        """The number of each unit in steps, and the place of its item."""
        from lastbit.data.spark_numbers import numbers_per_unit

        alike = numbers_per_unit(self._placed(task, keys), task).groupBy("lastbit_place", "lastbit_step").count()
        places, steps, times = _columns(alike.orderBy("lastbit_place", "lastbit_step"))
        return np.repeat(places, times), np.repeat(steps, times)

    def _placed(self, task: Task, keys: Sequence[Keys]) -> Any:
        """The rows whose items are in the domain, with the place of each."""
        from pyspark.sql import functions as f

        rows = self._rows(task)
        place = f.lit(0).cast("bigint")
        for i, (name, each) in enumerate(zip(task.by, keys, strict=True)):
            domain = self._domain(name, each, i)
            domain = f.broadcast(domain) if len(each) <= _BROADCAST else domain
            rows = rows.join(domain, f.expr(f"lastbit_key_{i} = lastbit_item_{i}"))
            place = place * len(each) + f.col(f"lastbit_place_{i}")
        return rows.withColumn("lastbit_place", place)

    def occurring(self, task: Task) -> Callable[[int | None], Occurring]:
        """The items that occur, counted when they are asked for: the executors sort, and only these come back."""
        rows = self.occurring_rows(task)

        def fetch(most: int | None) -> Occurring:
            from pyspark.sql import functions as f

            # Keys are bytes or numbers: no collation has a say in their order.
            frame = rows.frame.orderBy(f.desc(TOTAL), *map(f.asc, rows.keys))
            frame = frame if most is None else frame.limit(most)
            found = frame.selectExpr(*(name for name, _ in rows.read), TOTAL).collect()
            items = [[made(row[i]) for row in found] for i, (_, made) in enumerate(rows.read)]
            return items, np.array([row[-1] for row in found], np.int64)

        return fetch

    def occurring_rows(self, task: Task) -> SparkRows:
        """The items that occur, and their values, where they are."""
        rows = self._rows(task)
        for name, key in zip(task.by, _keys(task), strict=True):
            rows = rows.where(f"{key} IS NOT NULL").where(self._readable(name, key))
        return self._spread(task, _grouped(rows, task, _keys(task)).where(f"{TOTAL} > 0"))

    def joined_rows(self, task: Task, domain: SparkTable) -> SparkRows:
        """The items of a public table, and their values: neither leaves Spark."""
        from pyspark.sql import functions as f

        keys = _keys(task)
        listed = domain._rows(Task(task.by))
        for name, key in zip(task.by, keys, strict=True):
            listed = listed.where(f"{key} IS NOT NULL").where(domain._readable(name, key))
        listed = listed.distinct()
        rows = self._rows(task)
        if task.bound is not None:  # other items do not use the bound up
            rows = rows.join(listed, keys, "left_semi")
        counted = listed.join(_grouped(rows, task, keys), keys, "left")
        return domain._spread(task, counted.select(*keys, f.coalesce(TOTAL, f.lit(0).cast("bigint")).alias(TOTAL)))

    def _spread(self, task: Task, frame: Any) -> SparkRows:
        keys = _keys(task)
        read = tuple(self._named(name, key) for name, key in zip(task.by, keys, strict=True))
        return SparkRows(frame, read, tuple(map(self._typed, task.by, keys)))

    def _typed(self, name: str, key: str) -> str:
        """A normal form as the column that it comes from."""
        dtype, quoted = self._types[name], _quoted(name)
        if self.kind(name) is kinds.TEXT:
            return f"CAST({key} AS STRING) AS {quoted}"
        return f"CAST({key} AS {dtype}) AS {quoted}" if dtype == "float" else f"{key} AS {quoted}"

    def _rows(self, task: Task) -> Any:
        """The columns in their normal form."""
        chosen = [f"{self._form(name)} AS lastbit_key_{i}" for i, name in enumerate(task.by)]
        if task.unit is not None:
            chosen.append(f"{self._form(task.unit)} AS lastbit_unit")
        if task.weight is not None and task.amount is not None:
            chosen.append(f"{self._steps(task.weight, task.amount)} AS lastbit_step")
        if task.order is not None:
            chosen.append(f"{self._form(task.order)} AS lastbit_order")
        rows = self._frame.selectExpr(*chosen)
        left_out = task.amount is not None and task.amount.missing is None
        return rows.where("lastbit_step IS NOT NULL") if left_out else rows

    def _domain(self, name: str, keys: Keys, number: int) -> Any:
        from pyspark.sql import functions as f

        if len(keys) > _MOST_LISTED:
            raise ParameterError(
                f"domain must list at most {_MOST_LISTED:,} items for a table of Spark: got {len(keys):,}. Pass them "
                "as a table of Spark, such as spark.read.text('items.txt'): then items and counts stay there."
            )
        kind, dtype = self.kind(name), self._types[name]
        assert kind is not None  # noqa: S101
        texts = sql.literals(keys, kind, 1000, _scale(dtype))
        if len(keys) > _IN_PLAN:
            listed = _table(self._frame.sparkSession, list(texts))
        else:
            items, places = sql.listed(texts)
            both = f.arrays_zip(f.split(f.lit(items), ",").alias("item"), f.split(f.lit(places), ",").alias("place"))
            listed = self._frame.sparkSession.range(1).select(f.explode(both).alias("each")).select("each.*")
        cast = {
            kinds.TEXT: "unhex(item)",
            kinds.BINARY: "unhex(item)",
            kinds.REAL: "try_cast(item AS DOUBLE)",
            kinds.SPAN: "make_dt_interval(0, 0, 0, 0) + try_cast(item AS BIGINT) * INTERVAL '0.000001' SECOND",
        }.get(kind, f"try_cast(item AS {dtype})")
        # An empty text is one empty item to the engine: its place, null, takes it out.
        return listed.selectExpr(
            f"{cast} AS lastbit_item_{number}", f"try_cast(place AS BIGINT) AS lastbit_place_{number}"
        ).where(f"lastbit_place_{number} IS NOT NULL")

    def _form(self, name: str) -> str:
        """A column in its normal form."""
        column, kind = _quoted(name), self.kind(name)
        if kind in (kinds.TEXT, kinds.BINARY):
            return spark_form(f"CAST({column} AS BINARY)")
        return sql.real(column) if kind is kinds.REAL else column

    def _readable(self, name: str, key: str) -> str:
        """Whether Python has an item for a normal form."""
        kind = self.kind(name)
        if kind is kinds.TEXT:
            from pyspark.sql import functions as f

            if hasattr(f, "is_valid_utf8"):
                return f"is_valid_utf8(CAST({key} AS STRING))"
            return f"encode(decode({key}, 'UTF-8'), 'UTF-8') = {key}"  # Spark 3 puts another character for a wrong one
        if kind is kinds.DATE:
            return f"{key} BETWEEN DATE'0001-01-01' AND DATE'9999-12-31'"
        if kind in (kinds.MOMENT, kinds.INSTANT):
            of, zone = ("TIMESTAMP_NTZ", "") if kind is kinds.MOMENT else ("TIMESTAMP", "Z")
            return f"{key} BETWEEN {of}'0001-01-01 00:00:00{zone}' AND {of}'9999-12-31 23:59:59.999999{zone}'"
        return "true"

    def _named(self, name: str, key: str) -> tuple[str, Callable[[Any], Any]]:
        """A normal form as Python reads it, and the item of what Python reads."""
        kind = self.kind(name)
        assert kind is not None  # noqa: S101
        named = kind.named
        if kind is kinds.INSTANT:
            return f"unix_micros({key})", lambda value: named(value * 1000)
        if kind in (kinds.MOMENT, kinds.SPAN):
            # As a length of time from 1970 in its parts: no zone has a say in these.
            span = f"({key} - TIMESTAMP_NTZ'1970-01-01 00:00:00')" if kind is kinds.MOMENT else key
            parts = {part: f"CAST(extract({part} FROM {span}) AS DECIMAL(38,6))" for part in _PARTS}
            minutes = f"({parts['DAY']} * 24 + {parts['HOUR']}) * 60 + {parts['MINUTE']}"
            return f"({minutes}) * 60 + {parts['SECOND']}", lambda value: named(int(Fraction(value) * 10**9))
        if kind in (kinds.TEXT, kinds.BINARY):
            return key, lambda value: named(bytes(value))
        return key, lambda value: named(kind.key(value))

    def _steps(self, name: str, amount: Weights) -> str:
        """A weight in steps; null where it is missing and its row is left out."""
        steps = sql.unless_missing(amount, _quoted(name), self._known_steps(name, amount), self.kind(name))
        return f"CAST({steps} AS BIGINT)"

    def _known_steps(self, name: str, amount: Weights) -> str:
        column, kind = _quoted(name), self.kind(name)
        if kind is kinds.REAL:
            return sql.real_steps(amount, column, "div")
        if kind is kinds.DECIMAL:
            return _decimal_steps(amount, column, _scale(self._types[name]))
        low, high = sql.ends(amount)
        value = f"CAST({column} AS BIGINT)"
        clamped = f"CASE WHEN {value} IS NULL THEN {low} ELSE greatest(least({value}, {high}L), {low}L) END"
        return sql.whole_steps(amount, clamped, "div")


_PARTS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")


def _table(session: Any, texts: list[str | None]) -> Any:
    """Texts and their places as a table of two columns."""
    import pyarrow as pa

    table = pa.table({"item": pa.array(texts, pa.string()), "place": pa.array(range(len(texts)), pa.int64())})
    try:
        return session.createDataFrame(table)
    except TypeError:  # before Spark 4
        return session.createDataFrame(list(zip(texts, range(len(texts)), strict=True)), "item string, place long")


def _columns(frame: Any) -> list[Integers]:
    """Columns of whole numbers on this machine: as Arrow where Spark has it, which takes a tenth of the memory."""
    if hasattr(frame, "toArrow"):
        return [np.asarray(column.combine_chunks(), np.int64) for column in frame.toArrow().columns]
    found = np.array([tuple(row) for row in frame.collect()], np.int64).reshape(-1, len(frame.columns))
    return [found[:, place] for place in range(len(frame.columns))]


def _keys(task: Task) -> list[str]:
    return [PART.format(place) for place in range(len(task.by))]


def _grouped(rows: Any, task: Task, keys: list[str]) -> Any:
    """The counts or sums of the items that these columns name."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    amount = task.amount
    own = f.count(f.lit(1)) if amount is None else f.sum("lastbit_step")
    if task.unit is not None:
        rows = rows.where("lastbit_unit IS NOT NULL").groupBy(*keys, "lastbit_unit").agg(own.alias("lastbit_step"))
    if task.bound is not None:
        mark = f.xxhash64("lastbit_unit", *keys, f.lit(task.bound.key))
        first = Window.partitionBy("lastbit_unit").orderBy(mark.asc(), *map(f.asc, keys))
        rows = rows.withColumn("lastbit_rank", f.row_number().over(first)).where(f"lastbit_rank <= {task.bound.most}")
    total = f.count(f.lit(1))
    if amount is not None:
        total = f.sum(f.expr(f"greatest(least(lastbit_step, {amount.high}L), {amount.low}L)"))
    return rows.groupBy(*keys).agg(total.alias(TOTAL))


def _decimal_steps(amount: Weights, column: str, scale: int) -> str:
    """Steps of a decimal by the whole number below it and the part above it: no digit is lost on the way."""
    low, high = sql.ends(amount)
    above, below = amount.grid.numerator, amount.grid.denominator
    whole = f"CAST(floor({column}) AS DECIMAL(38,0))"
    held = f"CAST(greatest(least({whole}, CAST({high} AS DECIMAL(38,0))), CAST({low - 1} AS DECIMAL(38,0))) AS BIGINT)"
    base = (low - 1) * below // above
    steps = f"({held} * {below}L - ({base * above}L)) div {above}L + ({base}L)"
    if below > 1:
        digits = len(str(below))
        if digits + scale > 37:
            raise ParameterError(
                f"resolution must be coarser for decimals with {scale} digits after the point: Spark adds them up "
                "exactly in 38 digits only. Use a coarser one, or a column with fewer digits."
            )
        rest = f"CAST(pmod({column}, CAST(1 AS DECIMAL(1,0))) AS DECIMAL({scale + 1},{scale}))"
        steps += f" + CAST(floor({rest} * CAST({below} AS DECIMAL({digits},0))) AS BIGINT)"
    clamped = f"greatest(least({steps}, {amount.high}L), {amount.low}L)"
    return f"CASE WHEN {column} IS NULL THEN {amount.low}L ELSE {clamped} END"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _scale(dtype: str) -> int:
    return int(dtype.rstrip(")").split(",")[1]) if dtype.startswith("decimal") else 0
