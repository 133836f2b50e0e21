"""The base-2 paper's samplers as printed, and what the auditor finds."""

from fractions import Fraction

import pytest

from lastbit import Draw, Eta, audit
from lastbit.audit.verdict import judge


def printed_algorithm_4(draw: Draw, weights: list[Fraction]) -> int | None:
    """Line 8 as printed: the dummy's cumulative weight is 2^k - t. One try; None is the dummy, or nothing left."""
    cumulative = [sum(weights[: i + 1], Fraction(0)) for i in range(len(weights))]
    k = next(k for k in range(-8, 9) if Fraction(2) ** k >= cumulative[-1])
    if Fraction(2) ** k > cumulative[-1]:
        cumulative.append(Fraction(2) ** k - cumulative[-1])
    s, j, remaining = Fraction(0), k - 1, list(range(len(cumulative)))
    while len(remaining) > 1:
        width = Fraction(2) ** j
        s += draw.integer(2) * width
        remaining = [i for i in remaining if cumulative[i] > s and (i == 0 or cumulative[i - 1] < s + width)]
        j -= 1
    return remaining[0] if remaining and remaining[0] < len(weights) else None


def conditional(law: audit.Law) -> audit.Law:
    """The law given that there is a sample: what trying again until there is one comes to."""
    left = 1 - law.masses.get(None, Fraction(0))
    return audit.Law({o: mass / left for o, mass in law.masses.items() if o is not None}, Fraction(0), law.branches)


def law_of(utilities: tuple[int, ...]) -> audit.Law:
    weights = [Fraction(1, 2) ** u for u in utilities]
    return conditional(audit.law(lambda draw: printed_algorithm_4(draw, weights), 0))


def test_printed_algorithm_4_gives_three_equal_weights_unequal_chances() -> None:
    assert dict(law_of((0, 0, 0)).masses) == {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)}


@pytest.mark.parametrize(("utilities", "neighbour"), [((1, 3, 1), (0, 2, 2)), ((0, 1, 2, 1), (0, 0, 2, 2))])
def test_printed_algorithm_4_costs_more_than_the_mechanism_says(
    utilities: tuple[int, ...], neighbour: tuple[int, ...]
) -> None:
    assert judge(Eta(1, 1, 2), law_of(utilities), law_of(neighbour), Fraction(0)).verdict == "violated"


def printed_get_random_value(draw: Draw, p: int, t: Fraction, k: int) -> Fraction | None:
    """Lines 21 to 31 as printed: the loop ends at k, and i starts at 0."""
    g = next(g for g in range(-8, 9) if Fraction(2) ** g >= t)
    s, found, c = None, None, 0
    while (s is None or s >= t) and c < k:
        s = sum((draw.integer(2) * Fraction(2) ** (g - i) for i in range(p + 1)), Fraction(0))
        if found is None and s < t:
            found = s
        c += 1
    return found


@pytest.mark.parametrize(("t", "missing"), [(Fraction(2), Fraction(1, 2)), (Fraction(33, 32), Fraction(95, 128))])
def test_printed_get_random_value_loses_samples_as_the_data_decide(t: Fraction, missing: Fraction) -> None:
    law = audit.law(lambda draw: printed_get_random_value(draw, 7, t, 1), 0)
    assert law.masses[None] == missing
