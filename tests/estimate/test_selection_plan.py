"""The plan of a private selection: what a budget buys, exactly."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

import lastbit as lb
from lastbit.chance.rounds import Rounds


def test_the_table_of_rounds_against_quality() -> None:
    plan = lb.PrivateSelection.plan(3, 1, mean=100)
    shown = [line.split() for line in str(plan).splitlines()[2:]]
    assert [(line[0], line[1], *line[-3:]) for line in shown] == [
        ("uniform", "199", "0.095", "0.242", "0.430"),
        ("1/2", "285", "0.192", "0.336", "0.489"),
        ("0", "716", "0.419", "0.547", "0.644"),
        ("-1/2", "31216", "0.779", "0.861", "0.903"),
    ]
    assert [option.cost for option in plan.options] == [3, Fraction(5, 2), 2, Fraction(3, 2)]
    assert plan.best.misses[2] == Rounds.of("uniform", 199).misses(Fraction(1, 100))
    assert repr(plan) == str(plan)


@pytest.mark.parametrize(
    ("budget", "each", "laws"),
    [
        ("3.2", 1, [Fraction(6, 5), "uniform", Fraction(1, 2), 0, Fraction(-1, 2)]),
        (10, 1, [2, "uniform", Fraction(1, 2), 0, Fraction(-1, 2)]),
        ("2.2", 1, [Fraction(1, 5), 0, Fraction(-1, 2)]),
        ("1.1", 1, [Fraction(-9, 10)]),
        (lb.Eta(1, 1, 3), lb.Eta(1, 1, 1), ["uniform", Fraction(1, 2), 0, Fraction(-1, 2)]),
        (lb.Eta(1, 1, 2), lb.Eta(1, 1, 1), [0, Fraction(-1, 2)]),
    ],
)
def test_only_what_the_budget_pays_for_and_the_law_that_spends_it(budget: object, each: object, laws: list) -> None:
    plan = lb.PrivateSelection.plan(budget, each, most=20)
    assert [option.law for option in plan.options] == laws
    assert all(option.cost <= plan.budget for option in plan.options)
    for option in plan.options:
        built = lb.PrivateSelection(
            candidates=[lambda draw: (1, 1)], candidate_cost=each, most=option.most, law=option.law
        )
        assert built.cost == option.cost


def test_without_a_candidate_it_says_what_one_may_cost() -> None:
    plan = lb.PrivateSelection.plan(3, most=20, shares=["1/10"])
    assert {str(option.law): option.candidate_cost.epsilon for option in plan.options} == {
        "uniform": 1,
        "1/2": Fraction(6, 5),
        "0": Fraction(3, 2),
        "-1/2": 2,
    }
    assert all(option.cost == 3 for option in plan.options)
    assert list(plan.columns())[-1] == "misses top 10%"


@pytest.mark.parametrize("mean", [1, "3/2", "18/11", "24/13", 7, "20.5"])
def test_most_is_the_least_with_the_mean(mean: object) -> None:
    for option in lb.PrivateSelection.plan(4, 1, mean=mean).options:
        assert option.rounds.mean >= Fraction(mean)
        assert option.most == 1 or Rounds.of(option.law, option.most - 1).mean < Fraction(mean)


@pytest.mark.parametrize("eta", [Fraction(1, 2), Fraction(0), Fraction(-1, 2)])
@pytest.mark.parametrize("most", [2, 3, 4, 10, 31])
def test_a_mean_that_is_reached_exactly_is_reached(eta: Fraction, most: int) -> None:
    """18/11 is the mean of three rounds in proportion to 1/k; floored masses alone would ask for a fourth."""
    plan = lb.PrivateSelection.plan(3, 1, mean=Rounds.of(eta, most).mean)
    assert {option.law: option.most for option in plan.options}[eta] == most


def test_the_bounds_alone_do_not_decide_which_most_is_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = lb.PrivateSelection.plan(4, 1, mean=7)
    monkeypatch.setattr(sys.modules["lastbit.estimate.selection_plan"], "_BITS", 3)
    assert lb.PrivateSelection.plan(4, 1, mean=7) == exact


def test_laws_that_take_fewer_rounds_are_left_out() -> None:
    (only,) = lb.PrivateSelection.plan(3, 1, most=200_000).options
    assert (only.law, only.most, only.rounds.mean) == ("uniform", 200_000, Fraction(200_001, 2))
    # x + x^2 + ... + x^N = (x - x^(N+1))/(1 - x)
    x = Fraction(19, 20)
    assert only.misses[0] * 200_000 * (1 - x) == x - x**200_001


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((3, 1), {}, "exactly one of most and mean"),
        ((3, 1), {"most": 3, "mean": 2}, "exactly one of most and mean"),
        ((1, 1), {"most": 3}, "budget must be more than the cost of a candidate"),
        ((3, 1), {"mean": "1/2"}, "mean must be at least 1"),
        (
            (3, 1),
            {"mean": 10**30},
            "mean must be smaller: got 1000000000000000000000000000000. No law .* takes so many",
        ),
        ((3, 1), {"most": 10**30}, "the uniform law takes up to 1,198,372 here, others up to 131,072"),
        ((3, 1), {"most": 10**30, "shares": [f"1/{10**300}"]}, "up to 8,413 here, others up to 8,413"),
        (("3/2", 1), {"mean": 300}, "mean must be smaller: got 300"),
        ((3, 1), {"most": 3, "shares": []}, "at least one share"),
        ((3, 1), {"most": 3, "shares": [1]}, "a share must be above 0 and below 1"),
        ((lb.Cost.zcdp(1), 1), {"most": 3}, "budget must be a pure cost"),
        ((3, lb.Cost.zcdp(1)), {"most": 3}, "candidate_cost must be a pure cost"),
    ],
)
def test_wrong_questions_are_refused(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.PrivateSelection.plan(*arguments, **options)
