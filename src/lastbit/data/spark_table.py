"""Tables of Spark, counted as a job of its own expressions.

Spark compares text by its bytes once it is binary, and numbers, dates and times by their value. So the domain is a
small table that every executor gets, and only the place of each item and its count are collected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lastbit.data import kinds, sql
from lastbit.data.columns import Integers, Keys
from lastbit.data.kinds import Kind
from lastbit.data.weights import Weights
from lastbit.errors import ParameterError

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


class SparkTable:
    """A DataFrame of PySpark."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._types = {field.name: field.dataType.simpleString() for field in frame.schema.fields}

    def kind(self, name: str) -> Kind | None:
        """The kind of a column by its declared type; None where the type cannot be counted by."""
        return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, self._types[name])), None)

    def totals(
        self, by: Sequence[str], unit: str | None, weight: str | None, keys: Sequence[Keys], amount: Weights | None
    ) -> Integers:
        """The count of each item of the product of domains, or its sum in steps."""
        from pyspark.sql import functions as f

        chosen = [f"{self._form(name)} AS lastbit_key_{i}" for i, name in enumerate(by)]
        if unit is not None:
            chosen.append(f"{self._form(unit)} AS lastbit_unit")
        if weight is not None and amount is not None:
            chosen.append(f"{self._steps(weight, amount)} AS lastbit_step")
        rows = self._frame.selectExpr(*chosen)
        place = f.lit(0).cast("bigint")
        for i, (name, each) in enumerate(zip(by, keys, strict=True)):
            domain = self._domain(name, each, i)
            rows = rows.join(f.broadcast(domain), f.expr(f"lastbit_key_{i} = lastbit_item_{i}"))
            place = place * len(each) + f.col(f"lastbit_place_{i}")
        rows = rows.withColumn("lastbit_place", place)
        own = f.count(f.lit(1)) if amount is None else f.sum("lastbit_step")
        if unit is not None:
            rows = rows.where("lastbit_unit IS NOT NULL").groupBy("lastbit_place", "lastbit_unit")
            rows = rows.agg(own.alias("lastbit_step"))
        total = f.count(f.lit(1))
        if amount is not None:
            total = f.sum(f.expr(f"greatest(least(lastbit_step, {amount.high}L), {amount.low}L)"))
        totals = np.zeros(int(np.prod([len(each) for each in keys], dtype=object)), np.int64)
        for found, number in rows.groupBy("lastbit_place").agg(total.alias("lastbit_total")).collect():
            totals[found] = number
        return totals

    def _domain(self, name: str, keys: Keys, number: int) -> Any:
        from pyspark.sql import functions as f

        kind, dtype = self.kind(name), self._types[name]
        assert kind is not None  # noqa: S101
        texts, places = sql.literals(keys, kind, 1000, _scale(dtype))
        both = f.arrays_zip(f.split(f.lit(texts), ",").alias("item"), f.split(f.lit(places), ",").alias("place"))
        listed = self._frame.sparkSession.range(1).select(f.explode(both).alias("each"))
        cast = {
            kinds.TEXT: "unhex(each.item)",
            kinds.BINARY: "unhex(each.item)",
            kinds.REAL: "try_cast(each.item AS DOUBLE)",
            kinds.SPAN: "make_dt_interval(0, 0, 0, 0) + try_cast(each.item AS BIGINT) * INTERVAL '0.000001' SECOND",
        }.get(kind, f"try_cast(each.item AS {dtype})")
        # An empty text is one empty item to the engine: its place, null, takes it out.
        return listed.selectExpr(
            f"{cast} AS lastbit_item_{number}", f"try_cast(each.place AS BIGINT) AS lastbit_place_{number}"
        ).where(f"lastbit_place_{number} IS NOT NULL")

    def _form(self, name: str) -> str:
        """A column in its normal form."""
        column, kind = _quoted(name), self.kind(name)
        if kind is kinds.TEXT:
            return f"CAST({column} AS BINARY)"
        return sql.real(column) if kind is kinds.REAL else column

    def _steps(self, name: str, amount: Weights) -> str:
        column, kind = _quoted(name), self.kind(name)
        if kind is kinds.REAL:
            return sql.real_steps(amount, column, "div")
        if kind is kinds.DECIMAL:
            return _decimal_steps(amount, column, _scale(self._types[name]))
        low, high = sql.ends(amount)
        value = f"CAST({column} AS BIGINT)"
        clamped = f"CASE WHEN {value} IS NULL THEN {low} ELSE greatest(least({value}, {high}L), {low}L) END"
        return sql.whole_steps(amount, clamped, "div")


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
