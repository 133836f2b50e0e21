"""`--unit user --unit day`: each combination is one, is protected by itself, and nothing says that people are."""

from __future__ import annotations

import asyncio
import datetime
import json
import re
import shlex
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.audit.hostile import NEAR
from lastbit.errors import LedgerError, ParameterError
from lastbit.publication.certificate import describe_options, rebuild_request
from lastbit.questions.answer import protects_of
from lastbit.questions.identity import identity_of
from lastbit.questions.identity import rebuild_request as rebuild_from_books
from lastbit.questions.kinds import KINDS
from lastbit.questions.plan import make_plan
from lastbit.questions.reading import read_counts
from lastbit.questions.row_options import RowOptions
from lastbit.web.app import application
from lastbit.web.desk import Desk
from lastbit.web.tokens import Tokens
from tests.stability.judge import judge
from tests.stability.test_near_keys import ARROW

DAYS = {"unit": ["user", "day"]}
PROMISE = (
    "A user-day is all edits with the same user and day: these are protected together, and not all edits with the same "
    "user."
)
WARDS = {"by": "ward", "domain": ["a", "b"]}
COST = {"of": "cost", "bounds": [0, 9]}
ASKED: dict[str, dict[str, Any]] = {
    "top": {**WARDS, "k": 1},
    "above": {**WARDS, "threshold": 1},
    "choose": WARDS,
    "measure": {**WARDS, "k": 1},
    "histogram": WARDS,
    "count": {},
    "share": {"of": "cost >= 2"},
    "sum": COST,
    "mean": {**COST, **WARDS, "one_each": True},
    "median": COST,
    "quantile": {**COST, "at": 0.5, **WARDS},
    "tables": {**WARDS, "delta": "1e-6"},
    "describe": {"numbers": ["cost"], "texts": ["ward"]},
}


def make_rows() -> list[dict[str, Any]]:
    """40 users, each on 5 days, with two edits a day."""
    return [
        {"user": f"u{user}", "day": f"2024-01-0{day}", "ward": "ab"[user % 2], "cost": day}
        for user in range(40)
        for day in range(1, 6)
        for _ in range(2)
    ]


@pytest.fixture
def edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(make_rows()).to_csv("edits.csv", index=False)
    return "edits.csv"


def count_exactly(source: Any, **options: Any) -> list[int]:
    """The private numbers themselves: no noise."""
    frame = None if isinstance(source, str) else source
    values = {"source": source if frame is None else "-", "epsilon": 1, **options}
    reading = KINDS["count"].parse(values).question.reading
    assert reading is not None
    return [int(value) for value in reading.run(frame=frame).values]


def test_every_kind_is_here() -> None:
    assert ASKED.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", ASKED)
def test_no_face_speaks_of_people(kind: str, edits: str, capsys: Any) -> None:
    options = {**DAYS, **ASKED[kind], "epsilon": 1, "row_noun": "edit,edits"}
    request = KINDS[kind].parse({"source": edits, **options})
    answer = lb.ask(kind, edits, **options)
    assert PROMISE in answer.report.notes
    assert "Edits without user or day are left out." in answer.report.notes
    assert PROMISE in answer.data["notes"]
    assert (
        "All edits with the same user and day (not all with the same user) are protected together" in answer.methods()
    )
    assert cli._run([*shlex.split(request.command)[1:], "--html", "page.html"], debug=False) == 0
    assert cli._run([*shlex.split(request.command)[1:], "--dry-run"], debug=False) == 0
    printed = capsys.readouterr().out
    assert " ".join(printed.split()).count(PROMISE) == 2
    page = Path("page.html").read_text("utf-8")
    assert PROMISE in page
    plan = make_plan(request).report
    for text in (str(answer), answer.methods(), plan.title, *plan.notes):  # parts of a plan have names of their own
        assert not re.search(r"\b(people|persons?)\b", text, re.IGNORECASE)
    assert request.python.count("unit=['user', 'day']") + request.python.count('unit=["user", "day"]') == 1
    assert shlex.split(request.command)[3:7] == ["--unit", "user", "--unit", "day"]


@pytest.mark.parametrize(
    "unit", [["user", "day"], ["day", "user"], ("user", "day"), ["user", "cast(day as date) as d"]]
)
def test_combinations_are_counted(unit: Any, edits: str) -> None:
    assert count_exactly(edits, unit="user") == [40]
    assert count_exactly(edits, unit=unit) == [200]
    for library in (pd.DataFrame, pl.DataFrame, lambda rows: pa.Table.from_pylist(rows)):
        assert count_exactly(library(make_rows()), unit=unit) == [200]
    # A group may be one of the columns: each combination is in one of them.
    days = [f"2024-01-0{day}" for day in range(1, 6)]
    assert count_exactly(edits, unit=["user", "day"], by="day", domain=days) == [40] * 5
    months = {"month": "day", "domain": "2024-01..2024-02"}
    assert count_exactly(edits, unit=["user", "day"], **months) == [200, 0]
    assert count_exactly(pd.DataFrame(make_rows()), unit=["user", "day"], by="day", domain=days) == [40] * 5


def test_a_missing_part_leaves_the_row_out(tmp_path: Path) -> None:
    rows = [("u", "1"), ("u", None), (None, "1"), (None, None), ("u", "2")]
    frame = pd.DataFrame(rows, columns=["user", "day"])
    assert count_exactly(frame, **DAYS) == [2]
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet")
    assert count_exactly(str(tmp_path / "rows.parquet"), **DAYS) == [2]


@pytest.mark.parametrize("name", ARROW)
def test_parts_that_are_nearly_equal_stay_apart(name: str, tmp_path: Path) -> None:
    kind, make = ARROW[name]
    for first, second in NEAR[kind]:
        rows = pa.table({"user": make([first, second, first]), "day": make([first, first, second])})
        assert count_exactly(rows, **DAYS) == [3], (first, second)


def test_no_two_lists_of_texts_make_one_key() -> None:
    """Whatever stands between two parts may stand in one of them."""
    pairs = [("1", "1:1"), ("11", ":1"), ("1:1", "1"), ("a", "b1:c"), ("ab", "1:c"), ("", "x"), ("x", ""), ("1:", "x")]
    frame = pd.DataFrame(pairs, columns=["user", "day"])
    assert count_exactly(pl.from_pandas(frame), **DAYS) == [len({*pairs})]


def test_objects_stay_apart() -> None:
    near = [pair for pair in NEAR["object"] if not any(isinstance(part, tuple) for part in pair)]
    for first, second in near:
        frame = pd.DataFrame(
            {"user": pd.Series([first, second], dtype=object), "day": pd.Series(["d", "d"], dtype=object)}
        )
        assert count_exactly(frame, **DAYS) == [2], (first, second)


def test_one_combination_moves_a_count_by_one(tmp_path: Path) -> None:
    """The stability of counting, where the unit of a row is its combination."""
    rows = [{"user": f"u{n % 6}", "day": f"d{n % 4}", "ward": "ab"[n % 2], "cost": 1} for n in range(48)]

    def count(table: list[dict[str, Any]], **options: Any) -> lb.Counts:
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in table))
        request = KINDS["count"].parse({"source": str(file), **DAYS, **WARDS, **options, "epsilon": 1})
        return read_counts(request.rows, request.items).run()

    own = {"user": "u0", "day": "another"}
    hostile = [
        [{**own, "ward": ward, "cost": 1} for ward in ("a", "b", "a", "c", None)] * 3,
        [{"user": "u0", "day": 7, "ward": "a", "cost": 1}] * 2,
        [{"user": "u0:", "day": "1:d", "ward": "a", "cost": 1}] * 2,
        [{"user": "u0", "ward": "a", "cost": 1}],
        [{"user": ["u0"], "day": {"d": 1}, "ward": "a", "cost": 1}],
    ]
    judge(count, rows, hostile, unit=lambda row: (str(row.get("user")), str(row.get("day"))))
    # What one user has on all days is more than that: this is not what is promised.
    with pytest.raises(AssertionError, match="violated"):
        judge(count, rows, [], unit="user")


def test_what_cannot_be_a_unit_is_refused_before_anything_is_read(edits: str) -> None:
    for unit, words in (
        ([], "must name columns"),
        (["user", "cast(cost as date) as user"], "a name of its own"),
        (["cast(day as date) as day"], "an expression stands beside one"),
        (["user", 7], "--unit must be text"),
        (["user", ""], "--unit must not be empty"),
        (["user", "nothing"], "there is no column 'nothing'"),
        (["user", "max(day) as day"], "--unit is refused: max looks at all rows"),
    ):
        with pytest.raises(ParameterError, match=re.escape(words)):
            lb.ask("count", edits, unit=unit, epsilon=1)
    with pytest.raises(ParameterError, match="must have a name of its own: 'day' is the column of --unit"):
        lb.ask("count", edits, **DAYS, by="cost // 2 as day", domain="1,2", epsilon=1)
    with pytest.raises(ParameterError, match="is not described: got 'day'"):
        lb.ask("describe", edits, **DAYS, dates=["day"], epsilon=1)
    with pytest.raises(ParameterError, match="--counts and --unit"):
        lb.ask("top", edits, **DAYS, counts="cost", sensitivity=1, **WARDS, k=1, epsilon=1)
    lists = pl.DataFrame({"user": [["u"]], "day": ["d"]})
    with pytest.raises(ParameterError, match="must hold single values"):
        count_exactly(lists, **DAYS)


@pytest.mark.parametrize("library", [None, pd.DataFrame, pl.DataFrame])
def test_no_column_takes_the_place_of_a_part(library: Any, tmp_path: Path) -> None:
    """A group that is called like a part of the key would decide whose the rows are."""
    rows = [{"user": user, "day": day, "lastbit_part_1": "x", "Lastbit_Key_0": "x"} for user in "ab" for day in "12"]
    source = str(tmp_path / "rows.csv")
    pd.DataFrame(rows).to_csv(source, index=False)
    table = source if library is None else library(rows)
    for options in ({"by": "lastbit_part_1"}, {"by": "Lastbit_Key_0"}, {"where": "lastbit_part_1 = 'x'", "by": "day"}):
        with pytest.raises(ParameterError, match="no column may begin with lastbit_"):
            count_exactly(table, **DAYS, **options, domain=["x"])
    with pytest.raises(ParameterError, match="--by must not name a column 'lastbit_part_0'"):
        count_exactly(table, **DAYS, by="day as lastbit_part_0", domain=["1"])
    assert count_exactly(table, **DAYS, by="'x' as all_of_them", domain=["x"]) == [4]


def test_the_columns_are_facts_of_the_question(edits: str) -> None:
    def ask(unit: Any) -> dict[str, Any]:
        return identity_of(KINDS["count"].parse({"source": edits, "unit": unit, "epsilon": 1}))

    assert ask(["user"]) == ask("user") != ask(["user", "day"]) != ask(["user", "ward"])
    request = KINDS["count"].parse({"source": edits, "unit": ["user", "cast(day as date) as d"], "epsilon": 1})
    again = rebuild_from_books(json.dumps(identity_of(request)), [edits], lambda _: None, epsilon=1)
    assert again is not None
    assert again["unit"] == request["unit"]
    certified = rebuild_request("count", describe_options(request))
    assert (certified["unit"], certified.words.people) == (request["unit"], "user-ds")
    assert KINDS["count"].parse_plan({"unit": ["user", "day"], "epsilon": 1}).words.people == "user-days"


def test_an_account_adds_up_one_promise(edits: str, capsys: Any) -> None:
    ledger = lb.Ledger("budget.db")
    ledger.create("wiki", epsilon=30)
    ledger.create("users", epsilon=30)
    paid = {"epsilon": 1, "ledger": "budget.db"}
    lb.ask("count", edits, **DAYS, **paid, dataset="wiki")
    lb.ask("count", edits, unit="user", **paid, dataset="users")
    assert [entry.protects for entry in ledger.history("wiki")] == ["", "day and user"]
    assert (ledger.account("wiki").protects, ledger.account("users").protects) == ("day and user", "person")
    for account, unit in (("wiki", "user"), ("wiki", "row"), ("wiki", ["user", "ward"]), ("users", ["user", "day"])):
        with pytest.raises(LedgerError, match=r"adds up what is promised .* Nothing was drawn and nothing was charged"):
            lb.ask("count", edits, unit=unit, **paid, dataset=account)
        words = [word for name in ([unit] if isinstance(unit, str) else unit) for word in ("--unit", name)]
        command = ["count", edits, *words, "--epsilon", "1", "--ledger", "budget.db", "--dataset", account]
        assert cli._run([*command, "--dry-run", "--json"], debug=False) == 3
        assert "adds up what is promised" in json.loads(capsys.readouterr().out)["refusal"]
        assert ledger.account(account).spent == 1
    lb.ask("sum", edits, unit=["day", "user"], of="cost", bounds=(0, 9), **paid, dataset="wiki")
    assert cli._run(["budget", "history", "wiki", "--ledger", "budget.db"], debug=False) == 0
    assert "day and user" in capsys.readouterr().out
    assert ledger.verify() == ()


def test_two_promises_are_never_written_alike() -> None:
    """A column may be called like an expression, and two like three."""
    units = [
        ["user", "day"],
        ["user", "year(day) as day"],
        ["user", '"year(day) as day"'],
        ["user", "month(day) as day"],
        ["user and day", "ward"],
        ["user", "day and ward"],
        ["user", "day", "ward"],
        ["user", "'day'"],
    ]
    requests = [KINDS["count"].parse({"source": "edits.csv", "unit": unit, "epsilon": 1}) for unit in units]
    assert len({protects_of(request) for request in requests}) == len(units)
    assert protects_of(KINDS["count"].parse({"source": "edits.csv", "unit": ["day", "user"]})) == "day and user"


STUDY = """
[study]
title = "Edits"
[data]
files = "edits.csv"
unit = ["user", "day"]
row = ["edit", "edits"]
[budget]
epsilon = 2
ledger = "budget.db"
dataset = "wiki"
[[question]]
name = "all"
ask = "count"
[output]
folder = "report"
formats = ["html", "csv"]
"""


def test_a_publication_says_it(edits: str) -> None:
    ledger = lb.Ledger("budget.db")
    ledger.create("wiki", epsilon=2)
    Path("study.toml").write_text(STUDY)
    publication = lb.Publication.from_file("study.toml")
    assert not publication.check()
    publication.run()
    assert {entry.protects for entry in ledger.history("wiki") if entry.kind != "create"} == {"day and user"}
    page = Path("report/report.html").read_text("utf-8")
    assert page.count(PROMISE) == 1
    assert "A user-day is all rows with the same user and day" in page  # where the cost is explained
    assert "any one user-day" in page
    assert not re.search(r"\b(people|persons?)\b", re.sub("<[^>]*>", " ", page), re.IGNORECASE)
    assert cli._run(["verify", "report"], debug=False) == 0
    ledger.create("users", epsilon=3)
    lb.ask("count", edits, unit="user", epsilon=1, ledger="budget.db", dataset="users")
    Path("study.toml").write_text(STUDY.replace('"wiki"', '"users"'))
    other = lb.Publication.from_file("study.toml")
    assert "adds up what is promised" in other.plan().refusal
    with pytest.raises(LedgerError, match="adds up what is promised"):
        other.run()
    assert ledger.account("users").spent == 1


def connect(desk: Desk) -> httpx.AsyncClient:
    """A client of a server, which may release."""
    tokens, secrets = Tokens.make()
    transport = httpx.ASGITransport(application(desk, tokens, frozenset({"here"}), secure=False))
    headers = {"authorization": f"Bearer {secrets['release']}"}
    return httpx.AsyncClient(transport=transport, base_url="http://here", headers=headers)


def test_the_page_and_the_service_say_it(edits: str) -> None:
    lb.Ledger("budget.db").create("wiki", epsilon=9)
    values = KINDS["count"].parse({"source": edits, **DAYS}).values

    async def look() -> tuple[str, Any, Any]:
        async with connect(Desk(RowOptions.of(values), "budget.db", "wiki")) as client:
            asked = {"question": "count", "options": {"epsilon": "1"}}
            planned = await client.post("/api/plan", json=asked)
            return (await client.get("/")).text, (await client.get("/api/table")).json(), planned.json()

    page, table, planned = asyncio.run(look())
    assert (
        "Each combination of <b>user and day</b> is protected, with all of its rows: not all rows with the same user."
        in page
    )
    assert table["unit"] == ["user", "day"]
    assert "off by at most 3 user-days" in planned["promise"]
    assert planned["command"].startswith("lastbit count edits.csv --unit user --unit day")


def test_a_table_of_dates_and_times(tmp_path: Path) -> None:
    moments = [datetime.datetime(2024, 10, 27, hour, tzinfo=datetime.UTC) for hour in range(4)]
    frame = pa.table({"user": ["u"] * 4, "day": pa.array(moments, pa.timestamp("us", "Europe/Berlin"))})
    assert count_exactly(frame, **DAYS) == [4]  # two of them are half past two by the clock of Berlin


def test_moments_without_end_are_units_like_others(tmp_path: Path) -> None:
    moments = (
        "(1, 'infinity'), (1, '-infinity'), (2, '2020-01-01 00:00:00+00'), (2, '2020-01-01 01:00:00+01'), (3, null)"
    )
    with duckdb.connect(tmp_path / "visits.duckdb") as connection:
        connection.execute(f"create table t as select u, w::timestamptz as w from (values {moments}) t(u, w)")
    for unit in (["u", "w"], ["w", "u"], "w"):
        request = KINDS["count"].parse(
            {"source": str(tmp_path / "visits.duckdb"), "table": "t", "unit": unit, "epsilon": 1}
        )
        assert list(request.question.reading.run().values) == [3]
