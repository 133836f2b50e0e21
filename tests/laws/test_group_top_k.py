"""The k largest of each group, exactly: independent, each at the share of the cost that a person's groups leave."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import lastbit as lb

GRID: dict[str, Any] = {"resolution": 1, "monotone": True}


def of_group(release: Any) -> Any:
    return release.indices, release.gap_steps


@pytest.mark.parametrize("most", [1, 2])
def test_groups_are_independent_each_at_its_share(most: int) -> None:
    """What each law is known to have at least differs by no more than what nobody followed of the other."""
    groups = lb.GroupTopK(groups=["a", "b"], k=1, eta=lb.Eta(1, 1, 8), most_groups=most, **GRID)
    each = lb.NoisyTopK(k=1, eta=lb.Eta(1, 1, 8 // most), **GRID)
    assert groups.cost.amount == lb.Cost.of(lb.Eta(1, 1, 8)).amount
    values: dict[str, Any] = {"a": [0, 1], "b": [2]}
    a, b = (lb.audit.law(each.program(values[group]), Fraction(1, 1 << 20)) for group in "ab")
    apart = {
        (of_group(first), of_group(second)): one * other
        for (first, one), (second, other) in product(a.masses.items(), b.masses.items())
    }
    law = lb.audit.law(groups.program(values), Fraction(1, 1 << 20))
    together = {tuple(map(of_group, release.selections)): mass for release, mass in law.masses.items()}
    assert len(together) > 5
    outcomes = apart.keys() | together.keys()
    more, less = (
        sum(max(Fraction(0), one.get(outcome, Fraction(0)) - other.get(outcome, Fraction(0))) for outcome in outcomes)
        for one, other in ((apart, together), (together, apart))
    )
    assert more <= law.unexplored < Fraction(1, 1 << 19)
    assert less <= a.unexplored + b.unexplored < Fraction(1, 1 << 19)


@pytest.mark.parametrize("cost", [{"epsilon": 6}, {"eta": lb.Eta(1, 1, 8)}, {"rho": 2}])
@pytest.mark.parametrize("most", [1, 2])
def test_the_loss_is_within_the_cost_on_every_neighbour(cost: dict[str, Any], most: int) -> None:
    """Somebody comes into one group or into two, with one item there or with both."""
    mechanism = lb.GroupTopK(groups=["a", "b"], k=1, most_groups=most, **GRID, **cost)
    verdicts = lb.audit.check_all(mechanism, {"a": [0, 1], "b": [0]}, tolerance="1/1000")
    assert verdicts.holds
    # One item, the other or both in a, or the item of b; or each of these with the item of b. All come, or all go.
    assert len(verdicts.each) == 2 * (3 + 1 + (3 if most == 2 else 0))


@pytest.mark.parametrize("cost", [{"epsilon": 6}, {"rho": 2}])
def test_a_person_in_two_groups_needs_the_bound_to_say_so(cost: dict[str, Any]) -> None:
    one, two = (lb.GroupTopK(groups=["a", "b"], k=1, most_groups=most, **GRID, **cost) for most in (1, 2))
    neighbours = {"a": [0, 0], "b": [0, 0]}, {"a": [1, 0], "b": [1, 0]}
    assert lb.audit.check(one, *neighbours, tolerance="1/10000").verdict == "violated"
    assert lb.audit.check(two, *neighbours, tolerance="1/10000").holds
    ((name, asked),) = cost.items()
    assert one.cost.text == two.cost.text == f"{name} {asked}"
    # Nothing said is everybody in all groups.
    assert lb.GroupTopK(groups=["a", "b"], k=1, **GRID, **cost) == two


def test_a_rho_is_shared_as_a_rho() -> None:
    whole = lb.GroupTopK(groups=range(4), k=2, rho="1/10", monotone=True)
    assert whole._one_group == lb.NoisyTopK(k=2, rho="1/40", monotone=True)
    assert (whole.cost.text, whole.cost.rho <= Fraction(1, 10)) == ("rho 1/10", True)
    # An epsilon follows too: that of four groups, which is more than that of one at the whole rho.
    assert whole.cost.amount == 4 * lb.NoisyTopK(k=2, rho="1/40").cost.amount


def test_numbers_are_measured_in_each_group() -> None:
    mechanism = lb.GroupTopK(groups=["a", "b"], k=1, epsilon=12, numbers=True, most_groups=2, **GRID)
    assert mechanism._one_group == lb.SelectAndMeasure(k=1, epsilon=6, **GRID)
    verdict = lb.audit.check(mechanism, {"a": [0], "b": [0]}, {"a": [1], "b": [1]}, tolerance="1/50")
    assert verdict.holds
    release = mechanism.release({"a": [900, 3], "b": [5, 800]})
    assert list(release.columns()) == [
        "group", "rank", "index", "gap", "measurement", "standard_error", "estimate",
    ]  # fmt: skip
    assert release.columns()["index"] == [0, 1]
    assert len(release.panels()[0].heights) == 2


def test_the_neighbours_are_all_that_one_person_makes() -> None:
    mechanism = lb.GroupTopK(groups=["a", "b"], k=1, epsilon=1, resolution=1)
    start = (5, 5, 5)
    reached = {(*after["a"], *after["b"]) for after in mechanism.neighbours({"a": start[:2], "b": start[2:]})}
    assert reached == {after for after in product((4, 5, 6), repeat=3) if after != start}
    one = lb.GroupTopK(groups=["a", "b"], k=1, epsilon=1, most_groups=1, **GRID)
    alone = {(*after["a"], *after["b"]) for after in one.neighbours({"a": start[:2], "b": start[2:]})}
    assert alone == {
        after
        for way in (4, 6)
        for after in product((5, way), repeat=3)
        if after != start and (after[:2] == start[:2] or after[2:] == start[2:])
    }


def test_refusals() -> None:
    built = lb.GroupTopK(groups=["a", "b"], k=1, epsilon=1)
    with pytest.raises(lb.ParameterError, match="a mapping from groups to values: got list"):
        built.release([1])
    with pytest.raises(lb.ParameterError, match="got none of 'b'"):
        built.release({"a": [1]})
    with pytest.raises(lb.ParameterError, match="a multiple of the number of groups that a person is in, 2: got 3"):
        lb.GroupTopK(groups=["a", "b"], k=1, eta=lb.Eta(1, 1, 3))
    with pytest.raises(lb.ParameterError, match="most_groups must be a whole number"):
        lb.GroupTopK(groups=["a", "b"], k=1, epsilon=1, most_groups=0)
    with pytest.raises(lb.ParameterError, match="build the mechanism with numbers=True"):
        built.measurement_accuracy()
