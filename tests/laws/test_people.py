"""Intervals for people, from a bounded count and the spread: their coverage over all lots, in exact laws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from lastbit.estimate.people import PeopleBounds, mean_lower, mean_upper, noise_of_sum, spread_classes
from lastbit.privacy.rate import Rate

ALPHA = Fraction(1, 40)


def lot_law(people: list[int], most: int) -> list[Fraction]:
    """The law of the number of people counted in an item that all these have, each with so many items."""
    law = [Fraction(1)]
    for items in people:
        chance = min(Fraction(1), Fraction(most, items))
        law = [
            (law[count] * (1 - chance) if count < len(law) else 0) + (law[count - 1] * chance if count else 0)
            for count in range(len(law) + 1)
        ]
    return law


def bounds(spread: dict[int, int], most: int, size: int | None) -> PeopleBounds:
    """The bounds where the spread is known."""
    classes = spread_classes(most, size)
    counts = [
        sum(people for items, people in spread.items() if first <= items and (last is None or items <= last))
        for first, last in classes
    ]
    return PeopleBounds(most, classes, tuple(counts))


POPULATIONS = {
    "everyone has four": ([4] * 30, {4: 80}, 12),
    "a rare item": ([4] * 3, {4: 300}, 12),
    "one to eight items": ([1, 2, 3, 4, 5, 6, 7, 8] * 4, dict.fromkeys(range(1, 9), 20), 8),
    "those who have the item have many": ([10] * 20, {1: 100, 10: 20}, 12),
    "those who have the item have one": ([1] * 20, {1: 20, 10: 100}, 12),
    "nobody": ([], {2: 10}, 3),
    "nobody listed the items": ([3, 9, 200] * 5, {3: 9, 9: 9, 200: 9}, None),
}


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_interval_misses_the_people_in_at_most_alpha_of_all_lots(name: str, most: int) -> None:
    people, spread, size = POPULATIONS[name]
    known = bounds(spread, most, size)
    law = lot_law(people, most)
    assert sum(law) == 1
    above = sum((mass for count, mass in enumerate(law) if known.upper(count, ALPHA) < len(people)), Fraction(0))
    below = sum((mass for count, mass in enumerate(law) if known.lower(count, ALPHA) > len(people)), Fraction(0))
    assert above <= ALPHA
    assert below <= ALPHA


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("name", POPULATIONS)
def test_without_alpha_the_interval_holds_for_every_lot(name: str, most: int) -> None:
    people, spread, size = POPULATIONS[name]
    known = bounds(spread, most, size)
    for count, mass in enumerate(lot_law(people, most)):
        if mass:
            assert known.lower(count) <= len(people) <= known.upper(count)


def test_the_bounded_count_alone_misses_the_people_in_every_lot() -> None:
    """The negative control: an interval that takes the people counted for all people."""
    law = lot_law([4] * 30, 1)
    near = sum(mass for count, mass in enumerate(law) if abs(count - 30) <= 6)
    assert near < Fraction(1, 1000)


@pytest.mark.parametrize(
    ("spread", "most", "counted", "sure", "sharp"),
    [
        ({4: 400}, 1, 50, (50, 450), (133, 287)),
        ({4: 400}, 1, 3, (3, 403), (3, 41)),
        ({1: 100, 4: 3}, 1, 5, (5, 8), (5, 8)),  # whatever the lot is, three are left out at most
    ],
)
def test_the_intervals_of_a_uniform_lot_are_narrow(
    spread: dict[int, int], most: int, counted: int, sure: tuple[int, int], sharp: tuple[int, int]
) -> None:
    known = bounds(spread, most, 12)
    assert (known.lower(counted), known.upper(counted)) == sure
    assert (known.lower(counted, ALPHA), known.upper(counted, ALPHA)) == sharp


@pytest.mark.parametrize("count", [0, 1, 2, 10, 100, 10**6])
@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(1, 40), Fraction(1, 10**12)])
def test_means_are_where_the_bound_of_chernoff_puts_them(count: int, alpha: Fraction) -> None:
    """To a sixteenth of a person, and on the safe side of it."""

    def distance(mean: float) -> float:
        return mean - count - (count * math.log(mean / count) if count else 0)

    nats, upper, lower = math.log(1 / alpha), float(mean_upper(count, alpha)), float(mean_lower(count, alpha))
    assert distance(upper) >= nats - 1e-6 * max(1, count)
    assert upper - 1 / 16 <= count or distance(upper - 1 / 16) < nats + 1e-6 * max(1, count)
    if lower:
        assert distance(lower) >= nats - 1e-6 * max(1, count)
    if count - lower - 1 / 16 > 0:
        assert distance(lower + 1 / 16) < nats + 1e-6 * max(1, count)


@pytest.mark.parametrize("most", [1, 3, 50])
@pytest.mark.parametrize("size", [1, 2, 12, 1000, None])
def test_classes_cover_every_number_of_items_once(most: int, size: int | None) -> None:
    if size is not None and most > size:
        return
    classes = spread_classes(most, size)
    assert classes[0] == (1, most)
    assert all(after[0] == before[1] + 1 for before, after in itertools.pairwise(classes))
    assert classes[-1][1] == size
    assert len(classes) <= 16


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 1000)])
def test_the_noise_of_a_sum_keeps_within_its_reach(times: int, alpha: Fraction) -> None:
    """Against the exact law of a sum of discrete Laplace noises of rate 1/2, cut off where nothing is left."""
    one = {step: Fraction(1, 3) * Fraction(1, 2 ** abs(step)) for step in range(-60, 61)}
    law = {0: Fraction(1)}
    for _ in range(times):
        total: dict[int, Fraction] = {}
        for before, mass in law.items():
            for step, more in one.items():
                total[before + step] = total.get(before + step, Fraction(0)) + mass * more
        law = total
    reach = noise_of_sum("laplace", Rate(1, 1), times, alpha)
    assert sum(mass for step, mass in law.items() if step > reach) <= alpha
    assert sum(mass for step, mass in law.items() if step > reach - 2) > alpha


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**9)])
def test_the_sum_of_gaussian_noises_keeps_within_its_reach(times: int, alpha: Fraction) -> None:
    """Against the law of a sum of discrete Gaussian noises with masses 2^-(i²/8), cut off where nothing is left."""
    weights = {step: 2.0 ** (-step * step / 8) for step in range(-80, 81)}
    whole = math.fsum(weights.values())
    law = {0: 1.0}
    for _ in range(times):
        total: dict[int, float] = {}
        for before, mass in law.items():
            for step, weight in weights.items():
                total[before + step] = total.get(before + step, 0.0) + mass * weight / whole
        law = total
    reach = noise_of_sum("gaussian", Rate.from_epsilon(Fraction(math.log(2)) / 8), times, alpha)
    assert math.fsum(mass for step, mass in law.items() if step > reach) <= float(alpha)
    assert math.fsum(mass for step, mass in law.items() if step > reach - 2) > float(alpha)


@pytest.mark.parametrize("times", [2, 4])
def test_noise_on_a_coarser_grid_is_rounded_up_and_loses_nothing(times: int) -> None:
    """At a scale of 4,000 steps a noise is followed in units of many steps: the reach is no less than the exact one.

    P(X1 + X2 > n) of two discrete Laplace noises of rate r has a closed form; a sum of more goes further.
    """
    rate, alpha = Rate.from_epsilon(Fraction(1, 4000)), Fraction(1, 40)
    reach, r = noise_of_sum("laplace", rate, times, alpha), float(rate.fraction)
    mass = (1 - r) / (1 + r)

    def beyond(n: int) -> float:
        # P(X1 + X2 = n) = mass²·r^n·(n + (1 + r²)/(1 - r²)), summed over all above.
        first = (1 + r * r) / (1 - r * r)
        tail = r ** (n + 1) / (1 - r)
        return mass**2 * (tail * (n + 1 + first) + r ** (n + 2) / (1 - r) ** 2)

    assert beyond(reach) <= float(alpha)
    if times == 2:
        assert beyond(int(reach * 0.96)) > float(alpha)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_noises_that_fail_more_rarely_than_floats_tell_share_their_probability(noise: str) -> None:
    rate, alpha = Rate.from_epsilon(Fraction(1, 1000)), Fraction(1, 10**250)
    single = noise_of_sum(noise, rate, 1, alpha)
    shared = noise_of_sum(noise, rate, 3, 3 * alpha)
    assert shared == 3 * single
    assert noise_of_sum(noise, rate, 300, alpha) > 300 * single


def test_no_more_people_are_cut_than_all_classes_hold_or_than_were_counted_together() -> None:
    classes = ((1, 1), (2, 2), (3, 3))
    assert PeopleBounds(1, classes, (9, 4, 3), 5).cut == 5
    assert PeopleBounds(1, classes, (9, 4, 3), 50).cut == 7
