"""How a question reads its table: the columns that it wants, and what is counted of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from lastbit.data.source import Opened, Wanted, list_columns, opened
from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.items import ItemOptions
from lastbit.questions.progress import Watcher, run_watched
from lastbit.questions.rows import RowOptions
from lastbit.values.counts import Counts
from lastbit.values.unlisted import UNKNOWN, Unlisted

if TYPE_CHECKING:
    from lastbit.data.binning import Periods
    from lastbit.data.per_unit import Numbers
    from lastbit.questions.domains import Domain
    from lastbit.values.bins import Bins

_EVERYONE: Final = "everyone"

Result = TypeVar("Result")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Reading(Generic[Result]):
    """The columns that a question wants of a table, and the work on them. To make one reads nothing."""

    rows: RowOptions
    wanted: Wanted
    work: Callable[[Opened], Result]
    """Counts the rows. What it returns is exact and private."""

    def run(self, watcher: Watcher | None = None) -> Result:
        """Open the table and count. On a terminal, a progress bar appears after a second."""
        tables: list[Opened] = []

        def open_and_work() -> Result:
            tables.append(self._open())
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

        return run_watched(
            open_and_work, lambda: tables[0].progress() if tables else -1.0, stop=stop, watcher=watcher
        )  # fmt: skip

    def check_columns(self) -> None:
        """Open the table, and refuse it where a column is not there. No row is read."""
        run_watched(lambda: self._open(rows_wanted=False).connection.close(), lambda: -1.0)

    def then(self, change: Callable[[Result], Other]) -> Reading[Other]:
        """Return the same reading, with a change of what it counts."""
        work = self.work
        return Reading(self.rows, self.wanted, lambda table: change(work(table)))

    def _open(self, *, rows_wanted: bool = True) -> Opened:
        rows = self.rows
        return opened(rows.source, self.wanted, rows.table, rows.form, rows.plan, rows_wanted=rows_wanted)


def read_counts(rows: RowOptions, items: ItemOptions) -> Reading[Counts]:
    """Read the counts of listed items."""

    def work(table: Opened) -> Counts:
        counts: Counts = _count(table, rows, items, _domain_of(items.domains, table, items.by))
        _refuse_twins(counts.items, items.domains)
        return counts

    return Reading(rows, _wanted(rows, items), work)


def read_unlisted(rows: RowOptions, items: ItemOptions, most: int | None) -> Reading[Unlisted]:
    """Read the items that nobody listed: so many with the largest numbers, or all."""

    def work(table: Opened) -> Unlisted:
        unlisted: Unlisted = _count(table, rows, items, UNKNOWN)
        # The table is closed afterwards: all that the mechanism asks for is read now.
        largest = unlisted.highest(most)
        return replace(unlisted, fetch=lambda n: (largest[0][:n], largest[1][:n]))

    return Reading(rows, _wanted(rows, items), work)


def _wanted(rows: RowOptions, items: ItemOptions) -> Wanted:
    if items.counts is not None:
        wanted = Wanted((*items.by, items.counts))
        if rows.plan is not None and items.counts not in items.by:
            rows.plan.check_counts(items.counts, wanted)
        return wanted
    columns = (*items.by, *([] if rows.unit is None else [rows.unit]))
    # Two equal rows count once where units are counted, and twice where weights are added up.
    return Wanted(columns, weights=items.weights, distinct=rows.unit is not None and items.weights is None)


def _count(table: Opened, rows: RowOptions, items: ItemOptions, domain: Any) -> Any:
    from lastbit.data.aggregated import aggregated
    from lastbit.data.counting import count

    by = list(items.by)
    if items.counts is not None:
        stated = {**items.moves, "most_items": items.most_items, "comma": rows.decimal_comma}
        return aggregated(table, by=by, counts=items.counts, domain=domain, **stated)
    return count(
        table,
        by=by,
        unit=rows.unit,
        domain=domain,
        weights=items.weights,
        bounds=items.bounds,
        resolution=items.step(),
        missing=items.missing,
        most_items=items.most_items,
    )


def read_numbers(
    rows: RowOptions,
    of: str,
    bounds: tuple[str, str],
    *,
    per: str = "mean",
    latest_by: str | None = None,
    most_rows: int | None = None,
    missing: str = "leave-out",
    resolution: str | None = None,
    by: Sequence[str] = (),
    domains: Sequence[Domain] = (),
    most_items: int | None = None,
) -> Reading[Numbers]:
    """Read the number of each unit, or of each unit in each group: see `per_unit`."""
    columns = tuple(name for name in (*by, rows.unit, latest_by) if name is not None)
    if of in columns:
        raise ParameterError(f"--of must be another column than --unit, --by and --latest-by: got {of!r} for two.")

    def work(table: Opened) -> Numbers:
        from lastbit.data.per_unit import per_unit

        chosen: Any = per
        numbers = per_unit(
            table,
            of=of,
            unit=rows.unit,
            bounds=bounds,
            per=chosen,
            latest_by=latest_by,
            most_rows=most_rows,
            by=list(by),
            domain=_domain_of(domains, table, by) if by else None,
            most_items=most_items,
            missing=missing,
            resolution=resolution,
        )
        if by:
            _refuse_twins(numbers.items, domains)
        return numbers

    return Reading(rows, Wanted(columns, weights=of), work)


def read_everybody(rows: RowOptions, most_rows: int | None = None) -> Reading[Counts]:
    """Read how many units a table has; with `most_rows`, how many rows, of which so many of a unit count."""
    from lastbit.data.sorting import quoted

    unit = rows.unit or ""
    # Names of our own, because a column may be called anything.
    chosen = f"'{_EVERYONE}' AS {_EVERYONE}, {quoted(unit)} AS who, 1 AS one"
    facts: dict[str, Any] = {"by": _EVERYONE, "unit": "who", "domain": [_EVERYONE]}
    if most_rows is not None:
        facts |= {"weights": "one", "bounds": (0, most_rows)}

    def work(table: Opened) -> Counts:
        from lastbit.data.counting import count

        counts: Counts = count(table.changed(lambda relation: relation.project(chosen)), **facts)
        return counts

    return Reading(rows, Wanted((unit,), distinct=most_rows is None), work)


def read_bins(
    rows: RowOptions, of: str, bins: Bins | Periods, labels: Sequence[str], missing: str, most: int
) -> Reading[Counts]:
    """Read how many units, or rows where nobody named the unit, each bin of a column has."""
    from lastbit.data.binning import Periods

    if of == rows.unit:
        raise ParameterError(f"--of and --unit must be different columns: got {of!r} for both.")
    own = () if rows.unit is None else (rows.unit,)
    # Dates are read as text where a file is text, numbers as numbers.
    wanted = Wanted((*own, of)) if isinstance(bins, Periods) else Wanted(own, weights=of)

    def work(table: Opened) -> Counts:
        from lastbit.data.binning import label_of
        from lastbit.data.counting import count
        from lastbit.data.sorting import quoted

        chosen = f"{label_of(table.relation, of, bins, missing)} AS bin"
        if rows.unit is None:
            return count(table.changed(lambda relation: relation.project(chosen)), by="bin", domain=labels)
        both = f"{chosen}, {quoted(rows.unit)} AS who"
        return count(
            table.changed(lambda relation: relation.project(both)),
            by="bin",
            unit="who",
            domain=labels,
            most_items=most,
        )

    return Reading(rows, wanted, work)


def columns_of(rows: RowOptions) -> list[str]:
    """List the columns that a table declares; none where only its rows name them. No row is read."""
    return list_columns(rows.source, rows.table, rows.form)


def _domain_of(domains: Sequence[Domain], table: Opened, by: Sequence[str]) -> Any:
    """Return the items as `count` takes them. A range is text where the column is text, as it is in text files."""
    types = dict(zip(table.relation.columns, table.relation.types, strict=True))
    items = [
        [str(item) for item in domain.items]
        if isinstance(domain.items, range) and types[column] == "VARCHAR"
        else domain.items
        for domain, column in zip(domains, by, strict=True)
    ]
    return items[0] if len(items) == 1 else items


def _refuse_twins(counted: Any, domains: Sequence[Domain]) -> None:
    """Refuse a domain of which the column takes two items for one: what is released has as many as were named."""
    if counted is not None and len(counted) != prod(len(domain.items) for domain in domains):
        raise ParameterError(
            "--domain must name each item once: the column takes two of its items for one, as 1 and 01 are one whole "
            "number. Leave one of them out. Nothing was charged."
        )
