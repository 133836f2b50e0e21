"""The question `tables`, in every face: what is read, what is said, and what is refused before anything is read."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from lastbit.questions.plan import make_plan, plan_accuracy
from lastbit.web.forms import read_form

EDGES = [0, 18, 65]
REGIONS = ["north", "south"]


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Visits of people who have one region and one age, and some visits without."""
    monkeypatch.chdir(tmp_path)
    rows = []
    for visit in range(900):
        who = visit % 300
        own = Random(who)
        rows.append((who, own.choice(REGIONS), own.randrange(0, 95), f"2024-{visit // 75 + 1:02}-15"))
    frame = pd.DataFrame(rows, columns=["patient", "region", "age", "date"])
    frame.to_csv("visits.csv", index=False)
    duckdb.from_df(frame).write_parquet("visits.parquet")
    return frame


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


def true_table(frame: pd.DataFrame) -> list[list[int]]:
    people = frame.drop_duplicates("patient")
    groups = np.searchsorted(EDGES[1:], people.age, side="right")
    return [[int(((people.region == region) & (groups == group)).sum()) for group in range(3)] for region in REGIONS]


@pytest.mark.parametrize("file", ["visits.csv", "visits.parquet"])
def test_a_file_is_counted_by_values_and_by_edges(visits: pd.DataFrame, file: str) -> None:
    release = lb.ask(
        "tables", file, unit="patient", by=["region"], domain=REGIONS, edges={"age": EDGES}, ways=2, rho=3000
    )
    assert release.table("region", "age").items[1] == ("under 18", "18 to 64", "65 and over")
    assert np.rint(release.table("region", "age").to_numpy()).astype(int).tolist() == true_table(visits)


def test_months_and_ranges_are_axes(visits: pd.DataFrame) -> None:
    release = lb.ask(
        "tables", "visits.csv", unit="patient", by=["region", "date"], month="date",
        domain={"region": REGIONS, "date": "2024-01..2024-12"}, most_items=3, rho=9000,
    )  # fmt: skip
    assert release.design.squared_sensitivity == 9
    assert release.table("date").to_numpy().sum() == pytest.approx(900, abs=1)
    assert release.table("date").items[0][0] == "2024-01"


@pytest.mark.parametrize("engine", ["pandas", "polars", "arrow", "duckdb"])
def test_a_table_of_a_library_is_counted_in_its_engine(visits: pd.DataFrame, engine: str) -> None:
    import polars as pl
    import pyarrow as pa

    make: dict[str, Any] = {
        "pandas": lambda: visits,
        "polars": lambda: pl.from_pandas(visits),
        "arrow": lambda: pa.Table.from_pandas(visits),
        "duckdb": lambda: duckdb.from_df(visits),
    }
    asked: dict[str, Any] = {"unit": "patient", "by": ["region"], "domain": REGIONS, "ways": 1}
    release = lb.ask("tables", make[engine](), **asked, rho=1000)
    assert np.rint(release.table("region").to_numpy()).astype(int).tolist() == [*map(sum, true_table(visits))]
    older = lb.ask("tables", make[engine](), **asked, rho=1000, where="age > 30")
    expected = [*map(sum, true_table(visits[visits.age > 30]))]
    assert np.rint(older.table("region").to_numpy()).astype(int).tolist() == expected
    with pytest.raises(lb.ParameterError, match="one table of a library"):
        lb.ask("tables", make[engine](), "visits.csv", **asked, rho=1)


def test_a_frame_has_the_numbers_of_all_people_and_of_those_counted_at_any_level(visits: pd.DataFrame) -> None:
    asked: dict[str, Any] = {"by": ["region"], "domain": REGIONS, "edges": {"age": EDGES}, "rho": "1/4"}
    answer = lb.ask("tables", "visits.csv", unit="patient", **asked)
    frame, wide = answer.to_frame(), answer.to_frame("0.999")
    ends, own = ["bounded_value", "bounded_low", "bounded_high"], ["value", "low", "high"]
    assert list(frame.columns) == ["table", "region", "age", *own, *ends, "variance"]
    assert len(frame) == 2 + 3 + 6
    assert (wide.bounded_high > frame.bounded_high).all()
    assert (wide.high > frame.high).all()
    assert (frame.low <= frame.value).all()
    assert (frame.value <= frame.high).all()
    assert (frame.high >= frame.bounded_high - 1).all()  # people are whole
    assert frame.bounded_high.tolist() == answer.published.main.to_frame().high.tolist()
    unknown = lb.ask("tables", "visits.csv", unit="patient", people_share=0, **asked).to_frame()
    assert list(unknown.columns) == ["table", "region", "age", *ends, "variance"]
    rows = lb.ask("tables", "visits.csv", unit="row", **asked)
    assert list(rows.to_frame().columns) == ["table", "region", "age", "value", "low", "high", "variance"]
    assert [panel.name for panel in rows.panels] == ["rows"] * len(REGIONS)


def test_an_epsilon_and_a_delta_buy_the_largest_rho(visits: pd.DataFrame) -> None:
    asked: dict[str, Any] = {"unit": "patient", "by": ["region"], "domain": REGIONS}
    release = lb.ask("tables", "visits.csv", **asked, epsilon=1, delta="1e-6")
    assert release.cost.rho == lb.largest_rho(1, "1e-6")
    for wrong in ({"epsilon": 1}, {"rho": 1, "delta": "1e-6"}, {}, {"epsilon": 1, "rho": 1, "delta": "1e-6"}):
        with pytest.raises(lb.ParameterError, match="tables cost a --rho, or an --epsilon with a --delta"):
            lb.ask("tables", "visits.csv", **asked, **wrong)


def test_the_command_prints_a_table_crosswise_and_says_of_whom(visits: pd.DataFrame, capsys: Any) -> None:
    asked = "tables visits.csv --unit patient --by region --domain north,south --edges age=0,18,65 --rho 1/2"
    assert run(asked) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "region under 18 18 to 64 65 and over (all)" in text
    assert "Each person counts once, in one cell of each table; those with rows in several cells, " in text
    assert "more than it says, and a sum of a row or column at most" in text
    unlisted = "So are rows with a value that is not listed."
    assert f"Rows without a value of region or age are left out of all tables. {unlisted}" in text
    assert run(f"{asked} --missing show") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Missing values are shown. Rows with a value that is not listed are left out of all tables." in text
    assert run(f"{asked} --pivot age,region --json") == 0
    data = json.loads(capsys.readouterr().out)
    assert [table["columns"] for table in data["tables"]] == [["region"], ["age"], ["region", "age"]]
    assert all(low <= value <= high for low, value, high in zip(data["low"], data["value"], data["high"], strict=True))
    assert data["cut_low"] <= data["cut_high"]
    widths = {high - low for low, high in zip(data["bounded_low"], data["bounded_high"], strict=True) if low > 0}
    assert run(f"{asked} --level 0.5 --json") == 0
    half = json.loads(capsys.readouterr().out)
    assert half["level"] == 0.5
    assert half["tables"][0]["within"] < data["tables"][0]["within"]
    assert max(half["bounded_high"][0] - half["bounded_low"][0], 0) < min(widths)
    assert run(f"{asked} --whole --most-items 2 --missing show") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "They are biased, and no interval holds for them." in text
    assert "(missing)" in text
    assert "2 combinations of values at most" in text
    assert run(f"{asked} --latest-by date --ways 1") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "those with rows in several cells among their rows with the largest date, " in text
    assert "Each interval holds with probability 95% or more." in text
    assert run(f"{asked} --pivot region") != 0


def test_a_plan_shows_the_error_of_every_table_before_a_row_is_read(capsys: Any) -> None:
    asked = "plan tables --by region --domain north,south --edges age=0,18,65 --by sex --domain f,m --rho 1/20"
    assert run(f"{asked} --json") == 0
    data = json.loads(capsys.readouterr().out)
    parts = data["parts"]
    assert parts["table"][:6] == ["region", "sex", "age", "region by sex", "region by age", "sex by age"]
    assert data["within"] <= max(parts["each number within"])
    assert sum(float(share.removesuffix("%")) for share in parts["share of the cost"]) == pytest.approx(100, abs=1)
    assert run(asked) == 0
    assert "region by age" in capsys.readouterr().out
    mechanism = lb.Tables(domain={"region": REGIONS, "sex": "fm", "age": range(3)}, ways=2, rho="1/20")
    assert parts["each number within"][4] == int(np.ceil(float(mechanism.accuracy("region", "age"))))


def test_an_accuracy_asked_for_has_its_price() -> None:
    asked = {"source": "v.csv", "unit": "who", "by": ["a"], "domain": ["x", "y"], "within": 25}
    for more, currency in (({"delta": "1e-6"}, "epsilon"), ({}, "rho")):
        plan = plan_accuracy(KINDS["tables"].parse({**asked, **more}))
        assert plan.accuracy.within <= 25
        less = {currency: Fraction(plan.request[currency]) * Fraction(99, 100)}
        assert make_plan(plan.request.change(**less)).accuracy.within > 25


def test_two_spellings_are_one_question(visits: pd.DataFrame) -> None:
    base: dict[str, Any] = {"source": "visits.csv", "unit": "patient", "rho": 1}
    one = {"by": ["region", "age"], "domain": [REGIONS, ["1", "2"]]}
    spellings: list[dict[str, Any]] = [
        one,
        {**one, "ways": 2},
        {**one, "one_each": True},
        {**one, "domain": {"age": ["1", "2"], "region": REGIONS}},
        {**one, "most_items": 1, "rule": "mean"},
        {**one, "rho": None, "epsilon": 1, "delta": "1e-6"},
    ]
    found = [identity_of(KINDS["tables"].parse({**base, **asked})) for asked in spellings]
    assert all(each == found[0] for each in found)
    others: list[dict[str, Any]] = [{**one, "ways": 1}, {**one, "most_items": 2}, {**one, "missing": "show"}]
    assert all(identity_of(KINDS["tables"].parse({**base, **asked})) != found[0] for asked in others)


def test_the_ledger_pays_and_reuses(visits: pd.DataFrame) -> None:
    lb.Ledger("budget.db").create("clinic", rho=1)
    asked: dict[str, Any] = {
        "unit": "patient", "by": ["region"], "domain": REGIONS, "edges": {"age": EDGES}, "rho": "1/4",
        "ledger": "budget.db", "dataset": "clinic",
    }  # fmt: skip
    first = lb.ask("tables", "visits.csv", **asked)
    again = lb.ask("tables", "visits.csv", **asked, reuse=True)
    assert again == first
    assert str(again.published) == str(first.published)
    assert "nothing was charged" in str(again)
    assert lb.Ledger("budget.db").account("clinic").spent == 1 / 4


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"domain": [["a", "b"]]}, "without one: age"),
        ({"domain": {"region": REGIONS, "sex": ["f", "m"]}}, "--domain must name columns of --by"),
        ({"ways": 2, "tables": [["region"]]}, "--tables takes the place of --ways"),
        ({"one_each": True, "most_items": 2}, "--one-each is --most-items 1"),
        ({"unit": None, "most_items": 2}, "need --unit"),
        ({"latest_by": "age"}, "must be other columns"),
        ({"domain": [["a"], ["1", "2"]]}, "region must have two values or more"),
        ({"domain": [range(9999), range(9999)]}, "at most 10,000,000 cells"),
        ({"edges": {"age": [5]}}, "two edges or more"),
    ],
)
def test_what_cannot_be_asked_is_refused(wrong: dict[str, Any], words: str) -> None:
    asked = {"unit": "patient", "by": ["region", "age"], "domain": [REGIONS, ["1", "2"]], "rho": 1, **wrong}
    with pytest.raises(lb.ParameterError, match=words):
        lb.ask("tables", "no such file.csv", **asked)


def test_the_page_takes_columns_and_their_values_in_lines() -> None:
    asked = {
        "by": "region, month", "domain": "region: north, south\nmonth: 2024-01..2024-03", "epsilon": "1",
        "edges": "age=0,18,65; cost=0,10", "delta": "1e-6", "ways": "2",
    }  # fmt: skip
    table = {"source": ["visits.csv"], "unit": "patient"}
    values = {**read_form({"topic": "tables", **asked}, {}), "epsilon": "1"}
    request = KINDS["tables"].parse(values, "page", table)
    assert request.question.mechanism.parts["answer"].shape.sizes == (2, 3, 3, 2)
    torn = read_form({"topic": "tables", **asked, "domain": "region: north, south\nf, m"}, {})
    request = KINDS["tables"].parse({**torn, "epsilon": "1"}, "page", table)
    with pytest.raises(lb.ParameterError, match="once for each --by"):
        _ = request.question


def test_one_table_a_total_and_a_pivot_are_of_all_people() -> None:
    """Each of 900 people has a row in a and one in b: one of both counts, and 900 people are in each."""
    twice = pd.DataFrame({"who": [*range(900)] * 2, "place": ["a"] * 900 + ["b"] * 900, "kind": ["x", "y"] * 900})
    asked: dict[str, Any] = {"unit": "who", "by": {"place": ["a", "b"], "kind": ["x", "y"]}, "rho": 20}
    answer = lb.ask("tables", twice, **asked)
    ends = ["value", "low", "high", "bounded_value", "bounded_low", "bounded_high", "variance"]
    frame = answer.table("place").to_frame()
    assert list(frame.columns) == ["place", *ends, "kind"]
    people, everybody = frame[frame.kind == "cell"], frame[frame.kind == "total"].iloc[0]
    assert (people.bounded_high < 600).all()
    assert ((people.low <= 900) & (people.high >= 900)).all()
    assert everybody.low <= 900 <= everybody.high < 920
    total = answer.total({"place": "a"})
    assert total.bounded_interval()[1] < 600
    assert total.interval()[0] <= 900 <= total.interval()[1]
    assert total.interval()[0] <= total.value <= total.interval()[1]
    union = answer.table("place", "kind").total([("a", "x"), ("b", "x"), ("b", "y")])
    assert union.interval()[0] <= 900 <= union.interval()[1]
    assert answer.total({"place": ["a", "b"]}).interval()[1] < 920
    high = answer.pivot("place", "kind", numbers="high")
    assert high["(all)"].tolist()[:2] == people.high.tolist()
    assert high["(all)"].tolist()[2] == everybody.high
    bounded = answer.pivot("place", "kind", numbers="bounded_value")
    assert bounded["(all)"].iloc[:2].sum() == pytest.approx(bounded["(all)"].iloc[2])
    with pytest.raises(lb.ParameterError, match="numbers must be one of value, low, high, bounded_value"):
        answer.pivot("place", "kind", numbers="mean")
    assert "Of all people, each with probability 95%, a cell has at most" in str(answer.table("place", "kind"))
    assert "rho 20: place by kind" in str(answer.table("place", "kind"))
    assert answer.cost.rho == answer.table("place").cost.rho == 20


def test_totals_have_no_end_above_where_nobody_measured_who_is_left_out() -> None:
    twice = pd.DataFrame({"who": [*range(900)] * 2, "place": ["a"] * 900 + ["b"] * 900})
    asked: dict[str, Any] = {"unit": "who", "by": {"place": ["a", "b"]}, "ways": 1, "rho": 20, "people_share": 0}
    answer = lb.ask("tables", twice, **asked)
    low, high = answer.total({"place": "a"}).interval()
    assert 300 < low < 600
    assert high is None
    assert answer.total({"place": ["a", "b"]}).interval()[1] < 920  # nobody is missing from all cells
    frame = answer.table("place").to_frame()
    assert "value" not in frame.columns
    assert "bounded_value" in frame.columns
    assert "Of all people" not in str(answer.table("place"))


def test_a_person_with_several_records_is_in_a_total_at_least_once() -> None:
    twice = pd.DataFrame({"who": [*range(900)] * 2, "place": ["a"] * 900 + ["b"] * 900})
    asked: dict[str, Any] = {"unit": "who", "by": {"place": ["a", "b", "c"]}, "ways": 1, "rho": 80, "most_items": 2}
    total = lb.ask("tables", twice, **asked).total({"place": ["a", "b"]})
    assert 1700 < total.bounded_value < 1900
    low, high = total.interval()
    assert low <= 900 <= high
