"""`--of cost,stay`: several numbers of each person in one release. They share one cost evenly.

Each column is the question that it would be alone, at its share of the cost; its bounds, its missing numbers and its
lot are its own. The parts are charged at once and kept as one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.mechanisms.parts import Parts
from lastbit.output.words import capitalize
from lastbit.questions.people import share_of
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading import Reading
from lastbit.questions.report import Report

if TYPE_CHECKING:
    from lastbit.questions.progress import Watcher
    from lastbit.questions.request import Request

OF: Final = "of"
"""The column of an answer that names the numbers."""
_WHOLE: Final = ("mechanism", "cost", "schema", "costs")
"""What is said of the release as a whole, for programs."""


def split_request(request: Request) -> dict[str, Request]:
    """Return the request for each of its columns of numbers alone, at an even share of the cost."""
    columns: tuple[str, ...] = request[OF]
    cost = {name: str(amount) for name, amount in share_of(request.cost, Fraction(1, len(columns))).items()}
    return {column: request.change(of=[column], bounds=request["bounds"][column], **cost) for column in columns}


def describe_share(request: Request) -> str:
    """Return by which public rule the columns share the cost."""
    return f"The cost is shared evenly among the {len(request[OF]):,} columns of numbers: each is answered by itself."


@dataclass(frozen=True)
class ReadingInTurn(Reading[dict[str, Any]]):
    """Several readings of one table, one after the other: each has a column of numbers of its own."""

    readings: Mapping[str, Reading[Any]] | None = None

    def run(self, watcher: Watcher | None = None, *, frame: Any = None) -> dict[str, Any]:
        """Open the table and count, once for each reading."""
        if frame is None:
            self._refuse_pipe()
        return {name: reading.run(watcher, frame=frame) for name, reading in (self.readings or {}).items()}

    def check_columns(self) -> None:
        """Refuse the table where a column is not there. No row is read."""
        self._refuse_pipe()
        for reading in (self.readings or {}).values():
            reading.check_columns()

    def _refuse_pipe(self) -> None:
        if self.rows.is_piped:
            raise ParameterError(
                "--of must name one column where the table comes through -: it is read once for each column. Save it "
                "as a file first. Nothing was read and nothing was charged."
            )


@dataclass(frozen=True, eq=False)
class SeveralNumbers:
    """A question about several columns of numbers: one part for each."""

    request: Request
    build: Callable[[Request], Question]
    """Builds the question about one of the columns."""

    @cached_property
    def questions(self) -> dict[str, Question]:
        """The question of each column."""
        return {column: self.build(request) for column, request in split_request(self.request).items()}

    def ask(self) -> Question:
        """Return the question about all columns."""
        questions = self.questions
        readings = {column: question.reading for column, question in questions.items() if question.reading is not None}
        first = next(iter(readings.values()))
        return Question(
            Parts(parts={column: question.mechanism for column, question in questions.items()}),
            reading=ReadingInTurn(first.rows, first.columns, first.work, readings=readings),
            report=self.report,
            sample=lambda units: {column: question.sample(units) for column, question in questions.items()},
            accuracy=self.accuracy,
            notes=self._notes,
            depends_on_units=any(question.depends_on_units for question in questions.values()),
        )

    @property
    def _notes(self) -> list[str]:
        return [
            describe_share(self.request),
            *join_notes({column: question.notes for column, question in self.questions.items()}),
        ]

    def accuracy(self, units: int) -> Accuracy:
        """Return how far the numbers of each column are off at most; the number is that of the worst."""
        parts = {column: question.accuracy(units) for column, question in self.questions.items()}
        worst = max(parts.values(), key=lambda accuracy: accuracy.within)
        sentence = " ".join(prefix_note(column, accuracy.sentence) for column, accuracy in parts.items())
        totals = {accuracy.total for accuracy in parts.values()}
        # A percentage is of how far the bounds are apart: of different ones there is none.
        total = worst.total if len(totals) == 1 else None
        instead = max(accuracy.instead for accuracy in parts.values())
        return replace(worst, sentence=sentence, total=total, instead=instead)

    def report(self, published: Any) -> Report:
        """Describe a release: a row for each number, and for each of its groups."""
        parts = {column: question.report(published[column]) for column, question in self.questions.items()}
        first, typed = next(iter(parts.values())), self.request["bounds"]
        frame = _stack({column: report.frame for column, report in parts.items()})
        printed = _stack({column: _drop_names(column, report.columns) for column, report in parts.items()})
        names = [name for name in first.frame if name in first.data]
        numbers = {name: [cell for report in parts.values() for cell in report.data[name]] for name in names}
        groups = {name: cells for name, cells in frame.items() if name not in numbers}
        whole = {name: value for name, value in published.to_dict().items() if name in _WHOLE}
        facts = {name: first.data[name] for name in ("per", "missing", "level")}
        data = {
            **whole, "columns": list(numbers), **numbers, **facts, OF: list(parts), "groups": groups,
            "bounds": [list(report.data.get("bounds", typed[column])) for column, report in parts.items()],
            "parts": {column: report.data for column, report in parts.items()},
        }  # fmt: skip
        notes = join_notes({column: report.notes for column, report in parts.items()})
        # The whole, and not its last part, is what the title names.
        return Report(published.title, printed, notes, data, first.whole_columns, frame=frame, release=published)


def _stack(tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> dict[str, list[Any]]:
    """Return tables below each other, with a column that names them. What a table does not have is empty there.

    >>> _stack({"cost": {"of": ["a"], "value": [5]}, "stay": {"of": ["a"], "value": [2], "why": ["too few"]}})
    {'of': ['cost', 'stay'], 'of (group)': ['a', 'a'], 'value': [5, 2], 'why': ['', 'too few']}
    """
    lengths = {name: len(next(iter(table.values()))) for name, table in tables.items()}
    columns = dict.fromkeys(column for table in tables.values() for column in table)
    stacked = {
        f"{OF} (group)" if column == OF else column: [
            cell for name, table in tables.items() for cell in table.get(column, [""] * lengths[name])
        ]
        for column in columns
    }
    return {OF: [name for name, length in lengths.items() for _ in range(length)], **stacked}


def _drop_names(column: str, columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Return the columns of a table under headings that do not name the column of numbers."""
    own = {f"mean of {column}": "mean", f"sum of {column}": "sum"}
    return {own.get(name, name): cells for name, cells in columns.items()}


def join_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sentences about all columns: what holds for each is said once, the rest with the column's name.

    >>> join_notes({"cost": ["All count.", "Rows without cost do not."], "stay": ["All count.", "Some have none."]})
    ['All count.', 'Of cost: rows without cost do not.', 'Of stay: some have none.']
    """
    lists = list(notes.values())
    shared = [note for note in dict.fromkeys(lists[0]) if all(note in own for own in lists)]
    return shared + [
        prefix_note(column, note) for column, own in notes.items() for note in own if note not in shared
    ]  # fmt: skip


def prefix_note(column: str, note: str) -> str:
    """Return a sentence that says which column it is about.

    >>> prefix_note("Cost", "Cost above 9 counts as 9."), prefix_note("stay", "Stay below 0 counts as 0.")
    ('Of Cost: Cost above 9 counts as 9.', 'Of stay: stay below 0 counts as 0.')
    """
    named = capitalize(column)
    rest = f"{column}{note[len(named) :]}" if note.startswith(named) else f"{note[:1].lower()}{note[1:]}"
    return f"Of {column}: {rest}"
