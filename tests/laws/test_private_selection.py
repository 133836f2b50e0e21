"""Private selection: the exact law, the exact cost, and the printed cost convicted."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import gmpy2
import pytest

import lastbit as lb
from lastbit.audit import Law, judge, law, loss
from lastbit.papers.private_selection import get_sample, hard_stop, pspc

HALF = lb.Eta(1, 1, 1)
GAMMA = Fraction(1, 8)

# Outcomes 0, 1, 2 with scores 0, 1, 2 and two laws on them whose ratios are at most 2: private at Eta(1, 1, 1).
ONE = (Fraction(6, 10), Fraction(2, 10), Fraction(2, 10))
OTHER = (Fraction(5, 10), Fraction(1, 10), Fraction(4, 10))


def candidate(masses, scores=(0, 1, 2)):
    def run(draw):
        i = draw.index(masses)
        return i, scores[i]

    return run


def threshold_law(masses, gamma, rounds, bar=1):
    """P(x) for x with a score of at least the bar, None for the rest: a geometric sum."""
    again = (1 - sum(masses[bar:])) * (1 - gamma)
    runs = Fraction(rounds) if again == 1 else (1 - again**rounds) / (1 - again)
    won = {i: masses[i] * runs for i in range(bar, len(masses))}
    return {**won, None: 1 - sum(won.values())}


def best_law(masses, gamma, rounds):
    """P(the best of N samples is i), N stopping by chance or at `rounds`; no two outcomes have one score."""
    found = dict.fromkeys(range(len(masses)), Fraction(0))
    for n in range(1, rounds + 1):
        length = (1 - gamma) ** (n - 1) * (gamma if n < rounds else 1)
        for i in range(len(masses)):
            found[i] += length * (sum(masses[: i + 1]) ** n - sum(masses[:i]) ** n)
    return found


def outputs(found: Law) -> dict:
    return {release.output: mass for release, mass in found.masses.items()}


def as_law(masses) -> Law:
    return Law({outcome: gmpy2.mpq(mass) for outcome, mass in masses.items()}, Fraction(0), 0)


def selection(masses, **options):
    options = {"candidate_cost": HALF, "stop": GAMMA, **options}
    return lb.PrivateSelection(candidates=[candidate(masses)], **options)


@pytest.mark.parametrize("masses", [ONE, OTHER])
def test_the_uncapped_threshold_law_is_the_geometric_sum(masses):
    found = law(selection(masses, threshold=1).program(), "1/100000")
    stated = threshold_law(masses, GAMMA, 10**4)
    # 10^4 rounds leave less than (7/8)^10^4 of the endless sum, far below what is unexplored.
    assert 0 < found.unexplored <= Fraction(1, 100000)
    for output, mass in outputs(found).items():
        assert mass <= stated[output] <= mass + found.unexplored


@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("masses", [ONE, OTHER])
def test_the_papers_algorithms_have_the_closed_forms(masses, rounds):
    with_threshold = law(lambda draw: pspc(draw, candidate(masses), 1, GAMMA, rounds))
    found = {None if outcome is None else outcome[0]: mass for outcome, mass in with_threshold.masses.items()}
    assert found == threshold_law(masses, GAMMA, rounds)
    best = law(lambda draw: hard_stop(draw, candidate(masses), GAMMA, rounds))
    assert {outcome[0]: mass for outcome, mass in best.masses.items()} == best_law(masses, GAMMA, rounds)


def test_the_capped_mechanism_is_the_papers_algorithm():
    # stop = 3/4 and slack = 1 allow two rounds, few enough to follow every branch.
    options = {"stop": Fraction(3, 4), "slack": 1}
    capped = selection(ONE, threshold=2, **options)
    assert capped.rounds == 2
    assert outputs(law(capped.program())) == threshold_law(ONE, Fraction(3, 4), 2, bar=2)
    assert outputs(law(selection(ONE, **options).program())) == best_law(ONE, Fraction(3, 4), 2)


def test_candidates_are_drawn_uniformly():
    pair = [candidate(ONE), candidate(OTHER)]
    chosen = lb.PrivateSelection(candidates=pair, candidate_cost=HALF, stop=1, slack=1)
    found = law(chosen.program())
    by_candidate = {(r.candidate, r.output): mass for r, mass in found.masses.items()}
    # stop = 1 ends each run after its first round.
    assert by_candidate == {(c, i): m[i] / 2 for c, m in enumerate((ONE, OTHER)) for i in range(3)}


def test_the_uncapped_costs_hold_on_a_grid_of_neighbours():
    tenths = [Fraction(n, 10) for n in range(1, 9)]
    laws = [(a, b, 1 - a - b) for a, b in product(tenths, repeat=2) if a + b < 1]
    near = [
        (p, q) for p, q in product(laws, repeat=2) if all(x <= 2 * y and y <= 2 * x for x, y in zip(p, q, strict=True))
    ]
    assert len(near) > 200
    for p, q in near:
        # The endless sums in closed form.
        one, other = (_endless_threshold(m) for m in (p, q))
        assert judge(lb.Eta(1, 1, 2), as_law(one), as_law(other), Fraction(0)).holds
        one, other = (_endless_best(m) for m in (p, q))
        assert judge(lb.Eta(1, 1, 3), as_law(one), as_law(other), Fraction(0)).holds


def _endless_threshold(masses):
    again = masses[0] * (1 - GAMMA)
    return {**{i: masses[i] / (1 - again) for i in (1, 2)}, None: GAMMA * masses[0] / (1 - again)}


def _endless_best(masses):
    def below(s):  # the generating function of the number of rounds
        return GAMMA * s / (1 - (1 - GAMMA) * s)

    return {i: below(sum(masses[: i + 1])) - below(sum(masses[:i])) for i in range(3)}


# The worst neighbours: the winner half as likely while better ones are twice as likely.
RARE = Fraction(1, 1000)
WORST = (1 - 2 * RARE - Fraction(1, 3), 2 * RARE, Fraction(1, 3))
WORST_NEIGHBOUR = (1 - RARE - Fraction(2, 3), RARE, Fraction(2, 3))


def test_algorithm_6_costs_more_than_printed():
    """Erratum A3: 2·ε0 + ε1 is broken, 2·ε1 + ε0 holds and is tight."""
    stop, slack = Fraction(1, 1000), Fraction(1, 1000)
    mechanism = lb.PrivateSelection(
        candidates=[candidate(WORST)], candidate_cost=HALF, stop=stop, threshold=1, slack=slack
    )
    assert mechanism.rounds == 7601
    one, other = (as_law(threshold_law(m, stop, 7601)) for m in (WORST, WORST_NEIGHBOUR))
    found = loss(one, other)
    printed = Fraction(HALF.epsilon_upper) + 2 * slack
    assert printed < found.lower
    assert judge(printed, one, other, Fraction(0)).verdict == "violated"
    assert judge(mechanism.cost, one, other, Fraction(0)).holds
    assert found.lower >= 0.9 * float(mechanism.cost.amount)


def test_hard_stopping_is_within_its_cost_and_tight():
    stop, slack = Fraction(1, 100), Fraction(1, 100)
    mechanism = lb.PrivateSelection(candidates=[candidate(WORST)], candidate_cost=HALF, stop=stop, slack=slack)
    assert mechanism.cost == Fraction(lb.Eta(1, 1, 3).epsilon_upper) + 3 * slack
    one, other = (as_law(best_law(m, stop, mechanism.rounds)) for m in (WORST, WORST_NEIGHBOUR))
    assert judge(mechanism.cost, one, other, Fraction(0)).holds
    assert loss(one, other).lower >= 0.9 * float(mechanism.cost.amount)


def test_the_cap_is_checked_with_eulers_e():
    # With slack 1 the second bound rules for a small enough ln(2): 1 + 1/(e·γ) at γ = 1 is 1.37, and ln(2)/γ is 0.69.
    assert selection(ONE, threshold=1, stop=1, slack=1).rounds == 2
    least = math.ceil(math.log(2 / 0.01) / 0.05)
    assert selection(ONE, threshold=1, stop="0.05", slack="0.01").rounds == least
    with pytest.raises(lb.ParameterError, match=f"at least {least}"):
        selection(ONE, threshold=1, stop="0.05", slack="0.01", rounds=least - 1)


def test_ties_are_broken_uniformly():
    calls = []

    def nth(draw):
        calls.append(None)
        return len(calls), 5

    three = lb.PrivateSelection(candidates=[nth], candidate_cost=1, stop="1/2", slack=1, rounds=3)

    def program(draw):
        calls.clear()
        winner = three.release(draw=draw).output
        return len(calls), winner

    found = law(program)
    length = {1: Fraction(1, 2), 2: Fraction(1, 4), 3: Fraction(1, 4)}
    assert found.masses == {(n, i): length[n] / n for n in length for i in range(1, n + 1)}


def test_a_scored_candidate_costs_mechanism_and_score():
    """Lemma 6.1 with the sensitivity of erratum A9: quality moves by 2 steps, the output's law by a factor 2."""

    def built(shift, masses, eta):
        return lb.scored(
            lambda draw: draw.index(masses), lambda i: i + shift, sensitivity=2, eta=eta, bounds=(0, 6)
        )  # fmt: skip

    one, other = (law(built(shift, masses, lb.Eta(1, 2, 1)), "1/100000") for shift, masses in ((0, ONE), (2, OTHER)))
    # eta 1 from the mechanism and eta 2 from the score.
    assert judge(lb.Eta(1, 1, 3), one, other, Fraction(1, 100000)).holds
    assert judge(lb.Eta(15, 6, 1), one, other, Fraction(1, 100000)).verdict == "violated"
    # The printed noise, at eta for every sensitivity, is convicted.
    printed = [
        law(
            lambda draw, s=s, m=m: get_sample(draw, [lambda d: d.index(m)], lambda i: i + s, lb.Rate(1, 2), 6),
            "1/100000",
        )
        for s, m in ((0, ONE), (2, OTHER))
    ]
    assert judge(lb.Eta(1, 1, 3), *printed, Fraction(1, 100000)).verdict == "violated"


def test_get_sample_and_scored_have_one_law():
    rate = lb.Rate.from_eta(HALF)
    theirs = law(lambda draw: get_sample(draw, [lambda d: 4], lambda m: m, rate, 6), "1/100000")
    ours = law(lb.scored(lambda draw: 4, lambda m: m, eta=HALF, bounds=(0, 6)), "1/100000")
    assert {score: mass for (_, score), mass in theirs.masses.items()} == {
        score: mass for (_, score), mass in ours.masses.items()
    }
