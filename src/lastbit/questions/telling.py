"""What people are told about a release: the answer, the price, and the same question as a command and in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LedgerError
from lastbit.output.page import Page
from lastbit.output.plain import json_text
from lastbit.output.table import PEOPLE, cells
from lastbit.questions.answering import COUNTED, Book
from lastbit.questions.showing import Report, account_data, account_line, as_numbers, shown

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry
    from lastbit.mechanisms.mechanism import Mechanism
    from lastbit.questions.options import Spending
    from lastbit.questions.question import Question


UNREAD: Final = "What is left in the account could not be read now. To see it: lastbit budget show."


@dataclass(frozen=True)
class Told:
    """A release and all that is said about it."""

    published: Any
    report: Report
    paid: Sequence[str]
    """What the release cost, and what the account has left."""
    level: str = "0.95"

    @property
    def whole(self) -> Report:
        """The report with the price among its notes."""
        return replace(self.report, notes=[*self.report.notes, *self.paid])

    @property
    def chart(self) -> str:
        """The numbers and their intervals as SVG; "" where the release has none."""
        found: str = self.published.to_svg(self.level) if hasattr(self.published, "to_svg") else ""
        return found

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """The names of the columns, and the rows as people read them."""
        return rows_of(self.report)

    @property
    def data(self) -> Mapping[str, Any]:
        """The same for programs: numbers are numbers."""
        return as_numbers(self.report.data)

    def page(self, texts: Sequence[tuple[str, str]]) -> Page:
        """The report as one page to send on."""
        names, rows = self.table
        more = [*texts, ("As JSON", json_text(self.data))]
        return Page(self.report.title, self.report.notes, self.chart, names, rows, self.paid, more)


def told(asked: Question, spending: Spending, book: Book | None, published: Any, *, found: Entry | None = None) -> Told:
    """What is told about a release; `found` is the entry of an answer that comes from the books."""
    result = asked.report(published)
    notes = [*result.notes, *spending.rules]
    data = {**result.data, "notes": list(notes)}  # the account has keys of its own
    paid: list[str] = []
    if book is not None:
        account = after_release(book)
        line = UNREAD if account is None else account_line(account)
        if found is None:
            paid = [line, *([] if account is None else dearer(account, asked.mechanism))]
            data["charged"] = None if account is None else account.price(asked.mechanism.cost, COUNTED)
        else:
            paid = [_from_the_books(found), line]
            data |= {"charged": Fraction(0), "reused": {"entry": found.id, "released": when(found)}}
        data["account"] = None if account is None else account_data(account)
    return Told(published, replace(result, notes=notes, data=data), paid, spending.level)


def after_release(book: Book) -> Account | None:
    """The account after a release; None where the books cannot be read now. The release must be shown all the same."""
    try:
        return book.ledger.account(book.dataset)
    except LedgerError:
        return None


def rows_of(report: Report) -> tuple[list[str], list[list[str]]]:
    """The table of a report as texts: the names of the columns, and the rows."""
    columns = cells(report.columns, whole=(*PEOPLE, *report.whole))
    return list(report.columns), [list(row) for row in zip(*columns, strict=True)]


def texts_of(spending: Spending) -> list[tuple[str, str]]:
    """The question as a command and in Python, under their headings."""
    from lastbit.questions.texts import as_command, as_python

    return [("The same as a command", as_command(spending)), ("The same in Python", as_python(spending))]


def dearer(account: Account, mechanism: Mechanism[Any]) -> list[str]:
    """A line on what a release costs in this account, where that is not its own cost."""
    if account.adjacency == COUNTED:
        return []
    price = account.prices(mechanism.cost, COUNTED)
    text = shown(price.epsilon, "up") if account.currency == "epsilon" else price.text
    return [
        f"{account.dataset} is charged {text} for {mechanism.cost.text}: in this account neighbours replace a record, "
        "which is one removed and one added."
    ]


def _from_the_books(entry: Entry) -> str:
    return (
        f"From the books: this answer was released on {when(entry, 'seconds')} (entry {entry.id}). The table was not "
        "read, nothing was drawn, and nothing was charged."
    )


def when(entry: Entry, precision: str = "auto") -> str:
    """The time of a release, as people read it."""
    return (entry.released or entry.time).isoformat(" ", precision)
