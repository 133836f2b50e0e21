"""Means and sums by group: without noise they are what pandas says, of hostile rows and in every engine."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit.mechanisms import mechanism
from lastbit.questions.group_sizes import GroupQuantileTable
from lastbit.questions.kinds import KINDS
from lastbit.values.contribution_bound import one_key
from tests.cli.test_counts_and_sums import Quiet
from tests.truth.populations import STOCK, write

GROUPS = ["all", "i0", "i3", "rare", "nobody has it"]
OPTIONS: dict[str, Any] = {"unit": "person", "of": "number", "by": "item", "domain": GROUPS, "bounds": (0, 100)}


@pytest.fixture
def crowd(tmp_path: Path) -> str:
    return write(STOCK["crowd"], tmp_path, "crowd")


def ask(kind: str, source: Any, **options: Any) -> Any:
    return lb.ask(kind, source, **{**OPTIONS, "epsilon": 1, **options})


def plain(source: str, per: str) -> pd.DataFrame:
    """The people, the mean and the sum of each group, as pandas finds them."""
    rows = pd.read_csv(source, dtype=str, keep_default_na=False)
    rows["number"] = pd.to_numeric(rows["number"], errors="coerce")
    rows = rows[(rows["person"] != "") & rows["number"].notna() & rows["item"].isin(GROUPS)]
    if per in ("mean", "row", "any"):
        rows["number"] = rows["number"].clip(0, 100)
    if per == "row":
        numbers = rows.set_index(["item", "person"])["number"]
    else:
        by_person = rows.sort_values(["day", "number"]).groupby(["item", "person"])["number"]
        numbers = {
            "mean": by_person.mean,
            "total": by_person.sum,
            "latest": by_person.last,
            "first": by_person.first,
            "any": by_person.max,
        }[per]().clip(0, 100)
    return numbers.groupby("item").agg(["count", "mean", "sum"]).reindex(GROUPS)


@pytest.mark.parametrize("kind", ["mean", "sum"])
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "1/8", "epsilon": None}], ids=["epsilon", "rho"])
@pytest.mark.parametrize(
    "options",
    [
        {"per": "mean"},
        {"per": "total"},
        {"per": "latest", "latest_by": "day"},
        {"per": "first", "first_by": "day"},
        {"per": "any"},
        {"per": "row", "most_rows": 1000},
        {"rows": True, "most_rows": 1000},
    ],
    ids=str,
)
def test_without_noise_it_is_what_pandas_says(
    kind: str, cost: dict[str, Any], options: dict[str, Any], crowd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    answer = ask(kind, crowd, **options, **cost, resolution="1/1024" if "rho" not in cost else None)
    found, step = answer.to_frame(), float(answer.resolution)
    truth = plain(crowd, options.get("per", "row"))
    assert found["item"].tolist() == GROUPS
    assert found["people"].round(6).tolist() == truth["count"].fillna(0).tolist()
    mean, total = ("value", "total") if kind == "mean" else ("mean", "value")
    assert np.allclose(found[total], truth["sum"].fillna(0), atol=step)
    for shown, own, true in zip(found["shown"], found[mean], truth["mean"], strict=True):
        assert math.isnan(own) if not shown else abs(own - true) < step
    assert not found["shown"].iloc[-1]
    assert found["why"].iloc[-1] == "too few to say"


def test_with_one_each_everybody_is_in_one_group(crowd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    answer = ask("mean", crowd, one_each=True)
    everybody = ask("mean", crowd, by=(), domain=None)
    assert sum(answer.people) == sum(plain(crowd, "mean")["count"].gt(0)) or sum(answer.people) <= sum(everybody.people)
    assert answer.report.data["cut"] > 0
    frame = answer.to_frame()
    assert (frame["low"] <= frame["bounded_low"]).iloc[:2].all()
    assert (frame["high"] >= frame["bounded_high"]).iloc[:2].all()
    # Widened by those left out, each at either bound.
    assert (frame["low"] <= plain(crowd, "mean")["mean"].to_numpy()).iloc[:3].all()


@pytest.mark.parametrize("bounds", [(-10, 5), (-5, 10), (-10, -1), (0, 10), (1, 10)], ids=str)
def test_whoever_is_left_out_may_have_either_bound(bounds: tuple[int, int]) -> None:
    """Everybody has one number in both groups and counts in one of them, so half of each total is not seen."""
    for number in bounds:
        rows = pd.DataFrame([(f"p{place}", item, number) for place in range(400) for item in "ab"],
                            columns=["person", "item", "number"])  # fmt: skip
        options = {"by": "item", "domain": ["a", "b"], "bounds": bounds, "one_each": True, "epsilon": 50}
        found = ask("sum", rows, **options).to_frame()
        assert (found["bounded_value"].abs() <= 0.7 * 400 * abs(number) + 10).all()
        assert (found["low"] <= 400 * number).all()
        if bounds[0] >= 0 and number == bounds[1]:
            # Who is missing adds nothing below. But the lot may fail too, so those counted have a wider interval.
            assert (found["low"] < found["bounded_low"]).all()
        assert (found["high"] >= 400 * number).all()
        means = ask("mean", rows, **options).to_frame()
        assert (means["low"] <= number).all()
        assert (means["high"] >= number).all()


def test_one_person_moves_the_sums_of_as_many_groups_as_the_bound_allows(crowd: str) -> None:
    rows = pd.read_csv(crowd, dtype={"person": str})
    rows["number"] = pd.to_numeric(rows["number"], errors="coerce")
    facts: dict[str, Any] = {"of": "number", "unit": "person", "by": "item", "domain": GROUPS, "bounds": (-10, 100)}
    for bound in ({"most_items": 1}, {"most_items": 2}, {}, {"per": "row", "most_rows": 3}):
        with one_key(7):
            whole = lb.per_unit(rows, **facts, **bound).group_sums(len(GROUPS))
        low, high = whole.bounds
        for person in ("p1", "p7", "p39", "p63"):
            with one_key(7):
                less = lb.per_unit(rows[rows["person"] != person], **facts, **bound).group_sums(len(GROUPS))
            moves = [(a - b, n - m) for (a, n), (b, m) in zip(whole.values, less.values, strict=True)]
            assert sum(n for _, n in moves) <= whole.most_items * whole.most_rows
            assert sum(n > 0 for _, n in moves) <= (whole.most_items if "per" not in bound else 3)
            assert all(0 <= above <= n * (high - low) for above, n in moves)


def test_every_engine_has_the_same_sums(crowd: str) -> None:
    duckdb, polars, arrow = (pytest.importorskip(name) for name in ("duckdb", "polars", "pyarrow"))
    rows = pd.read_csv(crowd, dtype={"person": str})
    rows["number"] = pd.to_numeric(rows["number"], errors="coerce")
    facts: dict[str, Any] = {"of": "number", "unit": "person", "by": "item", "domain": GROUPS, "bounds": (0, 100)}
    tables = [rows, polars.from_pandas(rows), arrow.Table.from_pandas(rows), duckdb.from_df(rows)]
    sums = [lb.per_unit(table, **facts).group_sums(len(GROUPS)) for table in tables]
    assert len({own.values for own in sums}) == 1
    release = lb.GroupMeans(groups=GROUPS, bounds=(0, 100), most_items=5, epsilon=1).release(sums[0])
    assert release.items == tuple(GROUPS)


def test_the_cost_is_one_and_the_noise_grows_with_the_groups_of_a_person(crowd: str) -> None:
    rates = {}
    for name, bound in {"all": {}, "two": {"most_items": 2}, "one": {"one_each": True}}.items():
        question = KINDS["mean"].parse({"source": crowd, **OPTIONS, "epsilon": 1, "people_share": 0, **bound}).question
        assert question.mechanism.cost.text == "epsilon 1"
        rates[name] = question.mechanism.rate  # type: ignore[attr-defined]
    steps = {"all": 5, "two": 2, "one": 1}
    built = {name: lb.GroupMeans(groups=GROUPS, bounds=(0, 100), epsilon=1, most_items=n) for name, n in steps.items()}
    assert rates == {name: own.rate for name, own in built.items()}


def test_a_sum_and_a_mean_of_groups_are_one_question_to_the_ledger(crowd: str, tmp_path: Path) -> None:
    paid = {"ledger": str(tmp_path / "budget.db"), "dataset": "clinic"}
    lb.Ledger(paid["ledger"]).create("clinic", epsilon=1)
    mean = ask("mean", crowd, per="total", **paid)
    total = ask("sum", crowd, **paid, reuse=True)
    assert mean.totals == total.totals
    assert total.to_frame()["value"].tolist() == mean.to_frame()["total"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": ()}, "groups need a column"),
        ({"one_each": True, "per": "row", "most_rows": 3}, "--one-each and --most-items are for people"),
        ({"one_each": True, "most_items": 2}, "--one-each is --most-items 1"),
        ({"domain": None}, "--domain"),
        ({"of": "item"}, "--of must be another column"),
        ({"bounds": (5, 5)}, "bounds must rise"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        ask("mean", "no such file.csv", **options)


def test_a_quantile_is_shown_where_it_is_surely_on_one_side_of_the_bounds() -> None:
    qs = [Fraction(1, 2), Fraction(9, 10), Fraction(1, 10)]
    fewest = [9, 8, 5, 4, 0]
    table = GroupQuantileTable([[1, 2, 3]] * 5, qs, [Fraction(4)] * 3, fewest, {})
    assert table.visible == [[True] * 3, [False, True, True], [False, True, True], [False] * 3, [False] * 3]
    assert table.by_quantile == [[1, None, None, None, None], [2, 2, 2, None, None], [3, 3, 3, None, None]]


def test_what_is_shown_is_decided_by_published_numbers() -> None:
    question = KINDS["mean"].parse({"source": "v.csv", **OPTIONS, "epsilon": 1}).question
    facts = lb.GroupMeans(groups=GROUPS, bounds=(0, 100), most_items=5, epsilon="9/10")
    # At the least number of people that is surely above 0, and one step below it; and a mean in a wide interval.
    width = int(facts.people_accuracy() * 100 / facts.grid.resolution)
    sums = [(width // 2 + 1, width // 2 + 200), (0, 0), (10**6, 10**6), (width, -width), (0, width)]
    release = lb.GroupMeanValues(
        "GroupMeans", facts.cost, tuple(sums), tuple(GROUPS), facts.grid.resolution, (Fraction(0), Fraction(100)),
        facts.rate, "laplace", Fraction(0), True,
    )  # fmt: skip
    clamped = lb.DiscreteLaplace(epsilon="1/10").release([0, 0])
    frame = question.report(lb.PartsRelease("parts", facts.cost, (("clamped", clamped), ("answer", release)))).frame
    expected = [
        fewest >= 1 and not math.isnan(low) and high - low < 100
        for fewest, low, high in zip(frame["people_low"], frame["low"], frame["high"], strict=True)
    ]
    assert frame["shown"] == expected
    assert frame["shown"][2]
    assert not any(frame["shown"][place] for place in (1, 3))
