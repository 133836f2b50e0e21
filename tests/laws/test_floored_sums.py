"""Sums that were floored say how far above the exact ones may lie: what releases promise holds for the exact sums.

Each test has exact sums as far above the floored ones as may be, or not at all, and shows that the promise fails
without the margin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import lastbit as lb

ABOVE = 3
TOLERANCE = Fraction(1, 1 << 10)
BIT = lb.Eta(1, 1, 1)
LEVEL = Fraction(9, 10)


def floored(values: tuple[int, ...], above: int = ABOVE) -> lb.Counts:
    return lb.Counts(items=range(len(values)), values=values, monotone=True, resolution=1, above=above)


def exact_sums(values: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Sums that may stand behind the floored ones."""
    for more in product((0, ABOVE), repeat=len(values)):
        yield tuple(value + by for value, by in zip(values, more, strict=True))


def least_coverage(mechanism: Any, values: tuple[int, ...], holds: Callable[[Any, tuple[int, ...]], bool]) -> Fraction:
    """The least probability, of all exact sums, that what a release says of them holds."""
    law = lb.audit.law(mechanism.program(floored(values)), TOLERANCE)
    held = [
        sum((mass for release, mass in law.masses.items() if holds(release, exact)), Fraction(0))
        for exact in exact_sums(values)
    ]
    return min(held) + law.unexplored


def test_gap_intervals_hold_for_exact_sums() -> None:
    mechanism = lb.NoisyTopK(k=1, eta=BIT, resolution=1, monotone=True)

    def holds(release: Any, exact: tuple[int, ...]) -> bool:
        ((low, high),) = release.gap_intervals(LEVEL)
        winner = release.indices[0]
        return bool(low <= exact[winner] - exact[1 - winner] <= high)

    assert least_coverage(mechanism, (4, 3), holds) >= LEVEL
    assert least_coverage(mechanism, (4, 3), lambda release, exact: holds(replace(release, above=0), exact)) < LEVEL


@pytest.mark.parametrize("selection", ["noise", "set"])
def test_intervals_of_measurements_hold_for_exact_sums(selection: Any) -> None:
    mechanism = lb.SelectAndMeasure(k=1, eta=lb.Eta(1, 1, 2), resolution=1, monotone=True, selection=selection)

    def holds(release: Any, exact: tuple[int, ...]) -> bool:
        ((low, high),) = release.intervals(LEVEL)
        return bool(low <= exact[release.indices[0]] <= high)

    assert least_coverage(mechanism, (4, 3), holds) >= LEVEL
    assert least_coverage(mechanism, (4, 3), lambda release, exact: holds(replace(release, above=0), exact)) < LEVEL


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_intervals_of_sums_hold_for_exact_sums(noise: str) -> None:
    counts = floored((4,))
    mechanism: Any = lb.DiscreteLaplace(eta=BIT) if noise == "laplace" else lb.DiscreteGaussian(rho=1)
    law = lb.audit.law(mechanism.program(counts), TOLERANCE)
    for exact in range(4, 4 + ABOVE + 1):
        intervals = [(release.interval(LEVEL)[0], mass) for release, mass in law.masses.items()]
        assert sum(mass for (low, high), mass in intervals if low <= exact <= high) >= LEVEL - law.unexplored
    assert mechanism.release(counts).rate == mechanism.rate  # each sum moves by whole steps: no noise is added for it


@pytest.mark.parametrize("k", [1, 2])
def test_what_is_left_out_has_no_more_than_promised(k: int) -> None:
    values = (4, 3, 3)
    asked: dict[str, Any] = {"eta": BIT, "monotone": True}
    for mechanism in (
        lb.NoisyTopK(k=k, resolution=1, **asked),
        lb.SubsetTopK(k=k, **asked),
        lb.ExponentialMechanism(**asked),
    ):
        single = isinstance(mechanism, lb.ExponentialMechanism)

        def misses(release: Any, exact: tuple[int, ...], by: Fraction, single: bool = single) -> bool:
            picked = {release.index} if single else set(release.indices)
            left = [exact[index] for index in range(len(exact)) if index not in picked]
            return max(left) - min(exact[index] for index in picked) >= by

        def within(margin: int, mechanism: Any = mechanism) -> Fraction:
            return mechanism.accuracy(len(values), LEVEL, margin=margin)

        assert within(ABOVE) == within(0) + ABOVE
        promised, bare = within(ABOVE), Fraction(ABOVE)
        assert least_coverage(mechanism, values, lambda r, e, by=promised: not misses(r, e, by)) >= LEVEL  # type: ignore[misc]
        # A margin alone, or an accuracy alone that is as small, would not do.
        assert least_coverage(mechanism, values, lambda r, e, by=bare: not misses(r, e, by)) < LEVEL  # type: ignore[misc]


def test_a_lead_of_exact_sums_makes_the_set_exact() -> None:
    mechanism = lb.SubsetTopK(k=1, eta=BIT, monotone=True)
    lead = mechanism.lead(3, LEVEL)
    assert mechanism.lead(3, LEVEL, ABOVE) == lead + ABOVE
    # The exact lead is there, and flooring takes all that it may off the best.
    law = lb.audit.law(mechanism.program(floored((int(lead), 0, 0))), TOLERANCE)
    assert sum(mass for release, mass in law.masses.items() if release.indices == (0,)) >= LEVEL - law.unexplored
    law = lb.audit.law(mechanism.program(floored((int(lead) - ABOVE, 0, 0))), TOLERANCE)
    assert sum(mass for release, mass in law.masses.items() if release.indices == (0,)) < LEVEL - law.unexplored


def unlisted(value: int) -> lb.Unlisted:
    return lb.Unlisted.of({"a": value}, most_items=1, above=ABOVE)


@pytest.mark.parametrize("kind", ["histogram", "top", "ranking"])
def test_an_item_with_the_sum_that_is_needed_is_told(kind: str) -> None:
    asked: dict[str, Any] = {"eta": BIT, "delta": "1/4", "most_items": 1}
    mechanism: Any = {
        "histogram": lambda: lb.DiscoverHistogram(**asked),
        "top": lambda: lb.DiscoverTopK(k=1, candidates=1, resolution=1, **asked),
        "ranking": lambda: lb.DiscoverRanking(k=1, candidates=1, **asked),
    }[kind]()
    needed = mechanism.needed(LEVEL, ABOVE)
    assert needed == mechanism.needed(LEVEL) + ABOVE

    def told(exact: int) -> Fraction:
        law = lb.audit.law(mechanism.program(unlisted(exact - ABOVE)), TOLERANCE)
        return sum((mass for release, mass in law.masses.items() if release.items), law.unexplored)

    assert told(int(needed)) >= LEVEL
    assert told(int(needed) - ABOVE) < LEVEL


def test_intervals_of_items_that_nobody_listed_hold_for_exact_sums() -> None:
    mechanism = lb.DiscoverHistogram(eta=BIT, delta="1/4", most_items=1)
    floor = int(mechanism.threshold) + 9
    law = lb.audit.law(mechanism.program(unlisted(floor)), TOLERANCE)
    for above, enough in ((ABOVE, True), (0, False)):
        for exact in (floor, floor + ABOVE):
            fails = Fraction(0)
            for release, mass in law.masses.items():
                assert isinstance(release, lb.DiscoveredHistogram)
                assert release.above == ABOVE
                for low, high in replace(release, above=above).intervals(LEVEL):
                    fails += 0 if low <= exact <= high else mass
            assert (fails <= 1 - LEVEL) is (enough or exact == floor)


@pytest.mark.parametrize("kind", [lb.SparseVector, lb.AdaptiveSparseVector])
def test_a_sum_so_far_from_the_threshold_is_told_rightly(kind: Any) -> None:
    mechanism = kind(threshold=50, limit=1, eta=BIT, monotone=True)
    far = mechanism.decisive(LEVEL, ABOVE)
    assert far == mechanism.decisive(LEVEL) + ABOVE

    def told_above(value: Fraction) -> Fraction:
        law = lb.audit.law(mechanism.program(floored((int(value),))), TOLERANCE)
        return sum((mass for release, mass in law.masses.items() if release.indices), Fraction(0))

    assert told_above(50 + far - ABOVE) >= LEVEL - TOLERANCE
    assert told_above(50 - far) <= 1 - LEVEL
    if kind is lb.SparseVector:  # an adaptive one is as far off as it is for the sake of those below
        assert told_above(50 + mechanism.decisive(LEVEL) - ABOVE) < LEVEL - TOLERANCE


@pytest.mark.parametrize(("value", "above"), [(Fraction(9, 10), 1), (0.9, 1), (Fraction(1), 1), (1, 0)])
def test_one_value_that_is_no_whole_number_was_floored(value: Any, above: int) -> None:
    statistic = lb.Statistic(value, 1, 1)
    assert statistic.above == above
    mechanism = lb.DiscreteLaplace(eta=BIT)
    law = lb.audit.law(mechanism.program(statistic), TOLERANCE)
    held = Fraction(0)
    for release, mass in law.masses.items():
        assert isinstance(release, lb.NoisyValues)
        assert release.on_grid is (above == 0)
        low, high = release.interval(LEVEL)
        held += mass if low <= Fraction(value) <= high else 0
    assert held >= LEVEL - law.unexplored


def test_counts_that_are_no_whole_numbers_were_floored() -> None:
    assert lb.Counts(items="ab", values=[Fraction(9, 10), 2], resolution=1).above == 1
    assert lb.Counts(items="ab", values=[1, 2], resolution=1).above == 0
    assert lb.Counts(items="ab", values=[1, 2], resolution=2, sensitivity=2).above == 1
    assert lb.Counts(items="ab", values=[1, 2]).margin == 0
    assert lb.Unlisted.of({"a": Fraction(19, 10)}).above == 1
    assert lb.Unlisted.of({"a": 2}).above == 0


def test_a_coarser_grid_takes_off_a_step_more() -> None:
    """Sums in quarters, up to two quarters too low, are floored to whole numbers: nearly a step and a half."""
    counts = lb.Counts(items="a", values=[Fraction(7, 4)], sensitivity=2, resolution="1/4", above=2)
    noisy = lb.DiscreteLaplace(eta=BIT, sensitivity=2).release(counts)
    assert (noisy.above, noisy.on_grid) == (2, False)


def test_several_values_that_are_floored_move_further_together() -> None:
    """One person moves both by a half, and both floors by one."""
    asked: dict[str, Any] = {"sensitivity": 1, "resolution": 1}
    before, after = (lb.Statistic((value, value), **asked) for value in (Fraction(1, 2), Fraction(1)))
    assert before.values == (0, 0)
    assert after.values == (1, 1)
    assert (before.each, before.total) == (1, 2)
    with pytest.raises(lb.ParameterError, match="by 2 in all"):
        lb.DiscreteLaplace(eta=BIT).release(before)
    mechanism = lb.DiscreteLaplace.of(before, eta=BIT)
    assert lb.audit.compare(mechanism.program(before), mechanism.program(after), BIT, TOLERANCE).holds
    assert lb.Statistic((1, 2), **asked).total == 1
