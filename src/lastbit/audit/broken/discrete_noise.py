"""Continuous proofs that fail on integers: noise that ends, ties that show, floors that add up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Final

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

_STEP: Final = Eta(1, 1, 1)
_RATE: Final = Rate.from_eta(_STEP)
_WIDTH: Final = 6


def clamp_noise(draw: Draw, value: int, *, printed: bool) -> int:
    """Return a value with noise clamped to ±w. Right is to clamp the sum to bounds that do not depend on the value."""
    noise = draw.laplace(_RATE)
    if printed:
        return value + max(-_WIDTH, min(_WIDTH, noise))
    return max(-_WIDTH, min(_WIDTH, value + noise))


def noisy_max(draw: Draw, values: Sequence[int], *, printed: bool) -> tuple[int, int]:
    """Return the largest of value + geometric noise, and its lead over the next.

    Printed, ties go to the lowest index and the lead is the difference. Right is a uniform order among equal values,
    which stands for the digits after the point, and a lead that is rounded down with these digits.
    """
    cells = [value + int(noise) for value, noise in zip(values, draw.geometric(_RATE, len(values)), strict=True)]
    rank = [-i for i in range(len(values))] if printed else draw.permutation(len(values)).tolist()
    first, second = sorted(range(len(values)), key=lambda i: (cells[i], rank[i]), reverse=True)[:2]
    return first, cells[first] - cells[second] - (not printed and rank[first] < rank[second])


def floor_values(draw: Draw, values: Sequence[Fraction], *, printed: bool) -> tuple[int, ...]:
    """Return values floored to whole steps, each with noise. One person moves all values together by one step.

    Printed, the noise hides one step. Right is one more step for each value but one: every value may cross a step.
    """
    rate = _RATE if printed else Rate.from_eta(_STEP, Fraction(1, len(values)))
    return tuple(
        floor(value) + int(noise) for value, noise in zip(values, draw.laplace(rate, len(values)), strict=True)
    )


def clamp_noise_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return the programs on the values 0 and 1."""
    return lambda draw: clamp_noise(draw, 0, printed=printed), lambda draw: clamp_noise(draw, 1, printed=printed)


def noisy_max_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return three values that all move by 1."""
    return (
        lambda draw: noisy_max(draw, (0, 1, 1), printed=printed),
        lambda draw: noisy_max(draw, (1, 0, 0), printed=printed),
    )


def floor_values_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return two values that each move by half a step."""
    before, after = (Fraction(9, 10),) * 2, (Fraction(14, 10),) * 2
    return lambda draw: floor_values(draw, before, printed=printed), lambda draw: floor_values(
        draw, after, printed=printed
    )


CASES = (
    Case(
        "discrete noise cut off at a bound",
        "Ilvento, sparse vector, section 2",
        "Where the noise ends, some results are possible for only one of two neighbours.",
        *clamp_noise_instance(printed=True),
        _STEP,
        clamp_noise_instance(printed=False),
        kind="warned",
    ),
    Case(
        "discrete noisy max with ties by index and its gap",
        "Ilvento, sparse vector, section 7; Ding et al., Free gap, section 5, run on integers",
        "A lead of zero says that no lower index ties. So the result shows which values share the top. The proof "
        "assumes that ties do not happen.",
        *noisy_max_instance(printed=True),
        Eta(1, 1, 2),
        noisy_max_instance(printed=False),
        kind="warned",
    ),
    Case(
        "several values floored to a grid",
        "Ilvento, sparse vector, section 4, taken from one value to several whose moves add up",
        "Flooring does not change the sensitivity of one value. Of several values each may cross a step, however "
        "little it moves.",
        *floor_values_instance(printed=True),
        _STEP,
        floor_values_instance(printed=False),
        kind="implementers",
    ),
)
