"""Groups that are the same in all rows of a person: each person is in one, and no bound is measured or needed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit.data.engines import find_spark
from lastbit.errors import LastbitError
from lastbit.questions.kinds import KINDS
from lastbit.questions.request import Request

LETS = {"visits": "count(*)", "last": "latest(ward order by day)", "place": "row_number() over (order by day)"}
EDGES = {"visits": [1, 2, 3]}
WARDS = {"last": ["a", "b"]}
NUMBERS: dict[str, Any] = {"of": "cost", "bounds": [0, 9]}
BASE: dict[str, Any] = {"source": "-", "unit": "patient", "let": LETS, "epsilon": 1}


def parse(kind: str, **options: Any) -> Request:
    return KINDS[kind].parse({**BASE, **options})


def sensitivity(request: Request) -> Fraction:
    return Fraction(request.question.mechanism.parameters["sensitivity"])


@pytest.mark.parametrize("groups", [{"edges": EDGES}, {"by": WARDS}, {"edges": EDGES, "by": WARDS}])
@pytest.mark.parametrize("bound", [{}, {"one_each": True}, {"most_items": 2}, {"most_items": "auto"}])
def test_the_noise_is_that_of_one_group(groups: dict[str, Any], bound: dict[str, Any]) -> None:
    request = parse("count", **groups, **bound)
    mechanism = request.question.mechanism
    assert (mechanism.name, sensitivity(request)) == ("DiscreteLaplace", 1)
    assert mechanism.cost.epsilon == 1  # no share of it measures whom a bound leaves out
    assert request.question.accuracy(1000).within == lb.DiscreteLaplace(epsilon=1).accuracy("0.95")


@pytest.mark.parametrize(
    "groups",
    [
        {"edges": {"place": [1, 2, 3]}},
        {"edges": EDGES, "by": {"ward": ["a", "b"]}},
        {"edges": {"visits": [1, 2], "place": [1, 2]}},
    ],
)
def test_a_column_of_rows_among_the_groups_changes_nothing(groups: dict[str, Any]) -> None:
    request = parse("count", **groups)
    assert sensitivity(request) == request.items.size > 1
    assert request.items.item_limit is None


@pytest.mark.parametrize("kind", ["mean", "sum", "median", "share"])
def test_numbers_of_groups_pay_for_one(kind: str) -> None:
    numbers = {"of": "cost"} if kind == "share" else NUMBERS
    own, typed, of_rows = (
        parse(kind, **numbers, by=by, one_each=one, people_share=0).question.mechanism
        for by, one in ((WARDS, False), ({"ward": ["a", "b"]}, True), ({"ward": ["a", "b"]}, False))
    )
    assert repr(own) == repr(typed) != repr(of_rows)


def test_a_selection_in_each_group_pays_for_one() -> None:
    def build(column: str) -> Any:
        domain = ["item=x,y", f"{column}=a,b"]
        request = KINDS["top"].parse({**BASE, "by": "item", "domain": domain, "in_each": column, "k": 1})
        return request.question.mechanism

    own, of_rows = build("last"), build("ward")
    assert (own.parameters["most_groups"], of_rows.parameters["most_groups"]) == ("1", "2")


def test_tables_measure_nobody_who_is_cut() -> None:
    cost = {"epsilon": None, "rho": "1/20"}
    own = parse("tables", edges=EDGES, by=WARDS, **cost, most_items=3).question
    assert (own.mechanism.name, own.mechanism.parameters["most_records"]) == ("Tables", "1")
    assert parse("tables", edges=EDGES, by={"ward": ["a", "b"]}, **cost).question.mechanism.name != "Tables"


def make_visits(people: int = 60) -> pd.DataFrame:
    """People with one to six visits, wards that change, ties between days and missing costs."""
    chance = np.random.default_rng(3)
    patients = np.repeat(np.arange(people), chance.integers(1, 7, people))
    return pd.DataFrame(
        {
            "patient": patients,
            "day": chance.integers(1, 4, len(patients)),
            "ward": chance.choice(["a", "b", "c"], len(patients)),
            "cost": chance.choice([1.5, 4.0, np.nan, 20.0], len(patients)),
        }
    )


def test_one_person_moves_the_counts_by_one_in_all() -> None:
    frame, request = make_visits(), parse("count", edges=EDGES, by=WARDS)
    assert find_spark(frame) is None
    counts = lambda rows: np.array(request.question.reading.run(frame=rows).values)  # noqa: E731
    everybody = counts(frame)
    moved = [everybody - counts(frame[frame["patient"] != patient]) for patient in range(12)]
    assert {tuple(sorted(set(own.tolist()))) for own in moved} <= {(0,), (0, 1)}
    assert {int(own.sum()) for own in moved} == {0, 1}  # someone's last ward is not listed


def test_the_answer_says_why() -> None:
    frame = make_visits()
    release = lb.ask("count", frame, unit="patient", noun="patients", let=LETS, edges=EDGES, epsilon=50)
    true = frame.groupby("patient").size().clip(upper=3).value_counts().sort_index()
    assert list(release.to_frame()["value"]) == true.tolist()
    why = "A patient is in one group at most: visits is the same in all rows of a patient."
    assert release.title == "Patients by visits (each in one)"
    assert why in str(release)
    assert why in release.methods()
    assert "picked at random" not in str(release) + release.methods()


def test_an_expression_of_one_row_makes_no_group_of_a_person() -> None:
    assert parse("count", let={"dear": "cost > 9"}, by={"dear": ["true", "false"]}).items.item_limit is None


def test_rows_of_many_people_are_refused_as_before() -> None:
    with pytest.raises(LastbitError, match="unit"):
        _ = KINDS["count"].parse({**BASE, "unit": None, "edges": EDGES}).items
