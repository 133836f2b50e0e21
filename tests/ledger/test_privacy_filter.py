"""What an account accepts, against all adversaries: every way to choose small mechanisms one after the other.

A mechanism is an exact law on two neighbours. An adversary sees all outcomes so far, picks the next mechanism that the
account still accepts, and stops when it likes. The worst of all such adversaries is found by following every choice.
Its exact delta at epsilon is compared with the delta of the account.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

import pytest

from lastbit.exact.rounding import exp_bounds, fraction, log_lower, short_upper
from lastbit.ledger import Account
from lastbit.privacy.cost import Cost
from lastbit.privacy.zcdp import largest_rho, rho_of

F = Fraction
Accepts = Callable[[tuple[Cost, ...]], bool]


@dataclass(frozen=True)
class Small:
    """A mechanism: its cost, and the probabilities of each outcome on the two neighbours."""

    cost: Cost
    law: tuple[tuple[Fraction, Fraction], ...]


def epsilon_of(odds: Fraction) -> Fraction:
    """ln(odds), rounded up."""
    return short_upper(-log_lower(1 / odds, 200), 96)


def response(odds: Fraction, *, leak: Fraction = F(0), has_epsilon: bool = True) -> Small:
    """Randomized response with these odds; with probability `leak` it tells which neighbour it is."""
    epsilon, right = epsilon_of(odds), odds / (odds + 1) * (1 - leak)
    wrong = 1 - leak - right
    law = ((right, wrong), (wrong, right), *([(leak, F(0)), (F(0), leak)] if leak else []))
    return Small(Cost(epsilon if has_epsilon else None, None if has_epsilon else rho_of(epsilon), leak), law)


def leaf(one: Fraction, two: Fraction, odds: Fraction) -> Fraction:
    return max(F(0), one - odds * two)


def worst(
    mechanisms: tuple[Small, ...],
    accepts: Accepts,
    value: Callable[[Fraction, Fraction], Fraction],
    rounds: int,
    one: Fraction = F(1),
    two: Fraction = F(1),
    before: tuple[Cost, ...] = (),
) -> Fraction:
    """The most that an adversary reaches, where a run that ends with these probabilities is worth `value`."""
    best = value(one, two)
    if rounds == 0:
        return best
    for mechanism in mechanisms:
        costs = (*before, mechanism.cost)
        if accepts(costs):
            after = (worst(mechanisms, accepts, value, rounds - 1, one * p, two * q, costs) for p, q in mechanism.law)
            best = max(best, sum(after, F(0)))
    return best


def by(account: Account) -> Accepts:
    """What the account accepts, one charge after the other."""

    def accepts(costs: tuple[Cost, ...]) -> bool:
        *before, last = costs
        return reduce(lambda state, cost: state.charged(cost), before, account).allows(last)

    return accepts


EPSILON, DELTA = F(1, 2), F(1, 5)
LOWER, UPPER = (fraction(end) for end in exp_bounds(EPSILON, EPSILON, 200))
MECHANISMS = (
    response(F(3, 2)),
    response(F(5, 4)),
    response(F(5, 2)),
    response(F(5, 4), has_epsilon=False),
    response(F(9, 8), leak=F(1, 20)),
)
ACCOUNT = Account.with_limit("clinic", epsilon=EPSILON, delta=DELTA)


def delta_of(accepts: Accepts, odds: Fraction, rounds: int, mechanisms: tuple[Small, ...] = MECHANISMS) -> Fraction:
    return worst(mechanisms, accepts, lambda one, two: leaf(one, two, odds), rounds)


def test_every_small_mechanism_costs_what_it_says() -> None:
    """Or the filter would be blamed for their costs."""
    for mechanism in MECHANISMS:
        ones, twos = (sum(each) for each in zip(*mechanism.law, strict=True))
        assert ones == twos == 1
        good = [(p, q) for p, q in mechanism.law if p and q]
        assert sum(p for p, q in mechanism.law if not q) == mechanism.cost.delta
        if mechanism.cost.amount is not None:
            lower, _ = (fraction(end) for end in exp_bounds(*[mechanism.cost.amount] * 2, 200))
            assert all(p <= lower * q for p, q in good)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_no_adversary_beats_an_account_of_epsilon_and_delta(rounds: int) -> None:
    # With odds at or below e^epsilon the delta comes out at or above the true one.
    found = delta_of(by(ACCOUNT), LOWER, rounds)
    assert found <= DELTA
    assert found > (0 if rounds == 1 else F(9, 100))  # adversaries do get something


def test_releases_are_taken_whose_epsilons_do_not_fit() -> None:
    """So the test above has tried the other way to fit: the rhos."""
    costs = (MECHANISMS[0].cost, MECHANISMS[1].cost)
    after = reduce(lambda state, cost: state.charged(cost), costs, ACCOUNT)
    assert after.spent_epsilon is not None
    assert after.spent_epsilon > EPSILON
    assert after.within
    assert delta_of(by(ACCOUNT), UPPER, 2, MECHANISMS[:2]) > 0


def charge_all(costs: tuple[Cost, ...], account: Account) -> Account:
    return reduce(lambda state, cost: state.plus(state.prices(cost)), costs, account)


def twice_the_epsilon(costs: tuple[Cost, ...]) -> bool:
    return charge_all(costs, replace(ACCOUNT, epsilon_limit=2 * EPSILON)).within


def one_delta_for_both(costs: tuple[Cost, ...]) -> bool:
    return charge_all(costs, replace(ACCOUNT, rho_limit=largest_rho(EPSILON, DELTA), delta_of_rho=F(0))).within


def epsilons_of_some_and_rhos_of_others(costs: tuple[Cost, ...]) -> bool:
    pure = charge_all(tuple(cost for cost in costs if cost.amount is not None), ACCOUNT)
    others = charge_all(tuple(cost for cost in costs if cost.amount is None), ACCOUNT)
    return pure.within and others.within


WRONG: dict[str, tuple[Any, tuple[Small, ...]]] = {
    "twice the epsilon": (twice_the_epsilon, MECHANISMS),
    "rho from all of delta": (one_delta_for_both, (MECHANISMS[0], response(F(9, 8), leak=DELTA))),
    "a split afterwards": (
        epsilons_of_some_and_rhos_of_others,
        (response(F(8, 5), leak=F(1, 10)), response(F(8, 5), has_epsilon=False)),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_filters_are_convicted(name: str) -> None:
    accepts, mechanisms = WRONG[name]
    # With odds at or above e^epsilon the delta comes out at or below the true one, and is too large even so.
    assert delta_of(accepts, UPPER, 3, mechanisms) > DELTA
    assert delta_of(by(ACCOUNT), LOWER, 3, mechanisms) <= DELTA


def test_no_adversary_beats_an_account_of_epsilon() -> None:
    account = Account.with_limit("clinic", epsilon=EPSILON)
    pure = MECHANISMS[:3]
    assert delta_of(by(account), LOWER, 4, pure) == 0
    assert (
        delta_of(lambda costs: charge_all(costs, replace(account, epsilon_limit=F(7, 10))).within, UPPER, 4, pure) > 0
    )


@pytest.mark.parametrize("order", [2, 3, 5])
def test_no_adversary_beats_an_account_of_rho(order: int) -> None:
    """The sum of p^a/q^(a-1) is at most e^((a-1)·a·rho), for whole orders a, and all adversaries."""
    rho = 3 * MECHANISMS[1].cost.rho
    account = Account.with_limit("clinic", rho=rho)
    exponent = (order - 1) * order * rho
    bound, above = (fraction(end) for end in exp_bounds(exponent, exponent, 200))
    moments = (MECHANISMS[1], MECHANISMS[3], response(F(9, 8)))

    def moment(one: Fraction, two: Fraction) -> Fraction:
        return one**order / two ** (order - 1)

    assert worst(moments, by(account), moment, 4) <= bound
    raised = account.with_higher_limit(rho=2 * rho)
    assert worst(moments, by(raised), moment, 4) > above
