"""Counts of rows by group: without noise they are what pandas says, and a person moves them by --most-rows at most."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit.mechanisms import mechanism
from lastbit.questions.kinds import KINDS
from lastbit.values.contribution_bound import one_key
from tests.cli.test_counts_and_sums import Quiet
from tests.truth.populations import STOCK, write

GROUPS = ["all", "i0", "i3", "rare", "nobody has it"]
MONTHS = [f"2024-{month:02}" for month in range(1, 13)]
ROWS: dict[str, Any] = {"unit": "person", "rows": True}
BY: dict[str, Any] = {"by": "item", "domain": GROUPS}


@pytest.fixture
def crowd(tmp_path: Path) -> str:
    return write(STOCK["crowd"], tmp_path, "crowd")


def plain(source: str) -> pd.DataFrame:
    """The rows that belong to somebody."""
    rows = pd.read_csv(source, dtype=str, keep_default_na=False)
    return rows[rows["person"] != ""]


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "1/8"}], ids=["epsilon", "rho"])
def test_without_noise_it_is_what_pandas_says(
    crowd: str, cost: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    rows = plain(crowd)
    frame = lb.ask("count", crowd, **ROWS, **BY, most_rows=1000, **cost).to_frame()
    sizes = rows.groupby("item").size()
    assert frame["item"].tolist() == GROUPS
    assert frame["value"].tolist() == sizes.reindex(GROUPS, fill_value=0).tolist()
    assert frame["high"].isna().all()
    assert (frame["bounded_high"] >= frame["bounded_value"]).all()
    series = lb.ask("count", crowd, **ROWS, month="day", domain=MONTHS, most_rows=1000, **cost)
    months = rows["day"].str[:7].value_counts().reindex(MONTHS, fill_value=0)
    assert series.to_frame()["value"].tolist() == months.tolist()
    (panel,) = series.panels
    assert panel.is_series
    assert panel.name == "rows counted"
    assert all(high is not None for _, high in panel.intervals)


def test_a_person_has_so_many_rows_in_all_groups_together(crowd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    listed = plain(crowd)
    listed = listed[listed["item"].isin(GROUPS)].groupby("person").size()
    answer = lb.ask("count", crowd, **ROWS, **BY, most_rows=2, epsilon=1)
    assert sum(answer.to_frame()["value"]) == listed.clip(upper=2).sum()
    assert answer.report.data["cut"] == (listed > 2).sum()


@pytest.mark.parametrize("most", [1, 2, 5])
def test_who_comes_or_goes_moves_all_groups_together_by_the_bound_at_most(
    most: int, crowd: str, tmp_path: Path
) -> None:
    def sizes(rows: pd.DataFrame) -> Any:
        path = tmp_path / "some.csv"
        rows.to_csv(path, index=False)
        request = KINDS["count"].parse({"source": str(path), **ROWS, **BY, "most_rows": most, "epsilon": 1})
        with one_key(7):
            return request.question.reading.run()["answer"]  # type: ignore[union-attr]

    rows = plain(crowd)
    whole = sizes(rows)
    assert (whole.sensitivity, whole.most_items) == (most, 1)
    for person in ("p1", "p7", "p39"):
        less = sizes(rows[rows["person"] != person])
        moves = [int(a - b) for a, b in zip(whole.values, less.values, strict=True)]
        assert min(moves) >= 0
        assert sum(moves) == min(most, (rows[rows["item"].isin(GROUPS)]["person"] == person).sum())


@pytest.mark.parametrize(
    ("cost", "parameters"),
    [
        ({"epsilon": 40}, {"sensitivity": "2", "epsilon": "40"}),
        ({"rho": 8}, {"sensitivity": "2", "rho": "8"}),
    ],
    ids=["epsilon", "rho"],
)
def test_the_exact_laws_of_neighbours_are_within_the_cost(
    cost: dict[str, Any], parameters: dict[str, str], tmp_path: Path
) -> None:
    """Both rows of the person who goes are in one group: the furthest that one person moves the numbers."""

    def program(name: str, rows: str) -> Any:
        path = tmp_path / name
        path.write_text(f"person,item\na,x\n{rows}")
        asked = {"source": str(path), **ROWS, "by": "item", "domain": "x,y", "most_rows": 2, "people_share": 0}
        question = KINDS["count"].parse({**asked, **cost}).question
        assert parameters.items() <= question.mechanism.parameters.items()
        return question.prepare(question.reading.run()), question.mechanism.cost  # type: ignore[union-attr]

    (less, own), (more, _) = program("less.csv", ""), program("more.csv", "b,x\nb,x\n")
    assert lb.audit.compare(more, less, own, Fraction(1, 1 << 12)).holds


def test_two_rows_that_are_taken_for_those_of_two_groups_are_convicted() -> None:
    """The negative control: under rho that is too little noise."""
    noise: Any = lb.DiscreteGaussian(rho=8, squared_sensitivity=2)
    verdict = lb.audit.compare(noise.program([3, 0]), noise.program([1, 0]), noise.cost, Fraction(1, 1 << 12))
    assert verdict.verdict == "violated"


def test_totals_crosswise_are_there_as_each_row_is_in_one_group(crowd: str) -> None:
    answer = lb.ask("count", crowd, **ROWS, by=["item", "day"], month="day", domain=[GROUPS, MONTHS], most_rows=3,
                    epsilon=1)  # fmt: skip
    assert "(all)" in answer.pivot().columns
    assert "At most 3 rows of a person count, chosen at random" in answer.methods()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"most_rows": None}, "--rows and --most-rows go together"),
        ({"rows": False}, "--rows and --most-rows go together"),
        ({"unit": None}, "--unit must say who is protected"),
        ({"one_each": True}, "Leave the others out"),
        ({"most_items": "auto"}, "Leave the others out"),
        ({"weights": "number", "bounds": (0, 9)}, "--rows counts rows"),
        ({"domain": None, "delta": "1e-6"}, "list the groups"),
        ({"domain": None}, "--domain"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.ask("count", "no such file.csv", **{**ROWS, **BY, "most_rows": 2, "epsilon": 1, **options})


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("count", {"rows": True, "most_rows": 3}),
        ("count", {}),
        ("mean", {"of": "cost", "bounds": (0, 9)}),
        ("share", {"of": "cost > 1"}),
        ("median", {"of": "cost", "bounds": (0, 9)}),
    ],
    ids=["rows", "people", "mean", "share", "median"],
)
def test_months_are_headed_month(question: str, more: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("who,day,cost\n1,2024-01-05,3\n2,2024-02-07,1\n")
    asked = {"unit": "who", "month": "day", "domain": "2024-01..2024-02", "epsilon": 1}
    answer = lb.ask(question, str(tmp_path / "visits.csv"), **asked, **more)
    assert answer.printed_table[0][0] == "month"
    assert answer.to_frame().columns[0] == "day"
