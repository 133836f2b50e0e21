"""Questions as a whole, on small tables: what is read, and every part that is drawn, within the cost on neighbours."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.kinds import KINDS
from lastbit.values.contribution_bound import one_key

PEOPLE = {"ann": [("x", 3), ("y", 9)], "bob": [("x", -2)], "eve": [("y", 1), ("x", 4), ("x", 5)]}
LISTED = {"unit": "who", "by": "item", "domain": "x,y"}
OF = {"unit": "who", "of": "number"}

GROUPED: dict[str, Any] = {**OF, "bounds": (0, 2), "by": "item", "domain": "x,y"}

ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "one item each": ("count", {**LISTED, "one_each": True}),
    "an automatic bound": ("count", {**LISTED, "most_items": "auto"}),
    "sums": ("count", {**LISTED, "one_each": True, "weights": "number", "bounds": (0, 2)}),
    "rows": ("count", {"unit": "who", "rows": True, "most_rows": 2}),
    "rows by listed group": ("count", {**LISTED, "rows": True, "most_rows": 2}),
    "a clamped sum": ("sum", {**OF, "bounds": (0, 2)}),
    "a clamped mean": ("mean", {**OF, "bounds": (0, 2)}),
    "rows of a person": ("mean", {**OF, "bounds": (0, 2), "per": "row", "most_rows": 1}),
    "means by group": ("mean", {**GROUPED, "resolution": 2}),
    "means by group, one each": ("mean", {**GROUPED, "resolution": 2, "one_each": True}),
    "means by group, an automatic bound": ("mean", {**GROUPED, "resolution": 2, "most_items": "auto"}),
    "rows by group": ("mean", {**GROUPED, "resolution": 2, "per": "row", "most_rows": 2}),
    "sums by group": ("sum", {**GROUPED, "resolution": 2}),
    "all medians by group": ("median", {**GROUPED, "resolution": 1}),
    "medians of rows by group": ("median", {**GROUPED, "resolution": 1, "per": "row", "most_rows": 2}),
    "shares by group": ("share", {"unit": "who", "of": "number > 3", "by": "item", "domain": "x,y"}),
    "shares of rows": ("share", {"unit": "who", "of": "number > 3", "rows": True, "most_rows": 2}),
    "a median": ("median", {**OF, "bounds": (0, 2), "resolution": 1}),
    "medians by group": (
        "median",
        {**GROUPED, "resolution": 1, "one_each": True},
    ),
}


def program(folder: Path, kind: str, options: dict[str, Any], people: tuple[str, ...], key: int) -> Any:
    """The whole question about these people, with a lot that a key decides."""
    path = folder / f"{'-'.join(people)}.csv"
    path.write_text("who,item,number\n" + "".join(f"{who},{a},{b}\n" for who in people for a, b in PEOPLE[who]))
    question = KINDS[kind].parse({"source": str(path), **options, "epsilon": 60, "people_share": "1/6"}).question
    assert question.reading is not None
    with one_key(key):
        return question.prepare(question.reading.run()), question.mechanism.cost


@pytest.mark.parametrize("name", ASKED)
def test_a_person_who_comes_or_goes_moves_the_law_within_the_cost(name: str, tmp_path: Path) -> None:
    kind, options = ASKED[name]
    key = 7
    everybody = tuple(PEOPLE)
    whole, cost = program(tmp_path, kind, options, everybody, key)
    assert cost == 60
    for gone in ("ann", "eve"):
        rest, _ = program(tmp_path, kind, options, tuple(who for who in everybody if who != gone), key)
        verdict = lb.audit.compare(whole, rest, cost, Fraction(1, 8))
        assert verdict.holds, f"{name} without {gone}: {verdict}"


def test_a_bound_that_is_forgotten_is_convicted(tmp_path: Path) -> None:
    """The negative control: the noise of one item each on counts of all items."""
    bounded, _ = program(tmp_path, *ASKED["one item each"], tuple(PEOPLE), 1)
    question = KINDS["count"].parse({"source": "v.csv", **LISTED, "one_each": True, "epsilon": 1}).question
    assert question.mechanism.parameters["answer.sensitivity"] == "1"
    mechanism = lb.DiscreteLaplace(epsilon=1)
    programs = (mechanism.program([2, 2]), mechanism.program([1, 1]))
    assert lb.audit.compare(*programs, mechanism.cost, Fraction(1, 1 << 9)).verdict == "violated"
    assert bounded is not None
