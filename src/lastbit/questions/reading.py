"""Counting a table, with a progress bar for a person who waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lastbit.data.source import Opened, Wanted, opened
from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.options import Items, Table
from lastbit.values.counts import Counts
from lastbit.values.unlisted import UNKNOWN, Unlisted

if TYPE_CHECKING:
    from rich.console import Console

    from lastbit.data.binning import Periods
    from lastbit.data.per_unit import Numbers
    from lastbit.values.bins import Bins

_EVERYONE: Final = "everyone"

_PATIENCE: Final = 1.0
"""Seconds before the progress bar appears."""

_ATTEMPTS: Final = 20
"""How often the command tells an interrupted reader to stop, every tenth of a second."""

Watcher = Callable[[Callable[[], float], Callable[[], None]], None]
"""Is told how far a reader is, from 0 to 100 or below 0 when nobody knows, and how to stop it."""

_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)

_LOOKING: ContextVar[bool] = ContextVar("looking", default=False)
"""Whether only the columns are looked at."""

Result = TypeVar("Result")


def counted(table: Table, items: Items) -> Counts:
    """The counts of a table, exact and private."""
    domains = items.domains

    def work(source: Opened) -> Counts:
        found: Counts = _count(source, table, items, _as_columns(domains, source, items.by))
        return found

    return _read_items(table, items, work)


def discovered(table: Table, items: Items, most: int | None) -> Unlisted:
    """The items of a table that nobody listed: so many with the largest numbers, or all. Exact and private."""

    def work(source: Opened) -> Unlisted:
        found: Unlisted = _count(source, table, items, UNKNOWN)
        # The table is closed afterwards: all that the mechanism asks for is read now.
        rows = found.highest(most)
        return replace(found, fetch=lambda asked: (rows[0][:asked], rows[1][:asked]))

    return _read_items(table, items, work)


def _count(source: Opened, table: Table, items: Items, domain: Any) -> Any:
    from lastbit.data.aggregated import aggregated
    from lastbit.data.counting import count

    if items.counts is not None:
        stated = {**items.moves, "most_items": items.most_items, "comma": table.decimal_comma}
        return aggregated(source, by=items.by, counts=items.counts, domain=domain, **stated)
    return count(
        source,
        by=items.by,
        unit=table.unit,
        domain=domain,
        weights=items.weights,
        bounds=items.bounds,
        resolution=items.step(),
        missing=items.missing,
        most_items=items.most_items,
    )


def _read_items(table: Table, items: Items, work: Callable[[Opened], Result]) -> Result:
    if items.counts is not None:
        wanted = Wanted((*items.by, items.counts))
        if table.plan is not None and items.counts not in items.by:
            table.plan.check_counts(items.counts, wanted)
        return read(table, wanted, work)
    columns = (*items.by, *([] if table.unit is None else [table.unit]))
    # Two equal rows count once where units are counted, and twice where weights are added up.
    distinct = table.unit is not None and items.weights is None
    counts = read(table, Wanted(columns, weights=items.weights, distinct=distinct), work)
    without_unit(table)
    return counts


def without_unit(table: Table) -> None:
    """Say that single rows are protected, where nobody named the unit."""
    if table.unit is None:
        print(
            "lastbit: without --unit each row is protected, but not a person with several rows. To protect people, "
            "name the column that says whom a row belongs to: --unit COLUMN.",
            file=sys.stderr,
        )


def numbers_of(
    table: Table,
    of: str,
    bounds: tuple[str, str],
    *,
    per: str = "mean",
    latest_by: str | None = None,
    most_rows: int | None = None,
    missing: str = "leave-out",
    resolution: str | None = None,
    by: Sequence[str] = (),
    domain: Any = None,
    most_items: int | None = None,
) -> Numbers:
    """The number of each unit of a table, or of each unit in each group, exact and private: see `per_unit`."""
    from lastbit.data.per_unit import per_unit

    columns = tuple(name for name in (*by, table.unit, latest_by) if name is not None)
    if of in columns:
        raise ParameterError(f"--of must be another column than --unit, --by and --latest-by: got {of!r} for two.")

    def work(source: Opened) -> Numbers:
        chosen: Any = per
        domains = _as_columns(domain, source, list(by)) if by else None
        return per_unit(
            source,
            of=of,
            unit=table.unit,
            bounds=bounds,
            per=chosen,
            latest_by=latest_by,
            most_rows=most_rows,
            by=list(by),
            domain=domains,
            most_items=most_items,
            missing=missing,
            resolution=resolution,
        )

    return read(table, Wanted(columns, weights=of), work)


def everybody(table: Table, most_rows: int | None = None) -> Counts:
    """How many units a table has; with `most_rows`, how many rows, of which so many of a unit count."""
    from lastbit.data.counting import count
    from lastbit.data.sorting import quoted

    unit = table.unit or ""
    # Names of our own, because a column may be called anything.
    chosen = f"'{_EVERYONE}' AS {_EVERYONE}, {quoted(unit)} AS who, 1 AS one"
    facts: dict[str, Any] = {"by": _EVERYONE, "unit": "who", "domain": [_EVERYONE]}
    if most_rows is not None:
        facts |= {"weights": "one", "bounds": (0, most_rows)}

    def work(source: Opened) -> Counts:
        found: Counts = count(source.changed(lambda rows: rows.project(chosen)), **facts)
        return found

    return read(table, Wanted((unit,), distinct=most_rows is None), work)


def binned(table: Table, of: str, bins: Bins | Periods, labels: Sequence[str], missing: str, most: int) -> Counts:
    """How many units, or rows where nobody named the unit, each bin of a column has."""
    from lastbit.data.binning import Periods, label_of
    from lastbit.data.counting import count
    from lastbit.data.sorting import quoted

    if of == table.unit:
        raise ParameterError(f"--of and --unit must be different columns: got {of!r} for both.")
    own = () if table.unit is None else (table.unit,)
    # Dates are read as text where a file is text, numbers as numbers.
    wanted = Wanted((*own, of)) if isinstance(bins, Periods) else Wanted(own, weights=of)

    def work(source: Opened) -> Counts:
        chosen = f"{label_of(source.relation, of, bins, missing)} AS bin"
        if table.unit is None:
            return count(source.changed(lambda rows: rows.project(chosen)), by="bin", domain=labels)
        both = f"{chosen}, {quoted(table.unit)} AS who"
        return count(
            source.changed(lambda rows: rows.project(both)), by="bin", unit="who", domain=labels, most_items=most
        )

    counts = read(table, wanted, work)
    without_unit(table)
    return counts


def _as_columns(domains: Any, source: Opened, by: list[str]) -> Any:
    """Ranges as text where the column is text. In text files and some databases every column is text."""
    if len(by) > 1:
        return [_as_columns(each, source, [column]) for each, column in zip(domains, by, strict=True)]
    from lastbit.data.domain import items_of

    kind = source.relation.types[source.relation.columns.index(by[0])]
    return [str(item) for item in items_of(domains)] if isinstance(domains, range) and kind == "VARCHAR" else domains


def check_columns(reading: Callable[[], Any]) -> None:
    """Open a table as `reading` does, and refuse it where a column is not there. No row is read."""
    token = _LOOKING.set(True)
    try:
        reading()
    except _Looked:
        pass
    finally:
        _LOOKING.reset(token)


class _Looked(Exception):
    """The table was opened and has the columns."""


def read(table: Table, wanted: Wanted, work: Callable[[Opened], Result]) -> Result:
    """Open a table and work on it. On a terminal, a progress bar appears after a second."""
    place: list[Opened] = []

    def both() -> Result:
        place.append(opened(table.places, wanted, table.table, table.form, table.plan))
        if _LOOKING.get():
            place[0].connection.close()
            raise _Looked
        failed: LastbitError | None = None
        try:
            result = work(place[0])
        except LastbitError as error:
            failed = error
        # Says more, where the file itself could not be read, and stands alone: no other error is behind it.
        place[0].check()
        if failed is not None:
            raise failed
        return result

    def stop() -> None:
        for each in place:
            each.connection.interrupt()

    return watched(both, lambda: place[0].progress() if place else -1.0, stop=stop)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of every reader, instead of showing a progress bar."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def columns_of(table: Table) -> list[str]:
    """The columns that a table declares; none where only its rows name them, which are private. No row is read."""
    try:
        opened(table.places, _Listing(()), table.table, table.form).connection.close()
    except _Listed as found:
        return found.columns
    return []


class _Listed(LastbitError):
    """The columns of a table."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = list(columns)
        super().__init__("the columns were listed")


class _Listing(Wanted):
    """Wants to know which columns there are."""

    def check(self, present: Sequence[str]) -> None:
        raise _Listed(present)


def watched(
    work: Callable[[], Result],
    progress: Callable[[], float],
    *,
    stop: Callable[[], None] = lambda: None,
    patience: float = _PATIENCE,
    console: Console | None = None,
) -> Result:
    """Do the work in another thread, and show its progress once it takes longer than `patience`.

    The other thread is used without a terminal too: an engine swallows or delays interrupts in its own thread.
    """
    future: Future[Result] = Future()

    def fill() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    # With what is set around the call, as a trial of stability sets the key of a bound.
    Thread(target=copy_context().run, args=(fill,), daemon=True).start()
    try:
        watcher = _WATCHER.get()
        if watcher is not None:
            watcher(progress, stop)
        elif console is not None or sys.stderr.isatty():
            wait([future], patience)
            if not future.done():
                _show(future, progress, console)
        return future.result()
    except KeyboardInterrupt:
        # More than once, because between two queries nothing can be stopped. A reader that goes on is left behind.
        for _ in range(_ATTEMPTS):
            stop()
            if wait([future], 0.1).done:
                break
        raise


def _show(future: Future[Any], progress: Callable[[], float], console: Console | None) -> None:
    from rich.console import Console as NewConsole
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("reading"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console or NewConsole(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        while not future.done():
            done = progress()
            if done >= 0:
                bar.update(task, total=100, completed=done)
            try:
                future.exception(0.1)
            except NotYet:
                continue
