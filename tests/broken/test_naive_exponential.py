"""The attacks on the exponential mechanism in floating point: they break the naive one and not ours."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from lastbit import ExponentialMechanism, audit
from lastbit.audit.attacks import naive_exponential as attacks
from lastbit.privacy.cost import Cost


def figure_1(epsilon: float, utilities: list[int], index: float) -> int:
    """The paper's naive mechanism, its uniform float given."""
    weights = [np.exp(-(epsilon / 2.0) * u) for u in utilities]
    total = sum(weights)
    shares = [sum(weights[:i]) / total for i in range(1, len(utilities) + 1)]
    return next(i for i, share in enumerate(shares) if share >= index)


def list_utilities(runs: attacks.Runs) -> list[int]:
    return [utility for utility, count in runs for _ in range(count)]


def test_zero_rounding_succeeds_to_the_papers_probability() -> None:
    for k in (2, 10, 1000):
        attack = attacks.zero_rounding(outcomes=k)
        # (k-1)/k, but that a uniform float has 2^53 values.
        assert abs(attack.naive_advantage - Fraction(k - 1, k)) <= Fraction(1, 1 << 53)
        assert attack.fails_on_ours
    assert attack.succeeds


def test_truncated_addition_succeeds_about_half_the_time() -> None:
    attack = attacks.truncated_addition()
    assert attack.succeeds
    assert Fraction(9, 20) < attack.naive_advantage < Fraction(11, 20)
    assert attack.fails_on_ours


@pytest.mark.parametrize("runs", [[(1490, 1), (1491, 9)], [(1490, 1), (1490, 9)], [(3, 1), (0, 4), (5, 2)]])
def test_the_stated_probabilities_are_those_of_figure_1(runs: attacks.Runs) -> None:
    chance = attacks.naive_chance_of_first(1, runs)
    grains = chance * (1 << 53)
    assert grains.denominator == 1
    last = (grains.numerator - 1) / 2**53
    assert figure_1(1, list_utilities(runs), last) == 0
    if chance < 1:
        assert figure_1(1, list_utilities(runs), grains.numerator / 2**53) > 0


@pytest.mark.parametrize("runs", [[(1490, 1), (1491, 9)], [(3, 1), (0, 4), (5, 2)]])
def test_our_stated_probabilities_are_those_of_the_program(runs: attacks.Runs) -> None:
    mechanism = ExponentialMechanism(epsilon=1)
    law = audit.law(mechanism.program([-u for u in list_utilities(runs)]), 0)
    found = {choice.index: mass for choice, mass in law.masses.items()}
    assert attacks.our_chance_of_first(mechanism, runs) == found[0]


def test_runs_add_up_as_one_addition_after_the_other() -> None:
    random = Random(1)
    for _ in range(1000):
        start = random.choice([0.0, 1.0, random.random(), 2.0 ** random.randint(-5, 5)])
        ties = random.random() < 0.3
        weight = random.choice([1, 3, 5]) * 2.0 ** random.randint(-56, 0) if ties else random.random() * 2.0**-50
        count, total = random.randint(1, 300), start
        for _ in range(count):
            total += weight
        assert attacks.after_run(start, weight, count) == total


def test_the_bound_is_what_any_attacker_may_gain() -> None:
    attack = attacks.zero_rounding()
    low, high = Cost.of(Fraction(1)).odds_bounds()
    assert (low - 1) / (low + 1) <= attack.our_bound <= (high - 1) / (high + 1)
