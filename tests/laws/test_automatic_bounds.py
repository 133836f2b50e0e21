"""Automatic bounds, exactly: the law is that of the one-sided sparse vector, and bounds hardly ever overshoot."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from tests.laws.one_sided import BELOW, BITS, OneSided

TWO, SIX = lb.Eta(1, 1, 2), lb.Eta(1, 1, 6)
Law = dict[tuple[int, int], Fraction]


def side_law(mechanism: lb.AutomaticBounds, values: Any, choices: list[int]) -> list[Fraction]:
    """Where the walk up ends, from the definition: at zero, at each number of the list, in order."""
    distances = [mechanism.allowed - sum(x > y for x in values) for y in (0, *choices[:-1])]
    law = OneSided(mechanism.rate.fraction, mechanism.rate.fraction, [(1, 0, 1)], 1, BITS)
    stops = [Fraction(law.mass((*[BELOW] * i, (0, None)), distances[: i + 1])) for i in range(len(distances))]
    return [*stops, 1 - sum(stops)]


def whole_law(mechanism: lb.AutomaticBounds, values: Any, choices: list[int]) -> Law:
    upper, lower = (side_law(mechanism, [sign * x for x in values], choices) for sign in (1, -1))
    law: Law = {}
    places = [0, *choices]
    for (y, p), (x, q) in product(zip(places, upper, strict=True), zip(places, lower, strict=True)):
        bounds = (0, choices[0]) if x == y == 0 else (-x, y)
        law[bounds] = law.get(bounds, Fraction(0)) + p * q
    return law


@pytest.mark.parametrize("values", [[], [1], [5, -1], [2, 2, 2, 2, 2, -3], [9, 9, 9, 1]])
@pytest.mark.parametrize("choices", [[1], [1, 2], [2, 5, 7]])
def test_the_law_is_that_of_two_walks(values: list[int], choices: list[int]) -> None:
    mechanism = lb.AutomaticBounds(eta=SIX, overshoot="1/20", choices=choices)
    assert mechanism.rate == lb.Rate(1, 3)
    followed = lb.audit.law(mechanism.program(values), Fraction(1, 1 << 12))
    exact = whole_law(mechanism, values, choices)
    assert sum(exact.values()) == 1
    masses = {tuple(map(int, release.bounds)): mass for release, mass in followed.masses.items()}
    for bounds, mass in exact.items():
        # What the auditor did not follow may be anywhere, and nowhere else.
        assert masses.get(bounds, 0) <= mass <= masses.get(bounds, 0) + followed.unexplored
    assert set(masses) <= set(exact)


def test_the_loss_is_within_the_cost_of_one_walk() -> None:
    # Both sides have the whole cost: a value is on one side only. On all small data sets, by the closed form.
    mechanism, choices = lb.AutomaticBounds(eta=TWO, overshoot="1/4", choices=[1, 2, 4]), [1, 2, 4]
    assert mechanism.rate == lb.Rate(1, 1)
    points = (-3, -1, 0, 1, 2, 3)
    worst = Fraction(1)
    for n in range(4):
        for values in combinations_with_replacement(points, n):
            law = whole_law(mechanism, values, choices)
            for more in points:
                other = whole_law(mechanism, [*values, more], choices)
                ratios = [law[bounds] / other[bounds] for bounds in law]
                worst = max(worst, *ratios, 1 / min(ratios))
    assert Fraction(3) < worst <= 4


def test_the_auditor_agrees() -> None:
    mechanism = lb.AutomaticBounds(eta=SIX, overshoot="1/4", choices=[1, 3])
    for values in ([], [1], [2, -2]):
        verdicts = lb.audit.check_all(mechanism, values, tolerance=Fraction(1, 1 << 9))
        assert verdicts.holds
        assert len(verdicts.each) == len(values) + 5


def test_several_values_of_one_person_are_within_the_cost() -> None:
    once, twice = (lb.AutomaticBounds(eta=TWO, overshoot="1/4", choices=[1, 2], most_values=most) for most in (1, 2))
    assert twice.rate.fraction**2 >= once.rate.fraction > twice.rate.fraction**3
    losses = []
    for mechanism in (once, twice):
        worst = Fraction(1)
        for start, more in product(([], [1], [1, 1, 2], [2] * 6), ([2, 2], [2, -2], [1, 2], [1, -1])):
            law, other = (whole_law(mechanism, values, [1, 2]) for values in (start, [*start, *more]))
            worst = max(worst, *(max(law[each] / other[each], other[each] / law[each]) for each in law))
        losses.append(worst)
    assert losses[1] <= 4 < losses[0]


@pytest.mark.parametrize("overshoot", ["1/4", "1/40", "1/1000"])
@pytest.mark.parametrize("cost", [{"eta": TWO}, {"epsilon": "1/4"}, {"epsilon": 3}, {"rho": "1/10"}])
def test_a_bound_overshoots_at_most_as_often_as_stated(overshoot: str, cost: dict[str, Any]) -> None:
    mechanism, choices = lb.AutomaticBounds(**cost, overshoot=overshoot, choices=[1, 2, 5, 10]), [1, 2, 5, 10]
    r, m = mechanism.rate.fraction, mechanism.allowed
    limit = r ** (m + 1) / (1 + r)
    # The theorem's probability, with the least m that keeps to the stated one.
    assert limit <= Fraction(overshoot)
    assert m == 0 or r**m / (1 + r) > Fraction(overshoot)
    for values in ([], [1], [2, 2], [1, 1, 2, 2, 2], [4] * 9, [0] * 5):
        first = next(i for i, y in enumerate([0, *choices]) if y >= max(values, default=0))
        beyond = sum(side_law(mechanism, values, choices)[first + 1 :])
        assert beyond <= limit
    # With no values the first look decides: nothing is left to tighten.
    assert sum(side_law(mechanism, [], choices)[1:]) == limit


def test_how_many_lie_beyond() -> None:
    mechanism, choices = lb.AutomaticBounds(eta=SIX, overshoot="1/20", choices=[1, 2, 5]), [1, 2, 5]
    for level in (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)):
        most = mechanism.accuracy(level)
        more = [5] * (most + 1)
        for values in (
            [5] * 9, [1] * 3 + [2] * 2 + [5] * 2 + [-5] * 3, [-1] * 20 + [5] * 5, [2] * 3 + [-2] * 3,
            # Wherever a walk ends too early, one more than may lies beyond it.
            [*more, *(-value for value in more)],
        ):  # fmt: skip
            held = Fraction(0)
            for (low, high), mass in whole_law(mechanism, values, choices).items():
                held += mass * (max(sum(x > high for x in values), sum(x < low for x in values)) <= most)
            assert held >= level
    assert mechanism.release([1]).most_beyond == mechanism.accuracy("0.95")


def test_the_list_is_public_and_ends_where_the_grid_does() -> None:
    distances = lb.AutomaticBounds(epsilon=1)._distances.tolist()
    assert distances[:8] == [0, 1, 2, 5, 10, 20, 50, 100]
    assert distances[-1] == 10**18
    assert len(distances) == 1 + 55
    assert lb.AutomaticBounds(epsilon=1, resolution=7)._distances[-1] == 2 * 10**17
    cents = lb.AutomaticBounds(epsilon=9, resolution="1/100").release([0.3] * 100)
    assert cents.bounds == (0, Fraction(1, 2))


def test_values_are_floored_clamped_and_left_out_where_missing() -> None:
    mechanism = lb.AutomaticBounds(epsilon=50)
    tape = [1 << 63] * 200
    for values, bounds in (
        ([0.5, -0.5] * 50, (-1, 0)),
        ([float("inf"), 1e300, None, "n/a"] * 50, (0, 10**18)),
        (np.array([3.0, np.nan, -7.0] * 50), (-10, 5)),
        ([None, float("nan")] * 9, (0, 1)),
        ([], (0, 1)),
    ):
        assert mechanism.release(values, lb.Sampler(lb.Tape(tape))).bounds == bounds


def test_sampler_and_reference_release_the_same() -> None:
    mechanism = lb.AutomaticBounds(epsilon="1/10", resolution="1/10")
    for words in ([5 << 60] * 130, [(i * 0x9E3779B97F4A7C15) % (1 << 64) for i in range(1, 150)]):
        for values in ([], [3, -4, 5], list(range(-50, 90))):
            outcomes = []
            for twin in (lb.Sampler, lb.Reference):
                tape = lb.Tape(words)
                outcomes.append((mechanism.release(values, twin(tape)), tape.consumed))
            assert outcomes[0] == outcomes[1]


def test_the_bounds_go_into_the_next_release() -> None:
    found = lb.AutomaticBounds(epsilon=5).release([40] * 500)
    mean = lb.NoisyMean(epsilon=5, bounds=found.bounds).release([40] * 500)
    assert abs(mean.mean - 40) < 5


def test_refusals() -> None:
    for choices in ([], [0, 1], [2, 1], [1, 1], "12", 5, [1 << 62]):
        with pytest.raises(lb.ParameterError, match="choices must"):
            lb.AutomaticBounds(epsilon=1, choices=choices)
    with pytest.raises(lb.ParameterError, match="resolution must divide each of choices"):
        lb.AutomaticBounds(epsilon=1, choices=["1/2"])
    with pytest.raises(lb.ParameterError, match="overshoot"):
        lb.AutomaticBounds(epsilon=1, overshoot=0)
    with pytest.raises(lb.ParameterError, match="exactly one of epsilon"):
        lb.AutomaticBounds()
    with pytest.raises(lb.ParameterError, match="one number for each person"):
        lb.AutomaticBounds(epsilon=1).release(lb.exact_sum([1], bounds=(0, 1)))
