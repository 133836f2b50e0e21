"""`Unlisted`: the values of whatever items occur in a table. Nobody listed the items, so the items are private too."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, positive, whole
from lastbit.output.words import plural
from lastbit.values.adjacency import Adjacency
from lastbit.values.grid import Grid
from lastbit.values.known import Known, steps_off
from lastbit.values.raw import exact_ratio
from lastbit.values.spark_rows import SparkRows


class Unknown:
    """The domain of items that nobody listed: `lastbit.UNKNOWN`.

    >>> import lastbit as lb
    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": [1, 2], "diagnosis": ["flu", "gout"]})
    >>> lb.count(visits, by="diagnosis", unit="patient", domain=lb.UNKNOWN)
    <Unlisted: sensitivity 1>
    """

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()
"""`lb.count(…, domain=lb.UNKNOWN)` counts the items that occur."""

_EPOCH: Final = datetime.datetime(1970, 1, 1)
_EPOCH_UTC: Final = _EPOCH.replace(tzinfo=datetime.UTC)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)

ItemsAndSteps = tuple[Sequence[Any], NDArray[np.int64]]
"""Items, and the value of each in steps of the resolution."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Unlisted(Known):
    """The values of the items that occur. Items and values are private: only mechanisms that pay a delta release them.

    fetch: the items with the largest values, largest first; of equal values the first in `sort_key`. Values are whole
        steps of the resolution, above zero. At most so many are asked for; None asks for all.
    sensitivity: the furthest one person can move any single value; one who comes moves them up.
    most_items: the number of items that one person counts in, at most; None where there is no bound.
    above: how many steps of the resolution the exact values may lie above these, which were floored.

    >>> words = Unlisted.of({"apple": 120, "pear": 80, "plum": 80})
    >>> words
    <Unlisted: sensitivity 1>
    >>> words.highest(2)[0]
    ('apple', 'pear')
    """

    fetch: Callable[[int | None], ItemsAndSteps] = field(repr=False)
    sensitivity: Number = 1
    most_items: int | None = None
    resolution: Number = 1
    above: int = field(default=0, repr=False)
    rows: SparkRows | None = field(default=None, repr=False)
    """All items, where Spark has them."""

    def __post_init__(self) -> None:
        sensitivity = positive(self.sensitivity, "sensitivity", "It is how far one person can move a value.")
        grid = Grid(self.resolution)
        grid.count(sensitivity, "sensitivity")
        most = None if self.most_items is None else whole(self.most_items, "most_items")
        whole(self.above, "above", least=0)
        for name, value in (("sensitivity", sensitivity), ("resolution", grid.resolution), ("most_items", most)):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, values: Mapping[Any, Any], **facts: Any) -> Unlisted:
        """Return the values of items in a mapping: exact numbers, floored
        to the resolution. Only those above zero occur.
        """
        grid = Grid(facts.get("resolution", 1))
        facts["above"] = steps_off(facts.get("above"), list(values.values()), grid)
        steps = {item: grid.step(value) for item, value in values.items()}
        rows = sorted(
            ((-step, sort_key(item), item) for item, step in steps.items() if step > 0), key=lambda row: row[:2]
        )
        items, totals = tuple(row[2] for row in rows), np.array([-row[0] for row in rows], np.int64)

        def fetch(most: int | None) -> ItemsAndSteps:
            return items[:most], totals[:most]

        return cls(fetch=fetch, **facts)

    def highest(self, most: int | None = None) -> ItemsAndSteps:
        """Return the items with the largest values, and the values in steps: at most so many. They are private."""
        items, steps = self.fetch(most)
        return items, steps

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        """One person who comes moves all values up."""
        return True

    @property
    def adjacency(self) -> Adjacency:  # type: ignore[override]
        """One person comes or goes."""
        return "add-remove"

    @property
    def each(self) -> Fraction:
        """The most that one person moves each value."""
        return Fraction(self.sensitivity)

    @property
    def values(self) -> Any:
        """Refused: whoever has the values knows how many items there are, which is private."""
        raise ParameterError(
            "nobody listed the items, so they are private: this mechanism would publish them. Use DiscoverTopK, "
            "DiscoverRanking or DiscoverHistogram, which pay a delta for it, or count with a public domain. Nothing "
            "was drawn."
        )

    total = values

    def __repr__(self) -> str:
        bound = "" if self.most_items is None else f", at most {plural(self.most_items, 'item')} a unit"
        return f"<Unlisted: sensitivity {self.sensitivity}{bound}>"


def sort_key(item: Any) -> Any:
    """Return a key that puts items in one fixed order, the same on every engine.

    Families come one after the other: truth values, numbers by their value, text by the bytes of its UTF-8, bytes,
    dates, times without a zone, times with one by their instant, times of the day, spans of time, UUIDs by their
    number, tuples entry by entry, all others.

    >>> sorted(["b", "a", "B", "", 3, 2.5, True], key=sort_key)
    [True, 2.5, 3, '', 'B', 'a', 'b']
    """
    if type(item) is str:  # the most common by far
        return 2, item.encode("utf-8", "surrogatepass")
    if isinstance(item, bool | np.bool_):
        return 0, bool(item)
    if isinstance(item, np.timedelta64 | np.datetime64):  # the first of them calls itself a whole number
        item = item.astype(f"{'m' if isinstance(item, np.timedelta64) else 'M'}8[ns]")
        return (8 if isinstance(item, np.timedelta64) else 5), int(item.view(np.int64))
    if isinstance(item, Real | Decimal):
        above, below = exact_ratio(item)
        return (1, 0, Fraction(above, below)) if below else (1, above, Fraction(0))
    if isinstance(item, str):
        return 2, item.encode("utf-8", "surrogatepass")
    if isinstance(item, bytes):
        return 3, item
    if isinstance(item, datetime.datetime):
        if item.utcoffset() is not None:
            return 6, _nanoseconds_since(item, _EPOCH_UTC)
        return 5, _nanoseconds_since(item.replace(tzinfo=None), _EPOCH)
    if isinstance(item, datetime.date):
        return 4, item.toordinal()
    if isinstance(item, datetime.time):
        return 7, item.isoformat("microseconds")
    if isinstance(item, datetime.timedelta):
        return 8, item // _MICROSECOND * 1000 + int(getattr(item, "nanoseconds", 0))
    if isinstance(item, uuid.UUID):
        return 9, item.int
    if isinstance(item, tuple):
        return 10, tuple(sort_key(part) for part in item)
    return 11, type(item).__name__, repr(item)


def _nanoseconds_since(moment: datetime.datetime, start: datetime.datetime) -> int:
    """Return the nanoseconds from a start to a moment: a Timestamp of pandas is finer than microseconds."""
    elapsed = datetime.datetime.__sub__(moment, start)
    return elapsed // _MICROSECOND * 1000 + int(getattr(moment, "nanosecond", 0))
