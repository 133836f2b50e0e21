"""A person in several units: the loss between tables that differ by this person is at most the cost, and can be more
than that of one unit less."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit.exact.rounding import exp_bounds, fraction
from lastbit.privacy import cost
from lastbit.privacy.cost import Cost
from lastbit.questions.group_privacy import GroupPrivacy


def exact(mechanism: lb.Mechanism[Any], values: Any) -> dict[Any, Fraction]:
    law = lb.audit.law(mechanism.program(values), 0)
    assert law.unexplored == 0
    return {release.index: mass for release, mass in law.masses.items()}


def pick(z: int) -> lb.ExponentialMechanism:
    """A mechanism whose every branch can be followed. A unit moves each number by at most 1."""
    return lb.ExponentialMechanism(eta=lb.Eta(1, 1, z), sensitivity=1)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_law_is_the_mechanisms_own(size: int) -> None:
    assert exact(GroupPrivacy(mechanism=pick(2), size=size), [3, 1]) == exact(pick(2), [3, 1])


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_loss_of_a_person_is_within_the_cost_and_beyond_that_of_a_unit_less(size: int) -> None:
    """Somebody whose units are all in one place moves its number by `size`."""
    mechanism = GroupPrivacy(mechanism=pick(4), size=size)
    programs = mechanism.program([0, 6 + size, 6]), mechanism.program([0, 6, 6 + size])
    assert lb.audit.compare(*programs, Cost.of(lb.Eta(1, 1, 4 * size)), 0).holds
    near, far = exact(mechanism, [0, 40 + size]), exact(mechanism, [0, 40])
    assert max(near[place] / far[place] for place in near) <= mechanism.cost.odds_bounds()[1]
    swapped = mechanism.program([size, 0, 0]), mechanism.program([0, size, 0])
    less = GroupPrivacy(mechanism=pick(4), size=size - 1).cost
    assert lb.audit.compare(*swapped, mechanism.cost, 0).holds
    if size == 2:  # a swap moves two numbers, each by as many units as the person has
        assert lb.audit.compare(*swapped, less.widened(Fraction(1, 2)), 0).verdict == "violated"


def test_costs() -> None:
    assert Cost.of("1/10").of_group(30) == Cost.of(3)
    assert Cost.of(lb.Eta(1, 1, 2)).of_group(5).epsilon == lb.Eta(1, 1, 10)
    assert Cost.zcdp("1/100").of_group(3).rho == Fraction(9, 100)
    both = Cost.of("1/10").of_group(4)
    assert both.rho == Cost.of("4/10").rho  # what follows from epsilon, as it is smaller
    asked = Cost.asked(None, None, "1/50").of_group(3)
    assert asked.stated_rho == Fraction(9, 50)
    assert asked.epsilon == 3 * Cost.asked(None, None, "1/50").epsilon  # type: ignore[operator]


@pytest.mark.parametrize("size", [1, 2, 3, 10, 365])
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "3"])
def test_a_delta_is_at_least_the_sum_of_the_steps_and_hardly_more(size: int, epsilon: str) -> None:
    """δ·(1 + e^ε + … + e^((n-1)ε)): each power is bounded below and above for itself."""
    delta = Fraction(1, 10**500)
    group = Cost(Fraction(epsilon), None, delta).of_group(size)
    powers = [exp_bounds(n * Fraction(epsilon), n * Fraction(epsilon), 600) for n in range(1, size)]
    assert delta * (1 + sum(fraction(low) for low, _ in powers)) <= group.delta
    assert group.delta <= delta * (1 + sum(fraction(high) for _, high in powers)) * (1 + Fraction(1, 2**50))
    assert group.epsilon == size * Fraction(epsilon)


@pytest.mark.parametrize("epsilon", ["1/10", "1", "7/3"])
def test_a_delta_is_enough_before_it_is_written_shorter(epsilon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To round a long fraction up hides what is lost before."""
    monkeypatch.setattr(cost, "short_upper", lambda value, bits: value)
    exponent, delta = Fraction(epsilon), Fraction(1, 10**500)
    for size in (2, 3, 30):
        powers = [fraction(exp_bounds(n * exponent, n * exponent, 2000)[0]) for n in range(1, size)]
        assert delta * (1 + sum(powers)) <= Cost(exponent, None, delta).of_group(size).delta


def test_a_delta_ends_at_one_and_needs_an_epsilon() -> None:
    assert Cost(Fraction(1), None, Fraction(1, 10**9)).of_group(365).delta == 1
    assert Cost(Fraction(100), None, Fraction(1, 10**9)).of_group(10**6).delta == 1
    with pytest.raises(lb.ParameterError, match="a cost with an epsilon is needed"):
        Cost.zcdp("1/8", "1e-9").of_group(2)
    with pytest.raises(lb.ParameterError, match="size"):
        GroupPrivacy(mechanism=lb.DiscreteLaplace(epsilon=1), size=0)


def test_the_books_have_the_cost_of_a_person(tmp_path: Any) -> None:
    ledger = lb.Ledger(str(tmp_path / "books.db"))
    ledger.create("wiki", epsilon=4)
    days = GroupPrivacy(mechanism=lb.DiscreteLaplace(epsilon="1/10"), size=30)
    release = ledger.spend("wiki", days, days.ready([900, 3]))
    entry = ledger.history("wiki")[-1]
    assert (entry.cost, entry.mechanism, entry.parameters["most_units"]) == ("epsilon 3", "DiscreteLaplace", "30")
    assert entry.published == release
    assert ledger.account("wiki").spent == 3
    with pytest.raises(lb.BudgetExceeded):
        ledger.spend("wiki", days, days.ready([900, 3]))
