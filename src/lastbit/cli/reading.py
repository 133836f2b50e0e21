"""Counting a table, with a progress bar for a person who waits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as NotYet
from contextvars import copy_context
from dataclasses import replace
from fractions import Fraction
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lastbit.cli.options import Items, Table
from lastbit.data.source import Opened, Wanted, opened
from lastbit.errors import LastbitError, ParameterError
from lastbit.values.counts import Counts
from lastbit.values.statistic import Statistic
from lastbit.values.unlisted import UNKNOWN, Unlisted

if TYPE_CHECKING:
    from rich.console import Console

_EVERYONE: Final = "everyone"

_PATIENCE: Final = 1.0
"""Seconds before the progress bar appears."""

_ATTEMPTS: Final = 20
"""How often the command tells an interrupted reader to stop, every tenth of a second."""

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
        return aggregated(source.relation, by=items.by, counts=items.counts, domain=domain, **stated)
    return count(
        source.relation,
        by=items.by,
        unit=table.unit,
        domain=domain,
        weights=items.weights,
        bounds=items.bounds,
        resolution=items.step(),
        most_items=items.most_items,
    )


def _read_items(table: Table, items: Items, work: Callable[[Opened], Result]) -> Result:
    if items.counts is not None:
        return read(table, Wanted((*items.by, items.counts)), work)
    columns = (*items.by, *([] if table.unit is None else [table.unit]))
    # Two equal rows count once where units are counted, and twice where weights are added up.
    distinct = table.unit is not None and items.weights is None
    counts = read(table, Wanted(columns, weights=items.weights, distinct=distinct), work)
    if table.unit is None:
        print("lastbit: without --unit each row is protected, but not a person with several rows.", file=sys.stderr)
    return counts


def totalled(table: Table, column: str, bounds: tuple[str, str], resolution: str) -> Statistic:
    """The sums behind the mean of a column over units, exact and private."""
    from lastbit.data.counting import count
    from lastbit.data.sorting import quoted
    from lastbit.exact.numbers import number
    from lastbit.values.statistic import centred_sums

    if table.unit == column:
        raise ParameterError(f"--of and --unit must be different columns: got {column!r} for both.")
    columns = () if table.unit is None else (table.unit,)
    # Names of our own, because a column may be called anything.
    unit = None if table.unit is None else "who"
    chosen = f"'{_EVERYONE}' AS {_EVERYONE}, {quoted(column)} AS amount"
    if table.unit is not None:
        chosen += f", {quoted(table.unit)} AS {unit}"
    exact = number(bounds[0], "bounds"), number(bounds[1], "bounds")

    def work(source: Opened) -> Statistic:
        rows = source.relation.project(chosen)
        common: dict[str, Any] = {"by": _EVERYONE, "unit": unit, "domain": [_EVERYONE]}
        total = count(rows, **common, weights="amount", bounds=exact, resolution=resolution)
        units = int(count(rows, **common).values[0])
        return centred_sums(Fraction(total.values[0]), units, bounds=exact, resolution=resolution)

    return read(table, Wanted(columns, weights=column), work)


def _as_columns(domains: Any, source: Opened, by: list[str]) -> Any:
    """Ranges as text where the column is text. In text files and some databases every column is text."""
    if len(by) > 1:
        return [_as_columns(each, source, [column]) for each, column in zip(domains, by, strict=True)]
    from lastbit.data.domain import items_of

    kind = source.relation.types[source.relation.columns.index(by[0])]
    return [str(item) for item in items_of(domains)] if isinstance(domains, range) and kind == "VARCHAR" else domains


def read(table: Table, wanted: Wanted, work: Callable[[Opened], Result]) -> Result:
    """Open a table and work on it. On a terminal, a progress bar appears after a second."""
    place: list[Opened] = []

    def both() -> Result:
        place.append(opened(table.places, wanted, table.table, table.form, table.plan))
        try:
            result = work(place[0])
        except LastbitError:
            place[0].check()  # says more, where the file itself could not be read
            raise
        place[0].check()
        return result

    def stop() -> None:
        for each in place:
            each.connection.interrupt()

    return watched(both, lambda: place[0].progress() if place else -1.0, stop=stop)


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
        if console is not None or sys.stderr.isatty():
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
