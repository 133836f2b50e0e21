"""Private selection as the paper has it, with a cap that costs slack, and the candidates that it scores."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import pytest

import lastbit as lb
from lastbit.audit import judge, law, loss
from lastbit.papers.private_selection import get_sample, hard_stop, least_rounds, pspc
from tests.selection_law import RARE, THIRD, as_law, best_law, sum_of_masses, threshold_law

HALF = lb.Eta(1, 1, 1)
NATS = Fraction(HALF.epsilon_upper)
GAMMA = Fraction(1, 8)

# Outcomes 0, 1, 2 with scores 0, 1, 2 and two laws on them whose ratios are at most 2: private at Eta(1, 1, 1).
ONE = (Fraction(6, 10), Fraction(2, 10), Fraction(2, 10))
OTHER = (Fraction(5, 10), Fraction(1, 10), Fraction(4, 10))


def candidate(masses, scores=(0, 1, 2)):
    def run(draw):
        i = draw.index(masses)
        return i, scores[i]

    return run


def stop_masses(gamma, rounds):
    return [(1 - gamma) ** (k - 1) * (gamma if k < rounds else 1) for k in range(1, rounds + 1)]


@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("masses", [ONE, OTHER])
def test_the_papers_algorithms_have_the_closed_forms(masses, rounds):
    f = sum_of_masses(stop_masses(GAMMA, rounds))
    with_threshold = law(lambda draw: pspc(draw, candidate(masses), 1, GAMMA, rounds))
    found = {None if outcome is None else outcome[0]: mass for outcome, mass in with_threshold.masses.items()}
    assert found == threshold_law(masses, f)
    best = law(lambda draw: hard_stop(draw, candidate(masses), GAMMA, rounds))
    assert {outcome[0]: mass for outcome, mass in best.masses.items()} == best_law(masses, f)


# The worst neighbours: the winner half as likely while better ones are twice as likely.
WORST = (1 - 2 * RARE - THIRD, 2 * RARE, THIRD)
WORST_NEIGHBOUR = (1 - RARE - 2 * THIRD, RARE, 2 * THIRD)


def stop_sum(gamma, rounds):
    """E x^K in closed form: the geometric sum up to the cap, and what is left at the cap."""

    def f(x):
        on = (1 - gamma) * x
        return gmpy2.mpq(gamma * x * (1 - on ** (rounds - 1)) / (1 - on) + x * on ** (rounds - 1))

    return f


def test_algorithm_6_costs_more_than_printed():
    """Erratum A3: 2·ε0 + ε1 is broken, 2·ε1 + ε0 holds and is tight."""
    stop, slack = Fraction(1, 1000), Fraction(1, 1000)
    rounds = least_rounds(stop, slack)
    assert rounds == 7601
    one, other = (as_law(threshold_law(m, stop_sum(stop, rounds))) for m in (WORST, WORST_NEIGHBOUR))
    found = loss(one, other)
    printed, right = NATS + 2 * slack, 2 * NATS + slack
    assert printed < found.lower
    assert judge(printed, one, other, Fraction(0)).verdict == "violated"
    assert judge(right, one, other, Fraction(0)).holds
    assert found.lower >= 0.9 * float(right)


def test_algorithm_7_is_within_its_cost_and_tight():
    stop, slack = Fraction(1, 100), Fraction(1, 100)
    f = stop_sum(stop, least_rounds(stop, slack))
    one, other = (as_law(best_law(m, f)) for m in (WORST, WORST_NEIGHBOUR))
    right = 3 * NATS + 3 * slack
    assert judge(right, one, other, Fraction(0)).holds
    assert loss(one, other).lower >= 0.9 * float(right)


def test_the_papers_cap_is_computed_with_eulers_e():
    # With slack 1 the second bound rules for a small enough ln(2): 1 + 1/(e·γ) at γ = 1 is 1.37, and ln(2)/γ is 0.69.
    assert least_rounds(Fraction(1), Fraction(1)) == 2
    assert least_rounds(Fraction(1, 20), Fraction(1, 100)) == math.ceil(math.log(2 / 0.01) / 0.05)


def test_a_scored_candidate_costs_mechanism_and_score():
    """Lemma 6.1 with the sensitivity of erratum A9: quality moves by 2 steps, the output's law by a factor 2."""

    def build(shift, masses, eta):
        return lb.scored(
            lambda draw: draw.index(masses), lambda i: i + shift, sensitivity=2, eta=eta, bounds=(0, 6)
        )  # fmt: skip

    one, other = (law(build(shift, masses, lb.Eta(1, 2, 1)), "1/100000") for shift, masses in ((0, ONE), (2, OTHER)))
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


def test_get_sample_clamps_scores_to_both_sides_of_zero():
    """CLAMP(q, 0, w) is equation 3: within w of 0, so that scores below 0 keep their order."""
    scores = {score: law(lambda d, s=score: get_sample(d, [lambda _: 0], lambda _: s, lb.Rate(1, 40), 2), "1/1000000")
              for score in (-9, -2, -1, 0, 1, 9)}  # fmt: skip
    best = {score: max(found.masses, key=found.masses.get)[1] for score, found in scores.items()}
    assert best == {-9: -2, -2: -2, -1: -1, 0: 0, 1: 1, 9: 2}


def test_get_sample_and_scored_have_one_law():
    rate = lb.Rate.from_eta(HALF)
    theirs = law(lambda draw: get_sample(draw, [lambda d: 4], lambda m: m, rate, 6), "1/100000")
    ours = law(lb.scored(lambda draw: 4, lambda m: m, eta=HALF, bounds=(-6, 6)), "1/100000")
    assert {score: mass for (_, score), mass in theirs.masses.items()} == {
        score: mass for (_, score), mass in ours.masses.items()
    }
