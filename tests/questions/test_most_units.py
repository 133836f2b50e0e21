"""`--most-units`: a user counts on so many days at most, so that the cost for all of them is known, stated and paid."""

from __future__ import annotations

import asyncio
import datetime
import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.frames import open_frame_rows
from lastbit.errors import LedgerError, ParameterError
from lastbit.questions.identity import identity_of, rebuild_request
from lastbit.questions.kinds import KINDS
from lastbit.questions.plan import make_plan
from lastbit.questions.reading import read_counts
from lastbit.questions.row_options import RowOptions
from lastbit.values.contribution_bound import one_key
from lastbit.web.desk import Desk
from tests.cli.test_commands import run
from tests.questions.test_unit_combinations import ASKED, STUDY, WARDS, connect, count_exactly, make_rows
from tests.stability.judge import judge
from tests.table_readers import make_rows as make_row_options

DAYS: dict[str, Any] = {"unit": ["user", "day"]}
THREE: dict[str, Any] = {**DAYS, "most_units": 3}


@pytest.fixture
def edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(make_rows()).to_csv("edits.csv", index=False)
    return "edits.csv"


def read_units(rows: list[tuple[Any, ...]], most: int, **options: Any) -> dict[Any, set[Any]]:
    """The days of each user that are read."""
    plan = make_row_options("-", **DAYS, most_units=most, **options).plan
    frame = pd.DataFrame(rows, columns=["user", "day"])
    table = open_frame_rows(frame, ColumnSelection(("user", "day", "user and day")), plan)
    days: dict[Any, set[Any]] = {}
    for user, day, _ in table.relation.fetchall():
        days.setdefault(user, set()).add(day)
    return days


@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_each_user_has_so_many_days_at_most(most: int, edits: str) -> None:
    for source in (edits, pd.DataFrame(make_rows())):
        assert count_exactly(source, **DAYS, most_units=most) == [40 * min(most, 5)]
        sums = count_exactly(source, **DAYS, most_units=most, **WARDS)
        assert sums == [20 * min(most, 5)] * 2


def test_all_rows_of_a_day_stay_or_go_together(edits: str) -> None:
    """Two edits a day, three days: six rows of each user."""
    answer = lb.ask("count", edits, **THREE, rows=True, most_rows=2, epsilon=1000).to_frame()
    assert answer["bounded_value"][0] == 240


def test_only_days_that_the_question_asks_about_are_drawn(edits: str) -> None:
    where = "day > '2024-01-03'"
    assert count_exactly(edits, **DAYS, most_units=2, where=where) == [80]
    lets = {"n": "count(*)"}
    assert count_exactly(edits, **DAYS, most_units=2, let=lets, where=f"n = 2 and {where}") == [80]


def test_a_row_without_a_day_takes_no_place() -> None:
    rows = [("a", None)] * 5 + [("a", "1"), ("a", "2"), (None, "1"), (None, None)]
    for key in range(6):
        with one_key(key):
            assert read_units(rows, 2) == {"a": {"1", "2"}}


def test_the_lot_of_a_user_looks_at_no_other_row() -> None:
    own = [("p", f"{day}") for day in range(20)] + [("p", "7")] * 9

    def lot(key: int, more: list[tuple[str, str]]) -> set[str]:
        rows = own + more
        random.Random(len(more)).shuffle(rows)
        with one_key(key):
            return read_units(rows, 4)["p"]

    alone = lot(1, [])
    assert len(alone) == 4
    for others in (50, 51, 400):
        assert lot(1, [(f"q{n % 7}", f"{n % 31}") for n in range(others)]) == alone
        assert lot(1, [("p:", "1"), ("P", "1"), ("p ", "2")] * others) == alone
    assert len({frozenset(lot(key, [])) for key in range(8)}) == 8


def test_a_user_moves_a_count_by_so_many_at_most(tmp_path: Path) -> None:
    """The stability of counting, where everything of a user comes and goes together."""
    rows = [{"user": f"u{n % 9}", "day": f"d{n % 5}", "ward": "ab"[n % 2], "cost": 1} for n in range(90)]

    def count(table: list[dict[str, Any]], most: int, claim: int) -> lb.Counts:
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in table))
        request = KINDS["count"].parse({"source": str(file), **DAYS, **WARDS, "most_units": most, "epsilon": 1})
        return replace(read_counts(request.rows, request.items).run(), sensitivity=claim)

    many = [{"user": "x", "day": f"d{n}", "ward": "ab"[n % 2], "cost": n} for n in range(40)]
    odd = [
        [{"user": user, "day": day, "ward": "a"} for day in (7, None, ["d1"], "d1", "d2", "", " d1")]
        for user in ("x", "u0:", "2:u0", None, ["u1"])
    ]
    judge(lambda table: count(table, 3, 3), rows, [many, *odd, many + odd[0]], unit="user")
    with pytest.raises(AssertionError, match="violated"):
        judge(lambda table: count(table, 3, 2), rows, [many], unit="user")


@pytest.mark.parametrize("kind", ASKED)
def test_every_kind_states_the_cost_of_a_user(kind: str, edits: str) -> None:
    options = {**ASKED[kind], "row_noun": "edit,edits", "epsilon": "1/10"}
    of_one = KINDS[kind].parse({"source": edits, **DAYS, **options}).question.mechanism.cost
    answer = lb.ask(kind, edits, **THREE, **options)
    cost = of_one.of_group(3)
    exact = {name: str(value) for name, value in (("epsilon", cost.amount), ("rho", cost.rho)) if value is not None}
    assert (answer.data["cost"], answer.data["costs"]["exact"]) == (cost.text, {**exact, "delta": str(cost.delta)})
    assert cost.amount in (Fraction(3, 10), None)
    promise = f"{cost.text} protects all edits with the same user, and {of_one.of_two().text} any one user-day."
    assert [note for note in answer.report.notes if " protects " in note and "Method" not in note] == [promise]
    assert sum("Of one user, at most 3 user-days count, picked at random" in note for note in answer.report.notes) == 1
    assert "of each user at most 3" in answer.title
    assert "All edits with the same user are protected together" in answer.methods()
    assert "not all with the same user" not in str(answer) + answer.methods()


def test_a_ranking_of_found_items_costs_a_person_once(edits: str) -> None:
    options = {"source": edits, "by": "ward", "discover": True, "k": 1, "numbers": True, "most_items": 1}
    options |= {"delta": "1e-9", "epsilon": 1}
    of_one = KINDS["top"].parse({**options, **DAYS}).question.mechanism.cost
    assert KINDS["top"].parse({**options, **THREE}).question.mechanism.cost == of_one.of_group(3)


def test_an_account_for_people_pays_for_all_days(edits: str, capsys: Any) -> None:
    ledger = lb.Ledger("budget.db")
    ledger.create("users", epsilon=9)
    ledger.create("days", epsilon=9)
    ledger.create("rho", rho=1)
    paid: dict[str, Any] = {"ledger": "budget.db", "epsilon": "1/2"}
    lb.ask("count", edits, unit="user", **paid, dataset="users")
    lb.ask("count", edits, **DAYS, **paid, dataset="days")
    with pytest.raises(LedgerError, match=r"--most-units: then the account pays for all of them\. Nothing was drawn"):
        lb.ask("count", edits, **DAYS, **paid, dataset="users")
    with pytest.raises(LedgerError, match="adds up what is promised to each combination"):
        lb.ask("count", edits, **THREE, **paid, dataset="days")
    answer = lb.ask("count", edits, **THREE, **paid, dataset="users")
    assert ledger.account("users").spent == 2
    entry = ledger.history("users")[-1]
    assert (entry.protects, entry.cost) == ("person", "epsilon 3/2")
    again = lb.ask("count", edits, **THREE, **paid, dataset="users", reuse=True)
    assert str(again.data["value"]) == str(answer.data["value"])
    assert ledger.account("users").spent == 2
    lb.ask("count", edits, **{**THREE, "most_units": 4}, **paid, dataset="users", reuse=True)
    assert ledger.account("users").spent == 4
    lb.ask("mean", edits, **THREE, of="cost", bounds=(0, 9), rho="1/100", ledger="budget.db", dataset="rho")
    assert ledger.account("rho").spent * 100 == 9
    assert ledger.verify() == ()
    command = ["count", edits, "--unit", "user", "--unit", "day", "--most-units", "3", "--epsilon", "1/2"]
    assert run(" ".join([*command, "--ledger", "budget.db", "--dataset", "users", "--dry-run"])) == 0
    assert "would cost epsilon 3/2" in capsys.readouterr().out


def test_the_question_and_its_spellings(edits: str) -> None:
    request = KINDS["count"].parse({"source": edits, **THREE, "epsilon": 1})
    assert request.command == "lastbit count edits.csv --unit user --unit day --most-units 3 --epsilon 1"
    facts = json.dumps(identity_of(request))
    again = rebuild_request(facts, [edits], lambda _: None, epsilon=1)
    assert again is not None
    assert again.question.mechanism == request.question.mechanism
    assert "most_units" in json.loads(facts)["options"]
    plan = make_plan(request)
    assert "would cost epsilon 3" in plan.report.title
    for unit in ("user", ["user"], "row"):
        with pytest.raises(ParameterError, match="several --unit"):
            lb.ask("count", edits, unit=unit, most_units=3, epsilon=1)
    with pytest.raises(ParameterError, match="most-units"):
        lb.ask("count", edits, **DAYS, most_units=0, epsilon=1)
    discovery = {**DAYS, "by": "ward", "discover": True, "delta": "1e-9", "most_items": 1}
    answer = lb.ask("count", edits, **discovery, most_units=2, epsilon=1)
    of_one = KINDS["count"].parse({"source": edits, **discovery, "epsilon": 1}).question.mechanism.cost
    assert answer.data["costs"]["exact"]["delta"] == str(of_one.of_group(2).delta)
    assert of_one.of_group(2).delta > 3 * of_one.delta > 0


def test_a_study_pays_for_people_within_its_budget(edits: str) -> None:
    ledger = lb.Ledger("budget.db")
    ledger.create("wiki", epsilon=2)
    lb.ask("count", edits, unit="user", epsilon="1/100", ledger="budget.db", dataset="wiki")
    ledger.raise_limit("wiki", epsilon="201/100")
    text = STUDY.replace('unit = ["user", "day"]', 'unit = ["user", "day"]\nmost_units = 3')
    text += '[[question]]\nname = "wards"\nask = "count"\nby = "ward"\ndomain = ["a", "b"]\n'
    Path("study.toml").write_text(text.replace("[output]\n", "[output]\nregistry = true\n"))
    publication = lb.Publication.from_file("study.toml")
    assert publication.check() == ()
    assert [str(question.request.values["epsilon"]) for question in publication.questions] == ["1/3", "1/3"]
    publication.run()
    assert ledger.account("wiki").remaining == 0
    assert lb.verify("report").holds
    page = Path("report/report.html").read_text("utf-8")
    assert "of each user at most 3" in page
    assert "any one user-day" in page
    registry = Path("report/deployment.yaml").read_text("utf-8")
    assert "without all rows of one user, which have one value of the column user." in registry
    rho = lb.Publication.from_text(text.replace("epsilon = 2", "rho = 2"), Path())
    assert rho.mechanism.cost.rho <= 2
    unlisted = text.replace('domain = ["a", "b"]', "discover = true\nmost_items = 1")
    problems = lb.Publication.from_text(unlisted.replace("epsilon = 2", "rho = 2\ndelta = 1e-6"), Path()).check()
    assert "most_units goes with groups that are listed" in problems[0].message


def test_the_page_and_the_service_say_it(edits: str) -> None:
    lb.Ledger("budget.db").create("wiki", epsilon=9)
    desk = Desk(RowOptions.of(KINDS["count"].parse({"source": edits, **THREE}).values), "budget.db", "wiki")

    async def look() -> tuple[str, Any, Any]:
        async with connect(desk) as client:
            asked = {"question": "count", "options": {"epsilon": "1"}}
            planned = (await client.post("/api/plan", json=asked)).json()
            refused = await client.post("/api/plan", json={**asked, "options": {"epsilon": "1", "most_units": 1}})
            return (await client.get("/")).text, planned, refused.json()

    page, planned, refused = asyncio.run(look())
    assert "Each <b>user</b> is protected" in page
    assert "at most 3 combinations of user and day are read" in page
    assert planned["cost"] == "epsilon 3"
    assert "most_units" in json.dumps(refused)


def test_users_and_days_that_are_numbers_are_bounded_alike(tmp_path: Path) -> None:
    """Where the key of both is one whole number: a user still moves a count by so many at most."""
    start = datetime.date(1969, 12, 30)
    rows = [{"user": n % 9 - 4, "day": start + datetime.timedelta(days=n % 5), "ward": "ab"[n % 2]} for n in range(90)]
    schema = pa.schema([("user", pa.int64()), ("day", pa.date32()), ("ward", pa.string())])

    def count(table: list[dict[str, Any]], most: int, claim: int) -> lb.Counts:
        file = tmp_path / "rows.parquet"
        pq.write_table(pa.Table.from_pylist(table, schema), file)
        request = KINDS["count"].parse({"source": str(file), **DAYS, **WARDS, "most_units": most, "epsilon": 1})
        return replace(read_counts(request.rows, request.items).run(), sensitivity=claim)

    days = [datetime.date.min, datetime.date.max, None, *(start + datetime.timedelta(days=n) for n in range(-20, 20))]
    many = [{"user": user, "day": day, "ward": "ab"[n % 2]} for user in (2**63 - 1,) for n, day in enumerate(days)]
    few = [{"user": -(2**63), "day": day, "ward": "a"} for day in days[:3] * 4]
    for most in (1, 3):
        judge(lambda table, most=most: count(table, most, most), rows, [many, few], unit="user")  # type: ignore[misc]
    with pytest.raises(AssertionError, match="violated"):
        judge(lambda table: count(table, 3, 1), rows, [many], unit="user")
    assert [int(n) for n in count(many, 10**6, 1).values] == [
        sum(row["ward"] == ward and row["day"] is not None for row in many) for ward in "ab"
    ]
