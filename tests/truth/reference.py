"""The plain truth from rows, by what the words of an answer name. Fractions and dictionaries, and none of lastbit."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import floor
from typing import Any

from tests.truth.populations import Population, Row

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")


def parse_number(text: str) -> Fraction | None:
    """Return the number that a cell holds; None where it is blank, or text that is no number."""
    return Fraction(text) if _NUMBER.fullmatch(text) else None


def clamp(number: Fraction, bounds: tuple[Fraction, Fraction]) -> Fraction:
    """Return the number between the bounds that is nearest."""
    return max(bounds[0], min(bounds[1], number))


@dataclass(frozen=True)
class Reference:
    """What is true of a population, for a question with these options."""

    population: Population
    options: Mapping[str, Any]
    _floored: dict[Any, list[Fraction]] = field(default_factory=dict, repr=False)
    _counts_of_cells: dict[Any, Any] = field(default_factory=dict, repr=False)
    _columns: dict[Any, Reference] = field(default_factory=dict, repr=False)

    def of_column(self, column: str, options: Mapping[str, Any]) -> Reference:
        """Return what is true of another column of numbers: the same for every answer with these options."""
        key = column, repr(options)
        if key not in self._columns:
            rows = tuple(replace(row, number=getattr(row, column)) for row in self.population)
            self._columns[key] = Reference(rows, options)
        return self._columns[key]

    @property
    def _has_units(self) -> bool:
        return self.options.get("unit") is not None

    @cached_property
    def rows(self) -> list[Row]:
        """The rows that belong to somebody; without a unit each row is somebody of its own."""
        if isinstance(self.options.get("unit"), tuple):  # each combination is somebody of its own
            parts = self.options["unit"]
            return [
                replace(row, person="\0".join(getattr(row, part) for part in parts))
                for row in self.population
                if all(getattr(row, part) for part in parts)
            ]
        if self._has_units:
            return [row for row in self.population if row.person]
        return [Row(str(place), row.item, row.number, row.day) for place, row in enumerate(self.population)]

    @cached_property
    def people(self) -> int:
        """How many people there are."""
        return len({row.person for row in self.rows})

    @cached_property
    def rows_of_people(self) -> Counter[str]:
        """How many rows each person has in listed groups; of a column of numbers, how many that have one."""
        return Counter(row.person for row in self.rows if self._counts(row))

    def _counts(self, row: Row) -> bool:
        """Whether a row may count: it is in a group, where there are groups, and has a number, where one is asked."""
        grouped = "by" not in self.options or self._group_of(row) in self.groups
        return grouped and ("of" not in self.options or self._number(row) is not None)

    @cached_property
    def rows_of_groups(self) -> dict[Any, int]:
        """How many rows each listed group has."""
        counted = Counter(self._group_of(row) for row in self.rows if self._counts(row))
        return {group: counted[group] for group in self.groups}

    def people_with_more_rows(self, most: int) -> int:
        """How many people have more rows than this."""
        return sum(number > most for number in self.rows_of_people.values())

    # Groups: items, bins, months.

    @cached_property
    def groups(self) -> list[Any]:
        """The listed groups, in their order; those that occur, where nobody listed them."""
        if "in_each" in self.options:  # an item in a month
            return list(product(self.options["domain"]["item"], self.options["domain"]["day"]))
        if "different" in self.options and "by" not in self.options:
            return ["all"]
        if "domain" in self.options:
            return list(self.options["domain"])
        if "by" in self.options:
            return sorted({row.item for row in self.rows if row.item})
        return ["all"] if self.options["kind"] in ("share", "mean", "sum") else self._bins[0]

    @cached_property
    def pairs_of_people(self) -> dict[str, set[tuple[Any, str]]]:
        """Which pairs of a listed group and a value each person has, where different values are counted."""
        pairs: dict[str, set[tuple[Any, str]]] = defaultdict(set)
        listed = None if "by" in self.options else self.options.get("domain", {}).get(self.options["different"])
        for row in self.rows:
            group, value = (
                self._group_of(row) if "by" in self.options else "all",
                getattr(row, self.options["different"]),
            )
            if group in self.groups and value and (listed is None or value in listed):
                pairs[row.person].add((group, value))
        return pairs

    @cached_property
    def different(self) -> dict[Any, int]:
        """How many different values each group has: each once, however many people have it."""
        pairs = set().union(*self.pairs_of_people.values())
        return {group: sum(own == group for own, _ in pairs) for group in self.groups}

    @cached_property
    def people_of_groups(self) -> dict[Any, set[str]]:
        """Who has each group."""
        members: dict[Any, set[str]] = {group: set() for group in self.groups}
        for row in self.rows:
            group = self._group_of(row)
            if group in members and (not self._needs_number or self._number(row) is not None):
                members[group].add(row.person)
        return members

    @cached_property
    def counts(self) -> dict[Any, int]:
        """How many people have each group."""
        return {group: len(people) for group, people in self.people_of_groups.items()}

    @cached_property
    def groups_of_people(self) -> Counter[str]:
        """How many groups each person has: of items in groups, in how many groups."""
        if "in_each" in self.options:
            pairs = {(who, group) for (_, group), people in self.people_of_groups.items() for who in people}
            return Counter(person for person, _ in pairs)
        return Counter(person for people in self.people_of_groups.values() for person in people)

    def people_with_more_groups(self, most: int) -> int:
        """How many people have more groups than this."""
        return sum(number > most for number in self.groups_of_people.values())

    @cached_property
    def sums(self) -> dict[Any, Fraction]:
        """The sum of each group: each row, and each person's total in the group, is clamped to the bounds."""
        totals: dict[tuple[Any, str], Fraction] = defaultdict(Fraction)
        for row in self.rows:
            number = self._number(row)
            if number is not None:
                totals[self._group_of(row), row.person] += clamp(number, self.bounds)
        sums = dict.fromkeys(self.groups, Fraction(0))
        for (group, _), total in totals.items():
            if group in sums:
                sums[group] += clamp(total, self.bounds)
        return sums

    @property
    def values(self) -> Mapping[Any, Fraction | int]:
        """The number of each group: how many people, their sum, or the count that the table states."""
        if "counts" in self.options:
            return self.stated_counts
        if "different" in self.options:
            return self.different
        return self.sums if self._adds_up else self.counts

    @cached_property
    def stated_counts(self) -> dict[Any, int]:
        """The count of each item that the table states, rounded down: the largest of several, and 0 at least."""
        stated = dict.fromkeys(self.groups, 0)
        for row in self.rows:
            if row.item in stated:
                stated[row.item] = max(stated[row.item], floor(parse_number(row.number) or 0))
        return stated

    @property
    def _needs_number(self) -> bool:
        """Whether a row without a number counts nowhere."""
        return self._adds_up or {"of", "by"} <= self.options.keys()

    @property
    def _adds_up(self) -> bool:
        return self.options.get("weights") is not None

    def _group_of(self, row: Row) -> Any:
        if "in_each" in self.options:
            return row.item, row.day[:7]
        if "by" in self.options:
            return row.item or None
        return self._bins[1](row)

    @cached_property
    def _bins(self) -> tuple[list[str], Callable[[Row], str | None]]:
        """The names of the bins, and the bin of a row; None where it has none."""
        if "month" in self.options:
            first, last = (int(text[:4]) * 12 + int(text[5:]) - 1 for text in self.options["bounds"])
            names = [f"{place // 12}-{place % 12 + 1:02}" for place in range(first, last + 1)]
            return names, lambda row: row.day[:7] if row.day[:7] in names else None
        if "edges" in self.options:
            edges = [Fraction(edge) for edge in self.options["edges"]]
        else:
            parts, (low, high) = self.options["bins"], self.bounds
            edges = [low + (high - low) * part / parts for part in range(parts)]
        names = [str(place) for place in range(len(edges))]
        own = self.options.get("missing") == "bin"

        def bin_of(row: Row) -> str | None:
            number = parse_number(row.number) if own else self._number(row)
            if number is None:
                return "missing" if own else None
            inside = sum(number >= edge for edge in edges[1:])
            return str(inside)

        return [*names, *(["missing"] if own else [])], bin_of

    # Tables: records of several columns.

    @cached_property
    def axes(self) -> list[str]:
        """The columns of the tables, in their order."""
        return [*self.options["by"], *self.options.get("edges", ())]

    def values_of_axis(self, name: str) -> list[str]:
        """Return the values of a column, as tables name them."""
        if name in self.options.get("edges", ()):
            edges = self.options["edges"][name][1:]
            middle = [f"{low} to {high - 1}" for low, high in pairwise(edges)]  # whole numbers, with both ends
            values = [f"under {edges[0]}", *middle, f"{edges[-1]} and over"]
        else:
            values = list(self.options["domain"][name])
        return [*values, "(missing)"] if self.options.get("missing") == "show" else values

    def _value_of_axis(self, row: Row, name: str) -> str | None:
        """Return the value of a row in a column; None where the row is left out."""
        text = getattr(row, name)
        text = text[:7] if self.options.get("month") == name else text
        number = parse_number(text)
        if name in self.options.get("edges", ()):
            edges = self.options["edges"][name][1:]
            text = "" if number is None else self.values_of_axis(name)[sum(number >= edge for edge in edges)]
        if text == "" and self.options.get("missing") == "show":
            return "(missing)"
        return text if text in self.values_of_axis(name) else None

    @cached_property
    def records_of_people(self) -> dict[str, set[tuple[str, ...]]]:
        """The different records of each person: a value of each column, of the latest rows where that is asked."""
        complete = [(row, tuple(self._value_of_axis(row, name) for name in self.axes)) for row in self.rows]
        complete = [(row, record) for row, record in complete if None not in record]
        latest: dict[str, str] = {}
        order = self.options.get("latest_by")
        for row, _ in complete:
            if order is not None and row.day:
                latest[row.person] = max(latest.get(row.person, ""), row.day)
        records: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for row, record in complete:
            if order is None or (row.day and row.day == latest[row.person]):
                records[row.person].add(record)  # type: ignore[arg-type]
        return records

    def people_of_cells(self, names: tuple[str, ...]) -> dict[tuple[str, ...], int]:
        """Return how many people have a record in each cell of a table."""
        return self._count_cells(names, set)

    def people_of_union(self, names: tuple[str, ...], cells: Collection[tuple[str, ...]]) -> int:
        """Return how many people have a record in one of these cells of a table, or in several."""
        key = names, frozenset(cells)
        if key not in self._counts_of_cells:
            places = [self.axes.index(name) for name in names]
            people = self.records_of_people.values()
            inside = (any(tuple(record[place] for place in places) in key[1] for record in own) for own in people)
            self._counts_of_cells[key] = sum(inside)
        return int(self._counts_of_cells[key])

    def records_of_cells(self, names: tuple[str, ...]) -> dict[tuple[str, ...], int]:
        """Return how many records each cell of a table has."""
        return self._count_cells(names, list)

    def _count_cells(self, names: tuple[str, ...], choose: type[set[Any]] | type[list[Any]]) -> dict[Any, int]:
        if (names, choose) not in self._counts_of_cells:
            places = [self.axes.index(name) for name in names]
            counts = dict.fromkeys(product(*map(self.values_of_axis, names)), 0)
            for records in self.records_of_people.values():
                for cell in choose([tuple(record[place] for place in places) for record in records]):
                    counts[cell] += 1
            self._counts_of_cells[names, choose] = counts
        return self._counts_of_cells[names, choose]

    # One number of each person.

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The bounds, or the first and the last edge."""
        if self.options.get("kind") == "share":
            return Fraction(0), Fraction(1)
        low, *_, high = self.options["bounds"] if "bounds" in self.options else self.options["edges"]
        return Fraction(low), Fraction(high)

    def _number(self, row: Row) -> Fraction | None:
        """Return the number of a row, or what a missing one counts as."""
        if self.options.get("kind") == "share":
            return Fraction(row.number == "50")  # the one condition that cases have
        number, missing = parse_number(row.number), self.options.get("missing", "leave-out")
        if number is not None or missing in ("leave-out", "bin"):
            return number
        return self.bounds[0] if missing == "lowest" else Fraction(missing)

    @cached_property
    def raw_numbers(self) -> dict[tuple[str, Any], list[Fraction]]:
        """The numbers of each person, in each group where there are groups, in the order of their days."""
        numbers: dict[tuple[str, Any], list[Fraction]] = defaultdict(list)
        for row in sorted(self.rows, key=lambda row: row.day):
            number, group = self._number(row), self._group_of(row) if "by" in self.options else None
            if number is not None and ("by" not in self.options or group in self.groups):
                numbers[row.person, group].append(number)
        return numbers

    @cached_property
    def numbers(self) -> list[tuple[str, Any, Fraction]]:
        """Every person's number, clamped to the bounds, in each group where there are groups.

        Where each row is a number: the rows that count. A lot decides which, so all rows of a person must be equal.
        """
        rule, clamped = self.rule, []
        for (person, group), numbers in self.raw_numbers.items():
            inside = [clamp(number, self.bounds) for number in numbers]
            if rule == "row":
                most = self.options.get("most_rows") if self._has_units else None
                assert len(set(numbers)) == 1 or most is None, "these rows do not say what a lot leaves"
                clamped += [(person, group, number) for number in inside[:most]]
            elif rule == "total":
                clamped.append((person, group, clamp(sum(numbers, Fraction(0)), self.bounds)))
            else:
                if self.options.get("clamps_people"):  # bounds that are chosen clamp a person's number, and no rows
                    inside = numbers
                picked = {"latest": inside[-1], "first": inside[0], "any": max(inside)}
                number = clamp(picked.get(rule, sum(inside, Fraction(0)) / len(inside)), self.bounds)
                clamped.append((person, group, number))
        return clamped

    @property
    def rule(self) -> str:
        """The rule that makes one number of the rows of a person."""
        named = {"latest_by": "latest", "first_by": "first", "most_rows": "row"}
        implied = next((rule for name, rule in named.items() if name in self.options), None)
        usual = {"sum": "total", "share": "any", "histogram": "row"}.get(self.options["kind"], "mean")
        return str(self.options.get("per") or implied or usual) if self._has_units else "row"

    @cached_property
    def sum(self) -> Fraction:
        """The sum of everybody's number."""
        return sum((number for *_, number in self.numbers), Fraction(0))

    @property
    def mean(self) -> Fraction | None:
        """The mean of everybody's number; None where nobody has one."""
        return self.sum / len(self.numbers) if self.numbers else None

    @cached_property
    def numbers_of_groups(self) -> dict[Any, list[Fraction]]:
        """Everybody's number in each group, clamped to the bounds."""
        numbers: dict[Any, list[Fraction]] = {group: [] for group in self.groups}
        for _, group, number in self.numbers:
            numbers["all" if group is None else group].append(number)
        return numbers

    @cached_property
    def sums_of_groups(self) -> dict[Any, tuple[Fraction, int]]:
        """The sum of everybody's number in each group, and how many numbers there are."""
        return {group: (sum(own, Fraction(0)), len(own)) for group, own in self.numbers_of_groups.items()}

    @cached_property
    def variances_of_groups(self) -> dict[Any, Fraction | None]:
        """The mean square distance from the mean in each group; None where nobody has a number."""
        variances: dict[Any, Fraction | None] = {}
        for group, (total, n) in self.sums_of_groups.items():
            own = self.numbers_of_groups[group]
            variances[group] = sum(((x - total / n) ** 2 for x in own), Fraction(0)) / n if n else None
        return variances

    @property
    def has_several_numbers(self) -> bool:
        """Whether a person may have more than one number: in several groups, or one of each row."""
        return self._has_units and (len(self.groups) > 1 or self.rule == "row")

    @cached_property
    def furthest(self) -> dict[str, Fraction]:
        """Of each person, that of their numbers which lies furthest from zero, before anything is clamped."""
        furthest: dict[str, Fraction] = {}
        for (person, _), numbers in self.raw_numbers.items():
            picked = {
                "mean": [sum(numbers, Fraction(0)) / len(numbers)], "total": [sum(numbers, Fraction(0))],
                "latest": numbers[-1:], "first": numbers[:1], "any": [max(numbers)],
            }  # fmt: skip
            own = [*picked.get(self.rule, numbers), furthest.get(person, Fraction(0))]
            furthest[person] = max(own, key=lambda number: (abs(number), number))
        return furthest

    @cached_property
    def clamped(self) -> dict[str, int]:
        """How many people have a number below the bounds and none above, and how many one above.

        Of the numbers that clamping looks at; of bins, of all.
        """
        low, high = self.bounds
        people: dict[str, set[str]] = {"below": set(), "above": set()}
        for (person, _), numbers in self.raw_numbers.items():
            looked_at = [sum(numbers, Fraction(0))] if self.rule == "total" else numbers
            picked = {"latest": numbers[-1:], "first": numbers[:1], "any": [max(numbers)]}
            looked_at = picked.get(self.rule, looked_at)
            if self._adds_up:  # each row, and then the total
                looked_at = [*numbers, sum((clamp(number, self.bounds) for number in numbers), Fraction(0))]
            if self.options.get("clamps_people") and self.rule == "mean":
                looked_at = [sum(numbers, Fraction(0)) / len(numbers)]
            if min(looked_at) < low:
                people["below"].add(person)
            if max(looked_at) > high:
                people["above"].add(person)
        return {"below": len(people["below"] - people["above"]), "above": len(people["above"])}

    def floored(self, group: Any, step: Fraction, hair: Fraction = Fraction(0)) -> list[Fraction]:
        """Return the numbers of a group, floored to steps, in order; of all people where the group is None.

        A number less than a hair below a step counts as that step.
        """
        key = group, step, hair
        if key not in self._floored:
            wanted = [number for _, own, number in self.numbers if group is None or own == group]
            self._floored[key] = sorted(_floor(number, step, hair) for number in wanted)
        return self._floored[key]


def _floor(number: Fraction, step: Fraction, hair: Fraction) -> Fraction:
    """Return the step at a number or below; the one above where the number is less than a hair below that."""
    lower = floor(number / step) * step
    return lower + step if lower + step - number < hair else lower


def rank_error(value: Fraction, q: Fraction, lower: Sequence[Fraction], upper: Sequence[Fraction]) -> Fraction:
    """Return how many places a value stands from the place q·n, where the numbers stand in this order.

    Each number may be that of the lower list or of the upper one.
    """
    below, reached, n = bisect_left(upper, value), bisect_right(lower, value), len(lower)
    return max(Fraction(0), below - q * n, q * n - reached)


def nth_largest(values: Iterable[Fraction | int], n: int) -> Fraction | int:
    """Return the n-th largest of these values; 0 where there are fewer."""
    largest = sorted(values, reverse=True)
    return largest[n - 1] if n <= len(largest) else 0
