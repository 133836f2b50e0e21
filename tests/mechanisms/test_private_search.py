"""PrivateSearch is PrivateSelection over the points of a grid."""

from __future__ import annotations

import json
import threading
from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb
from lastbit.mechanisms.private_search import expand_grid

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
    assert [(point["a"], point["b"]) for point in expand_grid(grid)] == points
    assert all(list(point) == ["a", "b"] for point in expand_grid(grid))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": []}, "at least one point"),
        ({"grid": {"depth": []}}, "at least one point"),
        ({"grid": {"depth": 3}}, "grid must map each name to a list: got int for 'depth'"),
        ({"grid": "depth"}, "grid must map names to lists"),
        ({"grid": [3]}, "grid must map names to lists"),
        ({"fit_score": None}, "fit_score must be a function"),
        (
            {"fit_score": lambda parameters: ("model", 1)},
            r"it takes \(parameters\)\. Write def fit_score\(parameters, draw",
        ),
        ({"fit_score": lambda parameters, draw, data: ("model", 1)}, r"takes \(parameters, draw, data\)"),
        ({"grid": {"depth": [threading.Lock()]}}, "grid must have values that copy.deepcopy can copy"),
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


class Estimator:
    """Compared by what it is, not by its state, as most estimators are."""

    fitted = 0


def test_a_fit_that_changes_the_objects_of_the_grid_changes_no_other_fit_and_is_not_published():
    seen = []
    grid = {"estimator": [Estimator()], "options": [[]]}

    def spoils(parameters, draw):
        seen.append((parameters["estimator"].fitted, list(parameters["options"])))
        parameters["estimator"].fitted += 1
        parameters["options"].append(len(seen))
        grid["options"][0].append("the caller's own")
        return parameters["estimator"], 1

    search = lb.PrivateSearch(grid=grid, fit_score=spoils, candidate_cost=1, most=6, constant=True)
    first, second = search.release(), search.release()
    assert seen == [(0, [])] * 12
    # Not even a reader who changes what one release hands out changes another.
    first.best_params_["options"].append("a reader's")
    first.columns()["param_options"][0].append("a reader's")
    search.points[0]["options"].append("a reader's")
    for found in (first, second):
        assert found.best_params_["options"] == []
        assert found.best_params_["estimator"].fitted == 0
        assert found.best_estimator_.fitted == 1


def test_copies_of_parameters_do_not_make_equal_outcomes_different():
    search = lb.PrivateSearch(**{**SEARCH, "grid": {"depth": [1, 2], "estimator": [Estimator()]}})
    assert len(lb.audit.law(search.program()).masses) == 4


def test_parameters_with_the_names_of_facts_hide_no_fact():
    search = lb.PrivateSearch(
        grid={"cost": [10], "mechanism": ["svm"], "score": [7]},
        fit_score=lambda p, draw: ("m", 1),
        candidate_cost=1,
        most=1,
    )
    given = json.loads(search.release().to_json())
    assert given.pop("costs")["epsilon"] == 3
    assert given == {
        "mechanism": "PrivateSearch",
        "cost": "epsilon 3",
        "schema": "lastbit-release-1",
        "columns": ["param_cost", "param_mechanism", "param_score", "score"],
        "param_cost": [10],
        "param_mechanism": ["svm"],
        "param_score": [7],
        "score": [1],
        "exact": {"score": ["1"]},
    }


@pytest.mark.parametrize(("constant", "fits"), [(True, 4), (False, 1)])
def test_constant_is_handed_on(constant, fits):
    seen = []

    def fit(parameters, draw):
        seen.append(parameters)
        return "model", 1

    search = lb.PrivateSearch(**{**SEARCH, "fit_score": fit, "most": 4, "constant": constant})
    # Words of zeros: one round counts.
    search.release(draw=lb.Sampler(lb.Tape([0] * 20)))
    assert len(seen) == fits


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
    assert str(found).splitlines()[1].split() == ["param", "depth", "score"]
    assert search.parameters == {
        "grid": "2 points",
        "candidate_cost": "1",
        "most": "3",
        "law": "uniform",
        "constant": "False",
    }
    assert search == lb.PrivateSearch(**SEARCH)
