"""Hockey sticks and Rényi divergences: exact against brute force and closed forms, and right where mass is missing."""

import math
from fractions import Fraction
from itertools import pairwise
from random import Random

import gmpy2
import pytest

import lastbit as lb
from lastbit.audit import Law, law
from lastbit.audit.divergence import Divergence
from lastbit.audit.nearest import find_nearest
from lastbit.exact.rounding import log_bounds, log_power_sum_bounds
from lastbit.privacy import zcdp

BIT = lb.Eta(1, 1, 1)


def known(masses, unexplored=0):
    return Law({outcome: gmpy2.mpq(mass) for outcome, mass in masses.items()}, Fraction(unexplored), len(masses))


def make_law(random, outcomes):
    """A law on some outcomes, some of them impossible."""
    weights = [random.choice([0, 1, 2, 5, 17, 40]) for _ in range(outcomes)]
    weights[random.randrange(outcomes)] += 1
    return {n: Fraction(weight, sum(weights)) for n, weight in enumerate(weights) if weight}


def hide_mass(random, masses):
    """The same law with some of its mass not found."""
    found = {outcome: mass * Fraction(random.choice([0, 3, 4, 4, 4]), 4) for outcome, mass in masses.items()}
    return known({outcome: mass for outcome, mass in found.items() if mass}, 1 - sum(found.values()))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("eta", [None, BIT, lb.Eta(3, 2, 1), lb.Eta(1, 1, 3)])
def test_the_smallest_delta_is_the_largest_over_all_events(seed, eta):
    random = Random(seed)
    outcomes = 3 + 2 * seed if seed < 4 else 12 - 2 * (5 - seed)
    p, q = make_law(random, outcomes), make_law(random, outcomes)
    odds = Fraction(1) if eta is None else 1 / eta.fraction
    gains = [p.get(n, 0) - odds * q.get(n, 0) for n in range(outcomes)]
    sums = [Fraction(0)]
    for gain in gains:
        sums += [each + gain for each in sums]
    assert len(sums) == 2**outcomes
    assert known(p).delta_at(known(q), 0 if eta is None else eta) == (max(sums),) * 2


@pytest.mark.parametrize("epsilon", ["1/10", 1, 3])
def test_an_epsilon_with_an_irrational_power_is_enclosed(epsilon):
    p, q = known({0: "99/100", 1: "1/100"}), known({0: "1/100", 1: "99/100"})
    lower, upper = p.delta_at(q, epsilon)
    with gmpy2.context(precision=400):
        true = max(gmpy2.mpfr(0), gmpy2.mpfr(gmpy2.mpq(99, 100)) - gmpy2.exp(gmpy2.mpq(epsilon)) / 100)
        assert lower < true < upper
        assert upper - lower < Fraction(1, 2**200)


@pytest.mark.parametrize("bits", [1, 3, 10])
def test_randomized_response_has_its_deltas_and_its_rho(bits):
    full = 2**bits
    one, other = (law(lambda draw, p=p: draw.bernoulli(Fraction(p, 1 + full))) for p in (1, full))
    assert one.delta_at(other, 0) == (Fraction(full - 1, full + 1),) * 2
    for less in range(1, bits + 3):
        delta = max(Fraction(0), Fraction(full - 2**less, 1 + full))
        assert one.delta_at(other, lb.Eta(1, 1, less)) == other.delta_at(one, lb.Eta(1, 1, less)) == (delta, delta)
    # (alpha - 1)·D = ln cosh((2·alpha - 1)·u) - ln cosh(u), where u is half the epsilon.
    for alpha in (Fraction(1001, 1000), Fraction(3, 2), Fraction(2), Fraction(50)):
        with gmpy2.context(precision=300):
            half = gmpy2.log(gmpy2.mpfr(full)) / 2
            true = gmpy2.log(gmpy2.cosh((2 * gmpy2.mpq(alpha) - 1) * half) / gmpy2.cosh(half)) / gmpy2.mpq(alpha - 1)
        lower, upper = one.renyi(other, alpha)
        assert lower < true < upper == math.nextafter(lower, math.inf)
    # In the limit at alpha 1 it attains epsilon·tanh(epsilon/2), and nowhere more.
    most = zcdp.rho_of(Fraction(lb.Eta(1, 1, bits).epsilon_upper))
    least, alpha = one.least_rho(other)
    assert most * (1 - Fraction(1, 2**15)) < least < most
    assert 1 < alpha < 1 + Fraction(1, 2**19)


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_epsilon_is_the_inverse_of_the_smallest_delta(seed):
    random = Random(seed)
    p, q = known(make_law(random, 7)), known(make_law(random, 7))
    for delta in (Fraction(0), Fraction(1, 50), Fraction(1, 3), Fraction(1)):
        lower, upper = p.epsilon_at(q, delta)
        if lower == math.inf:
            assert sum(mass for n, mass in p.masses.items() if n not in q) > delta
            continue
        assert lower <= upper <= math.nextafter(lower, math.inf)
        assert p.delta_at(q, Fraction(upper))[0] <= delta
        assert lower == 0 or p.delta_at(q, Fraction(lower) * (1 - Fraction(1, 2**40)))[1] > delta
        # Mass that is hidden moves the bounds apart, never past the truth.
        hid = hide_mass(random, p.masses), hide_mass(random, q.masses)
        assert hid[0].epsilon_at(hid[1], delta)[0] <= upper
        assert hid[0].epsilon_at(hid[1], delta)[1] >= lower


def test_a_divergence_is_infinite_where_one_side_is_impossible():
    p, q = known({0: "1/2", 1: "1/2"}), known({0: 1})
    assert p.renyi(q, 2) == (math.inf, math.inf)
    assert p.least_rho(q)[0] == math.inf
    assert 0.693147180559945 < q.renyi(p, 2)[0] < q.renyi(p, 2)[1] < 0.693147180559946
    # As long as the other side may still have it, nothing is certain.
    unsure = known({0: "1023/1024"}, "1/1024")
    assert 1 < p.renyi(unsure, 2)[0] < 6
    assert p.renyi(p, 3) == (0.0, 0.0)
    with pytest.raises(lb.ParameterError, match="alpha must be above 1"):
        p.renyi(q, 1)
    with pytest.raises(lb.ParameterError, match="delta must be from 0 to 1"):
        p.epsilon_at(q, 2)
    with pytest.raises(lb.ParameterError, match="epsilon must not be negative"):
        p.delta_at(q, -1)


def plain(p, q, alpha):
    """The divergence of two full laws with 100 digits, term by term."""
    with gmpy2.context(precision=350):
        if any(outcome not in q for outcome in p):
            return gmpy2.inf()
        order = gmpy2.mpq(alpha)
        terms = [gmpy2.mpfr(gmpy2.mpq(p[n])) ** order * gmpy2.mpfr(gmpy2.mpq(q[n])) ** (1 - order) for n in p]
        return gmpy2.log(gmpy2.fsum(terms)) / (order - 1)


@pytest.mark.parametrize("seed", range(40))
def test_missing_mass_leaves_the_bounds_on_their_sides(seed):
    """Whatever mass is hidden: the lower bounds are below the truth, the delta's upper bound is above it."""
    random = Random(seed)
    p, q = make_law(random, 8), make_law(random, 8)
    one, other = hide_mass(random, p), hide_mass(random, q)
    for alpha in (Fraction(1025, 1024), Fraction(3, 2), Fraction(7)):
        assert one.renyi(other, alpha)[0] <= plain(p, q, alpha)
        assert other.renyi(one, alpha)[0] <= plain(q, p, alpha)
        assert known(p).renyi(known(q), alpha)[0] <= plain(p, q, alpha) <= known(p).renyi(known(q), alpha)[1]
    for eta in (0, BIT, lb.Eta(1, 1, 3)):
        lower, upper = one.delta_at(other, eta)
        exact, _ = known(p).delta_at(known(q), eta)
        assert lower <= exact <= upper


@pytest.mark.parametrize("apart", [Fraction(0), Fraction(1, 10)])
@pytest.mark.parametrize("seed", range(25))
def test_the_nearest_laws_are_laws_and_no_others_are_nearer(seed, apart):
    """The sums are 1, and completions of the found masses by chance, and moves of the mass set aside, are further."""
    random = Random(seed)
    p, q = make_law(random, 5), make_law(random, 5)
    one, other = hide_mass(random, p), hide_mass(random, q)
    near = find_nearest(one, other, gmpy2.mpq(apart))
    if near.endless:
        assert not other.unexplored
        assert sum(mass for n, mass in one.exact.items() if n not in other.exact) > apart
        return
    assert sum(ratio * mass for ratio, mass in zip(near.ratios, near.masses, strict=True)) == 1
    assert sum(near.masses) <= 1
    bounds = {alpha: Divergence(near).bounds(alpha)[0] for alpha in (Fraction(9, 8), Fraction(4))}
    for _ in range(30):
        a = complete_law(random, move_mass(random, one.masses, apart), one.unexplored + apart)
        b = complete_law(random, other.masses, other.unexplored)
        for alpha, least in bounds.items():
            assert float(least) <= plain(a, b, alpha) + 1e-12


def move_mass(random, masses, apart):
    """Some mass taken away, as much in all as is set aside."""
    left = dict(masses)
    while apart:
        outcome = random.choice(list(left))
        taken = min(apart, left[outcome])
        apart -= taken
        left[outcome] -= taken
        if not left[outcome]:
            del left[outcome]
    return left


def complete_law(random, masses, missing):
    shares = [random.choice([0, 0, 1, 3]) for _ in range(6)]
    shares[random.randrange(6)] += 1
    full = {n: masses.get(n, Fraction(0)) + missing * Fraction(share, sum(shares)) for n, share in enumerate(shares)}
    return {n: mass for n, mass in full.items() if mass}


def test_the_orders_that_are_tried_leave_nothing_out():
    """Steps of at most a fifth above 2^-6 and of powers of two below it, until alpha·rho is above every loss."""
    divergence = Divergence(find_nearest(known({0: "8/9", 1: "1/9"}), known({0: "1/9", 1: "8/9"})))
    for rho in (Fraction(1, 1000), Fraction(1), Fraction(5)):
        worst, *orders = divergence.orders(rho)
        assert worst > 1
        above = [alpha - 1 for alpha in orders]
        assert above[0] == Fraction(1, 2**20)
        for before, after in pairwise(above):
            # The chord is above the parabola by a quarter of the step's square: within 1% of alpha·(alpha - 1).
            assert 0 < (after - before) ** 2 / 4 <= Fraction(1, 100) * before * (1 + before)
        assert orders[-1] * rho >= Fraction(math.log(8)) or orders[-1] * rho == pytest.approx(math.log(8))
        assert len(orders) == 1 or orders[-2] * rho < Fraction(math.log(8)) * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize("ratio", ["3", "1/3"])
def test_few_bits_leave_wide_bounds_on_their_sides(ratio):
    """A large power makes much of the rounding of a logarithm: it must go the way of the bound."""
    logs = [log_bounds(gmpy2.mpq(ratio), 10)]
    for bits, width in ((10, 10), (100, 2)):
        below, above = log_power_sum_bounds([gmpy2.mpq(1)], logs, Fraction(1000), bits)
        assert below < 1000 * math.log(Fraction(ratio)) < above
        assert above - below < width
