"""How a question reads its table: the columns that it wants, and what is counted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.files.open_table import list_columns, open_table
from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.item_options import ItemOptions
from lastbit.questions.progress import Watcher, run_with_progress
from lastbit.questions.reading_groups import (
    label_known_groups,
    label_listed_groups,
    match_column,
    match_type,
    refuse_twins,
)
from lastbit.questions.row_options import RowOptions
from lastbit.values.counts import Counts

if TYPE_CHECKING:
    from lastbit.data.numbers import Numbers
    from lastbit.questions.domain import Domain
    from lastbit.values.ranked import DifferentValues, RankedCounts, RankedUnlisted
    from lastbit.values.unlisted import Unlisted

_EVERYONE: Final = "everyone"
_ALL: Final = "lastbit_everyone"
"""A column of Spark in which all rows have one item."""

NUMBER_OPTIONS: Final = ("latest_by", "first_by", "most_rows", "missing")
"""The options that say which number a unit has, besides the rule itself."""

Result = TypeVar("Result")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Reading(Generic[Result]):
    """The columns that a question wants of a table, and the work on them. To make one reads nothing."""

    rows: RowOptions
    columns: ColumnSelection
    work: Callable[[OpenTable], Result]
    """Counts the rows. What it returns is exact and private."""
    in_spark: Callable[[Any], Result] | None = None
    """Counts a table of Spark where its rows are; None where Spark cannot."""

    def run(self, watcher: Watcher | None = None, *, frame: Any = None) -> Result:
        """Open the table and count. On a terminal, a progress bar appears after a second.

        `frame` is a table of a library, in place of the files.
        """
        if frame is not None:
            from lastbit.data.engines import find_spark

            spark = find_spark(frame)
            if spark is not None:
                return self._run_in_spark(spark)
        tables: list[OpenTable] = []

        def open_and_work() -> Result:
            tables.append(self._open() if frame is None else self._open_frame(frame))
            failure: LastbitError | None = None
            try:
                result = self.work(tables[0])
            except LastbitError as error:
                failure = error
            # Says more, where the file itself could not be read, and stands alone: no other error is behind it.
            tables[0].check()
            if failure is not None:
                raise failure
            return result

        def stop() -> None:
            for table in tables:
                table.connection.interrupt()

        return run_with_progress(
            open_and_work, lambda: tables[0].progress() if tables else -1.0, stop=stop, watcher=watcher
        )  # fmt: skip

    def check_columns(self) -> None:
        """Open the table, and refuse it where a column is not there. No row is read."""
        run_with_progress(lambda: self._open(with_rows=False).connection.close(), lambda: -1.0)

    def then(self, change: Callable[[Result], Other]) -> Reading[Other]:
        """Return the same reading, with a change of what it counts."""
        work, in_spark = self.work, self.in_spark
        spark = None if in_spark is None else lambda frame: change(in_spark(frame))
        return replace(self, work=lambda table: change(work(table)), in_spark=spark)  # type: ignore[arg-type,return-value]

    def _run_in_spark(self, frame: Any) -> Result:
        """Count a table of Spark there, or refuse before a row is read."""
        from lastbit.data.engines import open_frame

        here = "Or bring the table to one machine: frame.toPandas(), or files of Parquet. Nothing was read."
        if self.rows.plan is not None and not self.rows.plan.does_nothing:
            raise ParameterError(
                "where, split, join, let, several columns as unit, sql, edges, bins and times are read on one machine, "
                "and a table of Spark may lie on many. "
                f"Filter it and make its columns in Spark first: frame.where(...), frame.withColumn(...). {here}"
            )
        if self.in_spark is None:
            raise ParameterError(
                "this question follows each person from group to group, or measures whom a bound or clamping leaves "
                "out, and Spark does not count that. With people_share=0, or without the bound, it may; "
                f"lastbit.count and lastbit.per_unit count there. {here}"
            )
        self.columns.check(list(open_frame(frame)[1]))
        return self.in_spark(frame)

    def _open_frame(self, frame: Any) -> OpenTable:
        from lastbit.data.files.frames import open_frame_rows

        return open_frame_rows(frame, self.columns, self.rows.plan, self.rows.unit_only(self.columns.names))

    def _open(self, *, with_rows: bool = True) -> OpenTable:
        rows = self.rows
        return open_table(rows.source, self.columns, rows.table, rows.form, rows.plan, with_rows=with_rows)


def read_counts(rows: RowOptions, items: ItemOptions) -> Reading[Counts]:
    """Read the counts of listed items."""

    def work(table: OpenTable) -> Counts:
        table, by, domain = label_listed_groups(items.domains, table, items.by)
        counts: Counts = _count(table, rows, replace(items, by=tuple(by)), domain)
        refuse_twins(counts.items, items.domains)
        return counts if items.combinations is None else replace(counts, items=items.names)

    def count_in_spark(frame: Any) -> Counts:
        pairs = zip(items.domains, items.by, strict=True)
        listed = [match_type(domain.typed_items, frame, name) for domain, name in pairs]
        counts: Counts = _count(frame, rows, items, listed[0] if len(listed) == 1 else listed)
        refuse_twins(counts.items, items.domains)
        return counts

    plain = items.combinations is None and not any(domain.others or domain.missing for domain in items.domains)
    able = plain and items.counts is None
    return Reading(rows, _select_columns(rows, items), work, count_in_spark if able else None)


def read_ranked_counts(rows: RowOptions, items: ItemOptions, *, lot_of_groups: bool = False) -> Reading[RankedCounts]:
    """Read the numbers of listed items by the rank of an item, or of its group, in each unit's lot."""

    def work(table: OpenTable) -> RankedCounts:
        from lastbit.data.duckdb.ranked import count_ranked

        table, by, domain = label_listed_groups(items.domains, table, items.by)
        ranked = count_ranked(
            table,
            by=list(by),
            unit=rows.unit,
            domain=domain,
            weights=items.weights,
            bounds=items.bounds,
            resolution=items.step(),
            missing=items.missing_weight,
            lot_of_groups=lot_of_groups,
        )
        refuse_twins(ranked.items, items.domains)
        return ranked if items.combinations is None else ranked.rename(items.names)

    return Reading(rows, _select_columns(rows, items), work)


def read_unlisted_items(rows: RowOptions, items: ItemOptions, most: int | None) -> Reading[Unlisted]:
    """Read the items that nobody listed: so many with the largest numbers, or all."""

    from lastbit.values.unlisted import UNKNOWN

    def work(table: OpenTable) -> Unlisted:
        unlisted: Unlisted = _count(label_known_groups(items, table), rows, items, UNKNOWN)
        # The table is closed afterwards: all that the mechanism asks for is read now.
        largest = unlisted.highest(most)
        return replace(unlisted, fetch=lambda n: (largest[0][:n], largest[1][:n]))

    def count_in_spark(frame: Any) -> Unlisted:
        unlisted: Unlisted = _count(frame, rows, items, UNKNOWN)
        return unlisted

    able = items.counts is None and not items.known_domains and items.missing != "show"
    return Reading(rows, _select_columns(rows, items), work, count_in_spark if able else None)


def read_ranked_unlisted(rows: RowOptions, items: ItemOptions, most: int) -> Reading[RankedUnlisted]:
    """Read the items that nobody listed by the rank of an item in each unit's lot, up to a rank."""

    def work(table: OpenTable) -> RankedUnlisted:
        from lastbit.data.duckdb.ranked import count_ranked_unlisted

        return count_ranked_unlisted(
            label_known_groups(items, table),
            by=list(items.by),
            unit=rows.unit,
            most=most,
            weights=items.weights,
            bounds=items.bounds,
            resolution=items.step(),
            missing=items.missing_weight,
        )

    return Reading(rows, _select_columns(rows, items), work)


def read_different(
    rows: RowOptions, items: ItemOptions, groups: ItemOptions, most: int | None
) -> Reading[DifferentValues]:
    """Read how many different values of a column the listed groups have; `items` have the column behind the groups."""
    column = items.by[-1]
    own = items.known_domains.get(column)

    def work(table: OpenTable) -> DifferentValues:
        from lastbit.data.duckdb.different import count_different

        listed: Any = None
        if groups.by:
            table, _, listed = label_listed_groups(groups.domains, table, groups.by)
        values = None if own is None else match_column(own, table, column)
        numbers = count_different(
            table, different=column, unit=rows.unit, by=groups.by, domain=listed, values=values, most=most
        )
        refuse_twins(numbers.items if groups.by else None, groups.domains if groups.by else ())
        refuse_twins(None if own is None else range(numbers.listed or 0), [] if own is None else [own])
        return numbers

    return Reading(rows, _select_columns(rows, items), work)


def _select_columns(rows: RowOptions, items: ItemOptions) -> ColumnSelection:
    """Return the columns that a question about items reads."""
    if items.counts is not None:
        columns = ColumnSelection((*items.by, items.counts))
        if rows.plan is not None and items.counts not in items.by:
            rows.plan.check_counts(items.counts, columns)
        return columns
    names = (*items.by, *([] if rows.unit is None else [rows.unit]))
    # Two equal rows count once where units are counted, and twice where weights are added up.
    return ColumnSelection(names, weights=items.weights, distinct=rows.unit is not None and items.weights is None)


def _count(table: Any, rows: RowOptions, items: ItemOptions, domain: Any) -> Any:
    """Count the items of a table, or take the counts that one of its columns states."""
    from lastbit.data.aggregates import read_aggregates
    from lastbit.data.count import count

    by = list(items.by)
    if items.counts is not None:
        parameters = {**items.mechanism_parameters, "most_items": items.most_items, "comma": rows.decimal_comma}
        return read_aggregates(table, by=by, counts=items.counts, domain=domain, **parameters)
    return count(
        table,
        by=by,
        unit=rows.unit,
        domain=domain,
        weights=items.weights,
        bounds=items.bounds,
        resolution=items.step(),
        missing=items.missing_weight,
        most_items=items.item_limit,
    )


def read_numbers(
    rows: RowOptions,
    of: str,
    bounds: tuple[str, str] | None,
    *,
    per: str = "mean",
    latest_by: str | None = None,
    first_by: str | None = None,
    most_rows: int | None = None,
    missing: str = "leave-out",
    resolution: str | None = None,
    by: Sequence[str] = (),
    domains: Sequence[Domain] = (),
    most_items: int | None = None,
    ranked: bool = False,
    extremes: bool = False,
) -> Reading[Numbers]:
    """Read the number of each unit, or of each unit in each group: see `per_unit`."""
    names = tuple(name for name in (*by, rows.unit, latest_by, first_by) if name is not None)
    if of in names:
        raise ParameterError(
            f"--of must be another column than --unit, --by, --latest-by and --first-by: got {of!r} for two."
        )

    number_missing = "leave-out" if missing == "show" else missing  # of groups, not of numbers

    def work(table: OpenTable) -> Numbers:
        from lastbit.data.per_unit import per_unit, rank_per_unit

        rule: Any = per
        bound: dict[str, Any] = {"extremes": extremes} if ranked else {"most_items": most_items}
        domain, columns = None, by
        if by:
            table, columns, domain = label_listed_groups(domains, table, by)
        numbers = (rank_per_unit if ranked else per_unit)(
            table,
            of=of,
            unit=rows.unit,
            bounds=bounds,
            per=rule,
            latest_by=latest_by,
            first_by=first_by,
            most_rows=most_rows,
            by=list(columns),
            domain=domain,
            missing=number_missing,
            resolution=resolution,
            **bound,
        )
        if by:
            refuse_twins(numbers.items, domains)
        return replace(numbers, items=tuple(domains[0].items)) if by and domains[0].columns else numbers

    def count_in_spark(frame: Any) -> Numbers:
        from lastbit.data.per_unit import per_unit

        rule: Any = per
        return per_unit(
            frame, of=of, unit=rows.unit, bounds=bounds, per=rule, latest_by=latest_by, first_by=first_by,
            most_rows=most_rows, missing=number_missing, resolution=resolution,
        )  # fmt: skip

    return Reading(rows, ColumnSelection(names, weights=of), work, None if ranked or by else count_in_spark)


def read_everybody(rows: RowOptions) -> Reading[Counts]:
    """Read how many units a table has: rows, where each is one person."""
    from lastbit.data.count import count_rows, count_units

    unit = rows.unit

    def count_in_spark(frame: Any) -> Counts:
        from pyspark.sql import functions

        from lastbit.data.count import count

        everybody = frame.withColumn(_ALL, functions.lit(_EVERYONE))
        return count(everybody, by=_ALL, unit=unit, domain=[_EVERYONE])

    if unit is None:
        return _RowReading(rows, ColumnSelection(()), lambda table: count_rows(table, _EVERYONE), count_in_spark)
    return Reading(
        rows,
        ColumnSelection((unit,), distinct=True),
        lambda table: count_units(table, unit, _EVERYONE),
        count_in_spark,
    )


class _RowReading(Reading[Counts]):
    """A reading of rows, whatever they hold: no engine opens a table without a column, so the first one is read."""

    def _open(self, *, with_rows: bool = True) -> OpenTable:
        return self._with_first(read_column_names(self.rows))._open(with_rows=with_rows)

    def _open_frame(self, frame: Any) -> OpenTable:
        from lastbit.data.engines import declare_columns

        return self._with_first(declare_columns(frame))._open_frame(frame)

    def _with_first(self, names: Iterable[str]) -> Reading[Counts]:
        first = next(iter(names), _EVERYONE)  # lines of JSON may have any column
        return Reading(self.rows, ColumnSelection((first,)), self.work)


def read_numbers_of_rows(rows: RowOptions, most: int) -> Reading[Numbers]:
    """Read how many rows each unit has, up to a number, and which units have more."""
    from lastbit.data.sql import quote_identifier

    unit = rows.unit or ""
    projection = f"{quote_identifier(unit)} AS who, 1 AS one"

    def work(table: OpenTable) -> Numbers:
        from lastbit.data.per_unit import rank_per_unit

        people = table.transform(lambda relation: relation.project(projection))
        return rank_per_unit(people, of="one", unit="who", bounds=(0, most), per="total", resolution=1)

    return Reading(rows, ColumnSelection((unit,)), work)


def read_column_names(rows: RowOptions) -> list[str]:
    """List the columns that a table declares, and those that are made of them; none where only its rows name them.

    No row is read.
    """
    columns = list_columns(rows.source, rows.table, rows.form)
    return [*columns, *rows.new_columns] if columns else columns
