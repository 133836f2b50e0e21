"""`AnswerView`: a release with all that is said about it, as people, pictures, pages and DataFrames show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lastbit.errors import LastbitError, ParameterError
from lastbit.mechanisms.parts import PartsRelease
from lastbit.output import picture
from lastbit.output.json_values import json_text
from lastbit.output.picture import Panel, drop_hidden_rows
from lastbit.output.table import PEOPLE, format_cells, html_section, text_table
from lastbit.output.words import capitalize
from lastbit.questions.answer_report import complete, describe_answer
from lastbit.questions.crosswise import pivot_table, split_names
from lastbit.questions.methods import methods_paragraph
from lastbit.questions.option import OWNER
from lastbit.questions.presentation import (
    Step,
    as_floats,
    hide_numbers,
)
from lastbit.questions.rates import divide_by
from lastbit.questions.report import Report, convert_numbers, format_value
from lastbit.release import build_frame

if TYPE_CHECKING:
    from lastbit.output.page import Page
    from lastbit.questions.request import Request


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
        if request.kind.name == "count" and request.each_in_one and request["different"] is None:
            return True
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
