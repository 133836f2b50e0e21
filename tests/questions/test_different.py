"""`count --different`: what may be asked, how far one person moves it, and what is said beside the number."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit.questions.identity import identity_of, rebuild_request
from lastbit.questions.kinds import KINDS

ASKED: dict[str, Any] = {"source": "v.csv", "unit": "who", "different": "item", "epsilon": 1}
WARDS: dict[str, Any] = {"by": "ward", "domain": {"ward": ["n", "s", "w"]}}
LISTED: dict[str, Any] = {"domain": {"item": ["a", "b", "c", "d"]}}
BOTH: dict[str, Any] = {"by": "ward", "domain": {**WARDS["domain"], **LISTED["domain"]}}


def parse(**options: Any) -> Any:
    return KINDS["count"].parse({**ASKED, **options})


@pytest.mark.parametrize(
    ("options", "laplace", "squared"),
    [
        ({"most_items": 5}, 5, 25),  # all of them may be new
        ({"one_each": True}, 1, 1),
        ({"most_items": 5, **WARDS}, 5, 25),  # all of them may be in one ward
        (LISTED, 4, 16),
        ({**LISTED, "most_items": 3}, 3, 9),
        ({**LISTED, "most_items": 9}, 4, 16),  # no more than are listed
        (BOTH, 12, 48),  # 4 values in 3 wards: 3 numbers move by 4
        ({**BOTH, "most_items": 6}, 6, 24),  # 4 in one ward and 2 in another: 20, and no more than 4 times 6
        ({**BOTH, "most_items": 2}, 2, 4),
        ({"unit": "row"}, 1, 1),
        ({"unit": "row", **LISTED}, 1, 1),
    ],
)
def test_the_noise_is_for_what_one_person_brings(options: dict[str, Any], laplace: int, squared: int) -> None:
    by_cost = {"epsilon": {"epsilon": 1, "rho": None}, "rho": {"epsilon": None, "rho": "1/2"}}
    parts = {name: parse(**{**options, **cost, "people_share": "0"}).question for name, cost in by_cost.items()}
    assert parts["epsilon"].mechanism.sensitivity == laplace
    gaussian = parts["rho"].mechanism
    assert (gaussian.squared_sensitivity or gaussian.sensitivity**2) == squared
    for question in parts.values():
        question.prepare(question.sample(100))  # the values state no more than the noise covers
        assert question.accuracy(1).total == (4 if "item" in (options.get("domain") or {}) else None)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({}, "--different needs --most-items: how many different items one person brings at most"),
        (WARDS, "--different needs --most-items"),
        ({"most_items": "all"}, "--different needs --most-items"),
        ({**LISTED, "edges": {"age": "auto:5"}}, "--different needs edges that are typed: got automatic bins of age"),
        ({"most_items": "auto"}, "--different needs a number in place of --most-items auto"),
        ({"most_items": 2, "by": "ward"}, "--domain must be given once for each --by"),
        ({"most_items": 2, "by": "ward", "discover": True, "delta": "1e-6"}, "leave --discover and --delta out"),
        ({"most_items": 2, "delta": "1e-6"}, "leave --discover and --delta out"),
        ({"most_items": 2, "rows": True, "most_rows": 2}, "leave --counts, --weights, --bounds, --rows and"),
        ({"most_items": 2, "weights": "cost", "bounds": [0, 9]}, "leave --counts, --weights, --bounds, --rows and"),
        ({"most_items": 2, "missing": "show", **WARDS}, "leave --missing show and --others show out"),
        ({"most_items": 2, "others": "show", **WARDS}, "leave --missing show and --others show out"),
        ({"most_items": 2, "different": "who"}, "--different must be another column than --unit: got 'who' for both"),
        ({"most_items": 2, "by": "item", "domain": {"item": ["a"]}}, "got 'item' twice"),
        ({"most_items": 2, "epsilon": None}, "exactly one of --epsilon, --rho and --within"),
        ({"most_items": 0}, "--most-items must be"),
    ],
)
def test_what_cannot_be_asked_says_what_to_type(options: dict[str, Any], wrong: str) -> None:
    with pytest.raises(lb.ParameterError, match=wrong.replace("'", ".")):
        _ = parse(**options).question


def test_a_plan_takes_the_length_of_the_list_in_place_of_the_values() -> None:
    asked = {"different": "item", "epsilon": 1}
    of_list = KINDS["count"].parse_plan({**asked, "domain": "a,b,c,d"}).question
    of_length = KINDS["count"].parse_plan(asked, items=4).question
    assert of_list.mechanism.sensitivity == of_length.mechanism.sensitivity == 4
    wards = KINDS["count"].parse_plan({**asked, "by": "ward", "domain": "n,s", "most_items": 3}).question
    assert wards.mechanism.parts["answer"].sensitivity == 3


@pytest.fixture
def visits() -> pd.DataFrame:
    people = np.repeat(np.arange(400), 3)
    items = [None if n % 50 == 0 else f"d{n % 37}" for n in range(1200)]
    return pd.DataFrame({"who": people, "item": items, "ward": [*"nsw"] * 400, "age": people % 90})


def test_the_answer_names_what_it_counts(visits: pd.DataFrame) -> None:
    asked = {"unit": "who", "different": "item", "epsilon": 60, "noun": "patient,patients"}
    few = lb.ask("count", visits, **asked, most_items=2)
    assert few.title == "Different items of patients"
    assert list(few.to_frame()) == ["value", "low", "high", "bounded_value", "bounded_low", "bounded_high"]
    assert few.to_frame()["value"].tolist() == [37]
    assert np.isnan(few.to_frame()["high"][0])
    assert few.data["meaning"]["value"] == "all different items of patients"
    assert few.data["meaning"]["bounded_value"] == "different items of patients counted"
    # Who has three items has more than two: 24 of 400 have a row without one.
    assert (few.data["cut"], few.data["most_items"]) == (376, 2)
    said = " ".join(str(few).split())
    assert "A patient brings at most 2 different items, picked at random: 376 patients (" in said
    assert "so that there may be more different items than were counted. Rows without who are left out." in said
    assert "Each patient brought at most 2 different items, chosen at random where there were more." in few.methods()
    groups = lb.ask("count", visits, **asked, by={"ward": ["n", "s"]}, most_items=3)
    assert groups.title == "Different items of patients by ward"
    assert groups.to_frame()["value"].tolist() == [37, 37]
    assert "at most 3 different items, in all groups together, picked at random: 0 patients" in str(groups)
    listed = lb.ask("count", visits, **asked, domain={"item": ["d1", "d2", "nobody has it"]})
    assert listed.to_frame()["value"].tolist() == [2]
    assert list(listed.to_frame()) == ["value", "low", "high"]
    assert "counted" not in str(listed)
    assert lb.ask("count", visits, **asked, edges={"age": [30, 60, 200]}, where="age < 70", most_items=1).title == (
        "Different items of patients by age, of rows where age < 70"
    )
    ages = lb.ask("count", visits, **{**asked, "different": "age"}, edges={"age": [0, 30, 60]}, where="age < 50")
    assert (ages.title, ages.to_frame()["value"].tolist()) == (
        "Different groups of age of patients, of rows where age < 50",
        [2],
    )


def test_the_books_know_it_again_and_columns_say_what_is_public() -> None:
    one, other = parse(most_items=1), parse(one_each=True)
    assert identity_of(one) == identity_of(other) != identity_of(parse(most_items=2))
    assert identity_of(one)["options"] == {"unit": "who", "different": "item", "most_items": 1}
    kinds = [identity_of(parse(most_items=1, different=name)) for name in ("item", "day")]
    assert kinds[0] != kinds[1]
    kept = {"version": 1, "question": "count", "table": ["-"]}
    options = {"unit": "who", "different": "item", "most_items": 1}
    again = rebuild_request(json.dumps({**kept, "options": options}), ["-"], lambda _: None, epsilon=1)
    assert again is not None
    assert again["different"] == "item"
    facts = {"item": {"discover": True, "most_items": 3}, "ward": {"values": ["n", "s"], "one_each": True}}
    known = parse(columns=facts, by="ward")
    assert (known["most_items"], known["discover"], known.question.mechanism.parts["answer"].sensitivity) == (
        3,
        None,
        3,
    )
    facts = {"item": {"values": ["a", "b"]}}
    assert parse(columns=facts).question.mechanism.sensitivity == 2


def test_spark_is_refused_before_a_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lastbit.data.engines.find_spark", lambda frame: frame)
    with pytest.raises(lb.ParameterError, match="Spark does not count that"):
        lb.ask("count", object(), unit="who", different="item", most_items=2, epsilon=1)
