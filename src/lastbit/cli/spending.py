"""The one way from a mechanism to a release: look at the budget, read, charge, draw, record, show."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from lastbit.cli import REFUSED
from lastbit.cli.streams import say_if_lost
from lastbit.errors import ParameterError
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.questions.answering import COUNTED, Book, answer, is_piped
from lastbit.questions.options import Spending
from lastbit.questions.reading import check_columns
from lastbit.questions.showing import Report, account_data, account_line
from lastbit.questions.telling import UNREAD, after_release, dearer, texts_of, told, when
from lastbit.release import Release

if TYPE_CHECKING:
    from lastbit.ledger import Entry
    from lastbit.mechanisms.sparse_vector.mechanism import StreamMechanism
    from lastbit.mechanisms.sparse_vector.run import Run
    from lastbit.output.page import Page
    from lastbit.questions.question import Question


def spend(spending: Spending, asked: Question) -> None:
    """Release and show. A dry run shows the accuracy of the release instead.

    The release is in the ledger before it is shown. With --reuse, a release that answered the same question is shown
    instead.
    """
    mechanism = asked.mechanism
    book = Book.of(spending)
    found = book.found(asked) if book is not None and spending.reuse else None
    if spending.dry_run:
        if found is None:
            check_columns(asked.read)
        return _dry_run(spending, mechanism, book, asked.promise, found)
    if spending.plot is not None:
        _check_plot(Path(spending.plot))
    if spending.html is not None:
        check_folder("--html", Path(spending.html))
    if book is not None:
        history = shlex.join(["lastbit", "budget", "history", book.dataset])
        say_if_lost(f"The release is in the books: {history} lists it, and with --release shows it again.")
    with _warnings_shown(book):
        published = answer(asked, spending, book) if found is None else found.published
    result = told(asked, spending, book, published, found=found)
    if book is None:
        print("lastbit: no ledger was charged. To charge one, pass --ledger FILE --dataset NAME.", file=sys.stderr)
    result.whole.show(as_json=spending.as_json)
    if spending.html is not None:
        write_html(spending.html, result.page(texts_of(spending)))
    if spending.plot is not None and isinstance(published, Release):
        _plot(published, spending.plot)
    return None


@contextmanager
def _warnings_shown(book: Book | None) -> Iterator[None]:
    """Say on standard error, in a line of the command, that the books could not keep a release."""
    if book is None:
        yield
        return
    from lastbit.ledger.ledger import NotKept

    with warnings.catch_warnings():
        warnings.simplefilter("always", NotKept)
        others = warnings.showwarning

        def show(message: Any, category: Any, *where: Any) -> None:
            if category is NotKept:
                say_if_lost("The charge stays, and the books could not keep the release.")
                print("lastbit:", message, file=sys.stderr)
            else:
                others(message, category, *where)

        warnings.showwarning = cast(Any, show)
        yield


def _check_plot(path: Path) -> None:
    """Refuse a path that cannot become a picture, before anything is spent."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ParameterError("--plot needs matplotlib. Install it with: pip install 'lastbit[plot]'") from None
    kinds = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in kinds:
        raise ParameterError(f"--plot must be a picture such as out.png: got {path}. Use one of {', '.join(kinds)}.")
    check_folder("--plot", path)


def check_folder(option: str, path: Path) -> None:
    """Refuse a file that cannot be written because its folder is not there, before anything is spent."""
    if not path.parent.is_dir() or path.is_dir():
        raise ParameterError(f"{option} must be a file in a folder that exists: got {path}. Make the folder first.")


def write_html(path: str, page: Page) -> None:
    """Write a report. The release is charged and shown already, so a full disk takes nothing away."""
    try:
        # Half a character of an item, which no file can hold, is written as its number.
        Path(path).write_text(page.html(), "utf-8", "backslashreplace")
    except OSError as error:
        problem = f"the report {path} could not be written: {error.strerror}. The release above stands."
        print("lastbit:", problem, file=sys.stderr)
        raise typer.Exit(1) from None


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
    book: Book | None,
    promise: str,
    found: Entry | None,
) -> None:
    notes = [*([promise] if promise else []), *spending.rules]
    data: dict[str, Any] = {"dry_run": True, "mechanism": mechanism.name, "cost": mechanism.cost.text}
    data |= {"parameters": mechanism.parameters, "notes": list(notes)}
    if book is not None:
        account = book.ledger.account(book.dataset)
        enough = account.allows(mechanism.cost, COUNTED)
        notes += [account_line(account), *dearer(account, mechanism)]
        notes.append("The budget allows it." if enough else "The budget does not allow it.")
        price = account.price(mechanism.cost, COUNTED)
        data |= {"account": account_data(account), "charged": price, "allowed": enough}
    if found is not None:
        notes.append(f"The books have this answer, of {when(found, 'seconds')}: with --reuse it costs nothing.")
        data |= {"charged": Fraction(0), "reused": {"entry": found.id, "released": when(found)}}
    if is_piped(spending):
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
    book = Book.of(spending)
    title = f"{mechanism.name}, {mechanism.cost.text}: it ends after {ends}"
    if spending.dry_run:
        columns = {"parameter": list(mechanism.parameters), "value": list(mechanism.parameters.values())}
        data: dict[str, Any] = {"dry_run": True, "mechanism": mechanism.name, "cost": mechanism.cost.text}
        data |= {"parameters": mechanism.parameters, "notes": list(notes)}
        lines, allowed = list(notes), True
        if book is not None:
            account = book.ledger.account(book.dataset)
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
        with _warnings_shown(book):
            run = book.ledger.spend(
                book.dataset, mechanism, mechanism.start, note=spending.note, question=book.question
            )
        left = after_release(book)
        paid = UNREAD if left is None else f"{account_line(left)}."
    for line in (f"{title}.", paid, *notes):
        print("lastbit:", line, file=sys.stderr, flush=True)
    return run
