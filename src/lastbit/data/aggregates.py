"""Tables that somebody counted already: one row for each item, with its count.

How far one person moves a count, only the one who counted knows: the user states it. Nothing here makes it larger. A
count is rounded down to a whole number and clamped, each by itself, and of several rows of one item the largest counts:
if one person moves every row by at most a whole number s (an item that is not there counts 0), every value moves by at
most s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.duckdb.texts import COMMA
from lastbit.data.files.lines import LONGEST_LINE
from lastbit.data.sql import quote_identifier
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number
from lastbit.values.counts import Counts
from lastbit.values.unlisted import Unlisted

LARGEST: Final = (1 << 31) - 1
"""Larger counts count as this one."""

_POWER: Final = 1_000
"""Powers of ten above this are as this one."""

_WHOLE: Final = ("tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint")


def read_aggregates(
    source: OpenTable,
    *,
    by: Sequence[str],
    counts: str,
    domain: Any,
    sensitivity: Number,
    monotone: bool,
    most_items: int | None = None,
    comma: bool = False,
) -> Counts | Unlisted:
    """Return the counts of a table with one row for each item; with `lb.UNKNOWN` as domain, of the items that occur.

    sensitivity, monotone, most_items: what the user states about one person. They are not checked, because the rows do
    not show people.

    >>> from lastbit.data.duckdb.relation import connect
    >>> connection = connect()
    >>> rows = connection.sql("select * from (values ('flu', 120), ('cold', 80), ('flu', 3)) as t(item, n)")
    >>> stated = {"domain": ["flu", "gout"], "sensitivity": 2, "monotone": True}
    >>> totals = read_aggregates(OpenTable(rows, connection), by=["item"], counts="n", **stated)
    >>> totals, totals.values.tolist()
    (<Counts: 2 items, sensitivity 2, monotone>, [120, 0])
    """
    from lastbit.data.count import count

    types = dict(zip(source.relation.columns, source.relation.types, strict=True))
    if counts in by:
        raise ParameterError(f"--by and --counts must be different columns: got {counts!r} for both.")
    # The names of the columns stay: they may be in messages.
    items = ", ".join(quote_identifier(name) for name in by)
    value = _whole(quote_identifier(counts), types[counts].id, comma)
    own = "lastbit_number"
    while own in map(str.lower, by):
        own += "_"
    chosen, largest = f"{items}, {value} AS {own}", f"{items}, max({own}) AS {own}"
    rows = source.transform(
        lambda all_rows: all_rows.project(chosen).filter(f"{own} IS NOT NULL").aggregate(largest, items)
    )
    facts: dict[str, Any] = {"weights": own, "bounds": (0, LARGEST), "domain": domain}
    totals = count(rows, by=list(by), **facts)
    if isinstance(totals, Unlisted):
        return replace(totals, sensitivity=sensitivity, most_items=most_items)
    return Counts(
        items=totals.items, values=totals.values, sensitivity=sensitivity, monotone=monotone, most_items=most_items
    )


def _whole(column: str, declared: str, comma: bool) -> str:
    """Return the SQL of a count from 0 to the largest, rounded down exactly; null where it is negative or no number."""
    if declared in _WHOLE:
        return f"CASE WHEN {column} >= 0 THEN CAST(least({column}, {LARGEST}) AS BIGINT) END"
    if declared == "uhugeint":
        wide = f"CAST(least({column}, CAST({LARGEST} AS UHUGEINT)) AS BIGINT)"
        return f"CASE WHEN {column} IS NOT NULL THEN {wide} END"
    if declared in ("float", "double"):
        real = f"CASE WHEN NOT isnan(CAST({column} AS DOUBLE)) THEN CAST({column} AS DOUBLE) END"
        return f"CASE WHEN {real} >= 0 THEN CAST(floor(least({real}, {LARGEST})) AS BIGINT) END"
    if declared == "decimal":
        floor = f"TRY_CAST(floor({column}) AS HUGEINT)"
        return f"CASE WHEN {floor} >= 0 THEN CAST(least({floor}, {LARGEST}) AS BIGINT) END"
    if declared != "varchar":
        raise ParameterError("the column of --counts must hold numbers: its type is another one. Name another column.")
    # By its digits: a float would round some texts up that are below a whole number, and others not.
    pattern = COMMA if comma else r"[+]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?"
    text = f"replace(trim({column}), '.', '')" if comma else f"trim({column})"
    # Some programs write 100000 as 1e+05, between 99999 and 100001: read by its digits too, moved by the power.
    mantissa, power = (f"split_part(lower({text}), 'e', {number})" for number in (1, 2))
    whole, rest = (f"split_part({mantissa}, '{',' if comma else '.'}', {number})" for number in (1, 2))
    power = f"CAST(greatest(least(coalesce(TRY_CAST({power} AS DOUBLE), 0), {_POWER}), -{LONGEST_LINE}) AS INTEGER)"
    longer = f"{whole} || rpad(left({rest}, {power}), {power}, '0')"
    shorter = f"left(ltrim({whole}, '+'), greatest(length(ltrim({whole}, '+')) + {power}, 0))"
    digits = f"ltrim(CASE WHEN {power} >= 0 THEN {longer} ELSE {shorter} END, '+0')"
    number = f"CASE WHEN length({digits}) > 10 THEN {LARGEST} ELSE coalesce(TRY_CAST({digits} AS BIGINT), 0) END"
    plain = f"regexp_full_match(trim({column}), '{pattern}') AND NOT starts_with(trim({column}), '-')"
    far = f"coalesce(TRY_CAST({column} AS DOUBLE) >= {2 * LARGEST} AND NOT isnan(TRY_CAST({column} AS DOUBLE)), false)"
    return f"CASE WHEN {plain} THEN least({number}, {LARGEST}) WHEN {far} THEN {LARGEST} END"
