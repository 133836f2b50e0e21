"""What the questions of a study cost: never more than the budget together, in any currency."""

from __future__ import annotations

from fractions import Fraction

import pytest

import lastbit as lb
from lastbit.publication.pricing import Budget, Wish, at_price, round_down, share_delta, share_rest
from lastbit.questions.kinds import KINDS

TABLE = {"source": "visits.csv", "unit": "patient"}
QUESTIONS = {
    "count": {},
    "mean": {"of": "cost", "bounds": [0, 100]},
    "median": {"of": "cost", "bounds": [0, 100]},
    "top": {"by": "ward", "domain": ["a", "b", "c"], "k": 2},
    "share": {"of": "cost > 3"},
}


def wish(name: str, *, weight: int = 1, within: str | None = None, discovers: bool = False) -> Wish:
    kind = name if name in QUESTIONS else "count"
    request = KINDS[kind].parse({**TABLE, **QUESTIONS[kind], "epsilon": 1})
    return Wish(name, request, Fraction(weight), within, discovers)


@pytest.mark.parametrize("value", [Fraction(2, 3), Fraction(12), Fraction(1, 3 * 10**9), Fraction(999999, 7)])
@pytest.mark.parametrize("digits", [1, 5, 10])
def test_prices_are_rounded_down_to_a_few_digits(value: Fraction, digits: int) -> None:
    price = round_down(value, digits)
    assert value * (1 - Fraction(10) ** (1 - digits)) < price <= value
    assert len(str(price.numerator * 10**40 // price.denominator).rstrip("0")) <= digits


@pytest.mark.parametrize("weights", [[1], [1, 1, 1], [3, 1, 7]])
def test_weights_share_what_wishes_leave(weights: list[int]) -> None:
    budget = Budget.of({"epsilon": 3})
    wishes = [wish("count", within="5"), *(wish(f"question {place}", weight=own) for place, own in enumerate(weights))]
    prices = share_rest(budget, wishes, {"count": Fraction(1)})
    assert prices["count"] == 1
    for place, own in enumerate(weights):
        share = Fraction(2 * own, sum(weights))
        assert share * Fraction(9999, 10000) < prices[f"question {place}"] <= share


@pytest.mark.parametrize("cost", [Fraction(3), Fraction(7, 2)])
def test_wishes_that_leave_nothing_name_the_dearest(cost: Fraction) -> None:
    wishes = [wish("count", within="5"), wish("mean", within="5"), wish("other")]
    with pytest.raises(lb.ParameterError, match="dearest is 'mean'"):
        share_rest(Budget.of({"epsilon": 3}), wishes, {"count": Fraction(1, 2), "mean": cost - Fraction(1, 2)})


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_delta_of_all_discoveries_and_of_the_noise_is_that_of_the_budget(number: int) -> None:
    budget = Budget.of({"epsilon": 3, "delta": "1e-6"})
    wishes = [wish(f"found {place}", discovers=True) for place in range(number)]
    shares = share_delta(budget, wishes)
    together = sum(shares.values(), Fraction(0))
    assert budget.delta * Fraction(9999, 10000) < together <= budget.delta
    # What is left of 1e-6 lets the rho of the budget be said as its epsilon.
    noise = lb.Cost.zcdp(budget.total)
    assert budget.delta < Fraction(1, 10**6)
    assert noise.epsilon_at(Fraction(1, 10**6) - together) <= 3


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_costs_its_price_at_most(name: str, currency: str) -> None:
    budget = Budget.of({"epsilon": 3, **({"delta": "1e-6"} if currency == "rho" else {})})
    assert budget.currency == currency
    for price in (Fraction(1, 1000), Fraction(1, 7)):
        cost = at_price(budget, wish(name), price, None, 1000).question.mechanism.cost
        assert (cost.rho if currency == "rho" else cost.epsilon) <= price


@pytest.mark.parametrize("typed", [{"epsilon": 3}, {"rho": 1}])
@pytest.mark.parametrize("units", [2, 5])
def test_a_person_with_several_units_costs_the_price_and_hardly_less(typed: dict, units: int) -> None:
    budget, price = Budget.of(typed), Fraction(1, 2)
    days = {"source": "v.csv", "unit": ["user", "day"], "most_units": units, "epsilon": 1}
    asked = Wish("days", KINDS["count"].parse(days), Fraction(1))
    cost = at_price(budget, asked, price, None, 1000).question.mechanism.cost
    paid = cost.rho if budget.currency == "rho" else cost.epsilon
    assert Fraction(9, 10) * price < paid <= price
    with pytest.raises(lb.ParameterError, match="most_units goes with groups that are listed"):
        at_price(budget, asked, price, Fraction(1, 10**6), 1000)
