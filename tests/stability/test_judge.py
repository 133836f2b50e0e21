"""The harness acquits an honest counter on everything it knows, and convicts each way of being dishonest."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.audit import hostile, stability
from tests.stability.reference import reference

ITEMS = ["flu", "cold", "gout"]
TABLE = [{"patient": f"p{number}", "item": "cold" if number % 5 else "flu", "days": 1} for number in range(50)]

COUNTED: dict[str, dict[str, Any]] = {
    "distinct units": {"by": "item", "unit": "patient", "domain": ITEMS},
    "rows as units": {"by": "item", "domain": ITEMS},
    "a product": {"by": ["item", "days"], "unit": "patient", "domain": [ITEMS, [0, 1, 2.5]]},
    "weights": {"by": "item", "unit": "patient", "domain": ITEMS, "weights": "days", "bounds": (0, 5)},
    "weights of both signs": {"by": "item", "unit": "patient", "domain": ITEMS, "weights": "days", "bounds": (-3, 2)},
}


@pytest.mark.parametrize("case", COUNTED)
def test_an_honest_counter_is_acquitted_of_every_hostile_value(case: str) -> None:
    options = COUNTED[case]
    every = {column: hostile.values() for column in TABLE[0]}
    batches = hostile.rows(TABLE[:12], options.get("unit"), every)
    verdict = stability(lambda rows: reference(rows, **options), TABLE[:12], unit=options.get("unit"), hostile=batches)
    assert verdict.holds, verdict
    assert verdict.tried > 1_000
    assert verdict.moved == verdict.sensitivity
    assert verdict.witness is None
    assert str(verdict).startswith(f"holds: {verdict.tried:,} neighbours, no count moved by more than ")


def distinct(rows: list[Any]) -> dict[str, int]:
    return dict(zip(ITEMS, reference(rows, **COUNTED["distinct units"]).values.tolist(), strict=True))


def overwriting(rows: list[Any]) -> dict[str, int]:
    """Groups by the text as it is, then keeps one group for each text in small letters."""
    found: dict[str, set[Any]] = {}
    for row in rows:
        found.setdefault(str(row["item"]), set()).add(str(row["patient"]))
    kept = {item.lower(): len(units) for item, units in found.items()}
    return {item: kept.get(item, 0) for item in ITEMS}


def raising(rows: list[Any]) -> dict[str, int]:
    """Cannot write a text down that is no Unicode."""
    for row in rows:
        str(row["item"]).encode()
    return distinct(rows)


def leaving(rows: list[Any]) -> dict[str, int]:
    """Ends the program at what it does not like."""
    if any(row["item"] == '"' for row in rows):
        sys.exit(2)
    return distinct(rows)


def retyping(rows: list[Any]) -> Any:
    """Becomes a column of floats where an item is missing."""
    missing = any(row["item"] is None for row in rows)
    return np.array(list(distinct(rows).values()), np.float64 if missing else np.int64)


def counting_twice(rows: list[Any]) -> dict[str, int]:
    """Takes 0.0 and -0.0 for two units."""
    return {item: len({repr(row["patient"]) for row in rows if row["item"] == item}) for item in ITEMS}


def counting_rows(rows: list[Any]) -> dict[str, int]:
    return {item: sum(row["item"] == item for row in rows) for item in ITEMS}


def naming(rows: list[Any]) -> dict[str, int]:
    """Has the items that are there, instead of those that are public."""
    return {str(row["item"]): 1 for row in rows}


def swapping(rows: list[Any]) -> lb.Counts:
    """Moves a unit from one item to another, and says that it is monotone."""
    strange = any(row["item"] == "" for row in rows)
    counts = reference(rows, **COUNTED["distinct units"]).values
    return lb.Counts(items=ITEMS, values=counts + np.array([1, -1, 0]) * strange, monotone=True)


def widening(rows: list[Any]) -> lb.Counts:
    """States a sensitivity that depends on the rows."""
    counts = reference(rows, **COUNTED["distinct units"])
    return lb.Counts(items=ITEMS, values=counts.values, sensitivity=max(1, len(rows)), monotone=True)


def thieving(rows: list[Any]) -> lb.Counts:
    """Takes one unit away where another comes."""
    strange = any(row["item"] == "" for row in rows)
    counts = reference(rows, **COUNTED["distinct units"]).values
    return lb.Counts(items=ITEMS, values=counts - np.array([1, 0, 0]) * strange, monotone=True)


def unclosed(rows: list[Any]) -> dict[str, int]:
    """Loses everyone after a quote."""
    for place, row in enumerate(rows):
        if row["item"] == '"flu':
            return distinct(rows[:place])
    return distinct(rows)


def first_row(rows: list[Any]) -> dict[str, int]:
    """Lets the first row say whether items are text."""
    return distinct(rows) if not rows or isinstance(rows[0]["item"], str) else dict.fromkeys(ITEMS, 0)


def not_a_number(rows: list[Any]) -> dict[str, float]:
    return {item: float("nan") if any(row["item"] == "NaN" for row in rows) else 1.0 for item in ITEMS}


def emptied(rows: list[Any]) -> dict[str, int]:
    """Cannot count nobody."""
    return distinct([max(rows, key=lambda row: str(row)), *rows])


BROKEN: dict[Callable[[list[Any]], Any], str] = {
    overwriting: "'flu' moves by -",
    raising: "it raises UnicodeEncodeError",
    leaving: "it raises SystemExit",
    retyping: "the type of the counts changes from ndarray of int64 to ndarray of float64",
    counting_twice: "'flu' moves by 2 where 1 is stated",
    counting_rows: "'flu' moves by 1000 where 1 is stated",
    naming: "the items change",
    swapping: "'cold' moves down and 'flu' moves up",
    widening: "the stated sensitivity changes",
    thieving: "'flu' moves by -1 where other units that come move counts the other way",
    unclosed: "moves by -",
    first_row: "moves by -",
    not_a_number: "it raises ValueError",
    emptied: "it raises ValueError",
}


@pytest.mark.parametrize("count", BROKEN, ids=lambda count: count.__name__)
def test_a_dishonest_counter_is_convicted(count: Callable[[list[Any]], Any]) -> None:
    stock = {
        "item": [*hostile.values("text", "broken text"), None],
        "patient": hostile.values("float") if count is counting_twice else ["q"],
        "days": [1],
    }
    verdict = stability(count, TABLE, unit="patient", hostile=hostile.rows(TABLE, "patient", stock))
    assert not verdict.holds
    assert verdict.verdict == "violated"
    assert verdict.witness is not None
    assert BROKEN[count] in verdict.witness.problem
    assert str(verdict).startswith(f"violated: {verdict.witness.problem}; witness ")
    str(verdict).encode("ascii")  # a terminal shows it, whatever the rows are


def test_the_witness_is_the_one_row_that_does_it() -> None:
    many = [{"patient": "q", "item": item, "days": 1} for item in hostile.values("text", "broken text")]
    verdict = stability(raising, TABLE, unit="patient", hostile=[many])
    assert verdict.witness is not None
    assert verdict.witness.rows == ({"patient": "q", "item": "\ud800", "days": 1},)


def test_rows_that_only_do_it_together_stay_together() -> None:
    def paired(rows: list[Any]) -> list[int]:
        return [2 * ({"a", "b"} <= {row["item"] for row in rows})]

    two = [{"patient": "q", "item": item} for item in "ab"]
    verdict = stability(paired, TABLE, unit="patient", hostile=[two])
    assert verdict.witness is not None
    assert verdict.witness.rows == tuple(two)


def test_a_unit_of_the_table_that_goes_is_tried_too() -> None:
    def constant(rows: list[Any]) -> list[int]:
        return [1 if len(rows) == len(TABLE) else 3]

    verdict = stability(constant, TABLE, unit="patient", hostile=[])
    assert verdict.witness is not None
    assert verdict.witness.place == "taken away"
    assert verdict.witness.rows == (TABLE[0],)


def test_a_unit_comes_in_the_place_of_the_one_with_its_key() -> None:
    """Bounds of both signs: a unit that stays and turns from -3 to 3 would move a sum by twice what it may."""
    options = COUNTED["weights of both signs"]
    table = [{**row, "days": -9} for row in TABLE]
    other = [{"patient": "p0", "item": "flu", "days": 9}]
    assert stability(lambda rows: reference(rows, **options), table, unit="patient", hostile=[other]).holds


def test_rows_are_the_same_for_every_count() -> None:
    def spoiling(rows: list[Any]) -> list[int]:
        for row in rows:
            row["item"] = row.pop("item").upper()
        return [sum(row["item"] == "GOUT" for row in rows)]

    table = [dict(row) for row in TABLE]
    assert stability(spoiling, table, unit="patient", hostile=[[{"patient": "q", "item": "gout"}]]).moved == 1
    assert table == TABLE


def test_lines_are_rows_too() -> None:
    def units(lines: list[bytes]) -> list[int]:
        return [
            len({line.split(b",")[0] for line in lines if line.split(b",")[1:] == [item]}) for item in (b"flu", b"x")
        ]

    table = [f"p{number},flu".encode() for number in range(9)]
    batches = list(hostile.lines("csv", ["patient", "item"], "patient", "item"))
    assert len(batches) > 100
    assert stability(units, table, unit=None, hostile=batches).holds
    assert stability(units, table, unit=lambda line: line.split(b",")[0], hostile=batches).holds


def test_wrong_use_is_refused() -> None:
    with pytest.raises(lb.ParameterError, match="count must take the table as it is: it raised ZeroDivisionError"):
        stability(lambda rows: 1 // 0, TABLE, unit="patient")
    with pytest.raises(lb.ParameterError, match="count must be a function"):
        stability(TABLE, TABLE, unit="patient")  # type: ignore[arg-type]
    with pytest.raises(lb.ParameterError, match="hostile must be given where rows are lines"):
        stability(lambda rows: [len(rows)], [b"1,flu"], unit=None)
    with pytest.raises(lb.ParameterError, match="table must have at least one row"):
        stability(lambda rows: [len(rows)], [], unit="patient")
    with pytest.raises(lb.ParameterError, match="kind must be one of text"):
        hostile.values("texts")
    with pytest.raises(lb.ParameterError, match='kind must be "csv"'):
        next(hostile.lines("xml", ["a", "b"], "a", "b"))
    with pytest.raises(lb.ParameterError, match="must be columns: got 'c'"):
        next(hostile.lines("csv", ["a", "b"], "a", "c"))


def test_somebody_who_interrupts_is_obeyed() -> None:
    def interrupted(rows: list[Any]) -> list[int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stability(interrupted, TABLE, unit="patient")


def test_the_stock_has_no_line_that_is_two() -> None:
    for kind in ("csv", "tsv", "json"):
        for batch in hostile.lines(kind, ["patient", "item", "days"], "patient", "item"):
            assert batch
            assert not any(b"\n" in line for line in batch)
