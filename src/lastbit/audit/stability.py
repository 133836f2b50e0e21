"""Does a way of counting keep one person's rows to that person? The answer on a made-up table, with hostile rows.

The cost of a release assumes that one unit moves every count by at most its sensitivity. Whoever counts must make that
true for all rows there can be: a quote that is never closed, a date beyond the calendar, two spellings of one number.
`stability` gives one unit such rows, takes them away again, and compares the counts. It is run on a made-up table,
because its verdict shows rows and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from lastbit.audit.counted import Counted, Raised, alike, broken, counted, direction, largest, said
from lastbit.audit.hostile.tables import rows as hostile_rows
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, flag, positive

Rows = Sequence[Any]
Unit = str | Callable[[Any], Any] | None

_REMOVED: Final = 5
"""So many units of the table itself are taken away, one at a time: the first, the last, and some between."""


@dataclass(frozen=True)
class Witness:
    """One unit's rows that a way of counting does not keep to that unit.

    rows: all that the unit has. place: where in the table they are. problem: what they do to the counts.
    """

    rows: tuple[Any, ...]
    place: str
    problem: str

    def __str__(self) -> str:
        more = f" and {len(self.rows) - 1:,} more rows" if len(self.rows) > 1 else ""
        return f"{self.problem}; witness {said(self.rows[0])}{more}, {self.place}"


@dataclass(frozen=True)
class Stability:
    """The verdict on a way of counting.

    holds: each unit that was tried moved every count by what it may, and nothing else changed.
    violated: `witness` says which rows did more.
    tried: how many pairs of tables were compared, each with and without one unit.
    """

    verdict: Literal["holds", "violated"]
    tried: int
    moved: Fraction
    sensitivity: Fraction
    monotone: bool
    witness: Witness | None = None

    @property
    def holds(self) -> bool:
        """Whether no unit that was tried did more than it may."""
        return self.verdict == "holds"

    def __str__(self) -> str:
        if self.witness is not None:
            return f"violated: {self.witness}"
        way = ", all the same way" if self.monotone else ""
        return f"holds: {self.tried:,} neighbours, no count moved by more than {self.moved} of {self.sensitivity}{way}"


def stability(
    count: Callable[[list[Any]], Any],
    table: Rows,
    *,
    unit: Unit,
    hostile: Iterable[Rows] | None = None,
    sensitivity: Number = 1,
    monotone: bool = False,
) -> Stability:
    """Try whether one unit's rows, whatever they are, move every count by at most its sensitivity, and nothing else.

    Each hostile unit comes to the table: before all other rows, after them, between them, and alone. Units of the table
    go. Each time every count may move by the sensitivity that `Counts` state, and all the same way if they are
    monotone. Their items, their order and their type stay as they are, and nothing is raised. The first violation ends
    the search; of many rows it names one that does it alone, if there is one.

    count: what is tried: a function from a list of rows to `Counts`, or to a mapping or a sequence of exact numbers.
    table: made-up rows, each a mapping or one line of a text file. Do not pass private rows: a verdict shows rows.
    unit: the column that says whose a row is, or a function that says it of a row; with None each row is a unit.
    hostile: for each unit that comes a list of its rows, by default `hostile.rows(table, unit)`. A unit whose key is in
    the table comes in the place of that unit.
    sensitivity, monotone: what is stated of bare numbers; `Counts` state it themselves.

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
    trial = _Trial(count, list(table), _who(unit), stated, flag(monotone, "monotone"))
    if hostile is None:
        if not (unit is None or isinstance(unit, str)) or not all(isinstance(row, Mapping) for row in table):
            raise ParameterError("hostile must be given where rows are lines of text: see lastbit.audit.hostile.lines.")
        hostile = hostile_rows(table, unit)
    witness = trial.removals()
    for each in () if witness else hostile:
        witness = trial.arrival(list(each))
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


def _who(unit: Unit) -> Callable[[Any], Any] | None:
    if unit is None or callable(unit):
        return unit
    return lambda row: row[unit]


class _Trial:
    """One way of counting before its judge: what it has said of which rows, and how often."""

    def __init__(
        self,
        count: Callable[[list[Any]], Any],
        table: list[Any],
        who: Callable[[Any], Any] | None,
        sensitivity: Fraction,
        monotone: bool,
    ) -> None:
        self._count, self._table, self._stated = count, table, (sensitivity, monotone)
        # Without a key each row is its own.
        self._keys = [place if who is None else who(row) for place, row in enumerate(table)]
        self._who = who
        self._known: dict[tuple[int, ...], Counted | Raised] = {}
        self._way = 0
        self.tried, self.moved = 0, Fraction(0)
        whole = self._of_table(tuple(range(len(table))))
        if isinstance(whole, Raised):
            raise ParameterError(f"count must take the table as it is: it raised {whole.kind}. Call it to see why.")
        self.whole = whole

    def removals(self) -> Witness | None:
        """The table's own units go, one at a time."""
        keys: list[Any] = []
        for key in self._keys:
            if not any(alike(key, other) for other in keys):
                keys.append(key)
        apart = max(1, -(-(len(keys) - 1) // (_REMOVED - 1)))
        for key in [*keys[::apart], *keys[-1:]]:
            problem = self._problem(self._of_table(self._without([key])), self.whole)
            if problem:
                gone = tuple(row for row, other in zip(self._table, self._keys, strict=True) if alike(key, other))
                return Witness(gone, "taken away", problem)
        return None

    def arrival(self, rows: list[Any]) -> Witness | None:
        """A unit comes with these rows."""
        kept = self._without([] if self._who is None else [self._who(row) for row in rows])
        for place in ("at the front", "at the end", "between the others", "alone"):
            problem = self._arrived(kept, rows, place)
            if problem:
                return self._shortest(kept, rows, place, problem)
        return None

    def _arrived(self, kept: tuple[int, ...], rows: list[Any], place: str) -> str | None:
        base = () if place == "alone" else kept
        ordinary = [self._table[index] for index in base]
        if place == "at the front":
            together = rows + ordinary
        elif place == "between the others":
            half, turn = len(ordinary) // 2, -(-len(rows) // 2)
            together = ordinary[:half] + rows[:turn] + ordinary[half:] + rows[turn:]
        else:
            together = ordinary + rows
        return self._problem(self._of_table(base), self._counted(together))

    def _shortest(self, kept: tuple[int, ...], rows: list[Any], place: str, problem: str) -> Witness:
        """A single row that does it alone, if there is one: a witness is there to be read."""
        seen: set[str] = set()
        for row in rows if len(rows) > 1 else ():
            if said(row) in seen:
                continue
            seen.add(said(row))
            alone = self._arrived(kept, [row], place)
            if alone:
                return Witness((row,), place, alone)
        return Witness(tuple(rows), place, problem)

    def _problem(self, without: Counted | Raised, having: Counted | Raised) -> str | None:
        self.tried += 1
        problem = broken(without, having, self.whole, self._way)
        if problem is None and isinstance(without, Counted) and isinstance(having, Counted):
            self._way = self._way or direction(without, having)
            self.moved = max(self.moved, largest(without, having))
        return problem

    def _without(self, keys: Sequence[Any]) -> tuple[int, ...]:
        return tuple(place for place, own in enumerate(self._keys) if not any(alike(own, key) for key in keys))

    def _of_table(self, places: tuple[int, ...]) -> Counted | Raised:
        if places not in self._known:
            self._known[places] = self._counted([self._table[place] for place in places])
        return self._known[places]

    def _counted(self, rows: list[Any]) -> Counted | Raised:
        # Copies, so that a way of counting that changes its rows is judged on what it was given.
        return counted(self._count, [dict(row) if isinstance(row, dict) else row for row in rows], *self._stated)
