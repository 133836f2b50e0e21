"""A release with all that is said about it: the answer, the price, the same question as a command and in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LastbitError, LedgerError
from lastbit.output import picture
from lastbit.output.chart import chart
from lastbit.output.json_values import json_text
from lastbit.output.page import Page
from lastbit.output.picture import Panel
from lastbit.output.table import PEOPLE, format_cells, html_table, text_table
from lastbit.questions.answer import Payer
from lastbit.questions.question import TABLE_ADJACENCY
from lastbit.questions.report import Report, account_data, account_line, convert_numbers, format_value
from lastbit.release import build_frame

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry
    from lastbit.mechanisms.mechanism import Mechanism
    from lastbit.questions.request import Request


UNREAD: Final = "What is left in the account could not be read now. To see it: lastbit budget show."


@dataclass(frozen=True, eq=False, repr=False)
class AnswerView:
    """A release and all that is said about it. What is not said here, the release itself has: `answer.items`.

    `value`, `low` and `high` of `to_frame` are about what was asked for: all people, where people are counted. What the
    machine's own table has, after a bound, is in `bounded_value`, `bounded_low` and `bounded_high`.
    """

    request: Request | None
    """The question; None where the books have its answer and nobody knows the question any more."""
    published: Any
    report: Report
    paid: Sequence[str]
    """What the release cost, and what the account has left."""
    texts: Sequence[tuple[str, str]] = ()
    """The question as a command and in Python, under their headings."""

    @property
    def level(self) -> str:
        """The level of the intervals."""
        return "0.95" if self.request is None else self.request.level

    @property
    def full_report(self) -> Report:
        """The report with the price among its notes."""
        return replace(self.report, notes=[*self.report.notes, *self.paid])

    @property
    def panels(self) -> Sequence[Panel]:
        """What a picture shows: the numbers and their intervals, of all people where people are counted."""
        if self.report.panels:
            return self.report.panels
        frame = self.report.frame
        if {"value", "low", "high"} <= frame.keys() and len(frame) > 3:
            heading, second, *_ = frame
            if second == "value":
                intervals = list(zip(frame["low"], frame["high"], strict=True))
                *_, name = [name for name in self.report.columns if not name.startswith("interval")]
                return [Panel(name, [*map(str, frame[heading])], frame["value"], heading, intervals)]
        panels: Sequence[Panel] = self.published.panels(self.level)
        return panels

    @property
    def chart(self) -> str:
        """The numbers and their intervals as SVG; "" where the release has none."""
        if not hasattr(self.published, "panels"):
            return ""
        try:
            panels = self.panels
        except LastbitError:  # the release publishes names
            return ""
        return chart(panels, self.report.title) if any(len(panel.heights) for panel in panels) else ""

    def plot(self, path: str | None = None) -> Any:
        """Draw the numbers with their intervals; `path` writes a picture. Needs matplotlib."""
        figure = picture.draw_figure(self.panels, self.report.title)
        if path is not None:
            figure.savefig(path)
        return figure

    @property
    def printed_table(self) -> tuple[list[str], list[list[str]]]:
        """The names of the columns, and the rows as people read them."""
        columns = format_cells(self.report.columns, whole=(*PEOPLE, *self.report.whole_columns))
        return list(self.report.columns), [list(row) for row in zip(*columns, strict=True)]

    @property
    def data(self) -> Mapping[str, Any]:
        """The same for programs: numbers are numbers."""
        return convert_numbers(self.report.data)

    @property
    def page(self) -> Page:
        """The report as one page to send on."""
        names, rows = self.printed_table
        texts = [*self.texts, ("As JSON", json_text(self.data))]
        return Page(self.report.title, self.report.notes, self.chart, names, rows, self.paid, texts)

    def to_frame(self, level: object = None) -> Any:
        """Return the answer as a DataFrame of pandas or Polars, with the intervals of this level."""
        report = self.report
        if level is not None and self.request is not None:
            report = self.request.change(level=level).question.report(self.published)
        return build_frame(report.frame or self.published.columns())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        published = self.published
        return getattr(published, name) if hasattr(published, name) else getattr(published.main, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.published == (other.published if isinstance(other, AnswerView) else other))

    def __hash__(self) -> int:
        return hash(self.published)

    def __repr__(self) -> str:
        names, rows = self.printed_table
        return "\n".join([self.report.title, text_table(names, rows), *self.report.notes, *self.paid])

    def _repr_html_(self) -> str:
        names, rows = self.printed_table
        return html_table(names, rows, " ".join([self.report.title, *self.report.notes])) + self.chart


def render_answer(request: Request, payer: Payer | None, published: Any, *, entry: Entry | None = None) -> AnswerView:
    """Return all that is said about a release; `entry` is that of an answer that comes from the books."""
    question = request.question
    report = question.report(published)
    notes = [*report.notes, *question.notes]
    data = {**report.data, "notes": list(notes)}  # the account has keys of its own
    paid: list[str] = []
    if payer is not None:
        account = read_account_after(payer)
        line = UNREAD if account is None else account_line(account)
        if entry is None:
            paid = [line, *([] if account is None else describe_price(account, question.mechanism))]
            data["charged"] = None if account is None else account.price(question.mechanism.cost, TABLE_ADJACENCY)
        else:
            paid = [_from_the_books(entry), line]
            data |= {"charged": Fraction(0), "reused": {"entry": entry.id, "released": release_time(entry)}}
        data["account"] = None if account is None else account_data(account)
    report = replace(report, notes=notes, data=data)
    return AnswerView(request, published, report, paid, spell_out(request))


def spell_out(request: Request) -> list[tuple[str, str]]:
    """Return the question as a command and in Python, under their headings."""
    return [("The same as a command", request.command), ("The same in Python", request.python)]


def read_account_after(payer: Payer) -> Account | None:
    """Return the account after a release; None where the books cannot be read now: a release is shown still."""
    try:
        return payer.account
    except LedgerError:
        return None


def describe_price(account: Account, mechanism: Mechanism[Any]) -> list[str]:
    """Return a line on what a release costs in this account, where that is not its own cost."""
    if account.adjacency == TABLE_ADJACENCY:
        return []
    price = account.prices(mechanism.cost, TABLE_ADJACENCY)
    text = format_value(price.epsilon, "up") if account.currency == "epsilon" else price.text
    return [
        f"{account.dataset} is charged {text} for {mechanism.cost.text}: in this account neighbours replace a record, "
        "which is one removed and one added."
    ]


def _from_the_books(entry: Entry) -> str:
    when = release_time(entry, "seconds")
    return (
        f"From the books: this answer was released on {when} (entry {entry.id}). The table was not read, nothing was "
        "drawn, and nothing was charged."
    )


def release_time(entry: Entry, precision: str = "auto") -> str:
    """Return the time of a release, as people read it."""
    return (entry.released or entry.time).isoformat(" ", precision)
