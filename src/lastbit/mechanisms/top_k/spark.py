"""Selecting from more candidates than one machine holds: the noise is drawn where the rows are, in Spark's executors.

The noise of different candidates is independent, so any machine may draw it, and a secret of the release decides it for
each candidate: a task that runs again gives the same shortlist. A partition keeps its contenders, among
them every candidate that can still be among the top k+1. The shortlists together hold all contenders, and the driver
finishes with them as one machine would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw, Samples
from lastbit.errors import LastbitError, ParameterError, missing_column_error
from lastbit.mechanisms.mechanism import require_system_draw
from lastbit.mechanisms.spark_draws import Draws, make_keyed_draws
from lastbit.mechanisms.top_k.mechanism import check_enough
from lastbit.mechanisms.top_k.selector import Selector
from lastbit.values.grid import LIMIT, Steps
from lastbit.values.spark_items import can_be_items, item_reader, readable_condition
from lastbit.values.spark_rows import PART, TOTAL, SparkRows, run_spark

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise LastbitError("Spark needs pyspark and pyarrow. Install them with: pip install 'lastbit[spark]'") from None


SparkSelection = tuple[tuple[Any, ...], Samples, int, int]
"""The selected items, best first, the gaps in steps, how many candidates there are, and `Selection.above`."""

StepsIn = Callable[[NDArray[Any]], Steps]
"""From the values of a batch to steps of the mechanism's grid."""

_WHOLE: Final = "tinyint", "smallint", "int", "bigint"

_PARTS: Final = 256
"""Shortlists that come to the driver at most: a task goes through several partitions where there are more."""


def read_candidates(frame: Any, item: str, value: str) -> tuple[SparkRows, bool]:
    """Return the rows of a table of candidates, one a row, and whether their values are whole numbers.

    No two rows may have the same item: each would get noise of its own, and both could be selected. Items are public,
    so a table that breaks this is refused.
    """
    from pyspark.sql import functions as f

    types = dict(frame.dtypes)
    for column in (item, value):
        if column not in types:
            raise missing_column_error(column, types)
    if types[value] not in (*_WHOLE, "float", "double") and not types[value].startswith("decimal"):
        raise ParameterError(f"values must be numbers: the column {value!r} is {types[value]}. Cast it to one.")
    if not can_be_items(types[item]):
        raise ParameterError(
            f"items must be text, bytes, numbers, true and false, dates, times or lengths of time: the column {item!r} "
            f"is {types[item]}. Cast it to text. Nothing was drawn."
        )
    key = PART.format(0)
    # Quoted: a dot in a name would be taken for a part of a column.
    items, number = (frame[f"`{name.replace('`', '``')}`"] for name in (item, value))
    rows = frame.select(items.alias(key), number.alias(TOTAL))
    # In a struct, so that a null is an item too.
    same = rows.select(f.struct(key).alias(key)).groupBy(key).count().where("count > 1").limit(1)
    if run_spark(same.count):
        raise ParameterError(
            f"items must be different: two rows have the same {item!r}, and both could be selected. Add their values "
            f"up first: frame.groupBy({item!r}).agg(...). Nothing was drawn."
        )
    if run_spark(rows.where(f"NOT ({readable_condition(types[item], key)})").limit(1).count):
        raise ParameterError(
            f"items must be such that Python has them: a row of {item!r} has a date outside of the years 1 to 9999, or "
            "text that is no UTF-8. Leave such rows out, or cast the column to text. Nothing was drawn."
        )
    return SparkRows(rows, (item_reader(types[item], key),), (key,)), types[value] in _WHOLE


def ready_selection(
    rows: SparkRows, steps_in: StepsIn, selector: Selector, above: int
) -> Callable[[Draw], SparkSelection]:
    """Return a selection among rows, checked as far as that takes no chance."""
    n = rows.count_items()
    check_enough(selector.k, n)

    def select(draw: Draw) -> SparkSelection:
        require_system_draw(draw)
        draws = make_keyed_draws(draw)

        def shortlists(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            names, least = shortlist(batches, steps_in, selector, draws)
            if names is not None:
                # Text: noise may be beyond 64 bits.
                texts = pa.array([str(cell) for cell in least.tolist()])
                yield pa.RecordBatch.from_arrays([*names.flatten(), texts], [*names.type.names, "least"])

        few = replace(rows, frame=rows.frame.coalesce(_PARTS))
        names, least = few.fetch(few.map_batches(shortlists, "least"), "least")
        items, gaps = finish_selection(names, [int(cell) for cell in least], selector, draw)
        return items, gaps, n, above

    return select


def shortlist(
    batches: Iterable[pa.RecordBatch], steps_in: StepsIn, selector: Selector, draws: Draws
) -> tuple[pa.StructArray | None, Samples]:
    """Return the contenders of a partition, and their noisy values: memory for one batch and the shortlist."""
    names: pa.StructArray | None = None
    least: Samples = np.empty(0, np.int64)
    for batch in batches:
        if batch.num_rows == 0:
            continue
        steps = steps_in(numbers(batch.column(TOTAL)))
        least = np.concatenate((least, selector.noisy(len(steps), steps.__getitem__, draws(batch, steps))))
        parts = batch.drop_columns([TOTAL]).to_struct_array()
        everyone = parts if names is None else pa.concat_arrays([names, parts])
        contenders = selector.contenders(least)
        names, least = everyone.take(pa.array(contenders)), least[contenders]
    return names, least


def finish_selection(
    names: list[Any], least: list[int], selector: Selector, draw: Draw
) -> tuple[tuple[Any, ...], Samples]:
    """Finish the selection, from the shortlists of all partitions in their order."""
    small = all(-(1 << 62) <= cell < 1 << 62 for cell in least)
    cells = np.array(least, np.int64 if small else object)
    contenders = selector.contenders(cells)
    best, gaps = selector.finish(cells[contenders], draw)
    return tuple(names[index] for index in contenders[best].tolist()), gaps


def numbers(column: pa.Array) -> NDArray[Any]:
    """Return a column as an array; null is lowest, as NaN is."""
    if pa.types.is_decimal(column.type):
        decimals: NDArray[Any] = np.empty(len(column), object)
        decimals[:] = column.to_pylist()
        return decimals
    lowest = float("nan") if pa.types.is_floating(column.type) else np.iinfo(column.type.to_pandas_dtype()).min
    array: NDArray[Any] = pc.fill_null(column, pa.scalar(lowest, column.type)).to_numpy(zero_copy_only=False)
    return array


def scale_steps(steps: NDArray[Any], factor: int) -> Steps:
    """Return whole steps of one grid in steps of a grid that is finer by this factor, clamped to what a grid holds."""
    product: Steps = np.clip(steps, -(LIMIT // factor), LIMIT // factor) * factor
    return product
