"""Costs know their own text, amount, odds and rate, and add up toward privacy."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
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


@pytest.mark.parametrize("rho", ["1/10", "1", "7/3"])
def test_shares_of_a_rho_add_up_to_it(rho: str) -> None:
    """A share that is asked of a mechanism with an epsilon costs a little less than the rho that was asked for."""
    shares = [Fraction(rho) * share for share in (Fraction(1, 10), Fraction(9, 10))]
    gaussian, mean = lb.DiscreteGaussian(rho=shares[0]).cost, lb.NoisyMean(rho=shares[1], bounds=(0, 1)).cost
    assert mean.rho < shares[1]
    assert (gaussian + mean).text == (mean + gaussian).text == f"rho {rho}"
    assert gaussian.rho + mean.rho <= (gaussian + mean).rho <= Fraction(rho)
    assert (lb.NoisyMean(rho=shares[0], bounds=(0, 1)).cost + mean).text == f"rho {rho}"


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


def test_rhos_and_deltas_add_up_and_an_epsilon_is_lost_where_one_has_none() -> None:
    gaussian, pure = lb.Cost.zcdp("1/10", "1e-9"), lb.Cost.of(1)
    total = gaussian + pure
    assert (total.epsilon, total.rho, total.delta) == (None, Fraction(1, 10) + pure.rho, Fraction(1, 10**9))
    assert (gaussian * 3).rho == Fraction(3, 10)
    assert (gaussian * 3).delta == Fraction(3, 10**9)
    assert (pure + pure).epsilon == 2
    assert (pure + pure).rho == 2 * pure.rho < lb.Cost.of(2).rho


def test_costs_are_compared_in_all_three() -> None:
    assert lb.Cost.of("1/2") <= lb.Cost.of(1)
    assert not lb.Cost.of(1) <= lb.Cost.of("1/2")
    assert lb.Cost.of(1) >= lb.Cost.of(1)
    # A Gaussian has no epsilon: it is not below any cost that has one, however small its rho.
    assert not lb.Cost.zcdp("1/1000") <= lb.Cost.of(1)
    assert lb.Cost.of("1/100") <= lb.Cost.zcdp("1/1000")
    assert not lb.Cost.zcdp("1/10", "1e-6") <= lb.Cost.zcdp("1/10")
    assert lb.Cost.zcdp("1/10") != lb.Cost.zcdp("1/10", "1e-6") != lb.Cost.zcdp("1/5", "1e-6")
    assert lb.Cost.of(1) != lb.Cost(Fraction(1), delta=Fraction(1, 10))
    assert lb.Cost(Fraction(1), delta=Fraction(1, 10)) != 1


def test_the_worst_release_of_an_epsilon_sets_the_conversion_of_a_pure_cost() -> None:
    """Randomized response of odds 4: delta at epsilon ln 2 is (4 - 2)/(4 + 1)."""
    cost = lb.Cost.of(lb.Eta(1, 1, 2))
    at_ln2 = Fraction(lb.Eta(1, 1, 1).epsilon_upper)
    assert 0.4 - 1e-12 < cost.delta_at(at_ln2) < 0.4 + 1e-12
    assert cost.delta_at(2 * at_ln2) == 0
    assert float(at_ln2) - 1e-12 <= cost.epsilon_at("0.4") <= float(at_ln2) + 1e-12
    assert cost.epsilon_at("0.7") == 0


@pytest.mark.parametrize("delta", ["1e-12", "1e-3", "1/10", "2/5", "3/4"])
@pytest.mark.parametrize("odds_bits", [1, 2, 10, 60])
def test_the_epsilon_at_a_delta_is_that_of_randomized_response_from_both_sides(odds_bits: int, delta: str) -> None:
    """It needs the epsilon e with (odds - e^e)/(odds + 1) = delta, and nothing at these odds needs more."""
    odds, exact = 2**odds_bits, Fraction(delta)
    with gmpy2.context(precision=300):
        needed = gmpy2.log(max(1, gmpy2.mpq(odds - exact * (odds + 1))))
        for own in (Fraction(0), Fraction(1, 100)):
            pure = lb.Cost.of(lb.Eta(1, 1, odds_bits))
            stated = lb.Cost(pure.epsilon, delta=own).epsilon_at(exact + own)
            assert needed <= stated <= needed * (1 + gmpy2.mpfr("1e-12")) + gmpy2.mpfr("1e-12")


def test_a_delta_smaller_than_its_own_buys_nothing() -> None:
    cost = lb.Cost(Fraction(1), delta=Fraction(1, 100))
    assert cost.epsilon_at("1/200") == float("inf")
    assert cost.epsilon_at("1/100") == 1
    assert cost.delta_at(1) == 0.01
    assert lb.Cost.zcdp("1/2", "1/100").epsilon_at("1/100") == float("inf")
    assert lb.Cost.zcdp("1/2", "1/100").epsilon_at("1/50") < 3


def test_two_steps_cost_twice_the_epsilon_and_four_times_the_rho() -> None:
    assert lb.Cost.of(1).of_two() == 2
    assert lb.Cost.of(HALF).of_two().epsilon == lb.Eta(1, 1, 2)
    ranged = lb.ExponentialMechanism(epsilon=1).cost
    assert (ranged.rho, ranged.of_two().rho, ranged.of_two().epsilon) == (Fraction(1, 8), Fraction(1, 2), 2)
    with_delta = lb.Cost(lb.Eta(1, 1, 1), delta=Fraction(1, 1000)).of_two()
    assert with_delta.epsilon == lb.Eta(1, 1, 2)
    assert 0 <= with_delta.delta - Fraction(3, 1000) < Fraction(1, 1 << 90)
    with pytest.raises(lb.ParameterError, match="epsilon is needed"):
        lb.Cost.zcdp("1/2", "1/1000").of_two()


@pytest.mark.parametrize("rounding", ["floor", "randomized"])
def test_only_a_proved_range_makes_the_rho_small(rounding: str) -> None:
    cost = lb.ExponentialMechanism(epsilon="1/2", rounding=rounding).cost
    assert cost.rho == (Fraction(1, 32) if rounding == "floor" else lb.Cost.of("1/2").rho)
    for generic in (lb.NoisyMax(epsilon="1/2"), lb.NoisyTopK(k=2, epsilon="1/2"), lb.DiscreteLaplace(epsilon="1/2")):
        assert generic.cost.stated_rho is None
        assert generic.cost.rho == lb.Cost.of("1/2").rho
    # Where epsilon is large the generic bound is the better one.
    assert lb.ExponentialMechanism(epsilon=10).cost.rho == lb.Cost.of(10).rho < Fraction(100, 8)


def test_asked_in_rho_a_mechanism_gets_the_largest_epsilon_and_says_rho() -> None:
    mechanism = lb.DiscreteLaplace(rho="1/100")
    assert mechanism.cost.rho <= Fraction(1, 100)
    assert mechanism.cost.text == "rho 1/100"
    assert mechanism.parameters["rho"] == "1/100"
    assert "epsilon" not in mechanism.parameters
    assert mechanism == lb.DiscreteLaplace(rho="0.01")
    assert mechanism.rate == lb.DiscreteLaplace(epsilon=mechanism.cost.epsilon).rate
    assert str(mechanism.release(3)).startswith("Numbers with noise, rho 1/100\n")


@pytest.mark.parametrize("asked", [{}, {"epsilon": 1, "rho": 1}, {"eta": HALF, "rho": 1}, {"epsilon": 1, "eta": HALF}])
def test_exactly_one_of_epsilon_eta_and_rho(asked: dict[str, object]) -> None:
    with pytest.raises(lb.ParameterError, match="exactly one of epsilon, eta and rho"):
        lb.DiscreteLaplace(**asked)


@pytest.mark.parametrize("rho", [0, -1, "x", float("nan")])
def test_a_rho_is_positive(rho: object) -> None:
    for made in (lambda: lb.NoisyMax(rho=rho), lambda: lb.Cost.zcdp(rho), lambda: lb.ExponentialMechanism(rho=rho)):
        with pytest.raises(lb.ParameterError, match="rho must be"):
            made()


def test_a_cost_of_nothing_known_is_refused() -> None:
    with pytest.raises(lb.ParameterError, match="epsilon or a rho"):
        lb.Cost(None)
    with pytest.raises(lb.ParameterError, match="delta"):
        lb.Cost.zcdp(1, 1)


def test_a_candidate_needs_a_pure_cost() -> None:
    for cost in (lb.Cost.zcdp("1/10"), lb.Cost(Fraction(1), delta=Fraction(1, 10))):
        with pytest.raises(lb.ParameterError, match="pure cost"):
            lb.PrivateSelection(candidates=[lambda draw: (1, 1)], candidate_cost=cost, most=10)


def test_a_selection_is_no_composition_so_its_rho_follows_from_its_epsilon() -> None:
    choice = lb.PrivateSelection(candidates=[lambda draw: (1, 1)], candidate_cost="1/10", most=10)
    assert choice.cost.epsilon == Fraction(3, 10)
    assert choice.cost.stated_rho is None
    assert choice.cost.rho == lb.Cost.of("0.3").rho


@pytest.mark.parametrize("times", [Fraction(5, 2), Fraction(3, 2), Fraction(11, 10), Fraction(2), Fraction(1, 3)])
def test_a_cost_widened_by_a_fraction_is_exact_or_rounded_up(times: Fraction) -> None:
    assert lb.Cost.of("3/7").widened(times) == Fraction(3, 7) * times
    eta = lb.Eta(3, 2, 2)
    wider = lb.Cost.of(eta).widened(times)
    z = 2 * times
    if z.denominator == 1:
        assert wider == lb.Eta(3, 2, z.numerator)
    else:
        # e^(-widened·d) against (3/4)^(z·d), a whole power: at or below it, and the float before is above it.
        power = Fraction(3, 4) ** (z * z.denominator)
        assert isinstance(wider.epsilon, Fraction)
        found = float(wider.epsilon)
        assert found == wider.epsilon
        assert lb.Cost.of(wider.epsilon * z.denominator).odds_bounds()[0] >= 1 / power
        before = Fraction(math.nextafter(found, 0))
        assert lb.Cost.of(before * z.denominator).odds_bounds()[1] < 1 / power
    assert wider.stated_rho is None


def test_a_cost_is_no_number_that_it_is_not() -> None:
    assert lb.Cost.zcdp("1/2") != None  # noqa: E711
    assert lb.Cost.zcdp("1/2") not in [None, 1]
    # The same epsilon and delta, another rho.
    one, other = (lb.Cost(Fraction(1), rho) for rho in (Fraction(1, 8), Fraction(1, 4)))
    assert one <= other
    assert not other <= one


@pytest.mark.parametrize(
    "parts",
    [
        (1, None, Fraction(0)),
        (Fraction(1), "1/8", Fraction(0)),
        (Fraction(1), None, 0.1),
        (Fraction(1), None, Fraction(-1)),
        (None, Fraction(-3), Fraction(0)),
        (Fraction(1), Fraction(0), Fraction(0)),
    ],
)
def test_a_cost_built_by_hand_is_checked(parts: tuple[object, ...]) -> None:
    with pytest.raises(lb.ParameterError, match="of a Cost"):
        lb.Cost(*parts)


def test_no_delta_is_lost_where_an_epsilon_is_widened() -> None:
    with pytest.raises(lb.ParameterError, match="without a delta"):
        lb.Cost(Fraction(1), delta=Fraction(1, 10)).widened(2)


def test_a_text_is_never_below_the_cost() -> None:
    for number in range(1, 200):
        rho = Fraction(1, 10**6) * Fraction(number * 10**12 + 1, 10**12 + 7)
        assert Fraction(lb.Cost.zcdp(rho).text.split()[1]) >= rho
    assert lb.ExponentialMechanism.for_ranking(50, epsilon=1, delta="1e-6").cost.text == "rho 0.02435598"


def test_extreme_costs_are_refused_in_words_or_have_an_answer() -> None:
    assert lb.Cost.zcdp(1).delta_at("1e400") < 1e-300
    for made in (
        lambda: lb.Cost.zcdp("1e400"),
        lambda: lb.Cost.zcdp("1e-400"),
        lambda: lb.largest_rho("1e400", "1e-6"),
        lambda: lb.largest_rho("1e-305", "1e-1200"),
    ):
        with pytest.raises(lb.ParameterError, match="must be"):
            made()


def test_all_three_bounds_add_up() -> None:
    one, other = (
        lb.Cost(Fraction(1), Fraction(1, 8), Fraction(1, 10)),
        lb.Cost(Fraction(2), Fraction(1, 4), Fraction(1, 5)),
    )
    assert ((one + other).epsilon, (one + other).rho, (one + other).delta) == (3, Fraction(3, 8), Fraction(3, 10))
    assert (one + one + one).delta == (one * 3).delta == Fraction(3, 10)
    assert (one * 3).rho == Fraction(3, 8)
    assert (one + lb.Cost.zcdp(1)).epsilon is None
    assert not one + other <= lb.Cost(Fraction(3), Fraction(3, 8), Fraction(29, 100))
    assert not one + other <= lb.Cost(Fraction(3), Fraction(2, 8), Fraction(3, 10))
