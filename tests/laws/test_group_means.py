"""Means of groups, exactly: the law of both sums, the loss on neighbours, and the intervals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import lastbit as lb
from lastbit.values.group_sums import GroupSums
from tests.fixed_words import FixedWords

TWO = lb.Eta(1, 1, 2)
COSTS: dict[str, dict[str, Any]] = {"eta": {"eta": TWO}, "epsilon": {"epsilon": "3/2"}, "rho": {"rho": 2}}
UNIT: dict[str, Any] = {"bounds": (0, 1), "resolution": 1}


def sums_of(mechanism: lb.GroupMeans, values: Any, tolerance: Fraction) -> Any:
    return lb.audit.law(mechanism.program(values), tolerance)


def test_the_law_is_that_of_two_noisy_sums_for_each_group() -> None:
    mechanism = lb.GroupMeans(groups=["a", "b"], bounds=(-1, 3), resolution=2, eta=lb.Eta(1, 1, 8))
    assert mechanism.rate == mechanism.cost.rate(Fraction(1, 2))
    law = sums_of(mechanism, {"a": [1, 3, None], "c": [2]}, Fraction(1, 1 << 7))
    plain = lb.DiscreteLaplace(eta=lb.Eta(1, 1, 8), sensitivity=2)
    one = {
        int(release.values[0]): mass
        for release, mass in lb.audit.law(plain.program(0), Fraction(1, 1 << 60)).masses.items()
    }
    assert law.masses
    for release, mass in law.masses.items():
        # 1 and 3 are 2 + 4 above the lower bound, and 2 + 0 below the upper one; nobody is in b.
        moves = [step - exact for step, exact in zip(sum(release.sums, ()), (3, 1, 0, 0), strict=True)]
        expected = Fraction(1)
        for move in moves:
            expected *= one[move]
        assert mass == expected


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
@pytest.mark.parametrize(("groups", "most_items", "most_rows"), [(1, 1, 1), (1, 1, 2), (2, 1, 1), (2, 2, 1), (3, 2, 1)])
def test_the_loss_is_within_the_cost_on_every_neighbour(
    cost: dict[str, Any], groups: int, most_items: int, most_rows: int
) -> None:
    mechanism = lb.GroupMeans(
        groups=range(groups), **UNIT, **{name: _more(amount, groups) for name, amount in cost.items()},
        most_items=most_items, most_rows=most_rows,
    )  # fmt: skip
    values = {0: [1], groups - 1: [Fraction(1, 2)]}
    assert lb.audit.check_all(mechanism, values, Fraction(1, 1 << 8)).holds


def _more(amount: Any, groups: int) -> Any:
    """Return a cost so large that few branches hold most of the mass."""
    return lb.Eta(1, 1, 4 * groups) if isinstance(amount, lb.Eta) else Fraction(amount) * 2 * groups


@pytest.mark.parametrize("cost", [{"eta": lb.Eta(1, 1, 8)}, {"rho": 8}], ids=["eta", "rho"])
@pytest.mark.parametrize(
    ("built", "came"),
    [
        ({}, {"a": [1], "b": [1]}),
        ({}, {"a": [1, 1]}),
        ({"most_items": 2}, {"a": [1, 1], "b": [1]}),
    ],
)
def test_a_person_with_more_than_was_built_for_violates_the_cost(
    cost: dict[str, Any], built: dict[str, int], came: dict[str, list[int]]
) -> None:
    mechanism = lb.GroupMeans(groups=["a", "b"], **UNIT, **cost, **built)
    assert lb.audit.check(mechanism, {}, came, tolerance=Fraction(1, 1 << 40)).verdict == "violated"


def test_two_groups_under_rho_cost_twice_and_rows_of_one_group_by_the_square() -> None:
    one, two, rows = (
        lb.GroupMeans(groups=["a", "b"], **UNIT, rho=1, **bound) for bound in ({}, {"most_items": 2}, {"most_rows": 2})
    )
    assert [lb.GroupMeans(groups=["a"], **UNIT, rho=rho).rate for rho in (1, "1/2", "1/4")] == [
        one.rate, two.rate, rows.rate
    ]  # fmt: skip


@pytest.mark.parametrize("bounds", [(0, 2), (-2, 0), (-1, 1), (1, 3)])
@pytest.mark.parametrize("values", [[], [0.9], [1, 2], [1.5, 0.3, None]])
def test_each_interval_holds_at_its_level(values: list[Any], bounds: tuple[int, int]) -> None:
    level = Fraction(3, 4)
    low, high = bounds
    mechanism = lb.GroupMeans(groups=["a"], bounds=bounds, resolution=2, eta=lb.Eta(1, 1, 3))
    law = sums_of(mechanism, {"a": values}, Fraction(1, 1 << 10))
    there = [max(low, min(high, Fraction(value))) for value in values if value is not None]
    held = {"mean": Fraction(0), "people": Fraction(0), "total": Fraction(0), "together": Fraction(0)}
    for release, mass in law.masses.items():
        ends = {name: bars[0] for name, bars in release.error_bars(level).items()}
        truths = {"people": Fraction(len(there)), "total": sum(there, Fraction(0))}
        if there:
            truths["mean"] = truths["total"] / len(there)
        else:
            held["mean"] += mass
        for name, truth in truths.items():
            held[name] += mass if ends[name][0] <= truth <= ends[name][1] else 0
        (fewest, most), (start, end) = release.people_within(level)[0], release.intervals(level)[0]
        mean = truths.get("mean", start)
        held["together"] += mass if fewest <= len(there) <= most and start <= mean <= end else 0
    assert all(mass >= level - law.unexplored for mass in held.values()), held


def test_people_who_are_left_out_may_have_any_number() -> None:
    law = sums_of(lb.GroupMeans(groups=["a"], **UNIT, eta=lb.Eta(1, 1, 8)), {"a": [1, 0, 1]}, Fraction(1, 1 << 10))
    level, held = Fraction(3, 4), Fraction(0)
    for release, mass in law.masses.items():
        low, high = release.intervals(level, [2])[0]
        means = [Fraction(2 + more, 3 + people) for people in range(3) for more in range(people + 1)]
        held += mass if low <= min(means) and max(means) <= high else 0
    assert held >= level - law.unexplored


def test_nobody_there_has_no_mean_and_the_interval_is_the_bounds() -> None:
    law = sums_of(lb.GroupMeans(groups=["a"], bounds=(0, 4), resolution=4, eta=TWO), {}, Fraction(1, 64))
    seen = {release.means[0] is None for release in law.masses}
    assert seen == {True, False}
    for release in law.masses:
        if release.means[0] is None:
            assert release.intervals()[0] == (0, 4)


def test_sums_that_move_further_are_refused() -> None:
    mechanism = lb.GroupMeans(groups=["a", "b"], bounds=(0, 10), epsilon=1)
    bounds = (Fraction(0), Fraction(10))
    values = ((Fraction(3), 1), (Fraction(0), 0))
    mechanism.release(GroupSums(values, bounds))
    for sums in (GroupSums(values, bounds, most_items=2), GroupSums(values, bounds, most_rows=2)):
        with pytest.raises(lb.ParameterError, match="Build it with most_items"):
            mechanism.release(sums)
    for sums in (GroupSums(values[:1], bounds), GroupSums(values, (Fraction(0), Fraction(11)))):
        with pytest.raises(lb.ParameterError, match="must be of 2 groups, with the same bounds"):
            mechanism.release(sums)
    with pytest.raises(lb.ParameterError, match="a mapping from groups to numbers: got list"):
        mechanism.release([1])  # type: ignore[arg-type]


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(lb.ParameterError, match="exactly one of epsilon, eta and rho"):
        lb.GroupMeans(groups=["a"], bounds=(0, 1), epsilon=1, rho=1)
    with pytest.raises(lb.ParameterError, match=r"at most 2\^16 steps"):
        lb.GroupMeans(groups=["a"], bounds=(0, 10**6), resolution=1, rho="1/100")
    with pytest.raises(lb.ParameterError, match=r"at most 2\^48 steps"):
        lb.GroupMeans(groups=["a"], bounds=(0, 1 << 40), resolution=1, epsilon=1, most_rows=1 << 9)


def test_a_bound_above_the_number_of_groups_is_that_number() -> None:
    assert lb.GroupMeans(groups=["a", "b"], **UNIT, epsilon=1, most_items=9).most_items == 2


def test_floats_are_added_up_finely_and_floored_once() -> None:
    mechanism = lb.GroupMeans(groups=["a"], bounds=(0, 10), resolution=10, eta=lb.Eta(1, 1, 8))
    law = sums_of(mechanism, {"a": [0.9] * 20 + [1.999]}, Fraction(1, 64))
    likely = max(law.masses.items(), key=lambda pair: pair[1])[0]
    # 19.999 above 0 is one step of 10; all 21 numbers have a range of 10 together.
    assert likely.sums == ((1, 20),)
    assert not likely.on_grid


def test_the_groups_of_a_product_are_in_the_order_of_the_list() -> None:
    groups = [*product("ab", "xy")]
    release = lb.GroupMeans(groups=groups, bounds=(0, 9), epsilon=90).release({("b", "x"): [9] * 50})
    assert [round(people) for people in release.people] == [0, 0, 50, 0]


@pytest.mark.parametrize("bounds", [(0, 8), (-8, 8), (2, 8)])
def test_a_total_allows_for_every_number_that_is_floored(bounds: tuple[int, int]) -> None:
    """Each of 1,000 numbers may lie so far above what is added up: the interval has all of them."""
    low, high = map(Fraction, bounds)
    floored = Fraction(1, 4)
    mechanism = lb.GroupMeans(groups=["a"], bounds=bounds, epsilon=1, resolution=1)
    exact = GroupSums(((1000 * (5 - low), 1000),), (low, high), unit=Fraction(1))
    raised = replace(exact, floored=floored, unit=None)
    releases = (mechanism.release(sums, lb.Sampler(FixedWords("floored"))) for sums in (exact, raised))
    (start, end), (least, most) = (release.total_intervals("0.95")[0] for release in releases)
    assert least <= start
    assert end + 1000 * floored <= most <= end + 1200 * floored + 2 * high
