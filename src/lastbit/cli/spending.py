"""The one way from a mechanism to a release: look at the budget, read, charge, draw, record, show."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from lastbit.chance.draw import Draw
from lastbit.cli import REFUSED
from lastbit.cli.asking import question_of
from lastbit.cli.options import Spending
from lastbit.cli.reading import check_columns
from lastbit.cli.showing import Report, account_data, account_line, shown
from lastbit.errors import ParameterError
from lastbit.mechanisms.mechanism import Mechanism, chance
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry, Ledger
    from lastbit.mechanisms.sparse_vector.mechanism import StreamMechanism
    from lastbit.mechanisms.sparse_vector.run import Run

_COUNTED: Final[Adjacency] = "add-remove"
"""What every command reads: units come or go, and how many there are is private."""


def spend(
    spending: Spending,
    mechanism: Mechanism[Any],
    *,
    read: Callable[[], Any],
    report: Callable[[Any], Report],
    promise: str = "",
    ready: Callable[[Any], Callable[[Draw], Any]] | None = None,
) -> None:
    """Release and show. `promise` is the accuracy of the release, which a dry run shows.

    `ready` makes the values ready for the draw, where that is not the mechanism's own `ready`. The release is in the
    ledger before it is shown. With --reuse, a release that answered the same question is shown instead.
    """
    book = _book(spending)
    question = "" if book is None else question_of(spending)
    found = None
    if book is not None and spending.reuse:
        found = book[0].answer(book[1], mechanism, question=question, adjacency=_COUNTED)
    if spending.dry_run:
        if found is None:
            check_columns(read)
        return _dry_run(spending, mechanism, book, promise, found)
    if spending.plot is not None:
        _check_plot(Path(spending.plot))
    if book is not None and found is None:
        # Reading may take long, so a budget that is too small refuses first. The charge checks the budget again.
        book[0].account(book[1]).charged(mechanism.cost, _COUNTED)
    if found is not None:
        published = found.published
    else:
        values = read()
        prepared = (ready or mechanism.ready)(values)
        if book is None:
            published = prepared(chance(None))
        else:
            published = book[0].spend(
                book[1], mechanism, prepared, adjacency=values.adjacency, note=spending.note, question=question
            )
    result = report(published)
    notes = [*result.notes, *spending.rules]
    data = {**result.data, "notes": list(notes)}  # the account has keys of its own
    if book is None:
        print("lastbit: no ledger was charged. To charge one, pass --ledger FILE --dataset NAME.", file=sys.stderr)
    else:
        account = book[0].account(book[1])
        if found is None:
            notes += [account_line(account), *_dearer(account, mechanism)]
            data["charged"] = account.price(mechanism.cost, _COUNTED)
        else:
            notes += [_from_the_books(found), account_line(account)]
            data |= {"charged": Fraction(0), "reused": {"entry": found.id, "released": _when(found)}}
        data["account"] = account_data(account)
    replace(result, notes=notes, data=data).show(as_json=spending.as_json)
    if spending.plot is not None and isinstance(published, Release):
        _plot(published, spending.plot)
    return None


def _dearer(account: Account, mechanism: Mechanism[Any]) -> list[str]:
    """A line on what a release costs in this account, where that is not its own cost."""
    if account.adjacency == _COUNTED:
        return []
    price = account.prices(mechanism.cost, _COUNTED)
    text = shown(price.epsilon, "up") if account.currency == "epsilon" else price.text
    return [
        f"{account.dataset} is charged {text} for {mechanism.cost.text}: in this account neighbours replace a record, "
        "which is one removed and one added."
    ]


def _from_the_books(entry: Entry) -> str:
    return (
        f"From the books: this answer was released on {_when(entry, 'seconds')} (entry {entry.id}). The table was not "
        "read, nothing was drawn, and nothing was charged."
    )


def _when(entry: Entry, precision: str = "auto") -> str:
    return (entry.released or entry.time).isoformat(" ", precision)


def _book(spending: Spending) -> tuple[Ledger, str] | None:
    if (spending.ledger is None) != (spending.dataset is None):
        raise ParameterError(
            "--ledger and --dataset must be given together: got only one of them. --ledger names the file, "
            "--dataset the account to charge."
        )
    if spending.ledger is None or spending.dataset is None:
        if spending.reuse:
            raise ParameterError("--reuse looks for the release in a ledger: pass --ledger FILE --dataset NAME too.")
        return None
    if spending.reuse and _is_piped(spending):
        raise ParameterError(
            "--reuse needs a table that has a name: through - comes another table each time. Save it as a file first, "
            "or leave --reuse out."
        )
    from lastbit.ledger import Ledger

    _check_apart(spending.ledger, spending.asked.get("source"))
    return Ledger(spending.ledger), spending.dataset


def _is_piped(spending: Spending) -> bool:
    source = spending.asked.get("source")
    return "-" in (source if isinstance(source, list) else [source])


def _check_apart(ledger: str, source: Any) -> None:
    """Refuse a ledger that is the table: whoever copies, restores or replaces the table would do so with the books."""
    for each in source if isinstance(source, list) else [source]:
        with suppress(OSError, TypeError, ValueError):
            if Path(ledger.removeprefix("sqlite:///")).samefile(each):
                break
    else:
        return
    raise ParameterError(
        f"--ledger must be a file of its own: got the table itself, {ledger}. Name another file. Nothing was charged."
    )


def _check_plot(path: Path) -> None:
    """Refuse a path that cannot become a picture, before anything is spent."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ParameterError("--plot needs matplotlib. Install it with: pip install 'lastbit[plot]'") from None
    kinds = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in kinds:
        raise ParameterError(f"--plot must be a picture such as out.png: got {path}. Use one of {', '.join(kinds)}.")
    if not path.parent.is_dir() or path.is_dir():
        raise ParameterError(f"--plot must be a file in a folder that exists: got {path}. Make the folder first.")


def _plot(release: Release, path: str) -> None:
    try:
        release.plot(path)
    except OSError as error:
        problem = f"the picture {path} could not be written: {error.strerror}. The release above stands."
        print("lastbit:", problem, file=sys.stderr)
        raise typer.Exit(1) from None


def _dry_run(
    spending: Spending,
    mechanism: Mechanism[Any],
    book: tuple[Ledger, str] | None,
    promise: str,
    found: Entry | None,
) -> None:
    notes = [*([promise] if promise else []), *spending.rules]
    data: dict[str, Any] = {"dry_run": True, "mechanism": mechanism.name, "cost": mechanism.cost.text}
    data |= {"parameters": mechanism.parameters, "notes": list(notes)}
    if book is not None:
        account = book[0].account(book[1])
        enough = account.allows(mechanism.cost, _COUNTED)
        notes += [account_line(account), *_dearer(account, mechanism)]
        notes.append("The budget allows it." if enough else "The budget does not allow it.")
        price = account.price(mechanism.cost, _COUNTED)
        data |= {"account": account_data(account), "charged": price, "allowed": enough}
    if found is not None:
        notes.append(f"The books have this answer, of {_when(found, 'seconds')}: with --reuse it costs nothing.")
        data |= {"charged": Fraction(0), "reused": {"entry": found.id, "released": _when(found)}}
    if _is_piped(spending):
        notes.append("What came through standard input is used up: send it again for the release.")
    columns = {"parameter": list(mechanism.parameters), "value": list(mechanism.parameters.values())}
    title = f"{mechanism.name} would cost {mechanism.cost.text}. No row was read and nothing was spent."
    Report(title, columns, notes, data).show(as_json=spending.as_json)
    if found is None and not data.get("allowed", True):
        raise typer.Exit(REFUSED)


def started(spending: Spending, mechanism: StreamMechanism, ends: str, notes: Sequence[str] = ()) -> Run | None:
    """Charge the whole cost of a stream, say so with the notes on standard error, and start; None for a dry run.

    `ends` says in words what the run ends after.

    The numbers of a stream are the caller's own: their sensitivity is for the neighbours that the account means.
    """
    book = _book(spending)
    title = f"{mechanism.name}, {mechanism.cost.text}: it ends after {ends}"
    if spending.dry_run:
        columns = {"parameter": list(mechanism.parameters), "value": list(mechanism.parameters.values())}
        data: dict[str, Any] = {"dry_run": True, "mechanism": mechanism.name, "cost": mechanism.cost.text}
        data |= {"parameters": mechanism.parameters, "notes": list(notes)}
        lines, allowed = list(notes), True
        if book is not None:
            account = book[0].account(book[1])
            allowed = account.allows(mechanism.cost, mechanism.adjacency)
            lines += [account_line(account), f"The budget {'allows' if allowed else 'does not allow'} it."]
            price = account.price(mechanism.cost, mechanism.adjacency)
            data |= {"account": account_data(account), "charged": price, "allowed": allowed}
        Report(f"{title}. Nothing was read and nothing was spent.", columns, lines, data).show(as_json=spending.as_json)
        if not allowed:
            raise typer.Exit(REFUSED)
        return None
    if book is None:
        run = mechanism.start()
        paid = "no ledger was charged. To charge one, pass --ledger FILE --dataset NAME."
    else:
        run = book[0].spend(book[1], mechanism, mechanism.start, note=spending.note, question=question_of(spending))
        paid = f"{account_line(book[0].account(book[1]))}."
    for line in (f"{title}.", paid, *notes):
        print("lastbit:", line, file=sys.stderr, flush=True)
    return run
