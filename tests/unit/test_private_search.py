"""PrivateSearch is PrivateSelection over the points of a grid."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb
from lastbit.mechanisms.private_search import expanded

MASSES = {1: (Fraction(1, 2), Fraction(1, 2)), 2: (Fraction(1, 4), Fraction(3, 4))}


def fit_score(parameters, draw):
    return parameters["depth"], draw.index(MASSES[parameters["depth"]])


SEARCH = {"grid": {"depth": [1, 2]}, "fit_score": fit_score, "candidate_cost": 1, "most": 3}


@pytest.mark.parametrize("more", [{}, {"law": 0}, {"threshold": 1}, {"constant": True}])
def test_the_law_is_that_of_the_selection(more):
    search = lb.PrivateSearch(**{**SEARCH, **more})
    same = lb.PrivateSelection(
        candidates=[lambda draw, depth=depth: fit_score({"depth": depth}, draw) for depth in (1, 2)],
        candidate_cost=1,
        **{"most": 3, **more},
    )
    assert search.cost == same.cost
    found, right = lb.audit.law(search.program()), lb.audit.law(same.program())
    assert {(each.place, each.model, each.score): mass for each, mass in found.masses.items()} == {
        (each.candidate, each.output, each.score): mass for each, mass in right.masses.items()
    }
    assert all(each.parameters == (None if each.place is None else {"depth": each.model}) for each in found.masses)


@pytest.mark.parametrize(
    ("grid", "points"),
    [
        ({"b": [1, 2], "a": ["x", "y"]}, [("x", 1), ("x", 2), ("y", 1), ("y", 2)]),
        ([{"a": ["x"], "b": (1, 2)}, {"a": "y", "b": 3}], [("x", 1), ("x", 2), ("y", 3)]),
        ({"a": np.array([1.0, 2.0]), "b": range(1)}, [(1.0, 0), (2.0, 0)]),
    ],
)
def test_grids_are_expanded_in_a_known_order(grid, points):
    assert [(point["a"], point["b"]) for point in expanded(grid)] == points
    assert all(list(point) == ["a", "b"] for point in expanded(grid))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": []}, "at least one point"),
        ({"grid": {"depth": []}}, "at least one point"),
        ({"grid": {"depth": 3}}, "grid must map each name to a list: got int for 'depth'"),
        ({"grid": "depth"}, "grid must map names to lists"),
        ({"grid": [3]}, "grid must map names to lists"),
        ({"fit_score": None}, "fit_score must be a function"),
        ({"most": 0}, "most must be"),
        ({"law": -1}, "law must be above -1"),
    ],
)
def test_bad_parameters_are_refused_when_it_is_built(change, message):
    with pytest.raises(lb.ParameterError, match=message):
        lb.PrivateSearch(**{**SEARCH, **change})


def test_a_fit_that_changes_its_parameters_changes_no_other_fit():
    seen = []

    def spoils(parameters, draw):
        seen.append(dict(parameters))
        parameters["depth"] = "spoiled"
        return "model", 1

    search = lb.PrivateSearch(**{**SEARCH, "fit_score": spoils, "most": 4, "constant": True})
    found = search.release()
    assert found.best_params_ in ({"depth": 1}, {"depth": 2})
    assert len(seen) == 4
    assert all(each["depth"] in (1, 2) for each in seen)


def test_a_failing_fit_is_not_seen():
    def fails(parameters, draw):
        raise ValueError("patient 17")

    found = lb.PrivateSearch(**{**SEARCH, "fit_score": fails}).release()
    assert found.parameters is found.best_estimator_ is found.best_score_ is None
    assert "patient" not in f"{found!r}{found.to_json()}"


def test_a_ledger_charges_it_and_writes_no_code(tmp_path):
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=4)
    search = lb.PrivateSearch(**SEARCH)
    found = ledger.release("clinic", search)
    assert ledger.account("clinic").remaining == 1
    assert str(found).splitlines()[1].split() == ["depth", "score"]
    assert search.parameters == {
        "grid": "2 points",
        "candidate_cost": "1",
        "most": "3",
        "law": "uniform",
        "constant": "False",
    }
    assert search == lb.PrivateSearch(**SEARCH)
