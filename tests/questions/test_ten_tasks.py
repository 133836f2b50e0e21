"""Ten things that people publish, each in at most two calls, from a file and from a frame in memory.

The rows are those of the worked example. Noise is small here, so that every answer can be compared with the rows.
"""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from tests.cli.test_commands import run

EXAMPLE = Path(__file__).parents[2] / "examples" / "study" / "make_visits.py"
REGIONS = ["north", "south", "east", "west"]
DEPARTMENTS = ["surgery", "cardiology", "oncology", "paediatrics", "neurology", "burns"]
WHO: dict[str, Any] = {"unit": "patient", "noun": "patient,patients", "row_noun": "visit,visits"}
LARGE: dict[str, Any] = {**WHO, "epsilon": 1000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tasks")
    runpy.run_path(str(EXAMPLE))["write_visits"](place, 300)
    return place


@pytest.fixture(params=["file", "frame"])
def visits(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)
    path = "visits-2024.csv"
    return path if request.param == "file" else pd.read_csv(path, dtype={"day": str, "left_on": str})


@pytest.fixture(scope="module")
def rows(folder: Path) -> Any:
    return pd.read_csv(folder / "visits-2024.csv")


def by(frame: Any, *names: str) -> dict[Any, float]:
    """Return the values of an answer by its groups."""
    keys = zip(*(frame[name] for name in names), strict=True) if len(names) > 1 else frame[names[0]]
    return dict(zip(keys, frame["value"], strict=True))


def test_mean_by_department_with_intervals(visits: Any, rows: Any) -> None:
    answer = lb.ask("mean", visits, of="cost", by={"department": DEPARTMENTS}, bounds=(0, 50_000), **LARGE)
    frame = answer.to_frame()
    own = rows.groupby(["department", "patient"]).cost.mean().groupby("department").mean()
    for department, value, low, high, people in frame[["department", "value", "low", "high", "people"]].itertuples(
        index=False
    ):
        if department in own.index:
            assert low <= own[department] <= high
            assert abs(value - own[department]) < 60
            assert round(people) == rows[rows.department == department].patient.nunique()
    assert answer.title == "Mean cost per patient, by department"


def test_region_by_age_crosswise(visits: Any, rows: Any) -> None:
    groups: dict[str, Any] = {"by": ["region", "age"], "edges": {"age": [0, 18, 40, 65, 80]}}
    answer = lb.ask("tables", visits, **groups, domain={"region": REGIONS}, rho=1000, **WHO)
    crosswise = answer.pivot("region", "age")
    people = rows.drop_duplicates("patient")
    north = people[(people.region == "north") & (people.age >= 80)]
    assert "80 and over" in str(crosswise)
    cells = answer.to_frame()
    both = cells[cells["region"].notna() & cells["age"].notna()]
    assert round(by(both, "region", "age")["north", "80 and over"]) == len(north)


def test_monthly_series_of_patients(visits: Any, rows: Any) -> None:
    frame = lb.ask("count", visits, month="day", domain="2024-01..2024-12", **LARGE).to_frame()
    truth = rows.groupby(rows.day.str[:7]).patient.nunique().to_dict()
    assert {str(name)[:7]: round(value) for name, value in by(frame, "day").items()} == truth


def test_share_of_emergencies_by_region(visits: Any, rows: Any) -> None:
    share = lb.ask("share", visits, of="kind = 'emergency'", by={"region": REGIONS}, one_each=True, **LARGE).to_frame()
    region = rows.drop_duplicates("patient").set_index("patient").region
    emergency = rows[rows.kind == "emergency"].patient.unique()
    for name, value in by(share, "region").items():
        own = region[region == name].index
        assert value == pytest.approx(100 * own.isin(emergency).mean(), abs=1)


def test_top_ten_with_numbers_where_nobody_listed_the_items(visits: Any, rows: Any) -> None:
    frame = lb.ask(
        "top", visits, by="diagnosis", discover=True, k=10, numbers=True, most_items=15, delta="1e-6", **LARGE
    ).to_frame()
    truth = rows.groupby("diagnosis").patient.nunique().sort_values(ascending=False)
    assert {name: round(value) for name, value in by(frame, "diagnosis").items()} == {
        name: truth[name] for name in frame["diagnosis"]
    }
    assert list(map(round, frame["value"])) == sorted(map(round, frame["value"]), reverse=True)
    assert len(frame) == 10


def test_two_years_compared(visits: Any, rows: Any) -> None:
    one, other = (
        lb.ask("count", visits, by={"region": REGIONS}, one_each=True, where=where, **LARGE)
        for where in ("day < '2024-07-01'", "day >= '2024-07-01'")
    )
    frame = lb.compare(one, other, as_="percent").to_frame()
    north = rows[rows.region == "north"]
    before = north[north.day < "2024-07-01"].patient.nunique()
    after = north[north.day >= "2024-07-01"].patient.nunique()
    assert by(frame, "region")["north"] == pytest.approx(100 * (after - before) / before, abs=2)
    assert (frame["low"] <= frame["value"]).all()
    assert (frame["value"] <= frame["high"]).all()


def test_the_epsilon_of_two_percent(visits: Any, capsys: Any) -> None:
    assert run("plan count --within 2% --people 5000") == 0
    assert "epsilon" in capsys.readouterr().out


def test_forty_releases_in_a_budget(visits: Any, capsys: Any, tmp_path: Path) -> None:
    ledger = str(tmp_path / "budget.db")
    lb.Ledger(ledger).create("clinic", epsilon=3, delta="1e-6")
    assert run(f"plan count --unit patient --times 40 --ledger {ledger} --dataset clinic") == 0
    assert "40" in capsys.readouterr().out


def test_a_chart_and_its_paragraph(visits: Any, tmp_path: Path) -> None:
    answer = lb.ask("count", visits, by={"region": REGIONS}, one_each=True, **LARGE)
    assert "<svg" in answer._repr_html_()
    paragraph = answer.methods()
    for words in ("patients", "differential privacy", "lastbit"):
        assert words in paragraph


def test_a_rate_per_thousand_residents(visits: Any, rows: Any) -> None:
    residents = pd.read_csv("residents.csv")
    answer = lb.ask("count", visits, by={"region": REGIONS}, one_each=True, **LARGE).rate(residents, per=1000)
    people = rows.drop_duplicates("patient").region.value_counts()
    size = residents.set_index("region").residents
    for region, value in by(answer.to_frame(), "region").items():
        assert math.isclose(value, 1000 * people[region] / size[region], rel_tol=0.02)
