"""Columns of Spark in their normal form, in its SQL.

Spark compares text by its bytes once it is binary, and numbers, dates and times by their value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from lastbit.data import column_types, sql, sql_weights
from lastbit.data.column_types import ColumnType
from lastbit.data.long_texts import DIGEST_LENGTH, LONGEST_TEXT, PREFIX, PREFIX_END, PREFIX_TEXT
from lastbit.data.sql import quote_spark_identifier
from lastbit.data.table import Keys
from lastbit.data.weights import Weights
from lastbit.errors import ParameterError

_COLUMN_TYPES: Final[tuple[tuple[str, ColumnType], ...]] = (
    (r"string.*|char\(.*|varchar\(.*", column_types.TEXT),
    (r"binary", column_types.BINARY),
    (r"tinyint|smallint|int|bigint", column_types.INTEGER),
    (r"float|double", column_types.FLOAT),
    (r"decimal\(.*", column_types.DECIMAL),
    (r"boolean", column_types.BOOLEAN),
    (r"date", column_types.DATE),
    (r"timestamp", column_types.ZONED_TIMESTAMP),
    (r"timestamp_ntz", column_types.TIMESTAMP),
    (r"interval day.*|interval hour.*|interval minute.*|interval second", column_types.DURATION),
    (r"time\(.*|time", column_types.TIME),
    (r"void", column_types.NULL),
)

_MOST_LISTED: Final = 10**6
"""Items of a list go through the driver, whose usual memory is full with a few million."""

_IN_PLAN: Final = 1_000
"""Items that stand in the plan of a query as a text before Spark 4, which takes a table as it is, without a job.

A longer list is a table in any case: a plan of so many fills the driver.
"""

_NO_TIME: Final = "make_dt_interval(0, 0, 0, 0)"
_PARTS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")


class SparkColumns:
    """The columns of a DataFrame of PySpark."""

    def __init__(self, frame: Any) -> None:
        self._session = frame.sparkSession
        self._takes_arrow = hasattr(frame, "toArrow")
        self._types = {field.name: field.dataType.simpleString() for field in frame.schema.fields}

    def column_type(self, name: str) -> ColumnType | None:
        """Return the type of a column as it is declared; None where rows cannot be counted by such a type."""
        declared = self._types[name]
        return next((known for pattern, known in _COLUMN_TYPES if re.fullmatch(pattern, declared)), None)

    def decimal_places(self, name: str) -> int:
        """Return how many digits a column of decimals has after the point; 0 for other columns."""
        return _scale(self._types[name])

    def key(self, name: str) -> str:
        """Return the SQL of a column in its normal form."""
        column, column_type = quote_spark_identifier(name), self.column_type(name)
        if column_type in (column_types.TEXT, column_types.BINARY):
            return shorten_binary(f"CAST({column} AS BINARY)")
        return sql.float_key(column) if column_type is column_types.FLOAT else column

    def cast_key(self, name: str, key: str) -> str:
        """Return the SQL of a normal form as the column that it comes from."""
        declared, column = self._types[name], quote_spark_identifier(name)
        if self.column_type(name) is column_types.TEXT:
            return f"CAST({key} AS STRING) AS {column}"
        return f"CAST({key} AS {declared}) AS {column}" if declared == "float" else f"{key} AS {column}"

    def steps(self, name: str, weights: Weights) -> str:
        """Return the SQL of a weight in steps; null where it is missing and its row is left out."""
        column, present = quote_spark_identifier(name), self._present_steps(name, weights)
        steps = sql_weights.steps_or_missing(weights, column, present, self.column_type(name))
        return f"CAST({steps} AS BIGINT)"

    def _present_steps(self, name: str, weights: Weights) -> str:
        column, column_type = quote_spark_identifier(name), self.column_type(name)
        if column_type is column_types.FLOAT:
            return sql_weights.float_steps(weights, column, "div", "DECIMAL(38,0)")
        if column_type is column_types.DECIMAL:
            return _decimal_steps(weights, column, _scale(self._types[name]))
        low, high = sql_weights.clamp_range(weights)
        value = f"CAST({column} AS BIGINT)"
        clamped = f"CASE WHEN {value} IS NULL THEN {low} ELSE greatest(least({value}, {high}L), {low}L) END"
        return sql_weights.integer_steps(weights, clamped, "div")

    def is_readable(self, name: str, key: str) -> str:
        """Return the SQL of whether Python has an item for a normal form."""
        column_type = self.column_type(name)
        if column_type is column_types.TEXT:
            from pyspark.sql import functions as f

            if hasattr(f, "is_valid_utf8"):
                return f"is_valid_utf8(CAST({key} AS STRING))"
            return f"encode(decode({key}, 'UTF-8'), 'UTF-8') = {key}"  # Spark 3 puts another character for a wrong one
        if column_type is column_types.DATE:
            return f"{key} BETWEEN DATE'0001-01-01' AND DATE'9999-12-31'"
        if column_type in (column_types.TIMESTAMP, column_types.ZONED_TIMESTAMP):
            name, zone = ("TIMESTAMP_NTZ", "") if column_type is column_types.TIMESTAMP else ("TIMESTAMP", "Z")
            return f"{key} BETWEEN {name}'0001-01-01 00:00:00{zone}' AND {name}'9999-12-31 23:59:59.999999{zone}'"
        return "true"

    def item_reader(self, name: str, key: str) -> tuple[str, Callable[[Any], Any]]:
        """Return the SQL of a normal form that Python can read, and the function from what it reads to the item."""
        column_type = self.column_type(name)
        assert column_type is not None  # noqa: S101
        item = column_type.item
        if column_type is column_types.ZONED_TIMESTAMP:
            return f"unix_micros({key})", lambda value: item(value * 1000)
        if column_type in (column_types.TIMESTAMP, column_types.DURATION):
            # As a length of time from 1970 in its parts: no zone has a say in these.
            epoch = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
            duration = f"({key} - {epoch})" if column_type is column_types.TIMESTAMP else key
            parts = {part: f"CAST(extract({part} FROM {duration}) AS DECIMAL(38,6))" for part in _PARTS}
            minutes = f"({parts['DAY']} * 24 + {parts['HOUR']}) * 60 + {parts['MINUTE']}"
            return f"({minutes}) * 60 + {parts['SECOND']}", lambda value: item(int(Fraction(value) * 10**9))
        if column_type in (column_types.TEXT, column_types.BINARY):
            return key, lambda value: item(bytes(value))
        return key, lambda value: item(column_type.key(value))

    def domain(self, name: str, keys: Keys, number: int) -> Any:
        """Return a DataFrame of the items of a column in their normal form, and their positions."""
        from pyspark.sql import functions as f

        if len(keys) > _MOST_LISTED:
            raise ParameterError(
                f"domain must list at most {_MOST_LISTED:,} items for a table of Spark: got {len(keys):,}. Pass them "
                "as a table of Spark, such as spark.read.text('items.txt'): then items and counts stay there."
            )
        column_type, declared = self.column_type(name), self._types[name]
        assert column_type is not None  # noqa: S101
        texts = sql.item_texts(keys, column_type, 1000, _scale(declared))
        if len(keys) > _IN_PLAN or (keys and self._takes_arrow):
            domain = _upload_items(self._session, list(texts))
        else:
            items, positions = (f.split(f.lit(text), ",") for text in sql.join_items(texts))
            pairs = f.explode(f.arrays_zip(items.alias("item"), positions.alias("position")))
            domain = self._session.range(1).select(pairs.alias("pair")).select("pair.*")
        cast = {
            column_types.TEXT: "unhex(item)",
            column_types.BINARY: "unhex(item)",
            column_types.FLOAT: "try_cast(item AS DOUBLE)",
            column_types.DURATION: f"{_NO_TIME} + try_cast(item AS BIGINT) * INTERVAL '0.000001' SECOND",
        }.get(column_type, f"try_cast(item AS {declared})")
        # An empty text is one empty item to the engine: its position, null, takes it out.
        return domain.selectExpr(
            f"{cast} AS lastbit_item_{number}", f"try_cast(position AS BIGINT) AS lastbit_position_{number}"
        ).where(f"lastbit_position_{number} IS NOT NULL")


def shorten_binary(data: str) -> str:
    """Return the SQL of bytes in their normal form."""
    like = f"octet_length({data}) = {DIGEST_LENGTH} AND {data} >= X'{PREFIX.hex()}' AND {data} < X'{PREFIX_END.hex()}'"
    form = f"CAST(concat('{PREFIX_TEXT}', sha2({data}, 256)) AS BINARY)"
    return f"CASE WHEN octet_length({data}) > {LONGEST_TEXT} OR ({like}) THEN {form} ELSE {data} END"


def _upload_items(session: Any, texts: list[str | None]) -> Any:
    """Return texts and their positions as a table of two columns."""
    import pyarrow as pa

    table = pa.table({"item": pa.array(texts, pa.string()), "position": pa.array(range(len(texts)), pa.int64())})
    try:
        return session.createDataFrame(table)
    except TypeError:  # before Spark 4
        return session.createDataFrame(list(zip(texts, range(len(texts)), strict=True)), "item string, position long")


def _decimal_steps(weights: Weights, column: str, scale: int) -> str:
    """Return the steps of a decimal by the whole number below it and the part above it: no digit is lost on the way."""
    low, high = sql_weights.clamp_range(weights)
    above, below = weights.grid.numerator, weights.grid.denominator
    whole = f"CAST(floor({column}) AS DECIMAL(38,0))"
    held = f"CAST(greatest(least({whole}, CAST({high} AS DECIMAL(38,0))), CAST({low - 1} AS DECIMAL(38,0))) AS BIGINT)"
    base = (low - 1) * below // above
    steps = f"({held} * {below}L - ({base * above}L)) div {above}L + ({base}L)"
    if below > 1:
        digits, kept = len(str(below)), weights.places(scale)
        if digits + kept > 37:
            raise ParameterError(
                f"resolution must be coarser for decimals with {scale} digits after the point: Spark adds them up "
                "exactly in 38 digits only. Use a coarser one, or a column with fewer digits."
            )
        rest = f"pmod({column}, CAST(1 AS DECIMAL(1,0)))"
        rest = f"CAST({rest if kept == scale else f'floor({rest}, {kept})'} AS DECIMAL({kept + 1},{kept}))"
        steps += f" + CAST(floor({rest} * CAST({below} AS DECIMAL({digits},0))) AS BIGINT)"
    clamped = f"greatest(least({steps}, {weights.high}L), {weights.low}L)"
    return f"CASE WHEN {column} IS NULL THEN {weights.low}L ELSE {clamped} END"


def _scale(declared: str) -> int:
    return int(declared.rstrip(")").split(",")[1]) if declared.startswith("decimal") else 0
