"""Groups that are the same in all rows of a person: each person is in one, and no bound is measured or needed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit.data.engines import find_spark
from lastbit.errors import LastbitError, ParameterError
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


def test_an_expression_of_by_never_passes_for_a_column_of_the_person() -> None:
    with pytest.raises(ParameterError, match="a name of its own: 'visits' is the column of --let"):
        _ = parse("count", by="cost // 10 as visits", domain="0..9").question


FOUR = pd.DataFrame({"patient": np.repeat(np.arange(100), 4), "x": list("abcd") * 100, "ward": ["n", "s"] * 200})


@pytest.mark.parametrize("bound", [{}, {"one_each": True}, {"most_items": 2}, {"most_items": "auto"}])
@pytest.mark.parametrize(("group", "values"), [("v", "4"), ("ward", "n,s")])
def test_people_count_for_all_items_of_their_group(bound: dict[str, Any], group: str, values: str) -> None:
    """A bound is on groups. Where it leaves nobody out of one, it takes no item from anybody either."""
    domain = ["x=a,b,c,d", f"{group}={values}"]
    asked = {"by": "x", "in_each": group, "domain": domain, "let": {"v": "count(*)"}, "k": 4, "numbers": True}
    answer = lb.ask("top", FOUR, unit="patient", epsilon=1000, **asked, **bound).to_frame()
    counts = {key: round(float(value)) for key, value in zip(answer["x"], answer["value"], strict=True)}
    if group == "v":
        assert counts == dict.fromkeys("abcd", 100)
        assert "picked at random" not in str(answer.columns)
    elif not bound.get("one_each"):
        # Everybody is in both wards: with two or more of them a person counts in each, for both items there.
        assert sorted(round(float(value)) for value in answer["value"]) == [0] * 4 + [100] * 4


@pytest.mark.parametrize("group", [{"by": "day", "domain": "1..3"}, {"edges": {"day": [1, 2, 3]}}])
def test_a_part_of_the_unit_puts_each_of_its_units_in_one_group(group: dict[str, Any]) -> None:
    frame = make_visits()
    request = KINDS["count"].parse({"source": "-", "unit": ["patient", "day"], **group, "epsilon": 1})
    assert (sensitivity(request), request.items.item_limit) == (1, 1)
    true = frame.drop_duplicates(["patient", "day"])["day"].value_counts().sort_index()
    assert [int(value) for value in request.question.reading.run(frame=frame).values] == true.tolist()
    release = lb.ask("count", frame, unit=["patient", "day"], **group, epsilon=1)
    assert "A patient-day is in one" in str(release)
    assert "day is the same in all rows of a patient-day" in str(release)


def test_a_noun_is_not_one_of_the_columns_of_the_unit() -> None:
    request = KINDS["count"].parse({"source": "-", "unit": ["patient", "day"], "noun": "patient", "epsilon": 1})
    with pytest.raises(ParameterError, match="combinations of patient and day: got 'patient'"):
        _ = request.words


def test_totals_of_groups_of_which_each_person_is_in_one() -> None:
    asked = {"unit": "patient", "let": LETS, "edges": EDGES, "by": WARDS, "pivot": "last,visits", "epsilon": 50}
    release = lb.ask("count", make_visits(), **asked)
    assert "(all)" in str(release)
    assert "there are no totals" not in str(release)
    of_rows = lb.ask("count", make_visits(), **{**asked, "by": {"ward": ["a", "b"]}, "pivot": "ward,visits"})
    assert "there are no totals" in str(of_rows)


def test_an_answer_says_what_the_columns_of_people_are_that_it_reads() -> None:
    release = lb.ask("count", make_visits(), unit="patient", noun="patients", let=LETS, edges=EDGES, epsilon=1)
    assert "visits is count(*), of the rows of one patient." in str(release)
    assert "row_number" not in str(release)  # which this question does not read
    share = lb.ask(
        "share", make_visits(), unit="patient", let={"a": "any(cost > 9)", "b": "a and true"}, of="b", epsilon=1
    )
    assert "a is any(cost > 9), of" in str(share)
    assert "b is a and true, of" in str(share)


def test_items_of_a_text_are_not_called_by_the_name_of_a_row() -> None:
    asked = {"unit": "patient", "split": ["ward", "/"], "row_noun": "visit,visits", "most_rows": 9, "epsilon": 1}
    release = lb.ask("count", make_visits(), rows=True, **asked)
    assert release.title == "Items"
    assert "a visit counts once for each of its items" in str(release)


def test_an_expression_of_one_row_makes_no_group_of_a_person() -> None:
    assert parse("count", let={"dear": "cost > 9"}, by={"dear": ["true", "false"]}).items.item_limit is None


def test_rows_of_many_people_are_refused_as_before() -> None:
    with pytest.raises(LastbitError, match="unit"):
        _ = KINDS["count"].parse({**BASE, "unit": None, "edges": EDGES}).items
