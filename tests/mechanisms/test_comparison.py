"""What releases, answers and rates are compared by, and how they are made."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit._outcomes import Compared

COST = Fraction(1, 2)


@dataclass(frozen=True, eq=False)
class Point(Compared):
    x: Any
    y: Any
    unit: Fraction = field(hash=False)
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Alone(Compared):
    x: Any


def test_fields_say_what_counts() -> None:
    point = Point(1, (2, 3), COST)
    assert point == Point(1, [2, 3], Fraction(1, 2), "another note")
    assert hash(point) == hash(Point(1, (2, 3), Fraction(1, 3)))
    assert point != Point(1, (2, 3), Fraction(1, 3))
    assert point != Point(2, (2, 3), COST)
    assert point != (1, (2, 3), COST)
    assert Alone(None) == Alone(None) != Alone(0)


def test_what_checks_its_fields_is_built_by_its_constructor() -> None:
    assert lb.Rate(4, 4) == lb.Rate(1, 2)
    assert len({lb.Rate(4, 4), lb.Rate(1, 2), lb.Rate(1, 1)}) == 2
    with pytest.raises(TypeError, match="its constructor"):
        lb.Rate.made(4, 4)


def test_a_pair_is_no_fraction() -> None:
    assert Alone((Fraction(1, 2),)) != Alone(((1, 2),))
    pair: Any = (1, 2)
    assert lb.Answer(True, Fraction(1, 2), COST) != lb.Answer(True, pair, COST)
    outcomes = lb.audit.law(lambda draw: Point(0, Fraction(1, 2) if draw.bernoulli("1/2") else pair, COST))
    assert len(outcomes) == 2


@pytest.mark.parametrize(
    "equal", [(3, Fraction(3)), (Fraction(1, 3), Fraction(2, 6)), (Fraction(1, 2), 0.5), (Fraction(2), 2.0)]
)
def test_fractions_are_compared_by_value(equal: tuple[Any, Any]) -> None:
    one, other = (lb.Answer(True, gap, COST) for gap in equal)
    assert one == other
    assert hash(one) == hash(other)
    assert one != lb.Answer(True, Fraction(1, 7), COST)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (lb.Answer, (True, Fraction(1, 3), COST, Fraction(7), COST)),
        (Point, (1, 2, COST, "")),
        (Alone, (7,)),
        (
            type(lb.NoisyTopK(k=1, epsilon=1).release([1, 2])),
            ("NoisyTopK", lb.Cost(COST), (1,), (4,), None, Fraction(1, 10), 2, lb.Rate(1, 1), True),
        ),
    ],
)
def test_made_at_once_or_field_by_field_they_are_the_same(kind: Any, values: tuple[Any, ...]) -> None:
    made, built = kind.made(*values), kind(*values)
    assert made == built
    assert hash(made) == hash(built)
    assert repr(made) == repr(built)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(made, protocol)) == built
    assert copy.deepcopy(made) == replace(made) == built
    with pytest.raises(FrozenInstanceError):
        setattr(made, next(iter(kind.__dataclass_fields__)), 0)
    with pytest.raises(TypeError, match="all of its fields"):
        kind.made(*values[:-1])
