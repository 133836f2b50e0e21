"""The mean over a private number of units: its loss on neighbours, and its intervals, in exact laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit.values.statistic import centred_sums

BIT = lb.Eta(1, 1, 1)


@pytest.mark.parametrize("values", [[], [0], [2], [0, 1]])
@pytest.mark.parametrize("bounds", [(0, 2), (-1, 1), (1, 2)])
def test_the_loss_is_within_the_cost_on_every_neighbour(values: list[int], bounds: tuple[int, int]) -> None:
    verdicts = lb.audit.check_all(lb.NoisyMean(eta=lb.Eta(1, 1, 8), bounds=bounds), values, Fraction(1, 1 << 9))
    assert verdicts.holds


def test_a_unit_at_a_bound_uses_the_cost_up() -> None:
    mechanism = lb.NoisyMean(eta=lb.Eta(1, 1, 2), bounds=(0, 1))
    programs = mechanism.program([]), mechanism.program([1])
    assert lb.audit.compare(*programs, mechanism.cost, Fraction(1, 1 << 12)).holds
    assert lb.audit.compare(*programs, lb.Eta(17, 6, 1), Fraction(1, 1 << 12)).verdict == "violated"


@pytest.mark.parametrize(
    "values", [[0], [2, 2, 1], [1] * 6, [0.9] * 5, [0.5, None, 1.9], [1.999, float("nan"), "?"], [2.0, 0.3]]
)
@pytest.mark.parametrize("bounds", [(0, 2), (-4, 2)], ids=str)
def test_all_intervals_hold_together_at_their_level(values: list[Any], bounds: tuple[int, int]) -> None:
    level = Fraction(3, 4)
    mechanism = lb.NoisyMean(eta=lb.Eta(1, 1, 8), bounds=bounds)
    law = lb.audit.law(mechanism.program(values), Fraction(1, 1 << 9))
    there = [Fraction(value) for value in values if isinstance(value, int | float) and value == value]
    mean, held = sum(there, Fraction(0)) / len(there), Fraction(0)
    for release, mass in law.masses.items():
        assert isinstance(release, lb.MeanAndPeople)
        (low, high), (fewest, most) = release.interval(level), release.people_interval(level)
        least, furthest = release.total_interval(level)
        right = low <= mean <= high and fewest <= len(there) <= most
        held += mass if right and least <= sum(there, Fraction(0)) <= furthest else 0
    assert held >= level - law.unexplored


def test_sums_of_units_give_the_same_law_as_the_units() -> None:
    mechanism = lb.NoisyMean(eta=lb.Eta(1, 1, 8), bounds=(0, 3), resolution="1/2")
    numbers = [0.7, 2.9, float("nan"), 99]
    sums = lb.mean_sums(numbers, bounds=(0, 3), resolution="1/2")
    # Three have a number, and their sum is floored once.
    assert sums.values == (Fraction("6.5") - 3 * Fraction(3, 2), 3 * Fraction(3, 2))
    one, other = (lb.audit.law(mechanism.program(each), Fraction(1, 64)) for each in (numbers, sums))
    assert one.exact == other.exact


@pytest.mark.parametrize("values", [[None], [0, None], [2, 1, None]])
def test_a_number_that_turns_missing_is_within_the_cost(values: list[Any]) -> None:
    mechanism = lb.NoisyMean(eta=lb.Eta(1, 1, 8), bounds=(0, 2))
    assert any(None in other for other in mechanism.neighbours([1, 2]))
    assert lb.audit.check_all(mechanism, values, Fraction(1, 1 << 9)).holds


def test_a_unit_with_two_rows_is_within_the_cost_of_two_rows_only() -> None:
    tolerance = Fraction(1, 1 << 9)
    two = lb.NoisyMean(eta=lb.Eta(1, 1, 8), bounds=(0, 2), most_rows=2)
    assert two.sensitivity == 4
    assert lb.audit.check_all(two, [1], tolerance).holds
    one = lb.NoisyMean(eta=lb.Eta(1, 1, 8), bounds=(0, 2))
    assert not lb.audit.compare(one.program([1]), one.program([1, 2, 2]), one.cost, tolerance).holds
    rows = centred_sums(Fraction(3), 2, bounds=(0, 2), most=2)
    assert rows.sensitivity == 4
    with pytest.raises(lb.ParameterError, match="one person can move the values by 4 in all"):
        one.release(rows)


def test_values_that_move_further_are_refused() -> None:
    sums = lb.mean_sums([1, 2], bounds=(0, 10))
    with pytest.raises(lb.ParameterError, match="same bounds"):
        lb.NoisyMean(epsilon=1, bounds=(0, 5)).release(sums)


def test_nobody_there_gives_the_midpoint_and_no_wrong_interval() -> None:
    law = lb.audit.law(lb.NoisyMean(eta=BIT, bounds=(0, 4)).program([]), Fraction(1, 64))
    for release in law:
        assert isinstance(release, lb.MeanAndPeople)
        if release.sums[1] <= 0:
            assert release.mean == 2
            assert release.interval() == (0, 4)
        assert 0 <= release.mean <= 4
