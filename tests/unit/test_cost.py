"""Costs know their own text, amount, odds and rate, and add up toward privacy."""

from __future__ import annotations

from fractions import Fraction

import pytest

import lastbit as lb
from lastbit.privacy.dyadic import MAX_RATE_BITS

HALF, QUARTERS = lb.Eta(1, 1, 1), lb.Eta(3, 2, 1)


@pytest.mark.parametrize("value", [1, Fraction(1), "1", 1.0, lb.Cost(Fraction(1))])
def test_a_cost_is_equal_to_the_number_it_stands_for(value: object) -> None:
    cost = lb.Cost.of(value)
    assert cost == 1
    assert cost == lb.Cost.of(1)
    assert hash(cost) == hash(Fraction(1))
    assert cost != lb.Cost.of(HALF)


def test_costs_of_one_eta_add_up_exactly() -> None:
    total = lb.Cost.of(HALF) + lb.Cost.of(lb.Eta(1, 1, 2))
    assert total.epsilon == lb.Eta(1, 1, 3)
    assert (lb.Cost.of(QUARTERS) * 5).epsilon == lb.Eta(3, 2, 5)


@pytest.mark.parametrize("one", [HALF, QUARTERS, Fraction(1, 3)])
@pytest.mark.parametrize("other", [QUARTERS, Fraction(2, 7), lb.Eta(255, 8, 3)])
def test_a_sum_is_never_below_its_parts(one: lb.Eta | Fraction, other: lb.Eta | Fraction) -> None:
    total = lb.Cost.of(one) + lb.Cost.of(other)
    lower = lb.Cost.of(one).odds_bounds()[0] * lb.Cost.of(other).odds_bounds()[0]
    assert total.odds_bounds()[1] >= lower
    assert total.amount - lb.Cost.of(one).amount - lb.Cost.of(other).amount < Fraction(1, 1 << 40)


def test_etas_beyond_what_an_eta_holds_are_stated_in_nats() -> None:
    long = lb.Eta(1, 1, MAX_RATE_BITS)
    total = lb.Cost.of(long) + lb.Cost.of(HALF)
    assert isinstance(total.epsilon, Fraction)
    assert total.amount >= MAX_RATE_BITS * Fraction(HALF.epsilon_upper)


def test_the_lower_bound_in_nats_is_close_and_below() -> None:
    assert lb.Cost.of("1/3").nats_lower == Fraction(1, 3)
    cost = lb.Cost.of(QUARTERS)
    assert 0 < cost.amount - cost.nats_lower < Fraction(1, 1 << 50)


@pytest.mark.parametrize("times", [0, -1, True, 1.5])
def test_only_whole_multiples(times: object) -> None:
    with pytest.raises(TypeError):
        lb.Cost.of(1) * times


@pytest.mark.parametrize("value", [0, -1, "x", None])
def test_no_cost_is_free(value: object) -> None:
    with pytest.raises(lb.ParameterError):
        lb.Cost.of(value)
