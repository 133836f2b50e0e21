"""A column of DuckDB as the labels of its bins between edges; and the labels of days, weeks, months and years."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.duckdb.texts import parse_timestamp
from lastbit.data.sql import quote_identifier, quote_text
from lastbit.errors import ParameterError
from lastbit.values.bins import Bins

_FORMS: Final = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
"""How a day is written as the label of the period that it is in: ISO weeks begin on Mondays."""

_MOST: Final = 10_000
_WHOLE: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")


@dataclass(frozen=True)
class Periods:
    """The days, weeks, months or years from a first day to a last one, both in.

    >>> Periods.of("month", ("2026-01", "2026-03")).labels
    ('2026-01', '2026-02', '2026-03')
    >>> Periods.of("week", ("2026-12-28", "2027-01-04")).labels
    ('2026-W53', '2027-W01')
    """

    every: str
    first: datetime.date
    last: datetime.date

    @classmethod
    def of(cls, every: str, bounds: tuple[str, str]) -> Periods:
        """Parse two days: 2026-01-31, or 2026-01 for a whole month, or 2026 for a whole year."""
        if every not in _FORMS:
            raise ParameterError(f"periods must be day, week, month or year: got {every!r}.")
        first, last = _day(bounds[0], end=False), _day(bounds[1], end=True)
        if first > last:
            raise ParameterError(f"bounds must rise: got {bounds[0]} and {bounds[1]}.")
        if (last - first).days > _MOST * {"day": 1, "week": 7, "month": 30, "year": 365}[every]:
            raise ParameterError(f"there must be at most {_MOST:,} periods between the bounds. Use longer ones.")
        return cls(every, first, last)

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each period, in order."""
        return tuple(dict.fromkeys(day.strftime(_FORMS[self.every]) for day in self._days()))

    def _days(self) -> Iterator[datetime.date]:
        day = self.first
        for _ in range((self.last - self.first).days + 1):
            yield day
            day += datetime.timedelta(days=1)


def day_of(relation: Any, column: str) -> str:
    """Return the day of a row's date or time in SQL, that of UTC where there is a zone; null where it has none."""
    declared = str(relation.types[relation.columns.index(column)])
    name = quote_identifier(column)
    if declared == "TIMESTAMP WITH TIME ZONE":
        name = f"timezone('UTC', {name})"
    elif not (declared in ("VARCHAR", "DATE") or declared.startswith("TIMESTAMP")):
        raise ParameterError(f"the column {column!r} must hold dates or times: it holds {declared.lower()}.")
    # By way of a timestamp, because a time of day may stand behind the day.
    return f"TRY_CAST({parse_timestamp(name) if declared == 'VARCHAR' else f'TRY_CAST({name} AS TIMESTAMP)'} AS DATE)"


def bin_label(relation: Any, column: str, bins: Bins, missing: str = "leave-out") -> str:
    """Return the SQL of the label of a row's bin. Where a number is missing, the rule says the label, or null.

    The edge in the middle is compared first, then that of a half, so that twenty bins take five comparisons.
    """
    known, edges = _comparable(relation, column, bins)
    labels = [quote_text(label) for label in bins.labels]
    if len(labels) > _MOST:
        raise ParameterError(f"there must be at most {_MOST:,} bins in a table: got {len(labels):,}.")

    def choose(first: int, last: int) -> str:
        if first == last:
            return labels[first]
        middle = (first + last) // 2
        lower, upper = choose(first, middle), choose(middle + 1, last)
        return f"CASE WHEN {known} < {edges[middle]} THEN {lower} ELSE {upper} END"

    unknown = f"{known} IS NULL" + (f" OR isnan({known})" if known.endswith("AS DOUBLE)") else "")
    lost = "NULL" if missing == "leave-out" else labels[bins.place_of_missing(missing)]
    return f"CASE WHEN {unknown} THEN {lost} ELSE {choose(0, len(labels) - 1)} END"


def label_bins(table: OpenTable, column: str, bins: Bins, missing: str = "leave-out") -> OpenTable:
    """Return a table in which a column of numbers stands for the labels of its bins, row by row."""

    def change(rows: Any) -> Any:
        labels = {column: bin_label(rows, column, bins, missing)}
        chosen = ((labels.get(name, quote_identifier(name)), name) for name in rows.columns)
        return rows.project(", ".join(f"{made} AS {quote_identifier(name)}" for made, name in chosen))

    return table.transform(change)


def _comparable(relation: Any, column: str, bins: Bins) -> tuple[str, list[str]]:
    """Return a column of numbers, and the inner edges in its own type, so that every comparison is exact."""
    declared, name = relation.types[relation.columns.index(column)], quote_identifier(column)
    inner = bins.edges[1:-1]
    if declared.id in ("float", "double"):
        edges = bins.floats("float32" if declared.id == "float" else "float64")
        return f"CAST({name} AS DOUBLE)", [f"CAST('{edge!r}' AS DOUBLE)" for edge in edges]
    scale = 0
    if declared.id == "decimal":
        scale = int(dict(declared.children)["scale"])
        name = f"CAST(replace(CAST({name} AS VARCHAR), '.', '') AS HUGEINT)"
    elif str(declared).removeprefix("U") not in _WHOLE:
        raise ParameterError(f"the column {column!r} must hold numbers: it holds {str(declared).lower()}.")
    elif str(declared) == "UHUGEINT":
        name = f"CAST(least({name}, CAST('{(1 << 127) - 1}' AS UHUGEINT)) AS HUGEINT)"
        return f"(CASE WHEN {quote_identifier(column)} IS NOT NULL THEN {name} END)", [_huge(edge) for edge in inner]
    return f"CAST({name} AS HUGEINT)", [_huge(edge * 10**scale) for edge in inner]


def _huge(edge: Fraction) -> str:
    # A whole number is below an edge just if it is below the next whole number.
    above = max(-(1 << 127) + 1, min((1 << 127) - 1, math.ceil(edge)))
    return f"CAST('{above}' AS HUGEINT)"


def _day(text: str, *, end: bool) -> datetime.date:
    parts = text.split("-")
    try:
        year, month, day = (int(parts[i]) if i < len(parts) else None for i in range(3))
        if year is None or not 1000 <= year <= 9998 or len(parts) > 3:
            raise ValueError
        if day is not None and month is not None:
            return datetime.date(year, month, day)
        first = datetime.date(year, month or 1, 1)
        if not end:
            return first
        following = datetime.date(year + 1, 1, 1) if month in (None, 12) else datetime.date(year, month + 1, 1)
        return following - datetime.timedelta(days=1)
    except ValueError:
        raise ParameterError(
            f"bounds of dates must be days such as 2026-01-31, or months such as 2026-01, or years: got {text!r}."
        ) from None
