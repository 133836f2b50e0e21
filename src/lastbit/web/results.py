"""Results again, from the books: nothing is read, drawn or charged."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.errors import EntryNotFound, LastbitError, LedgerError
from lastbit.output.data_files import csv_text
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.identity import rebuild_request
from lastbit.questions.rendering import release_time, render_answer
from lastbit.questions.report import Report
from lastbit.release import Release
from lastbit.web.display import apply_display

if TYPE_CHECKING:
    from lastbit.ledger import Entry
    from lastbit.questions.option import Face
    from lastbit.questions.request import Request
    from lastbit.web.desk import Desk


@dataclass(frozen=True)
class Result:
    """A release in the books, and all that can be said about it."""

    entry: Entry
    answer: AnswerView | None
    """None where the release was charged and not finished."""

    @property
    def heading(self) -> str:
        """What was asked: as the answer is titled, or as the books know it where the server cannot ask the same."""
        answer = self._published_answer
        return answer.report.title if answer.request is not None else self.entry.about or answer.report.title

    @property
    def html(self) -> str:
        """The report to send on."""
        return self._published_answer.page.html()

    @property
    def csv(self) -> str:
        """The table of `to_frame`: an interval is two columns."""
        return csv_text(self._published_answer.data_columns)

    @property
    def _published_answer(self) -> AnswerView:
        if self.answer is None:
            raise LedgerError(f"entry {self.entry.id} has no published release in the books.")
        return self.answer


def find_result(desk: Desk, number: int, shown: Mapping[str, str] | None = None, face: Face = "page") -> Result:
    """Return the result of the entry with this number, of any account.

    `shown` are options of its display, as an address writes them. A release whose question the server does not know is
    shown as it is.
    """
    entry = desk.ledger.entry(number)
    if entry is None or entry.kind != "charge":
        raise EntryNotFound(f"there is no release {number} in the books.")
    if not entry.recorded:
        return Result(entry, None)
    published = desk.ledger.published(number)
    request = _find_request(desk, entry)
    if request is not None:
        request = replace(apply_display(request, shown or {}, face), face=face)
        answer = render_answer(request, None, published)
    else:
        about = [("The question, as the books know it", entry.about)] if entry.about else []
        answer = AnswerView(None, published, _describe(entry, published), (), about)
    line = f"{entry.dataset} paid {entry.cost} for it on {release_time(entry, 'seconds')} (entry {entry.id})."
    return Result(entry, replace(answer, paid=[line, "To look at it again costs nothing."]))


def _describe(entry: Entry, published: Any) -> Report:
    """Return a report of a release whose question the server does not know."""
    if isinstance(published, Release):
        return Report(published.title, published.columns(), (), published.to_dict())
    names = published.get("columns", ())
    return Report(entry.mechanism, {name: published[name] for name in names}, (), dict(published))


def _find_request(desk: Desk, entry: Entry) -> Request | None:
    """Return the request that an entry answers, where the server can build the very same again."""
    # The whole cost, as a person asked for it. Its text is rounded: a mechanism has it exactly, or its parts have
    # shares that add up to it.
    name, amount = entry.cost.partition(",")[0].split(" ", 1)
    shares = [text for key, text in entry.parameters.items() if key.endswith(f".{name}")]
    with suppress(ValueError):
        amount = str(sum(map(Fraction, shares))) if shares else amount
    cost = {name: entry.parameters.get(name, amount)} if name in ("epsilon", "rho") else {}
    account = {"ledger": desk.ledger_place, "dataset": entry.dataset, "note": entry.note}
    request = rebuild_request(entry.question, desk.rows.source, desk.find_list, desk.rows.join, **cost, **account)
    try:
        same = request is not None and dict(request.question.mechanism.parameters) == dict(entry.parameters)
    except LastbitError:
        return None
    return request if same else None
