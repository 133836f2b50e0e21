"""A small stock of hostile populations, as plain rows: what a table may hold, and a summary may get wrong.

Every cell is text, as in a file: "" where it is blank. Nothing here uses lastbit.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COLUMNS = ("person", "item", "number", "day")


@dataclass(frozen=True)
class Row:
    """One row of a table."""

    person: str
    item: str = ""
    number: str = ""
    day: str = ""

    @property
    def letters(self) -> str:
        """Another number of the row, where a question is about two: how many letters its item has."""
        return str(len(self.item)) if self.item else ""


Population = tuple[Row, ...]


def write(population: Population, folder: Path, name: str, *more: str) -> str:
    """Write the rows as a file of comma-separated values, with more columns where they are named; return its path."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    columns = (*COLUMNS, *more)
    lines.writerow(columns)
    lines.writerows([getattr(row, column) for column in columns] for row in population)
    path = folder / f"{name.replace(' ', '-')}.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    return str(path)


def month(place: int) -> str:
    """Return a day of the month at this place from January 2024 on."""
    return f"{2024 + place // 12}-{place % 12 + 1:02}-15"


def clinic() -> Iterator[Row]:
    """Four visits a person, each in another of 24 months."""
    for person in range(300):
        for visit in range(4):
            place = (5 * person + 7 * visit) % 24
            yield Row(f"p{person}", str(place), str(10 * visit + person % 10), month(place))


def crowd() -> Iterator[Row]:
    """People with one item to eight, one item that everyone has, a rare one, and rows that belong to nobody."""
    for person in range(240):
        own = ["all", *(f"i{(person + step) % 7}" for step in range(person % 8))]
        if person % 8 == 7 and person < 40:
            own.append("rare")
        for place, item in enumerate(own):
            row = Row(f"p{person}", item, _odd_number(person, place), month(place % 24))
            yield row
            if person % 3 == 0:
                yield row  # twice the same: one person, one item
    for place in range(50):
        yield Row("", "all", "30", month(place % 24))
        yield Row("p1", "", "", "soon")
        yield Row("p2", "unheard of", "abc", "")


def _odd_number(person: int, place: int) -> str:
    """A number beyond the bounds 0 to 100, just below a step, equal to many others, or missing."""
    return ("-40", "170", "49.9", "50", "50", "", "99.99", "n/a", "0.1", "100")[(person + 3 * place) % 10]


def below_a_step() -> Iterator[Row]:
    """Fractions just below a step, one a person."""
    for person in range(1000):
        yield Row(f"p{person}", "a", "0.9", "2024-03-01")


def a_hair_below_a_step() -> Iterator[Row]:
    """Numbers so near below a step that a coarse float takes them for the step, one a person."""
    for person in range(400):
        yield Row(f"p{person}", "a", "0.9999999999999", "2024-03-01")


def tenths() -> Iterator[Row]:
    """Tenths, which lie between two steps of any power of two: four rows a person."""
    for person in range(500):
        for place in range(4):
            yield Row(f"p{person}", "ab"[place % 2], "0.1", month(place))


def same_rows() -> Iterator[Row]:
    """One row to six of each person, all of them equal: whichever rows a lot leaves out, one knows what is left."""
    for person in range(300):
        for _ in range(1 + person % 6):
            yield Row(f"p{person}", "abc"[person % 3], str(10 * (person % 13) - 10), month(person % 12))


def torn() -> Iterator[Row]:
    """Those in one group have low numbers, those in many groups high ones: a lot leaves the high ones out."""
    for person in range(160):
        yield Row(f"one{person}", "a", str(person % 40), "2024-01-01")
    for person in range(160):
        for group in "abcde":
            yield Row(f"many{person}", group, str(60 + person % 40), "2024-01-01")


def ties() -> Iterator[Row]:
    """Everybody has the same number, and as many people have each of six items."""
    for person in range(240):
        yield Row(f"p{person}", f"i{person % 6}", "50", "2024-06-30")


def spread_out() -> Iterator[Row]:
    """No two people have the same number."""
    for person in range(400):
        yield Row(f"p{person}", "ab"[person % 2], str(2 * person + 1), "2024-06-30")


def popular() -> Iterator[Row]:
    """Items of 400 people and fewer, each person in two of them: for items that nobody listed."""
    for person in range(400):
        yield Row(f"p{person}", "big", str(person % 10), "2024-01-01")
        size = next((name for name, most in (("near", 24), ("some", 60), ("half", 220)) if person < most), f"x{person}")
        yield Row(f"p{person}", size, str(person % 10), "2024-01-01")


def alone() -> Iterator[Row]:
    """Items of one person each."""
    for person in range(30):
        yield Row(f"p{person}", f"x{person}", "5", "2024-01-01")


def stated() -> Iterator[Row]:
    """Counts that somebody made: one row an item, some odd, and one item twice."""
    for item, number in {"a": "120", "b": "80.9", "c": "-5", "d": "n/a", "e": "", "f": "0"}.items():
        yield Row("", item, number)
    yield Row("", "b", "60")
    yield Row("", "unheard of", "500")


def ward() -> Iterator[Row]:
    """A small clinic: people with one visit to twelve, costs with cents, a few far out, and gaps in every column."""
    places = ("heart", "lung", "skin", "eye", "burns")
    for person in range(180):
        for visit in range(1 + (person * person) % 12):
            mixed = person * 31 + visit * 17
            cost = f"{(mixed * 7) % 90}.{mixed % 100:02}" if mixed % 13 else "740.25" if mixed % 2 else "-3.5"
            yield Row(
                f"p{person}" if mixed % 41 else "",
                places[mixed % 23 % 4] if mixed % 19 else "",
                cost if mixed % 11 else ("", "n/a")[mixed % 2],
                month((person + 5 * visit) % 12) if mixed % 29 else "",
            )
    yield from (Row(f"only gaps {person}") for person in range(20))


def regulars() -> Iterator[Row]:
    """People with many more rows than there are items: all in one item, or in both, often the same row again."""
    for person in range(200):
        for visit in range(9):
            item = "ab"[visit % 2 if person % 4 else person // 4 % 2]
            yield Row(f"p{person}", item, str((7 * person + 11 * (visit // 3)) % 130 - 10), month(visit % 3))


def nobody() -> Iterator[Row]:
    """A table without rows, but for one that belongs to nobody."""
    yield Row("", "a", "5", "2024-01-01")


STOCK: dict[str, Population] = {
    function.__name__.replace("_", " "): tuple(function())
    for function in (
        clinic, crowd, below_a_step, a_hair_below_a_step, tenths, same_rows, torn, ties, spread_out, popular, alone,
        stated, ward, regulars, nobody,
    )
}  # fmt: skip
"""Every population, by name."""
