"""Does a way of counting keep one person's rows to that person? The answer on a made-up table, with hostile rows.

The cost of a release assumes that one unit moves every count by at most its sensitivity. The code that counts must make
this true for all possible rows: a quote that is never closed, a date beyond the calendar, two spellings of one number.
`stability` gives one unit such rows, takes them away again, and compares the counts. Run it on a made-up table, because
its verdict shows rows and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from lastbit.audit.exact_counts import (
    CountFailure,
    ExactCounts,
    are_alike,
    count_exactly,
    find_violation,
    largest_move,
    move_direction,
    render_value,
)
from lastbit.audit.hostile.tables import rows as hostile_rows
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, flag, positive
from lastbit.output.table import html_table, one_line
from lastbit.output.words import plural

Rows = Sequence[Any]
Unit = str | Callable[[Any], Any] | None

_REMOVED: Final = 5
"""This many units of the table itself are taken away, one at a time: the first, the last, and some between."""


@dataclass(frozen=True)
class StabilityWitness:
    """The rows of one unit that change more than this unit's contribution.

    rows: all rows of the unit. place: where in the table the rows are. problem: how they change the counts.
    """

    rows: tuple[Any, ...]
    place: str
    problem: str

    def __str__(self) -> str:
        more = f" and {plural(len(self.rows) - 1, 'more row')}" if len(self.rows) > 1 else ""
        return f"{self.problem}; witness {render_value(self.rows[0])}{more}, {self.place}"


@dataclass(frozen=True)
class Stability:
    """The verdict on a way of counting.

    holds: each unit that was tried moved every count by at most the sensitivity, and nothing else changed.
    violated: `witness` names rows that changed more.
    tried: how many pairs of tables were compared, each with and without one unit.
    """

    verdict: Literal["holds", "violated"]
    tried: int
    moved: Fraction
    sensitivity: Fraction
    monotone: bool
    witness: StabilityWitness | None = None

    @property
    def holds(self) -> bool:
        """Whether every unit that was tried kept to its contribution."""
        return self.verdict == "holds"

    def __str__(self) -> str:
        if self.witness is not None:
            return f"violated: {self.witness}"
        way = ", all the same way" if self.monotone else ""
        moved = f"no count moved by more than {self.moved} of {self.sensitivity}"
        return f"holds: {plural(self.tried, 'neighbour')}, {moved}{way}"

    def _repr_html_(self) -> str:
        rows = [
            ["verdict", self.verdict],
            ["pairs of tables", f"{self.tried:,}"],
            ["largest move", str(self.moved)],
            ["sensitivity", str(self.sensitivity)],
            ["monotone", str(self.monotone)],
            *([] if self.witness is None else [["witness", one_line(self.witness)]]),
        ]
        return html_table(["", ""], rows, f"The counts: {self.verdict}")


def stability(
    count: Callable[[list[Any]], Any],
    table: Rows,
    *,
    unit: Unit,
    hostile: Iterable[Rows] | None = None,
    sensitivity: Number = 1,
    monotone: bool = False,
) -> Stability:
    """Try whether the rows of one unit move every count by at most its sensitivity, and change nothing else.

    Each hostile unit is added to the table: before all other rows, after them, between them, and alone. Some units of
    the table are removed. Each time, every count may move by the sensitivity that the `Counts` state, and all counts
    the same way if they are monotone. The items, their order and their type must stay, and no error may be raised.
    Items that nobody listed (`Unlisted`) may come and go: an item that does not occur counts 0. Where the counts state
    `most_items`, no more counts may move; the bound has one key for all tables, so that one rule holds for both of a
    pair. The first violation ends the search. If one of many rows violates alone, the witness is this row.

    count: the function to try, from a list of rows to `Counts`, `Unlisted`, or a mapping or sequence of exact numbers.
    table: made-up rows, each a mapping or one line of a text file. Do not pass private rows: a verdict shows rows.
    unit: the column with the unit of a row, or a function from a row to its unit; with None each row is a unit.
    hostile: a list of rows for each hostile unit, by default `hostile.rows(table, unit)`. A hostile unit whose key is
    in the table replaces the unit with that key.
    sensitivity, monotone: the facts about bare numbers. `Counts` state them themselves.

    >>> table = [{"patient": number, "item": "flu"} for number in range(5)]
    >>> def units(rows):
    ...     return {item: len({row["patient"] for row in rows if row["item"] == item}) for item in ("flu", "cold")}
    >>> print(stability(units, table, unit="patient", hostile=[table[:1] * 3], monotone=True))
    holds: 10 neighbours, no count moved by more than 1 of 1, all the same way
    >>> print(stability(lambda rows: {"flu": len(rows)}, table, unit="patient", hostile=[table[:1] * 3]))
    violated: 'flu' moves by 3 where 1 is stated; witness {'patient': 0, 'item': 'flu'} and 2 more rows, at the front
    """
    if not callable(count):
        raise ParameterError(f"count must be a function from rows to counts: got {type(count).__name__}.")
    stated = positive(sensitivity, "sensitivity", "It is how far one unit can move a count.")
    trial = _Trial(count, list(table), _unit_of(unit), stated, flag(monotone, "monotone"))
    if hostile is None:
        if not (unit is None or isinstance(unit, str)) or not all(isinstance(row, Mapping) for row in table):
            raise ParameterError(
                "hostile must be given where rows are lines of text, or unit is a function. For lines, use "
                "lastbit.audit.hostile.lines."
            )
        hostile = hostile_rows(table, unit)
    witness = trial.remove_units()
    for unit_rows in () if witness else hostile:
        witness = trial.add_unit(list(unit_rows))
        if witness:
            break
    return Stability(
        "violated" if witness else "holds",
        trial.tried,
        trial.moved,
        trial.whole.sensitivity,
        trial.whole.monotone,
        witness,
    )


def _unit_of(unit: Unit) -> Callable[[Any], Any] | None:
    if unit is None or callable(unit):
        return unit
    return lambda row: row[unit]


class _Trial:
    """One way of counting on trial: the counts it gave for each part of the table, and how many pairs were tried."""

    def __init__(
        self,
        count: Callable[[list[Any]], Any],
        table: list[Any],
        unit_of: Callable[[Any], Any] | None,
        sensitivity: Fraction,
        monotone: bool,
    ) -> None:
        self._count, self._table, self._stated = count, table, (sensitivity, monotone)
        # Without a key each row is its own unit.
        self._keys = [place if unit_of is None else unit_of(row) for place, row in enumerate(table)]
        self._unit_of = unit_of
        self._known: dict[tuple[int, ...], ExactCounts | CountFailure] = {}
        self._way = 0
        self.tried, self.moved = 0, Fraction(0)
        whole = self._of_table(tuple(range(len(table))))
        if isinstance(whole, CountFailure):
            raise ParameterError(
                f"count must take the table as it is: it raised {whole.kind}. Call count(table) to see why."
            )
        self.whole = whole

    def remove_units(self) -> StabilityWitness | None:
        """Take away the table's own units, one at a time, and return the first violation."""
        keys: list[Any] = []
        for key in self._keys:
            if not any(are_alike(key, other) for other in keys):
                keys.append(key)
        apart = max(1, -(-(len(keys) - 1) // (_REMOVED - 1)))
        for key in [*keys[::apart], *keys[-1:]]:
            problem = self._problem(self._of_table(self._without([key])), self.whole)
            if problem:
                rows = tuple(row for row, other in zip(self._table, self._keys, strict=True) if are_alike(key, other))
                return StabilityWitness(rows, "taken away", problem)
        return None

    def add_unit(self, rows: list[Any]) -> StabilityWitness | None:
        """Add a unit with these rows, and return the first violation."""
        others = self._without([] if self._unit_of is None else [self._unit_of(row) for row in rows])
        for place in ("at the front", "at the end", "between the others", "alone"):
            problem = self._try_place(others, rows, place)
            if problem:
                return self._shortest(others, rows, place, problem)
        return None

    def _try_place(self, others: tuple[int, ...], rows: list[Any], place: str) -> str | None:
        base = () if place == "alone" else others
        ordinary = [self._table[index] for index in base]
        if place == "at the front":
            together = rows + ordinary
        elif place == "between the others":
            half, turn = len(ordinary) // 2, -(-len(rows) // 2)
            together = ordinary[:half] + rows[:turn] + ordinary[half:] + rows[turn:]
        else:
            together = ordinary + rows
        return self._problem(self._of_table(base), self._count_rows(together))

    def _shortest(self, others: tuple[int, ...], rows: list[Any], place: str, problem: str) -> StabilityWitness:
        """Return a single row that violates alone, if there is one: people read a witness, so it should be short."""
        seen: set[str] = set()
        for row in rows if len(rows) > 1 else ():
            if render_value(row) in seen:
                continue
            seen.add(render_value(row))
            alone = self._try_place(others, [row], place)
            if alone:
                return StabilityWitness((row,), place, alone)
        return StabilityWitness(tuple(rows), place, problem)

    def _problem(self, without: ExactCounts | CountFailure, having: ExactCounts | CountFailure) -> str | None:
        self.tried += 1
        problem = find_violation(without, having, self.whole, self._way)
        if problem is None and isinstance(without, ExactCounts) and isinstance(having, ExactCounts):
            self._way = self._way or move_direction(without, having)
            self.moved = max(self.moved, largest_move(without, having))
        return problem

    def _without(self, keys: Sequence[Any]) -> tuple[int, ...]:
        return tuple(place for place, own in enumerate(self._keys) if not any(are_alike(own, key) for key in keys))

    def _of_table(self, places: tuple[int, ...]) -> ExactCounts | CountFailure:
        if places not in self._known:
            self._known[places] = self._count_rows([self._table[place] for place in places])
        return self._known[places]

    def _count_rows(self, rows: list[Any]) -> ExactCounts | CountFailure:
        # Copies, because the function may change the rows that it is given.
        return count_exactly(self._count, [dict(row) if isinstance(row, dict) else row for row in rows], *self._stated)
