"""Hostile rows where different values are counted: one person moves the numbers by their own values at most.

The values of all people are one set, so that a value which somebody else has too moves nothing.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.audit import hostile, stability
from lastbit.data.duckdb.different import count_different
from lastbit.data.duckdb.relation import OpenTable
from lastbit.questions.kinds import KINDS
from lastbit.questions.people import choose_noise
from lastbit.values.contribution_bound import one_key
from lastbit.values.ranked import DifferentValues
from tests.stability.judge import DUCKDB, UNITS, batches, judge, some
from tests.stability.test_files import NAMES, TABLES
from tests.stability.test_tables import CASES

WARDS: dict[str, Any] = {"by": ["ward"], "domain": ["a", "b"]}


def count(table: pa.Table, most: int | None, **options: Any) -> lb.Counts:
    opened = OpenTable(DUCKDB.from_arrow(table), DUCKDB)
    return count_different(opened, different="item", unit="patient", most=most, **options).keep_first(most or 4)


@pytest.mark.parametrize("name", CASES)
def test_each_way_that_a_column_was_once_broken(name: str) -> None:
    case = CASES[name]
    usual = [{"patient": number, "item": case.usual, "ward": "ab"[number % 2]} for number in range(UNITS)]
    odd = [{"patient": UNITS, "item": value, "ward": ward} for ward in "ab" for value in [*case.strange, case.usual]]

    def count_rows(rows: list[Any]) -> lb.Counts:
        columns = {
            "patient": pa.array([row["patient"] for row in rows], pa.int64()),
            "item": case.make([row["item"] for row in rows]),
            "ward": pa.array([row["ward"] for row in rows], pa.string()),
        }
        return count(pa.table(columns), 3, **WARDS)

    judge(count_rows, usual, batches(odd), refusable=case.refusable)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_lines_of_files(kind: str, tmp_path: Path) -> None:
    """The whole way of a question: a file, a person's few values, and no noise."""
    path = tmp_path / f"visits.{'csv' if kind == 'csv' else 'jsonl'}"
    asked = {"unit": "patient", "different": "item", "most_items": 2, "people_share": "0", "epsilon": 1}
    request = KINDS["count"].parse({"source": str(path), **asked})

    def count_lines(lines: list[bytes]) -> Any:
        header = (",".join(NAMES) + "\n").encode() if kind == "csv" else b""
        path.write_bytes(header + b"".join(line + b"\n" for line in lines))
        reading = request.question.reading
        assert reading is not None
        return reading.run()

    stock = [row for rows in some(list(hostile.lines(kind, NAMES, "patient", "item")), 2) for row in rows]
    judge(count_lines, TABLES[kind][:5], [stock], unit=None)


def test_whatever_the_others_have_a_person_moves_the_numbers_by_their_own_pairs() -> None:
    """All rows that one person may have of two values in two groups, beside three crowds: exactly as the proof says."""
    pairs = [(ward, item) for ward in "ab" for item in "xy"]
    crowds: list[list[tuple[str, str]]] = [[], [("a", "x")], [("a", "x"), ("a", "y"), ("b", "y")]]
    reached = set()
    for most, sizes in ((1, [4]), (2, [1, 2, 3, 4]), (4, [4])):
        for crowd in crowds:
            others = [(1 + place, *pair) for place, pair in enumerate(crowd)]
            without = numbers(others, most)
            for size in sizes:
                for own in combinations(pairs, size):
                    moved = numbers([*others, *((0, *pair) for pair in own)], most) - without
                    new = len({*own} - {*crowd})
                    assert (moved >= 0).all()
                    # Of a person with few pairs all count; else `most` of them, and those that others have are not new.
                    assert max(0, new - (size - min(size, most))) <= sum(moved) <= min(most, new)
                    reached.add((most, int(sum(moved))))
    assert {(1, 1), (2, 2), (4, 4)} <= reached


def test_the_noise_covers_what_a_person_moves_and_no_less() -> None:
    """The exact laws of the release, without one person who brings two new values, and with them."""
    for cost, price in (({"epsilon": 1}, lb.Cost.of(1)), ({"rho": "1/2"}, lb.Cost.zcdp("1/2"))):
        for most, verdict in ((2, "holds"), (1, "violated")):
            mechanism = choose_noise(cost, sensitivity=most)
            sides = [mechanism.ready(np.array([3 + more])) for more in (0, 2)]
            assert lb.audit.compare(*sides, price).verdict == verdict
    lots = DifferentValues(("a", "b"), np.array([0, 1]), np.array([1, 1]), np.array([5, 6]), heads=np.array([7, 8]))
    listed = replace(lots, items=("a", "b", "c"), listed=4).keep_first(6)
    assert (listed.sensitivity, listed.total, listed.most_items) == (4, 6, 3)
    for cost in ({"epsilon": 1}, {"rho": 1}):
        choose_noise(cost, sensitivity=3).ready(lots.keep_first(3))
        with pytest.raises(lb.ParameterError):
            choose_noise(cost, sensitivity=2).ready(lots.keep_first(3))


def test_the_judge_convicts_who_moves_more_than_is_stated_of_all_numbers_together() -> None:
    def count_rows(rows: list[Any]) -> lb.Counts:
        values = [len({row["item"] for row in rows if row["ward"] == ward}) for ward in "ab"]
        return lb.Counts(items=["a", "b"], values=values, sensitivity=2, monotone=True, together=2)

    table = [{"patient": number, "item": "usual", "ward": "ab"[number % 2]} for number in range(UNITS)]
    odd = [{"patient": UNITS, "item": item, "ward": ward} for ward in "ab" for item in "xy"]
    assert stability(count_rows, table, unit="patient", hostile=[odd[:2]]).holds
    verdict = stability(count_rows, table, unit="patient", hostile=[odd[:3]])
    assert "all counts together move by 3 where 2 is stated" in str(verdict)


def numbers(rows: list[tuple[int, str, str]], most: int) -> Any:
    kinds = {"patient": pa.int64(), "ward": pa.string(), "item": pa.string()}
    columns = zip(*rows, strict=True) if rows else [(), (), ()]
    table = {name: pa.array(list(values), kind) for (name, kind), values in zip(kinds.items(), columns, strict=True)}
    counts = count(pa.table(table), most, **WARDS)
    assert (counts.sensitivity, counts.total, counts.monotone) == (most, most, True)
    return counts.values


VALUES: dict[str, Any] = {
    "reals": pa.array([0.0, -0.0, 1.0, float("nan"), -float("nan"), None, 1.5]),
    "wholes": pa.array([0, 0, 1, 2, 2, None, 3]),
    "texts": pa.array(["0", "0", "0 ", "é", "e\u0301", None, "0.0"]),
    "moments": pa.array([0, 0, 1, 2, 2, None, 3], pa.timestamp("us")),
}
DIFFERENT = {"reals": 3, "wholes": 4, "texts": 5, "moments": 4}
"""Zero and minus zero are one number; texts are equal byte by byte; a missing value is none, and neither is NaN."""


@pytest.mark.parametrize("kind", VALUES)
def test_which_values_are_different(kind: str) -> None:
    table = pa.table({"patient": pa.array(range(7)), "item": VALUES[kind]})
    assert count(table, 2).values.tolist() == [DIFFERENT[kind]]


@pytest.mark.parametrize("most", [1, 2, 3, 50])
def test_it_is_the_union_of_what_people_bring(most: int) -> None:
    """Of each person so many pairs by lot: those whose rank a count of items that occur gives them."""
    from lastbit.data.duckdb.ranked import count_ranked_unlisted

    rows = [(n // 6, "abc"[n % 3], f"{n * n % 23}") for n in range(240)]
    columns = zip(("patient", "ward", "item"), zip(*rows, strict=True), strict=True)
    table = pa.table({name: pa.array(list(values)) for name, values in columns})
    everything = {(ward, item) for _, ward, item in rows}
    with one_key(7):
        counts = count(table, most, by=["ward"], domain=["a", "b", "c"])
        opened = OpenTable(DUCKDB.from_arrow(table), DUCKDB)
        ranked = count_ranked_unlisted(opened, by=["ward", "item"], unit="patient", most=most)
        items, _ = ranked.keep_first(most).highest(None)
    expected = [sum(ward == own for own, _ in items) for ward in "abc"]
    assert counts.values.tolist() == expected
    assert most < 50 or expected == [sum(ward == own for own, _ in everything) for ward in "abc"]
    listed = count(table, None, by=["ward"], domain=["b", "a"], values=["0", "1", "4", "x"])
    assert listed.values.tolist() == [sum((w, i) in everything for i in ("0", "1", "4", "x")) for w in "ba"]
