"""How a question reads its table: the columns that it wants, and what is counted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.files.open_table import list_columns, open_table
from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.item_options import ItemOptions
from lastbit.questions.progress import Watcher, run_with_progress
from lastbit.questions.row_options import RowOptions
from lastbit.values.counts import Counts
from lastbit.values.ranked import RankedCounts, RankedUnlisted
from lastbit.values.unlisted import UNKNOWN, Unlisted

if TYPE_CHECKING:
    from lastbit.data.per_unit import Numbers
    from lastbit.questions.domains import Domain

_EVERYONE: Final = "everyone"

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

    def run(self, watcher: Watcher | None = None, *, frame: Any = None) -> Result:
        """Open the table and count. On a terminal, a progress bar appears after a second.

        `frame` is a table of a library, in place of the files.
        """
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
        work = self.work
        return Reading(self.rows, self.columns, lambda table: change(work(table)))

    def _open_frame(self, frame: Any) -> OpenTable:
        from lastbit.data.files.frames import open_frame_rows

        return open_frame_rows(frame, self.columns, self.rows.plan, self.rows.unit)

    def _open(self, *, with_rows: bool = True) -> OpenTable:
        rows = self.rows
        return open_table(rows.source, self.columns, rows.table, rows.form, rows.plan, with_rows=with_rows)


def read_counts(rows: RowOptions, items: ItemOptions) -> Reading[Counts]:
    """Read the counts of listed items."""

    def work(table: OpenTable) -> Counts:
        table, domain = _label_groups(items.domains, table, items.by)
        counts: Counts = _count(table, rows, items, domain)
        _refuse_twins(counts.items, items.domains)
        return counts

    return Reading(rows, _select_columns(rows, items), work)


def read_ranked_counts(rows: RowOptions, items: ItemOptions) -> Reading[RankedCounts]:
    """Read the numbers of listed items by the rank of an item in each unit's lot."""

    def work(table: OpenTable) -> RankedCounts:
        from lastbit.data.duckdb.ranked import count_ranked

        table, domain = _label_groups(items.domains, table, items.by)
        ranked = count_ranked(
            table,
            by=list(items.by),
            unit=rows.unit,
            domain=domain,
            weights=items.weights,
            bounds=items.bounds,
            resolution=items.step(),
            missing=items.missing_weight,
        )
        _refuse_twins(ranked.items, items.domains)
        return ranked

    return Reading(rows, _select_columns(rows, items), work)


def read_unlisted_items(rows: RowOptions, items: ItemOptions, most: int | None) -> Reading[Unlisted]:
    """Read the items that nobody listed: so many with the largest numbers, or all."""

    def work(table: OpenTable) -> Unlisted:
        unlisted: Unlisted = _count(_label_known_groups(items, table), rows, items, UNKNOWN)
        # The table is closed afterwards: all that the mechanism asks for is read now.
        largest = unlisted.highest(most)
        return replace(unlisted, fetch=lambda n: (largest[0][:n], largest[1][:n]))

    return Reading(rows, _select_columns(rows, items), work)


def read_ranked_unlisted(rows: RowOptions, items: ItemOptions, most: int) -> Reading[RankedUnlisted]:
    """Read the items that nobody listed by the rank of an item in each unit's lot, up to a rank."""

    def work(table: OpenTable) -> RankedUnlisted:
        from lastbit.data.duckdb.ranked import count_ranked_unlisted

        return count_ranked_unlisted(
            _label_known_groups(items, table),
            by=list(items.by),
            unit=rows.unit,
            most=most,
            weights=items.weights,
            bounds=items.bounds,
            resolution=items.step(),
            missing=items.missing_weight,
        )

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


def _count(table: OpenTable, rows: RowOptions, items: ItemOptions, domain: Any) -> Any:
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
        most_items=items.most_items,
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
    columns = tuple(name for name in (*by, rows.unit, latest_by, first_by) if name is not None)
    if of in columns:
        raise ParameterError(
            f"--of must be another column than --unit, --by, --latest-by and --first-by: got {of!r} for two."
        )

    number_missing = "leave-out" if missing == "show" else missing  # of groups, not of numbers

    def work(table: OpenTable) -> Numbers:
        from lastbit.data.per_unit import per_unit, rank_per_unit

        rule: Any = per
        bound: dict[str, Any] = {"extremes": extremes} if ranked else {"most_items": most_items}
        domain = None
        if by:
            table, domain = _label_groups(domains, table, by)
        numbers = (rank_per_unit if ranked else per_unit)(
            table,
            of=of,
            unit=rows.unit,
            bounds=bounds,
            per=rule,
            latest_by=latest_by,
            first_by=first_by,
            most_rows=most_rows,
            by=list(by),
            domain=domain,
            missing=number_missing,
            resolution=resolution,
            **bound,
        )
        if by:
            _refuse_twins(numbers.items, domains)
        return numbers

    return Reading(rows, ColumnSelection(columns, weights=of), work)


def read_everybody(rows: RowOptions) -> Reading[Counts]:
    """Read how many units a table has: rows, where each is one person."""
    from lastbit.data.count import count_rows, count_units

    unit = rows.unit
    if unit is None:
        return _RowReading(rows, ColumnSelection(()), lambda table: count_rows(table, _EVERYONE))
    return Reading(rows, ColumnSelection((unit,), distinct=True), lambda table: count_units(table, unit, _EVERYONE))


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
    """List the columns that a table declares; none where only its rows name them. No row is read."""
    return list_columns(rows.source, rows.table, rows.form)


def _label_groups(domains: Sequence[Domain], table: OpenTable, by: Sequence[str]) -> tuple[OpenTable, Any]:
    """Return the table with groups of other rows and of rows without one, where they are shown, and all groups.

    The groups are as `count` takes them. A range is text where the column is text, as it is in text files.
    """
    from lastbit.data.duckdb.labels import LabelledColumn, label_groups

    listed = [_match_column(domain.typed_items, table, column) for domain, column in zip(domains, by, strict=True)]
    labelled = [
        LabelledColumn(column, items, domain.others, domain.missing)
        for column, items, domain in zip(by, listed, domains, strict=True)
        if domain.others or domain.missing
    ]
    if labelled:
        table = label_groups(table, labelled)
        names = [column.name for column in labelled]
        listed = [
            domain.items if column in names else items
            for column, domain, items in zip(by, domains, listed, strict=True)
        ]
    return table, listed[0] if len(listed) == 1 else listed


def _label_known_groups(items: ItemOptions, table: OpenTable) -> OpenTable:
    """Return the table with only the listed groups of columns that have a list: the combinations are found then."""
    from lastbit.data.duckdb.labels import LabelledColumn, label_groups

    known, shown = items.known_domains, items.missing == "show"
    labelled = [
        LabelledColumn(name, _match_column(known[name].typed_items, table, name), known[name].others, shown)
        if name in known
        else LabelledColumn(name, None, missing=True)
        for name in items.by
        if name in known or shown
    ]
    return label_groups(table, labelled) if labelled else table


def _match_column(items: Sequence[Any], table: OpenTable, column: str) -> Sequence[Any]:
    """Return the items of a column as `count` takes them. A range is text where the column is text, as in text files.

    Text is no range: whoever typed it has said its form.
    """
    declared = table.relation.types[table.relation.columns.index(column)]
    return [str(item) for item in items] if isinstance(items, range) and declared == "VARCHAR" else items


def items_in(items: Sequence[Sequence[Any]], table: OpenTable, by: Sequence[str]) -> list[Sequence[Any]]:
    """Return the items of each column as `count_tables` takes them: whole numbers are text where the column is."""
    types = dict(zip(table.relation.columns, table.relation.types, strict=True))
    return [
        [str(item) if type(item) is int else item for item in own] if types[column] == "VARCHAR" else own
        for own, column in zip(items, by, strict=True)
    ]


def _refuse_twins(counted: Any, domains: Sequence[Domain]) -> None:
    """Refuse a domain of which the column takes two items for one: what is released has as many as were named."""
    if counted is not None and len(counted) != prod(len(domain.items) for domain in domains):
        raise ParameterError(
            "--domain must name each item once: the column takes two of its items for one, as 1 and 01 are one whole "
            "number. Leave one of them out. Nothing was charged."
        )
