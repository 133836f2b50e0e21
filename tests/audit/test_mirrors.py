"""Inputs that are mirrors of each other share one law: it is the law that their own programs have."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

import lastbit as lb
from lastbit.audit import laws as laws_module
from lastbit.audit.laws import MechanismLaws
from lastbit.audit.verdict import judge
from lastbit.chance.draw import Draw
from lastbit.errors import AuditError
from lastbit.mechanisms.top_k.mechanism import SelectionMechanism
from lastbit.privacy.cost import Cost
from tests.laws.folding import Folding

MECHANISMS: list[SelectionMechanism[Any]] = [
    lb.NoisyMax(eta=lb.Eta(1, 1, 2), resolution=1),
    lb.NoisyMax(epsilon=1, resolution="1/2", monotone=True),
    lb.NoisyTopK(k=2, eta=lb.Eta(1, 1, 4), resolution=2, sensitivity=2),
    lb.NoisyTopK(k=3, epsilon=3, resolution=1),
]
TOLERANCE = Fraction(1, 100)


def folded(mechanism: SelectionMechanism[Any], values: Any) -> Callable[[Draw], Hashable]:
    """The release with noise of three steps at most: alike for all candidates still, and with an end."""
    program = mechanism.program(values)
    return lambda draw: program(Folding(draw, {mechanism._selector.rate: 3}))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_law_of_values_is_the_law_of_their_mirror_under_their_own_names(mechanism: Any) -> None:
    rows = {*product((-3, 0, Fraction(1, 2)), repeat=3), *permutations((7, -2, 5))}
    for values in sorted(rows):
        simpler, rename = mechanism.mirror(values)
        own, mirrored = (lb.audit.law(folded(mechanism, side), 0) for side in (values, simpler))
        assert own.unexplored == 0
        assert own.masses == {rename(outcome): mass for outcome, mass in mirrored.masses.items()}
        published = next(iter(own))
        renamed = {rename(outcome): rename(outcome) for outcome in mirrored}[published]
        assert vars(renamed).items() >= {"candidates": 3, "above": published.above, "items": None}.items()


def test_values_that_differ_by_an_order_or_a_level_have_one_mirror() -> None:
    mechanism = lb.NoisyMax(epsilon=1, resolution="1/2")
    mirrors = [mechanism.mirror(values) for values in ([1, 3, 2], (2, 1, 3), [-1, 1, 0], [1.2, 3.4, 2])]
    assert {mirror[0] for mirror in mirrors if mirror} == {(2, 1, 0)}
    assert mechanism.mirror([1, 2, 2]) != mechanism.mirror([1, 1, 2])


def test_values_that_would_be_clamped_have_no_mirror() -> None:
    furthest = 1 << 61
    mechanism = lb.NoisyMax(epsilon=1, resolution=1)
    mirror = mechanism.mirror([furthest, 0])
    assert mirror is not None
    assert mirror[0] == (furthest, 0)
    assert mechanism.mirror([furthest, -1]) is None
    assert mechanism.mirror(lb.Counts(items=["a", "b"], values=[1, 0])) is None


@pytest.mark.parametrize("mechanism", MECHANISMS[:2], ids=str)
def test_every_verdict_is_that_of_two_laws_of_their_own(mechanism: Any) -> None:
    values = (1, 0, 1)
    own = {side: lb.audit.law(mechanism.program(side), TOLERANCE) for side in (values, *mechanism.neighbours(values))}
    for cost in (mechanism.cost, lb.Eta(1, 1, 8), Cost.zcdp("1/1000")):
        found = lb.audit.check_all(mechanism, values, TOLERANCE, cost=cost)
        assert [verdict.neighbour for verdict in found.each] == list(mechanism.neighbours(values))
        for verdict in found.each:
            alone = judge(cost, own[values], own[verdict.neighbour], TOLERANCE)
            assert verdict.verdict == alone.verdict
            assert max(verdict.loss.lower, alone.loss.lower) <= min(verdict.loss.upper, alone.loss.upper)
            pair = lb.audit.check(mechanism, values, verdict.neighbour, TOLERANCE, cost=cost)
            assert str(pair) == str(verdict)


def test_mirrors_are_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[Any] = []
    follow = laws_module.law

    def count(program: Any, *options: Any, **more: Any) -> Any:
        followed.append(program)
        return follow(program, *options, **more)

    monkeypatch.setattr(laws_module, "law", count)
    found = lb.audit.check_all(lb.NoisyMax(epsilon=4, resolution=1), [0, 1], "1/100")
    # Pairs of numbers from 0 to 3 apart: -1 and 2, 0 and 2, …; all eight neighbours, and the values themselves.
    assert (len(found.each), len(followed)) == (8, 4)


class Leak(lb.NoisyMax):
    """Publishes its first value, whatever it has inherited."""

    def ready(self, values: Any) -> Any:
        return lambda draw: int(values[0])


class Careless(lb.NoisyMax):
    """Says of all outcomes that they are one."""

    def ready(self, values: Any) -> Any:
        return super().ready(values)

    def mirror(self, values: Any) -> Any:
        return (0, 0), lambda found: "the same"


def test_a_subclass_with_its_own_way_is_followed_on_every_input() -> None:
    verdicts = lb.audit.check_all(Leak(epsilon=1, resolution=1), [0, 0], "1/100")
    together = next(verdict for verdict in verdicts.each if verdict.neighbour == (1, 1))
    assert together.verdict == "violated"


def test_mirrors_that_join_outcomes_are_refused() -> None:
    with pytest.raises(AuditError, match=r"Careless\.mirror must tell outcomes apart"):
        MechanismLaws(Careless(epsilon=1, resolution=1), TOLERANCE).find([0, 1])
