"""Shares: without noise they are what pandas says, and a condition is one condition, whatever is typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit.mechanisms import mechanism
from lastbit.questions.kinds import KINDS
from tests.cli.test_counts_and_sums import Quiet
from tests.truth.populations import STOCK, write

GROUPS = ["all", "i0", "i3", "rare", "nobody has it"]


@pytest.fixture
def crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    return write(STOCK["crowd"], tmp_path, "crowd")


def plain(source: str) -> pd.DataFrame:
    """The rows that belong to somebody, each with whether its day is after May."""
    rows = pd.read_csv(source, dtype=str, keep_default_na=False)
    rows = rows[rows["person"] != ""]
    return rows.assign(late=rows["day"] > "2024-05")


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "1/8"}], ids=["epsilon", "rho"])
def test_of_people_with_at_least_one_such_row(crowd: str, cost: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"unit": "person", "of": "day > '2024-05'", **cost}
    rows = plain(crowd)
    everybody = lb.ask("share", crowd, **asked).to_frame()
    late = rows.groupby("person")["late"].any()
    assert everybody[["people", "total"]].values.tolist() == [[len(late), late.sum()]]
    assert abs(everybody["value"].iloc[0] - 100 * late.mean()) < 1e-9
    found = lb.ask("share", crowd, **asked, by="item", domain=GROUPS).to_frame()
    groups = rows.groupby(["item", "person"])["late"].any().groupby("item").agg(["count", "sum"])
    groups = groups.reindex(GROUPS, fill_value=0)
    assert found["item"].tolist() == GROUPS
    assert found["people"].tolist() == groups["count"].tolist()
    assert found["total"].tolist() == groups["sum"].tolist()
    assert found["shown"].tolist() == [True, True, True, *found["shown"].tolist()[3:]]
    assert not found["shown"].iloc[-1]


def test_of_rows(crowd: str) -> None:
    rows = plain(crowd)
    found = lb.ask("share", crowd, unit="person", of="day > '2024-05'", rows=True, most_rows=1000, epsilon=1)
    assert found.to_frame()[["people", "total"]].values.tolist() == [[len(rows), rows["late"].sum()]]
    assert "rows counted" in found.report.columns
    single = lb.ask("share", crowd, unit="row", of="day > '2024-05'", epsilon=1).to_frame()
    assert single["people"].iloc[0] == len(STOCK["crowd"])


def test_a_missing_value_is_not_true(crowd: str) -> None:
    frame = lb.ask("share", crowd, unit="person", of="nullif(item, 'all') = 'i0'", epsilon=1).to_frame()
    rows = plain(crowd)
    assert frame["total"].iloc[0] == rows[rows["item"] == "i0"]["person"].nunique()


@pytest.mark.parametrize(
    "text",
    ["true) or (true", "1 = 1 then 1 else 5 end) + (case when 1 = 1", "sum(number) > 3", "", "a = 1; drop table data"],
)
def test_what_is_no_condition_of_one_row_is_refused(text: str) -> None:
    with pytest.raises(lb.ParameterError):
        _ = KINDS["share"].parse({"source": "v.csv", "unit": "person", "of": text, "epsilon": 1}).question


def test_a_comment_ends_with_its_line(crowd: str) -> None:
    asked: dict[str, Any] = {"unit": "person", "epsilon": 1}
    plain_share, commented = (
        lb.ask("share", crowd, of=text, **asked) for text in ("item = 'i0'", "item = 'i0' -- the first")
    )
    assert plain_share == commented


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": True}, "--rows and --most-rows go together"),
        ({"most_rows": 3}, "--rows and --most-rows go together"),
        ({"unit": None, "most_rows": 3}, "--most-rows needs --unit"),
        ({"one_each": True}, "groups need a column"),
        ({"by": "item", "domain": "a,b", "rows": True, "most_rows": 2, "one_each": True}, "Leave the others out"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.ask("share", "no such file.csv", **{"unit": "person", "of": "item = 'a'", "epsilon": 1, **options})


def test_two_numbers_of_one_person_cost_as_much_as_one() -> None:
    """One person is of those for whom it is true, or of the others: never of both."""
    mechanism = lb.GroupMeans(groups=["a"], bounds=(0, 1), resolution=1, epsilon=1)
    assert mechanism.rate == lb.DiscreteLaplace(epsilon=1).rate
