"""Items and values that are spread over the machines of a Spark. Mechanisms draw where the rows are."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from lastbit.errors import DataError, LastbitError

TOTAL: Final = "lastbit_total"
"""The column of the values, in whole steps."""

PART: Final = "lastbit_key_{}"
"""The column of a part of an item."""

_LOGS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where PySpark 4 writes errors, with their messages, before it raises them."""

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class SparkRows:
    """One row for each item, in a DataFrame of Spark.

    frame: a column for each part of an item, in its normal form, and `TOTAL`.
    read: for each part the SQL of a value that Python can read, and the function from this value to the part.
    typed: for each part the SQL of a column with the name and the type that the part has in the user's table.
    """

    frame: Any
    read: tuple[tuple[str, Callable[[Any], Any]], ...]
    typed: tuple[str, ...]
    public: Any = None
    """Where the items are public, a DataFrame with a row for each of them: to count it counts no rows of people."""

    def count_items(self) -> int:
        """Return how many items there are."""
        return int(run_spark((self.frame if self.public is None else self.public).count))

    @property
    def keys(self) -> list[str]:
        """The columns of the parts."""
        return [name for name in self.frame.columns if name != TOTAL]

    def map_batches(self, work: Callable[[Iterable[Any]], Iterable[Any]], column: str) -> Any:
        """Return the parts of items and a new column of text that the executors make of the rows, batch by batch."""
        from pyspark.sql.types import StringType, StructField, StructType

        fields = [field for field in self.frame.schema.fields if field.name != TOTAL]
        with silence_pyspark():
            return self.frame.mapInArrow(work, StructType([*fields, StructField(column, StringType())]))

    def fetch(self, frame: Any, column: str) -> tuple[list[Any], list[Any]]:
        """Return the items of a frame with the parts of items, and another column, both as Python has them."""
        rows = run_spark(lambda: frame.selectExpr(*(sql for sql, _ in self.read), column).collect())
        parts = [[convert(row[place]) for row in rows] for place, (_, convert) in enumerate(self.read)]
        items = parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
        return items, [row[-1] for row in rows]

    def __reduce__(self) -> Any:
        raise LastbitError("rows in Spark are private and are not written down. Release them, and keep the release.")


@contextmanager
def silence_pyspark() -> Iterator[None]:
    """Keep PySpark's Python from writing beside an answer.

    It logs errors with the rows that they quote. And it warns of newer pandas at each call that sends rows to Python,
    where lastbit uses no pandas.
    """
    module = sys.modules.get("pyspark.logger")
    # By PySpark's own function: a logger of another class would break its errors.
    logs = [] if module is None else [module.PySparkLogger.getLogger(name) for name in _LOGS]
    before = [log.disabled for log in logs]
    try:
        for log in logs:
            log.disabled = True
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
            yield
    finally:
        for log, disabled in zip(logs, before, strict=True):
            log.disabled = disabled


def run_spark(work: Callable[[], Result]) -> Result:
    """Return what Spark answers. Of its errors only the kind is shown, because the message may quote a row."""
    try:
        with silence_pyspark():
            return work()
    except LastbitError:
        raise  # our own words, which quote nothing
    except Exception as error:
        problem = type(error).__name__
    version = "{}.{}".format(*sys.version_info)
    raise DataError(
        f"Spark could not finish the work: {problem}. The message may quote rows, so it is not shown. To see it, "
        "compute the table alone: frame.write.format('noop').mode('overwrite').save(). Workers need lastbit, pyarrow "
        f"and the Python of the driver, {version}: set PYSPARK_PYTHON to one before Spark starts."
    )
