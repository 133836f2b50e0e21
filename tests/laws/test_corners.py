"""Every mechanism keeps its cost in the corners: currencies, reaches, bounds, k and grids, each two together.

`make fuzz` tries every corner.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit.audit.verdict import judge
from lastbit.chance.bits import Tape
from tests.laws.corners import CASES, CURRENCY, GRID, cover, instances, price, scale
from tests.mechanisms.test_mechanism import all_mechanisms

WORDS = [(2**64 // 997 * place**3 + 12345 * place) % 2**64 for place in range(1, 400)]
LONG = bool(os.environ.get("LASTBIT_FUZZ"))
CORNERS = list(instances(every=LONG))


@pytest.mark.parametrize(("name", "corner"), CORNERS, ids=[f"{name} {corner}" for name, corner in CORNERS])
def test_a_corner_keeps_its_cost(name: str, corner: dict[str, Any]) -> None:
    case = CASES[name][0](corner)
    one, other = (lb.audit.law(case.mechanism.program(values), case.tolerance) for values in (case.one, case.other))
    cost = case.mechanism.cost
    verdict = judge(cost, one, other, Fraction(case.tolerance))
    assert verdict.holds, verdict
    if case.tight and cost.in_rho:
        assert one.least_rho(other)[0] > cost.rho / 4, "the instance would not notice noise that is too small by half"
    elif case.tight:
        assert verdict.loss.lower > cost.amount / 2, "the instance would not notice noise that is too small by half"


SCALED: dict[str, Callable[..., Any]] = {
    "NoisyMax": lambda **more: lb.NoisyMax(**more),
    "NoisyTopK": lambda **more: lb.NoisyTopK(k=2, **more),
    "NoisyTopK, monotone": lambda **more: lb.NoisyTopK(k=3, monotone=True, **more),
    "SelectAndMeasure": lambda **more: lb.SelectAndMeasure(k=2, **more),
    "SelectAndMeasure, set": lambda **more: lb.SelectAndMeasure(k=2, selection="set", **more),
    "SparseVector": lambda **more: lb.SparseVector(threshold=0, limit=2, **more),
    "AdaptiveSparseVector": lambda **more: lb.AdaptiveSparseVector(threshold=0, limit=2, sigma=0, **more),
}


def in_steps(number: Any, resolution: Fraction) -> Any:
    """Return published columns with every number in steps. Floats are derived from these, and are left out."""
    if isinstance(number, list | tuple | range):
        return [in_steps(part, resolution) for part in number]
    if isinstance(number, float):
        return None
    return number / resolution if isinstance(number, Fraction) else number


def columns_in_steps(release: lb.Release, resolution: Fraction) -> dict[str, Any]:
    """Return what was published, but for what it cost."""
    return {name: in_steps(column, resolution) for name, column in release.columns().items() if name != "spent"}


@pytest.mark.parametrize("currency", CURRENCY)
@pytest.mark.parametrize("name", SCALED)
def test_a_wide_reach_is_a_small_one_at_a_part_of_the_cost(name: str, currency: str) -> None:
    """Noise for many steps has too many outcomes to follow. On the same words it is that of one step, cheaper."""
    steps = [7, -3, 12, 0, 5, -40]
    for reach, factor in ((10, 1), (1, 10), (2, 10), (10, 10)):
        unit = Fraction(1, factor)
        asked = price(currency, 8 if currency == "rho" else 8 * reach * factor)
        wide = SCALED[name](**asked, sensitivity=reach, resolution=unit)
        assert wide.cost == SCALED[name](**asked, sensitivity=1, resolution=1).cost
        # A rho pays for an epsilon, which the small corners audit. Of that epsilon each step gets its part.
        part = {"epsilon": wide.cost.amount / (reach * factor)} if currency == "rho" else price(currency, 8)
        one = SCALED[name](**part, sensitivity=1, resolution=1)
        for values in (steps, steps[::-1]):
            published = wide.program([step * unit for step in values])(lb.Sampler(Tape(WORDS)))
            expected = one.program(values)(lb.Sampler(Tape(WORDS)))
            assert columns_in_steps(published, unit) == columns_in_steps(expected, Fraction(1))


@pytest.mark.parametrize("corner", cover({**GRID, "k": (1, 2, 3)}), ids=str)
def test_items_that_nobody_listed_have_the_noise_of_a_public_list(corner: dict[str, Any]) -> None:
    """Their gaps have too many outcomes to follow in all corners; test_discover follows them for one currency."""
    cost: dict[str, Any] = {"k": corner["k"], **price(corner["currency"], 4), **scale(corner)}
    found = lb.DiscoverTopK(**cost, delta="1/10", most_items=2)
    assert found._selector == lb.NoisyTopK(**cost, monotone=True)._selector
    assert found._rate == found._selector.rate


@pytest.mark.parametrize("currency", CURRENCY)
@pytest.mark.parametrize("k", [2, 3])
def test_a_ranking_is_so_many_picks_each_at_its_share(currency: str, k: int) -> None:
    """One pick is followed above, and uses all of its cost. Several use less of theirs than a fault would add."""
    one, many = price(currency, 4), price(currency, 4 * k)
    if currency == "rho":
        many = {"rho": k * one["rho"]}
    single, several = (
        lb.DiscoverRanking(k=picks, delta="1/1000", sensitivity=2, most_items=2, **cost)
        for picks, cost in ((1, one), (k, many))
    )
    assert several._rate == single._rate
    assert abs(several.cost.rho / (k * single.cost.rho) - 1) < Fraction(1, 10**9)


ELSEWHERE = {
    "Snapping": "test_snapping has the exact law of each setting, and an epsilon is its only currency",
    "PrivateSelection": "test_private_selection has all laws of the number of rounds, at the cost of a candidate",
    "PrivateSearch": "it is a PrivateSelection",
    "DiscoverTopK": "above",
}


def test_no_mechanism_is_without_corners() -> None:
    here = {name.partition(",")[0] for name in CASES}
    assert {mechanism.__name__ for mechanism in all_mechanisms()} == here | ELSEWHERE.keys()
    assert not here & ELSEWHERE.keys()
