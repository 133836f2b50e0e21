"""A release with all that is said about it: the answer, the price, the same question as a command and in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LastbitError, LedgerError, ParameterError
from lastbit.exact.numbers import probability
from lastbit.mechanisms.parts import PartsRelease
from lastbit.output import picture
from lastbit.output.json_values import json_text
from lastbit.output.picture import Panel, drop_hidden_rows
from lastbit.output.table import PEOPLE, format_cells, html_section, text_table
from lastbit.output.words import capitalize
from lastbit.questions.answer import Payer
from lastbit.questions.budget_words import describe_more
from lastbit.questions.crosswise import pivot_table, split_names
from lastbit.questions.group_types import group_columns
from lastbit.questions.methods import method_sentence, methods_paragraph
from lastbit.questions.of_whom import say_of_whom
from lastbit.questions.option import OWNER
from lastbit.questions.presentation import (
    Step,
    as_floats,
    cut_below_zero,
    cut_intervals,
    hide_numbers,
    keep_first,
    round_numbers,
    sort_rows,
)
from lastbit.questions.question import TABLE_ADJACENCY
from lastbit.questions.rates import divide_by
from lastbit.questions.report import Report, account_data, account_line, convert_numbers, format_percent, format_value
from lastbit.questions.stored_answers import is_never_negative
from lastbit.questions.titles import title_of
from lastbit.release import build_frame

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry
    from lastbit.mechanisms.mechanism import Mechanism
    from lastbit.output.page import Page
    from lastbit.questions.request import Request


_SAMPLE: Final = 1000
"""So many people are made up to try how an answer would be shown."""
MANY: Final = 20
"""From so many intervals on, an answer says how many of them may miss."""
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
    steps: Sequence[Step] = ()
    """What was done to the published numbers before they are shown."""
    books: Mapping[str, Any] = field(default_factory=dict)
    """What the release cost and what the account has left, for programs."""

    @property
    def title(self) -> str:
        """What was asked, of whom, and by what: the line above the table."""
        return self.report.title

    @property
    def level(self) -> str:
        """The level of the intervals."""
        return "0.95" if self.request is None else self.request.level

    @property
    def _tables(self) -> Any:
        """The answer itself, as it is about what the title says."""
        return self.report.release or getattr(self.published, "main", self.published)

    @property
    def _has_tables(self) -> bool:
        """Whether the release has several tables, which show themselves crosswise."""
        return hasattr(self._tables, "pivot")

    @property
    def full_report(self) -> Report:
        """The report with the price among its notes, crosswise and with its methods where that is asked for."""
        report = self.shown_report
        more = [self.methods()] if self.request is not None and self.request.values.get("methods") else []
        footer = [] if more else self._footer
        data = {**report.data, "methods": more[0]} if more else report.data
        return replace(report, notes=[*report.notes, *self.paid, *more, *footer], data=data)

    @property
    def _footer(self) -> list[str]:
        """How to get the paragraph for a paper: with a ledger, without paying again."""
        if self.request is None or self.request.face not in OWNER:
            return []
        if self.request.face == "python":
            return [".methods() gives the paragraph for a paper."]
        again = " --reuse prints the paragraph for a paper, for nothing." if self.books else ""
        return [f"--methods{again or ' adds the paragraph for a paper.'}"]

    @property
    def shown_report(self) -> Report:
        """The report as it was asked for: crosswise, where that was."""
        pivot = None if self.request is None else self.request.values.get("pivot")
        return self._crosswise(pivot) if pivot and not self._has_tables else self.report

    def _crosswise(self, names: str) -> Report:
        """Return the report with its numbers crosswise."""
        columns, adds_up = pivot_table(
            self.data_columns, self.report.label_names, split_names(names), adds_up=self._adds_up
        )
        lows, highs = (
            self.data_columns.get(name, self.data_columns.get(f"bounded_{name}", ())) for name in ("low", "high")
        )
        notes = [*self.report.notes]
        widths = [(high - low) / 2 for low, high in zip(lows, highs, strict=True) if None not in (low, high)]
        if widths:
            notes.insert(
                0, f"Every interval reaches {format_value(max(widths), 'up')} or less to each side of its middle."
            )
        if self.request is not None and self.request.asks_several:
            notes.append("Numbers of several columns have no totals.")
        elif not adds_up:
            assert self.request is not None  # noqa: S101
            words = self.request.words
            notes.append(
                f"{capitalize(words.a_person)} may be in several groups, so there are no totals: ask for the total."
            )
        return replace(self.report, columns=columns, notes=notes, whole_columns=tuple(columns))

    @property
    def has_numbers(self) -> bool:
        """Whether there is a number for each row, which may be hidden, rounded and sorted."""
        return not {"value", "bounded_value"}.isdisjoint(self.report.table)

    @property
    def panels(self) -> Sequence[Panel]:
        """What a picture shows: the numbers and their intervals, of all people where people are counted."""
        from lastbit.questions.drawing import draw_answer, draw_gaps

        shown = self.report.frame.get("shown", ())
        if self.report.panels:
            return drop_hidden_rows(self.report.panels, shown)
        drawn = () if self._has_tables else draw_answer(self.request, self.report)
        return drawn or drop_hidden_rows(draw_gaps(self.request, self.published.panels(self.level)), shown)

    @property
    def chart(self) -> str:
        """The numbers and their intervals as SVG; "" where the release has none."""
        if not hasattr(self.published, "panels"):
            return ""
        try:
            panels = self.panels
        except LastbitError:  # the release publishes names
            return ""
        # One bar beside nothing tells less than its number.
        tells = any(len(panel.heights) > 1 and any(height is not None for height in panel.heights) for panel in panels)
        if not tells:
            return ""
        from lastbit.output.chart import chart

        return chart(panels, self.report.title)

    def plot(self, path: str | None = None) -> Any:
        """Draw the numbers with their intervals; `path` writes a picture. Needs matplotlib."""
        figure = picture.draw_figure(self.panels, self.report.title)
        if path is not None:
            figure.savefig(path, dpi=picture.DOTS)
        return figure

    @property
    def printed_table(self) -> tuple[list[str], list[list[str]]]:
        """The names of the columns, and the rows as people read them."""
        report = self.shown_report
        columns = format_cells(report.columns, whole=(*PEOPLE, *report.whole_columns))
        return list(report.columns), [list(row) for row in zip(*columns, strict=True)]

    @property
    def data(self) -> Mapping[str, Any]:
        """The same for programs: numbers are numbers."""
        return convert_numbers(self.full_report.data)

    @property
    def page(self) -> Page:
        """The report as one page to send on: whoever reads it cannot ask, and gets no advice."""
        from lastbit.output.page import Page

        names, rows = self.printed_table
        texts = [*self.texts, ("As JSON", json_text(self.data))]
        notes = self.shown_report.notes
        if self.request is not None:
            texts.insert(0, ("Methods", self.methods()))
            notes = self.for_readers().shown_report.notes
        return Page(self.title, notes, self.chart, names, rows, self.paid, texts)

    def for_readers(self) -> AnswerView:
        """Return the same answer for readers of a report."""
        assert self.request is not None  # noqa: S101
        request = replace(self.request, face="report")
        report = complete(request, self.published, describe_answer(request, self.published), self.steps, self.books)
        return replace(self, request=request, report=replace(report, title=self.title))

    def methods(self) -> str:
        """Return the paragraph for a paper: how the answer was made, what an interval is about, and whom to cite."""
        if self.request is None:
            return str(self.published.methods())
        return methods_paragraph(self.request, self.published, self.report)

    @property
    def data_columns(self) -> Mapping[str, Sequence[Any]]:
        """The columns of `to_frame`, with exact numbers."""
        return self.report.table or self.published.columns()

    def to_frame(self, level: object = None) -> Any:
        """Return the answer as a DataFrame of pandas or Polars, with the intervals of this level: one column per `by`.

        Numbers are floats; the exact ones are in the release, as fractions.
        """
        view = self
        if level is not None and self.request is not None:
            request = self.request.change(level=level)
            report = describe_answer(request, self.published)
            view = replace(self, request=request, report=complete(request, self.published, report, self.steps))
        return build_frame(as_floats(view.data_columns, view.report.label_names))

    def pivot(self, *names: str, numbers: str = "value") -> Any:
        """Return the answer crosswise, as a DataFrame: the groups of one column below each other, of another beside.

        `numbers` is the column of `to_frame` that stands in it, such as low or high. Sums stand in it only where nobody
        is counted twice.
        """
        if self._has_tables:
            return self._tables.pivot(*names, numbers=numbers, level=self.level)
        table = self.data_columns if numbers == "value" else self._only(numbers)
        adds_up = self._adds_up and numbers == "value"
        return build_frame(pivot_table(table, self.report.label_names, names, adds_up=adds_up)[0])

    def _only(self, numbers: str) -> dict[str, Sequence[Any]]:
        """Return the columns of `to_frame` that name a row, and one of numbers, as the value."""
        labels, columns = self.report.label_names, self.data_columns
        if numbers not in columns or numbers in labels:
            known = ", ".join(name for name in columns if name not in labels)
            raise ParameterError(f"numbers must be one of {known}: got {numbers!r}.")
        return {**{name: columns[name] for name in labels}, "value": columns[numbers]}

    @property
    def _adds_up(self) -> bool:
        """Whether the numbers of groups may be added: each row is one, and is in one group."""
        request = self.request
        if request is None or request.values.get("counts") is not None or request.asks_several:
            return False
        return request.rows.unit is None or (request.kind.name == "count" and request["rows"])

    def hide(self, *, below: object = None, wider: object = None) -> AnswerView:
        """Hide numbers of fewer people than `below`, or with an interval wider than `wider`, such as "50%".

        This looks at published numbers only: it costs nothing, and protects nobody.
        """
        return self.apply(hide_numbers(below, wider))

    def rate(self, table: object, *, per: object = 1000) -> AnswerView:
        """Divide by public numbers of the groups, such as residents: so many people per 1,000 of them."""
        return self.apply(divide_by(table, per))

    def apply(self, *steps: Step) -> AnswerView:
        """Do something to the published numbers before they are shown."""
        if self.request is None:
            report = self.report
            for step in steps:
                report = step(report)
            return replace(self, report=replace(report, notes=[*report.notes, *report.post_processing]))
        steps = (*self.steps, *steps)
        base = describe_answer(self.request, self.published)
        report = complete(self.request, self.published, base, steps, self.books)
        return replace(self, report=report, steps=steps)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        of_parts = isinstance(self.published, PartsRelease) and hasattr(self.published, name)
        return getattr(self.published if of_parts else self._tables, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.published == (other.published if isinstance(other, AnswerView) else other))

    def __hash__(self) -> int:
        return hash(self.published)

    def __repr__(self) -> str:
        names, rows = self.printed_table
        return "\n".join([self.title, text_table(names, rows), *self.full_report.notes])

    def _repr_html_(self) -> str:
        names, rows = self.printed_table
        return html_section(self.title, names, rows, self.full_report.notes, self.chart)


def describe_answer(request: Request, published: Any) -> Report:
    """Return what the question says of a release; with --together, at a level at which all intervals hold together."""
    report = request.question.report(published)
    rows = len(next(iter(report.table.values()), ()))
    if not request.values.get("together") or rows < 2:
        return report
    if request.values.get("delta") is not None and not request.values.get("domain"):
        raise ParameterError(
            "--together needs listed groups: nobody knows beforehand how many groups will be found. Pass --domain, or "
            "leave --together out."
        )
    misses = (1 - probability(request.level, "--level")) / rows
    report = request.change(level=1 - misses).question.report(published)
    note = f"All {rows:,} hold together with probability {format_percent(request.level)} or more."
    return replace(report, notes=[*report.notes, note], level=str(1 - misses))


def complete(
    request: Request,
    published: Any,
    report: Report,
    steps: Sequence[Step],
    books: Mapping[str, Any] | None = None,
) -> Report:
    """Return a report with its title, the rules of reading, what was done to its numbers, and its method."""
    groups = [*group_columns(request.values)]
    labels = {*groups, *(f"{name} (group)" for name in groups)} & report.table.keys()
    # A group whose column has the name of a number stands under another name.
    labels -= {name for name in groups if f"{name} (group)" in report.table}
    report = replace(report, title=title_of(request, published), labels=labels)
    never_negative = is_never_negative(request.kind.name, request.values)
    if never_negative and request.canonical.kind.name == "count":
        report = cut_intervals(report)
    for step in steps:
        report = step(report)
    misses = [] if report.level else _describe_misses(request, report)
    method = method_sentence(request, published, report)
    notes = [*report.notes, *request.question.notes, *misses, *report.post_processing]
    if request.purchase is not None:
        notes.append(request.purchase.sentence)
        notes += [] if request.purchase.promise in notes else [request.purchase.promise]
    notes = request.spell([*notes, method])
    data = {**report.data, "title": report.title, "notes": list(notes), **(books or {})}
    data |= {"noun": request.words.people, "never_negative": never_negative}
    meaning = say_of_whom(request, report)
    data |= {"meaning": meaning} if meaning else {}
    return replace(report, notes=notes, data=data)


def _describe_misses(request: Request, report: Report) -> list[str]:
    """Return how many of many intervals may miss, where at least one may."""
    intervals = sum(low is not None for low in report.table.get("low", ()))
    misses = ceil(intervals * (1 - probability(request.level, "--level")))
    if not report.has_intervals or intervals < MANY or misses < 1:
        return []
    return [f"About {misses:,} of these {intervals:,} intervals may miss. --together gives intervals that all hold."]


def render_answer(request: Request, payer: Payer | None, published: Any, *, entry: Entry | None = None) -> AnswerView:
    """Return all that is said about a release; `entry` is that of an answer that comes from the books."""
    question = request.question
    books: dict[str, Any] = {}
    paid: list[str] = []
    if payer is not None:
        account = read_account_after(payer)
        line = UNREAD if account is None else account_line(account)
        if entry is None:
            paid = [line, *([] if account is None else describe_price(account, question.mechanism))]
            paid += [] if account is None else [describe_more(account, question.mechanism.cost)]
            books["charged"] = None if account is None else account.price(question.mechanism.cost, TABLE_ADJACENCY)
        else:
            paid = [_from_the_books(entry), line]
            books |= {"charged": Fraction(0), "reused": {"entry": entry.id, "released": release_time(entry)}}
        books["account"] = None if account is None else account_data(account)
    steps = steps_of(request)
    report = complete(request, published, describe_answer(request, published), steps, books)
    return AnswerView(request, published, report, paid, spell_out(request), steps, books)


def check_presentation(request: Request) -> None:
    """Refuse what cannot be shown, before anything is spent: it is tried on values that nobody has."""
    if steps_of(request) or request.values.get("together") or request.values.get("pivot"):
        _ = sample_view(request).full_report


def sample_view(request: Request) -> AnswerView:
    """Return an answer of values that nobody has, as the real one will be shown."""
    from lastbit.mechanisms.mechanism import resolve_draw

    question = request.question
    published = question.prepare(question.sample(_SAMPLE))(resolve_draw(None))
    report = complete(request, published, describe_answer(request, published), steps_of(request))
    return AnswerView(request, published, report, ())


def steps_of(request: Request) -> list[Step]:
    """Return what a request asks to be done to the published numbers, in the order in which it is done."""
    get = request.values.get
    steps: list[Step] = []
    if get("non_negative"):
        steps.append(cut_below_zero)
    if get("hide_below") is not None or get("hide_wider") is not None:
        steps.append(hide_numbers(get("hide_below"), get("hide_wider")))
    if get("rate") is not None:
        steps.append(divide_by(get("rate"), get("per_residents")))
    if get("round") is not None:
        steps.append(round_numbers(get("round")))
    if get("sort") == "value":
        steps.append(sort_rows)
    if get("first") is not None:
        steps.append(keep_first(request["first"]))
    return steps


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
