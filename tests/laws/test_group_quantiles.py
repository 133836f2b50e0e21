"""Quantiles of groups, exactly: independent in each group, and a person in one group pays once."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import lastbit as lb


def law_of(mechanism: Any, values: Any) -> dict[Any, Fraction]:
    law = lb.audit.law(mechanism.program(values), 0)
    assert law.unexplored == 0
    return {release.values: mass for release, mass in law.masses.items()}


def test_groups_are_independent_and_cost_as_much_as_one() -> None:
    asked: dict[str, Any] = {"qs": ["1/3", "1/2"], "bounds": (0, 2), "eta": lb.Eta(1, 1, 4), "spread": 1}
    groups, each = lb.GroupQuantiles(groups=["a", "b"], **asked), lb.Quantiles(**asked)
    assert groups.cost == each.cost
    values = {"a": [0, 2, None], "b": [1]}
    first, second = law_of(each, values["a"]), law_of(each, values["b"])
    assert law_of(groups, values) == {(a, b): first[a] * second[b] for a, b in product(first, second)}
    # A group that nobody listed is left out: which groups occur is private.
    assert law_of(groups, {"a": [1], "secret": [2]}) == law_of(groups, {"b": [], "a": [1]})


def test_the_loss_is_within_the_cost_on_every_neighbour() -> None:
    mechanism = lb.GroupQuantiles(groups=["a", "b"], bounds=(0, 3), eta=lb.Eta(1, 1, 2))
    verdicts = lb.audit.check_all(mechanism, {"a": [1], "b": [0, 3]}, tolerance=0)
    assert verdicts.holds
    assert len(verdicts.each) == 1 + 4 + 2 + 4


def test_a_person_in_two_groups_needs_most_values() -> None:
    built, twice = (
        lb.GroupQuantiles(groups=["a", "b"], bounds=(0, 9), eta=lb.Eta(1, 1, 2), most_values=most) for most in (1, 2)
    )
    neighbours = {"a": [1], "b": [1]}, {"a": [0, 1], "b": [0, 1]}
    assert lb.audit.check(built, *neighbours, tolerance=0).verdict == "violated"
    assert lb.audit.check(twice, *neighbours, tolerance=0).holds


def test_refusals() -> None:
    for groups in ([], ["a", "a"], "ab", 7, [["a"]]):
        with pytest.raises(lb.ParameterError, match="groups must be a list of different public groups"):
            lb.GroupQuantiles(groups=groups, bounds=(0, 1), epsilon=1)
    mechanism = lb.GroupQuantiles(groups=["a"], bounds=(0, 1), epsilon=1)
    with pytest.raises(lb.ParameterError, match="a mapping from groups to numbers: got list"):
        mechanism.release([1])
