"""Releases of several parts: the law is that of the parts one after the other, and the loss is within the sum."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit.ledger.codec import decode, encode
from lastbit.release import Release


def pick(z: int, sensitivity: int = 1) -> lb.ExponentialMechanism:
    """A mechanism whose every branch can be followed."""
    return lb.ExponentialMechanism(eta=lb.Eta(1, 1, z), sensitivity=sensitivity)


def bound_of(published: Mapping[str, Release]) -> int:
    """What a later part takes from an earlier one: published, never private."""
    return 1 + published["bound"].index  # type: ignore[attr-defined,no-any-return]


def later() -> lb.Parts:
    """A bound, and then a choice whose sensitivity depends on the published bound."""
    built = lb.LaterPart(
        "ExponentialMechanism", pick(2).cost, {"bound": "1 or 2"}, lambda published: pick(2, bound_of(published))
    )
    return lb.Parts(parts={"bound": pick(2), "value": built})


def values(person: int) -> dict[str, Any]:
    """Somebody has so many items: the second part counts as many of them as the first part published."""
    bounded = lb.LaterValues(lambda published: [0, min(person, bound_of(published)), 1])
    return {"bound": [0, min(person, 1)], "value": bounded}


def exact(mechanism: lb.Mechanism[Any], values: Any) -> dict[Any, Fraction]:
    law = lb.audit.law(mechanism.program(values), 0)
    assert law.unexplored == 0
    return law.masses


def test_the_law_is_the_product_of_the_laws() -> None:
    masses = exact(lb.Parts(parts={"one": pick(1), "two": pick(2)}), {"one": [0, 1], "two": [2, 0, 1]})
    one, two = exact(pick(1), [0, 1]), exact(pick(2), [2, 0, 1])
    assert len(masses) == 6
    assert sum(masses.values()) == 1
    for release, mass in masses.items():
        assert mass == one[release["one"]] * two[release["two"]]


def test_a_later_part_has_the_law_that_the_published_bound_gives_it() -> None:
    masses = exact(later(), values(3))
    assert len(masses) == 6
    for release, mass in masses.items():
        most = bound_of({"bound": release["bound"]})
        assert mass == exact(pick(2), [0, 1])[release["bound"]] * exact(pick(2, most), [0, most, 1])[release["value"]]


@pytest.mark.parametrize("person", [1, 2, 3])
def test_the_loss_with_a_later_part_is_within_the_sum(person: int) -> None:
    mechanism = later()
    assert mechanism.cost == lb.Eta(1, 1, 4)
    programs = mechanism.program(values(0)), mechanism.program(values(person))
    assert lb.audit.compare(*programs, mechanism.cost, 0).holds
    if person > 1:
        assert lb.audit.compare(*programs, lb.Eta(1, 1, 1), 0).verdict == "violated"


def test_a_part_that_looks_at_the_rows_again_beyond_the_published_bound_is_convicted() -> None:
    """The negative control: the second part counts all items, whatever the first part published."""

    def program(person: int) -> Any:
        unbounded = lb.LaterValues(lambda published: [0, person, 1])
        return later().program({"bound": [0, min(person, 1)], "value": unbounded})

    assert lb.audit.compare(program(0), program(9), later().cost, 0).verdict == "violated"


def test_a_later_part_that_costs_more_than_was_charged_is_not_drawn() -> None:
    dear = lb.LaterPart("ExponentialMechanism", pick(1).cost, {}, lambda _: pick(2))
    mechanism = lb.Parts(parts={"bound": pick(1), "value": dear})
    with pytest.raises(lb.MechanismError, match="eta \\(1, 1, 2\\), and eta \\(1, 1, 1\\) was charged"):
        mechanism.release({"bound": [1], "value": [1]})


def test_the_books_keep_all_parts_as_one_entry_and_give_them_back(tmp_path: Any) -> None:
    ledger = lb.Ledger(str(tmp_path / "books.db"))
    ledger.create("clinic", epsilon=4)
    mechanism = lb.Parts(parts={"people": lb.DiscreteLaplace(epsilon=1), "rows": lb.DiscreteLaplace(epsilon=2)})
    release = ledger.release("clinic", mechanism, {"people": 5, "rows": [7, 8]})
    entry = ledger.history("clinic")[-1]
    assert entry.cost == "epsilon 3"
    assert entry.published == release
    assert entry.parameters["rows.epsilon"] == "2"
    assert ledger.account("clinic").spent == 3
    text = encode(release)
    assert text is not None
    assert decode(text) == release
    assert release.to_dict()["parts"]["people"]["mechanism"] == "DiscreteLaplace"


@pytest.mark.parametrize("parts", [{}, None, [], {"one": 3}, {1: pick(1)}])
def test_parts_that_are_none_are_refused(parts: Any) -> None:
    with pytest.raises(lb.ParameterError, match="parts must be"):
        lb.Parts(parts=parts)


@pytest.mark.parametrize("given", [3, {}, {"one": 1, "three": 2}, {"one": 1, "two": 2, "three": 3}])
def test_values_of_other_parts_are_refused_before_anything_is_drawn(given: Any) -> None:
    with pytest.raises(lb.ParameterError, match="Nothing was drawn"):
        lb.Parts(parts={"one": pick(1), "two": pick(1)}).ready(given)


def test_values_are_checked_before_anything_is_drawn() -> None:
    """A part whose values one person moves too far is refused when it is made ready: a ledger has charged nothing."""
    counts = lb.Counts(items=["a", "b"], values=[1, 2], monotone=True)
    with pytest.raises(lb.ParameterError, match="Nothing was drawn"):
        lb.Parts(parts={"one": pick(1), "two": lb.DiscreteLaplace(epsilon=1)}).ready({"one": [1], "two": counts})


def test_parts_are_all_for_the_same_neighbours_and_say_for_which() -> None:
    domain = {"sex": ["f", "m"]}
    come, replaced = (lb.Tables(domain=domain, ways=1, rho=1, replaces=replaces) for replaces in (False, True))
    assert lb.Parts(parts={"one": pick(1), "two": replaced}).adjacency == "replace"
    assert lb.Parts(parts={"one": come, "two": pick(1)}).adjacency == "add-remove"
    assert lb.Parts(parts={"one": pick(1)}).adjacency is None
    with pytest.raises(lb.ParameterError, match="same neighbours"):
        lb.Parts(parts={"one": come, "two": replaced})
