"""One pass over a table, in any engine: what each unit has in many of its columns.

Everything is decided by the unit's own rows and by public things, so a unit that comes or goes leaves what all others
have as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lastbit.data.column_types import DATE, TIMESTAMP, ZONED_TIMESTAMP
from lastbit.data.engines import call_engine, require_column_types, wrap_frame
from lastbit.data.number_grid import unbounded_weights
from lastbit.data.profiles import ColumnProfile, Integers, ProfileColumn, ProfileTask
from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import Number
from lastbit.values.counts import Counts

DATES: Final = (DATE, TIMESTAMP, ZONED_TIMESTAMP)
"""Columns whose values have a day."""


@dataclass(frozen=True, eq=False)
class TableProfile:
    """What each unit has, in no order: private, and never printed.

    >>> TableProfile(np.array([1, 3]), {})
    <TableProfile: of 0 columns>
    """

    rows: Integers = field(repr=False)
    """How many rows each unit has."""
    columns: Mapping[str, ColumnProfile] = field(repr=False)

    def missing(self, name: str) -> Counts:
        """Return how many units have no value in a column, and how many have one in some of their rows only."""
        present = self.columns[name].present
        never = int((present == 0).sum())
        values = np.array([never, int((present < self.rows).sum()) - never], np.int64)
        return Counts(items=("never", "sometimes"), values=values, monotone=True, most_items=1)

    def numbers(self, name: str) -> Integers:
        """Return the numbers of the units that have one, in their order: engines have units in any."""
        column = self.columns[name]
        return np.sort(column.steps[column.present > 0])

    def __repr__(self) -> str:
        return f"<TableProfile: of {len(self.columns)} columns>"

    def __reduce__(self) -> Any:
        raise LastbitError("a TableProfile holds private values and is not written down. Release what is asked for.")


def grid_of(step: Number) -> Fraction:
    """Return the step of the fine grid on which numbers are averaged, for numbers that are floored to this step later.

    >>> grid_of(1)
    Fraction(1, 1024)
    """
    return unbounded_weights(step).grid.resolution


def profile_units(
    frame: Any,
    *,
    unit: str,
    numbers: Mapping[str, Number] | None = None,
    dates: Sequence[str] = (),
    others: Sequence[str] = (),
) -> TableProfile:
    """Return what each unit has in these columns, read in one pass.

    numbers: columns of numbers, each with the resolution that its numbers will be floored to: a unit's number is the
    mean of its rows. dates: columns of dates or times: a unit's number is its latest day, in days since 1970. others:
    columns of which only missing values are counted. Null and NaN are missing.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": [1, 1, 2], "cost": [10, 20, None]})
    >>> profile = profile_units(visits, unit="patient", numbers={"cost": 1})
    >>> profile.missing("cost").values.tolist(), sorted(profile.rows.tolist())
    ([1, 0], [1, 2])
    """
    numbers = {} if numbers is None else numbers
    columns = [ProfileColumn(name, "number", unbounded_weights(step)) for name, step in numbers.items()]
    columns += [ProfileColumn(name, "date") for name in dates]
    columns += [ProfileColumn(name) for name in others]
    task = ProfileTask(unit, tuple(columns))
    table = call_engine(wrap_frame, frame, list(task.columns))
    types = call_engine(
        require_column_types, table, [unit, *(one.name for one in columns if one.measured != "nothing")]
    )
    for column in columns:
        if column.amount is not None:
            column.amount.check(types[column.name], column.name)
        elif column.measured == "date" and types[column.name] not in DATES:
            raise ParameterError(
                f"dates must be columns of dates or times: the column {column.name!r} holds "
                f"{types[column.name].description}. Name another column, or give it that type. Nothing was read."
            )
    rows, profiles = call_engine(table.profile, task)
    return TableProfile(rows, dict(zip((column.name for column in columns), profiles, strict=True)))
