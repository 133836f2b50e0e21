"""Results again, from the books: nothing is read, drawn or charged."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lastbit.errors import EntryNotFound, LastbitError, LedgerError
from lastbit.output.numbers import are_intervals
from lastbit.output.plain import plain
from lastbit.questions.asking import VERSION, source_facts
from lastbit.questions.kinds import KINDS, Built
from lastbit.questions.showing import Report
from lastbit.questions.telling import Told, texts_of, told, when
from lastbit.release import Release
from lastbit.web.fields import TOPICS

if TYPE_CHECKING:
    from lastbit.ledger import Entry
    from lastbit.web.desk import Desk


@dataclass(frozen=True)
class Result:
    """A release in the books, and all that can be said about it."""

    entry: Entry
    told: Told | None
    """None where the release was charged and not finished."""
    texts: list[tuple[str, str]]

    @property
    def heading(self) -> str:
        """What was found, in the words of the page."""
        asked = _asked(self.entry)
        label = next((each.label for each in TOPICS.values() if each.command == asked.get("command")), "")
        if asked.get("command") == "histogram" and "of" in asked:
            label = TOPICS["bins"].label
        column = asked.get("of") or ", ".join(asked.get("by") or ())
        return f"{label} of {column}" if label and column else label or self.entry.about or self.entry.mechanism

    @property
    def html(self) -> str:
        """The report to send on."""
        if self.told is None:
            raise LedgerError(f"entry {self.entry.id} has no published release in the books.")
        return self.told.page(self.texts).html()

    @property
    def csv(self) -> str:
        """The table, with plain numbers. An interval is two columns."""
        if self.told is None:
            raise LedgerError(f"entry {self.entry.id} has no published release in the books.")
        columns: dict[str, list[Any]] = {}
        for name, column in self.told.report.columns.items():
            if are_intervals(column):
                columns[f"{name} from"] = [None if each is None else plain(each[0]) for each in column]
                columns[f"{name} to"] = [None if each is None else plain(each[1]) for each in column]
            else:
                columns[name] = [cell(plain(each)) for each in column]
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()


def _asked(entry: Entry) -> dict[str, Any]:
    """The options that an entry knows its question by; none where somebody put it in words of their own."""
    try:
        found = json.loads(entry.question)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def result_of(desk: Desk, number: int) -> Result:
    """The result of an entry."""
    entry = entry_of(desk, number)
    if not entry.recorded:
        return Result(entry, None, [])
    published = desk.ledger.published(number)
    built = _built(desk, entry)
    if built is not None:
        found = told(built.question, built.spending, None, published)
        return Result(entry, _paid(found, entry), texts_of(built.spending))
    if isinstance(published, Release):
        report = Report(published.title, published.columns(), (), published.to_dict())
    else:
        names = published.get("columns", ())
        report = Report(entry.mechanism, {name: published[name] for name in names}, (), dict(published))
    about = [("The question, as the books know it", entry.about)] if entry.about else []
    return Result(entry, _paid(Told(published, report, ()), entry), about)


def entry_of(desk: Desk, number: int) -> Entry:
    """The entry with this id, of any account."""
    entry = desk.ledger.entry(number)
    if entry is not None and entry.kind == "charge":
        return entry
    raise EntryNotFound(f"there is no release {number} in the books.")


def _paid(found: Told, entry: Entry) -> Told:
    from dataclasses import replace

    line = f"{entry.dataset} paid {entry.cost} for it on {when(entry, 'seconds')} (entry {entry.id})."
    return replace(found, paid=[line, "To look at it again costs nothing."])


def _built(desk: Desk, entry: Entry) -> Built | None:
    """The question that an entry answers, where the server can build the very same again."""
    try:
        asked = json.loads(entry.question)
        command = asked.pop("command")
        places = list(desk.rows["source"])
        if asked.pop("version") != VERSION or asked.pop("source") != source_facts(places):
            return None
        if "domain" in asked:
            asked["domain"] = [desk.recall(each) for each in asked["domain"]]
            if any(isinstance(each, str) and each.startswith("sha256:") for each in asked["domain"]):
                return None
        asked |= {name: tuple(asked[name]) for name in ("bounds", "bin") if name in asked}
        cost = {name: entry.parameters[name] for name in ("epsilon", "rho") if name in entry.parameters}
        cost = {name: text for name, text in cost.items() if text != "None"}
        built = KINDS[command].build(
            source=places, **asked, **cost,
            ledger=desk.ledger_place, dataset=entry.dataset, note=entry.note,
        )  # fmt: skip
        same = dict(built.question.mechanism.parameters) == dict(entry.parameters)
        return built if same else None
    except (LastbitError, ValueError, KeyError, TypeError, AttributeError):
        return None


def cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula.

    >>> cell("=1+1"), cell("flu"), cell(-3)
    ("'=1+1", 'flu', -3)
    """
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") else value
